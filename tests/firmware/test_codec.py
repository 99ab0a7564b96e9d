"""The link's two ends, C and Python, read and write the same bytes, whatever happens to them on the way."""

from __future__ import annotations

import ctypes
import random
import struct
import subprocess
import sys
from collections.abc import Iterator
from typing import ClassVar

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.brainstem import FIRMWARE, Brainstem, library

from anima.body.link import codec
from anima.body.link.codec import FRAME_MAX, Decoder, FrameError, encode, stuff, unstuff
from anima.body.link.messages import MESSAGES, PAYLOAD_MAX, SCHEMA, Drive, Fault, Hello, Message, Ping, State

RANGES = {"B": (0, 255), "H": (0, 65535), "I": (0, 2**32 - 1), "h": (-32768, 32767), "i": (-(2**31), 2**31 - 1)}


def values(kind: type[Message]) -> st.SearchStrategy[Message]:
    """Any message of a kind; borders and zeros, which COBS has to do with, more often than not."""
    codes = [code for code in kind.layout.format.strip("<") if code.isalpha()]

    def number(code: str) -> st.SearchStrategy[int]:
        low, high = RANGES[code]
        return st.one_of(st.sampled_from([low, 0, 1, high]), st.integers(low, high))

    parts = [
        number(code) if count == 1 else st.tuples(*[number(code)] * count)
        for code, count in zip(codes, kind.counts, strict=True)
    ]
    return st.tuples(*parts).map(lambda args: kind(*args))


messages = st.sampled_from(sorted(MESSAGES)).flatmap(lambda i: values(MESSAGES[i]))
from_host = st.sampled_from([i for i in sorted(MESSAGES) if MESSAGES[i].layout.size <= 13]).flatmap(
    lambda i: values(MESSAGES[i])
)


@given(messages, st.integers(0, 255))
def test_what_is_encoded_is_decoded(message: Message, seq: int) -> None:
    wire = encode(message, seq)
    assert wire.count(0) == 1 and wire[-1] == 0
    assert len(wire) <= FRAME_MAX
    (frame,) = Decoder().feed(wire)
    assert (frame.message, frame.seq) == (message, seq)


@given(messages, st.integers(0, 255))
def test_the_firmware_encodes_the_same_bytes(message: Message, seq: int) -> None:
    payload = message.pack()
    out = ctypes.create_string_buffer(64)
    length = library().native_encode(message.id, seq, payload, len(payload), out)
    assert out.raw[:length] == encode(message, seq)


@given(st.lists(messages, max_size=6), st.lists(st.integers(1, 40)))
def test_it_does_not_matter_how_the_bytes_arrive(sent: list[Message], pieces: list[int]) -> None:
    wire = b"".join(encode(message, seq) for seq, message in enumerate(sent))
    decoder = Decoder()
    frames = []
    for piece in [*pieces, len(wire)]:
        frames += decoder.feed(wire[:piece])
        wire = wire[piece:]
    assert [frame.message for frame in frames] == sent


spoiled = st.lists(
    st.one_of(
        st.tuples(from_host, st.integers(0, 255), st.integers(0, 30), st.integers(0, 255), st.sampled_from("fdxi")),
        st.binary(max_size=10),
    ),
    max_size=8,
)


@settings(max_examples=100, deadline=None)
@given(spoiled)
def test_both_decoders_take_and_refuse_the_same(stream: list[object]) -> None:
    """Flipped (f), dropped (d), doubled (x) and inserted (i) bytes, and noise in between."""
    wire = bytearray()
    for part in stream:
        if isinstance(part, bytes):
            wire += part.replace(b"\0", b"\1") + b"\0"
            continue
        message, seq, at, value, fault = part  # type: ignore[misc]
        frame = bytearray(encode(message, seq))
        if at < len(frame) - 1:
            if fault == "f":
                frame[at] = value
            elif fault == "d":
                del frame[at]
            elif fault == "x":
                frame.insert(at, frame[at])
            else:
                frame.insert(at, value)
        wire += frame
    # Runs longer than the shorter of the two buffers are cut at different places.
    wire = bytearray(b"\0".join(run[:16] for run in bytes(wire).split(b"\0")))
    python, core = Decoder(), Brainstem()
    python.feed(bytes(wire) + b"\0")
    core.hear(bytes(wire) + b"\0")
    seen = core.peek()
    core.close()
    assert (seen.good, seen.bad_crc, seen.bad_frame) == (
        python.counts.good, python.counts.bad_crc, python.counts.bad_frame
    )


