"""A conversation with the brainstem: echo handshake, arming, drive commands, its end. Bytes in, bytes out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import Enum

from anima.body.link.codec import Decoder, encode
from anima.body.link.config import LinkTuning
from anima.body.link.messages import (
    SCHEMA,
    Arm,
    ArmFlag,
    Clear,
    Disarm,
    Drive,
    Fault,
    Hello,
    HelloAck,
    Joints,
    Message,
    Outcome,
    Ping,
    Pong,
    Quality,
    Reset,
    Result,
    State,
    Status,
)

_CHALLENGE_GOOD_S = 1.5  # the firmware's own limit is 2 s
_RETRY_S = 0.04
_NUMBERS = 256
_RESTART_MS = 1000  # firmware time that jumps back by more than this began anew


class Phase(Enum):
    """How far the conversation is."""

    CLOSED = "closed"
    LINKING = "linking"
    READY = "ready"
    ARMING = "arming"
    ARMED = "armed"


@dataclass(frozen=True)
class Wish:
    """What the host wants: `permitted` to be armed, `escape` from a contact, a velocity, joint targets (rad)."""

    permitted: bool = False
    escape: bool = False
    linear_mps: float = 0.0
    angular_radps: float = 0.0
    joints_rad: Sequence[float] | None = None


@dataclass
class LineQuality:
    """How well the line works. Round trips in seconds of the caller's clock; counts since the line was opened."""

    round_trip_s: float = float("nan")
    sent: int = 0
    received: int = 0
    lost: int = 0
    """telemetry frames that never came"""
    bad: int = 0
    """frames from the brainstem that were spoiled"""
    heard_share: float = float("nan")
    """of our frames that the brainstem understood, over the last half second"""
    _marks: tuple[int, int] | None = field(default=None, repr=False)

    def heard(self, report: Quality) -> None:
        """Takes in the brainstem's own count."""
        if self._marks is not None:
            sent, frames = self.sent - self._marks[0], (report.frames - self._marks[1]) % 2**32
            if sent > 0:
                self.heard_share = min(1.0, frames / sent)
        self._marks = (self.sent, report.frames)


