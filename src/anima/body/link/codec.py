"""Frames of the serial link: COBS(type, sequence, payload, CRC-16), a zero byte; as firmware/core/frame.c does it."""

from __future__ import annotations

import binascii
from dataclasses import dataclass, field

from anima.body.link.messages import MESSAGES, PAYLOAD_MAX, SCHEMA, Message

_OVERHEAD = 4  # type, sequence, two bytes of CRC
FRAME_MAX = PAYLOAD_MAX + _OVERHEAD + 2
"""The longest frame on the wire, in bytes."""

_OPEN_SEED = 0xFFFF
# Frames of another schema have a wrong CRC, and cost no extra byte to tell.
_SCHEMA_SEED = binascii.crc_hqx(SCHEMA.to_bytes(4, "little"), _OPEN_SEED)


class FrameError(ValueError):
    """A frame that can't be used; the message says what is wrong with it."""


@dataclass(frozen=True)
class Frame:
    """A message as it came over the wire, with its sequence number (0 to 255)."""

    seq: int
    message: Message


@dataclass
class Counts:
    """What a decoder has seen."""

    good: int = 0
    bad_crc: int = 0
    bad_frame: int = 0
    """no COBS, too short or too long"""
    unknown: int = 0
    """valid, but of an unknown type or of the wrong length"""


def seed(type_id: int) -> int:
    """What the CRC of a message starts at."""
    known = MESSAGES.get(type_id)
    return _OPEN_SEED if known is not None and known.open else _SCHEMA_SEED


def encode(message: Message, seq: int) -> bytes:
    """The bytes of `message` on the wire; `seq` is taken modulo 256. Raises `struct.error` for a value out of range."""
    raw = bytes((message.id, seq & 0xFF)) + message.pack()
    raw += binascii.crc_hqx(raw, seed(message.id)).to_bytes(2, "big")
    return stuff(raw) + b"\0"


def stuff(raw: bytes) -> bytes:
    """COBS of fewer than 254 bytes: no zero byte is left."""
    return b"".join(bytes((len(block) + 1,)) + block for block in raw.split(b"\0"))


def unstuff(data: bytes) -> bytes:
    """The bytes behind a COBS frame without its delimiter. Raises `FrameError` when it isn't one."""
    out = bytearray()
    at = 0
    while at < len(data):
        code = data[at]
        block = data[at + 1 : at + code]
        if code == 0 or len(block) != code - 1:
            raise FrameError(f"COBS block of {code} cut short at byte {at} of {len(data)}")
        out += block
        at += code
        if at < len(data) and code != 0xFF:
            out.append(0)
    return bytes(out)


@dataclass
class Decoder:
    """Finds messages in a stream of bytes. Bytes that are no frame are counted and forgotten."""

    counts: Counts = field(default_factory=Counts)
    _partial: bytearray = field(default_factory=bytearray)
    _too_long: bool = False

    def feed(self, data: bytes) -> list[Frame]:
        """The frames that `data` completes, in order; at most `FRAME_MAX` bytes are kept for the next call."""
        frames = []
        *complete, rest = data.split(b"\0")
        for part in complete:
            self._append(part)
            frame = self._finish()
            if frame is not None:
                frames.append(frame)
        self._append(rest)
        return frames

    def _append(self, part: bytes) -> None:
        room = FRAME_MAX - 1 - len(self._partial)
        self._too_long |= len(part) > room
        self._partial += part[:room]

    def _finish(self) -> Frame | None:
        data, too_long = bytes(self._partial), self._too_long
        self._partial.clear()
        self._too_long = False
        if not data:
            return None  # a delimiter on its own resynchronizes
        try:
            raw = unstuff(data)
            if too_long or len(raw) < _OVERHEAD:
                raise FrameError(f"{len(raw)} bytes{' or more' if too_long else ''}")
        except FrameError:
            self.counts.bad_frame += 1
            return None
        if binascii.crc_hqx(raw, seed(raw[0])) != 0:
            self.counts.bad_crc += 1
            return None
        self.counts.good += 1
        kind = MESSAGES.get(raw[0])
        if kind is None or kind.layout.size != len(raw) - _OVERHEAD:
            self.counts.unknown += 1
            return None
        return Frame(raw[1], kind.unpack(raw[2:-2]))