@given(st.binary(max_size=253))
def test_stuffing_leaves_no_zero_and_is_undone(raw: bytes) -> None:
    assert b"\0" not in stuff(raw)
    assert unstuff(stuff(raw)) == raw


@given(st.binary(max_size=300))
def test_no_bytes_break_the_decoder(data: bytes) -> None:
    decoder = Decoder()
    decoder.feed(data)
    (frame,) = decoder.feed(b"\0" + encode(Ping(7), 3))
    assert frame.message == Ping(7)


def test_a_cut_block_says_where() -> None:
    with pytest.raises(FrameError, match="block of 5 cut short at byte 0 of 3"):
        unstuff(b"\5\1\2")


def test_a_value_that_does_not_fit_is_refused() -> None:
    with pytest.raises(struct.error):
        encode(Drive(0, 40_000, 0), 0)


def test_a_stream_without_an_end_is_kept_short() -> None:
    decoder = Decoder()
    for _ in range(100):
        decoder.feed(b"\x7f" * 1000)
    assert len(decoder._partial) < FRAME_MAX
    decoder.feed(b"\0")
    assert decoder.counts.bad_frame == 1


class Stranger(Message):
    """A message that nobody knows."""

    id: ClassVar[int] = 0x7E
    open: ClassVar[bool] = False

    def pack(self) -> bytes:
        return b"abc"


def test_an_unknown_message_is_counted() -> None:
    decoder = Decoder()
    assert decoder.feed(encode(Stranger(), 1)) == []
    assert (decoder.counts.good, decoder.counts.unknown) == (1, 1)


@pytest.fixture
def other_schema(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(codec, "_SCHEMA_SEED", 0x1234)
    yield


def test_a_host_of_another_version_can_say_who_it_is_and_nothing_else(other_schema: None) -> None:
    core = Brainstem()
    core.say(Hello(nonce=1, schema=SCHEMA ^ 1))
    core.say(Ping(2))
    seen = core.peek()
    core.close()
    assert (seen.good, seen.bad_crc) == (1, 1)


def test_the_generated_files_are_what_their_sources_say() -> None:
    done = subprocess.run(
        [sys.executable, FIRMWARE / "tools/generate.py", "--check"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr


def test_messages_are_short_enough_for_a_noisy_wire() -> None:
    assert len(encode(Drive(1, 2, 3), 0)) <= 11
    assert PAYLOAD_MAX <= 28


@pytest.mark.parametrize("share", [0.0, 0.01, 0.03, 0.1])
def test_commands_over_a_noisy_wire(share: float, capsys: pytest.CaptureFixture[str]) -> None:
    """A command every 10 ms for 8 s; flips, drops, doubles; nothing but what was sent is ever obeyed."""
    chance = random.Random(5)
    core = Brainstem().armed()
    session, sent, obeyed = core.peek().session, 0, 0
    for _ in range(800):
        if core.peek().state != State.ARMED:  # silent for too long, as it must be
            assert Fault(core.peek().faults) == Fault.HOST_SILENT
            while core.peek().state != State.DISARMED:
                core.tick()
            core.hear(b"\0")  # ends what was left of a spoiled frame
            core.armed()
            session = core.peek().session
        before = core.peek()
        core._seq = (core._seq + 1) & 0xFF
        core.hear(spoil(encode(Drive(session, 200, 100), core._seq), share, chance))
        sent += 1
        obeyed += core.peek().good > before.good
        for _ in range(10):
            core.roll(core.tick())
        after = core.peek()
        assert 0 <= after.linear_umps <= 200_000 and 0 <= after.angular_uradps <= 100_000
    core.close()
    with capsys.disabled():
        print(f"\n  {share:4.0%} of bytes faulty: {obeyed / sent:6.1%} of drive commands taken", end="")
    if share <= 0.01:
        assert obeyed / sent >= 0.85


def spoil(frame: bytes, share: float, chance: random.Random) -> bytes:
    out = bytearray()
    for byte in frame:
        fault = chance.choice("fdx") if chance.random() < share else ""
        if fault == "f":
            out.append(byte ^ (1 << chance.randrange(8)))
        elif fault == "x":
            out += bytes((byte, byte))
        elif not fault:
            out.append(byte)
    return bytes(out)