class Session:
    """The host's half of the protocol. `step` is pure in (state, now, received, wish).

    It arms only while that is permitted, after the brainstem has echoed a nonce of this very conversation, and says
    once, in `lost`, why a session that it had is over. It never arms again by itself after that: whoever permits must
    permit anew. Nothing is sent twice across a gap.
    """

    def __init__(self, tuning: LinkTuning) -> None:
        self._tuning = tuning
        self._barred = False  # until permission was withdrawn once
        self._decoder = Decoder()
        self._seq = 0
        self.phase = Phase.CLOSED
        self.quality = LineQuality()
        self.readings: list[Message] = []
        """what the brainstem said in the last step"""
        self.lost = ""
        """why the session ended in the last step; empty: it didn't"""
        self.refused = ""
        """why arming was given up in the last step"""
        self.status: Status | None = None
        self.reset_cause: Reset | None = None
        self.boot: int | None = None
        self._forget()

    def _forget(self) -> None:
        self._nonce = 0
        self._challenge: tuple[int, float] | None = None
        self._pending: tuple[int, float] | None = None
        self._next_try = self._next_ping = self._next_joints = float("-inf")
        self._pings: dict[int, float] = {}
        self._heard_at = float("-inf")
        self._their_seq: int | None = None
        self._session = 0
        self._arming_since = 0.0
        self._board_state = State.DISARMED

    def opened(self, now: float) -> None:
        """The line was opened: what was before is forgotten."""
        self._decoder = Decoder()
        self.quality = LineQuality()
        self.status = None
        self._forget()
        self._heard_at = now
        # Nonces differ between conversations, so that an answer that was under way is never taken for this one's.
        self._nonce = int(now * 1e4) & 0xFFFFFF00
        self.phase = Phase.LINKING

    def closed(self, why: str) -> None:
        """The line is gone."""
        self.lost = why if self.phase is Phase.ARMED else ""
        self._barred = self._barred or bool(self.lost)
        self.phase = Phase.CLOSED

    @property
    def armed(self) -> bool:
        """Whether drive commands are obeyed."""
        return self.phase is Phase.ARMED

    @property
    def last_seq(self) -> int:
        """The sequence number of the frame that was sent last."""
        return (self._seq - 1) % _NUMBERS

    @property
    def linked(self) -> bool:
        """Whether the brainstem has echoed."""
        return self.phase in (Phase.READY, Phase.ARMING, Phase.ARMED)

    def step(self, now: float, received: bytes, wish: Wish) -> bytes:
        """Takes in what came, returns what to send."""
        self.readings, self.lost, self.refused = [], "", ""
        self._barred = self._barred and wish.permitted
        if self.phase is Phase.CLOSED:
            return b""
        for frame in self._decoder.feed(received):
            self._count(frame.seq)
            self.readings.append(frame.message)
            self._take(now, frame.message)
        self.quality.bad = self._decoder.counts.bad_crc + self._decoder.counts.bad_frame
        if self.linked and now - self._heard_at > self._tuning.silent_s:
            self._lose(f"nothing from the brainstem for {self._tuning.silent_s:g} s")
        frames = self._speak(now, wish)
        # A zero byte first: whatever half frame is under way ends there.
        return b"\0" + b"".join(frames) if frames else b""

    # --- hearing ---------------------------------------------------------------------------------

    def _count(self, seq: int) -> None:
        self.quality.received += 1
        if self._their_seq is not None:
            self.quality.lost += (seq - self._their_seq - 1) % _NUMBERS
        self._their_seq = seq

    def _take(self, now: float, message: Message) -> None:
        match message:
            case HelloAck():
                self._greeted(now, message)
            case Result():
                self._answered(now, message)
            case Status():
                self._heard_at = now
                self._told(message)
            case Pong():
                sent = self._pings.pop(message.nonce, None)
                if sent is not None:
                    self.quality.round_trip_s = now - sent
            case Quality():
                self.quality.heard(message)

    def _greeted(self, now: float, ack: HelloAck) -> None:
        if ack.nonce != self._nonce:
            return
        if ack.schema != SCHEMA:
            self.refused = f"the firmware speaks schema {ack.schema:08x} and this driver {SCHEMA:08x}: flash it anew"
            return
        if self.boot is not None and ack.boot != self.boot and self.armed:
            self._lose(f"the brainstem restarted ({Reset(ack.reset).name.lower()})")
        self.boot, self.reset_cause = ack.boot, Reset(ack.reset)
        self._board_state = State(ack.state)
        self._challenge = (ack.challenge, now)
        self._next_try = now
        self._heard_at = now
        if self.phase is Phase.LINKING:
            self.phase = Phase.READY

    def _answered(self, now: float, result: Result) -> None:
        if self._pending is None or self._pending[0] != result.request_seq:
            return
        self._pending = None
        self._board_state = State(result.state)
        self._challenge = (result.challenge, now)
        if self.phase is not Phase.ARMING:
            return
        if result.outcome == Outcome.UNSAFE:
            self._give_up(f"the brainstem refuses: {names(result.live)}")
        elif result.outcome == Outcome.DONE and result.request == Arm.id and result.state == State.ARMED:
            self.phase = Phase.ARMED
            self._next_joints = now
        elif result.outcome != Outcome.DONE:
            self._next_try = now + _RETRY_S

    def _told(self, status: Status) -> None:
        before, self.status = self.status, status
        self._board_state = State(status.state)
        if before is not None and before.tick_ms - status.tick_ms > _RESTART_MS:
            self._lose("the brainstem restarted")
        elif self.armed and (status.state != State.ARMED or status.session != self._session):
            self._lose(f"the brainstem stopped: {names(status.faults) or State(status.state).name.lower()}")

    def _lose(self, why: str) -> None:
        if self.armed:
            self.lost = self.lost or why
        elif self.phase is Phase.ARMING:
            self.refused = self.refused or why
        self._barred = True
        self.phase = Phase.LINKING
        self._challenge = self._pending = None
        self._next_try = float("-inf")

    def _give_up(self, why: str) -> None:
        self.refused = why
        self._barred = True
        self.phase = Phase.READY

    # --- speaking --------------------------------------------------------------------------------

    def _speak(self, now: float, wish: Wish) -> list[bytes]:
        if self.phase is Phase.LINKING:
            return self._greet(now)
        if self.phase is Phase.ARMED and not wish.permitted:
            self.phase = Phase.READY
            return [self._frame(Disarm(flags=0))]
        if self.phase is Phase.ARMED:
            return [*self._command(now, wish), *self._ping(now)]
        if self.phase is Phase.READY and wish.permitted and not self._barred:
            self.phase, self._arming_since = Phase.ARMING, now
        if self.phase is Phase.ARMING and not wish.permitted:
            self.phase = Phase.READY
        if self.phase is Phase.ARMING:
            return self._arm(now, wish)
        return self._ping(now)

    def _greet(self, now: float) -> list[bytes]:
        if now < self._next_try:
            return []
        self._next_try = now + self._tuning.request_timeout_s
        self._nonce = (self._nonce + 1) & 0xFFFFFFFF
        return [self._frame(Hello(nonce=self._nonce, schema=SCHEMA))]

    def _arm(self, now: float, wish: Wish) -> list[bytes]:
        if now - self._arming_since > self._tuning.arming_limit_s:
            self._give_up(f"the brainstem didn't arm within {self._tuning.arming_limit_s:g} s")
            return []
        if self._pending is not None and now >= self._pending[1]:
            self._pending = self._challenge = None
        if self._pending is not None or now < self._next_try:
            return []
        if self._challenge is None or now - self._challenge[1] > _CHALLENGE_GOOD_S:
            return self._greet(now)
        number, _ = self._challenge
        if self._board_state is State.STOPPING:
            return []
        self._challenge = None
        flags = int(ArmFlag.ESCAPE) if wish.escape else 0
        self._pending = (self._seq, now + self._tuning.request_timeout_s)
        if self._board_state is State.FAULT:
            return [self._frame(Clear(challenge=number, flags=flags))]
        self._session = number & 0xFF
        return [self._frame(Arm(challenge=number, flags=flags))]

    def _command(self, now: float, wish: Wish) -> list[bytes]:
        drive = Drive(
            session=self._session,
            linear_mmps=_thousandths(wish.linear_mps),
            angular_mradps=_thousandths(wish.angular_radps),
        )
        out = [self._frame(drive)]
        if wish.joints_rad is not None and now >= self._next_joints:
            self._next_joints = now + self._tuning.repeat_joints_s
            out.append(self._joints(wish.joints_rad))
        return out

    def joints_changed(self) -> None:
        """The next step sends the joint targets, which else are only repeated now and then."""
        self._next_joints = float("-inf")

    def _joints(self, targets: Sequence[float]) -> bytes:
        a, b, c, d, e, f = (_thousandths(angle) for angle in targets)
        return self._frame(Joints(session=self._session, position_mrad=(a, b, c, d, e, f)))

    def _ping(self, now: float) -> list[bytes]:
        if now < self._next_ping:
            return []
        self._next_ping = now + self._tuning.ping_period_s
        self._nonce = (self._nonce + 1) & 0xFFFFFFFF
        self._pings = {self._nonce: now}
        return [self._frame(Ping(nonce=self._nonce))]

    def _frame(self, message: Message) -> bytes:
        data = encode(message, self._seq)
        self._seq = (self._seq + 1) % _NUMBERS
        self.quality.sent += 1
        return data


def names(faults: int) -> str:
    """Fault bits in words, e.g. ``bumper, tilt``; empty for none."""
    return ", ".join(str(bit.name).lower() for bit in Fault if faults & bit)


def _thousandths(value: float) -> int:
    return min(max(round(value * 1000.0), -32768), 32767)
