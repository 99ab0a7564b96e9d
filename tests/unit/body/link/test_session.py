"""The driver's half of the conversation: it arms after an echo only, and never starts again by itself."""

from __future__ import annotations

import math
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from anima import topics as t
from anima.body.link import messages as m
from anima.body.link.codec import Decoder, encode
from anima.body.link.config import load_link
from anima.body.link.driver import SerialBody
from anima.body.link.serial_port import SerialPort
from anima.body.link.session import Phase, Session, Wish
from anima.config import LinkSettings, Settings
from anima.runtime.component import Inbox
from anima.types.base import Header
from anima.types.mind import StopState

TUNING = load_link(Settings()).tuning
GO = Wish(permitted=True, linear_mps=0.2)


class Talk:
    """A session and what a brainstem answers it, told frame by frame."""

    def __init__(self) -> None:
        self.session, self.now, self.seq = Session(TUNING), 0.0, 0
        self.heard: list[m.Message] = []
        self._decoder = Decoder()
        self.session.opened(0.0)

    def step(self, wish: Wish, *said: m.Message, after: float = 0.02) -> list[m.Message]:
        """One step; returns what the host sent."""
        self.now += after
        data = b""
        for message in said:
            data += encode(message, self.seq)
            self.seq += 1
        sent = [frame.message for frame in self._decoder.feed(self.session.step(self.now, data, wish))]
        self.heard += sent
        return sent

    def link(self) -> None:
        hello = next(x for x in self.step(Wish()) if isinstance(x, m.Hello))
        self.step(Wish(), m.HelloAck(hello.nonce, m.SCHEMA, 0x1234, 1, m.Reset.POWER_ON, m.State.DISARMED))

    def arm(self) -> None:
        self.link()
        (arm,) = self.step(GO)
        assert isinstance(arm, m.Arm) and arm.challenge == 0x1234
        self.step(GO, m.Result(self.seq_sent(), m.Arm.id, m.Outcome.DONE, m.State.ARMED, 0, 0x4321))
        assert self.session.armed

    def seq_sent(self) -> int:
        return self.session.last_seq

    def status(self, state: m.State = m.State.ARMED, faults: int = 0, tick: int = 0) -> m.Status:
        return m.Status(tick or round(1000 * self.now), state, faults, 0, 0x34, 0, 0, 0, 0)


def test_an_answer_to_somebody_elses_hello_is_none() -> None:
    talk = Talk()
    talk.step(Wish())
    talk.step(Wish(), m.HelloAck(7, m.SCHEMA, 1, 1, 0, 0))
    assert talk.session.phase is Phase.LINKING


def test_another_schema_is_never_armed() -> None:
    talk = Talk()
    hello = next(x for x in talk.step(GO) if isinstance(x, m.Hello))
    talk.step(GO, m.HelloAck(hello.nonce, m.SCHEMA ^ 1, 1, 1, 0, 0))
    assert "flash" in talk.session.refused
    assert not any(isinstance(x, m.Arm) for _ in range(50) for x in talk.step(GO))


def test_a_session_that_ended_is_told_once_and_not_begun_again_without_a_new_permission() -> None:
    talk = Talk()
    talk.arm()
    assert any(isinstance(x, m.Drive) for x in talk.step(GO, talk.status()))
    talk.step(GO, talk.status(m.State.DISARMED, m.Fault.HOST_SILENT))
    assert "host_silent" in talk.session.lost
    for _ in range(20):
        for message in talk.step(GO, talk.status(m.State.DISARMED)):
            assert isinstance(message, m.Hello | m.Ping)
            if isinstance(message, m.Hello):
                talk.step(GO, m.HelloAck(message.nonce, m.SCHEMA, 9, 1, 1, 0))
        assert talk.session.lost == ""
    talk.step(Wish(), talk.status(m.State.DISARMED))
    assert any(isinstance(x, m.Arm) for _ in range(40) for x in talk.step(GO, talk.status(m.State.DISARMED)))


def test_a_brainstem_that_restarted_is_noticed_by_its_clock() -> None:
    talk = Talk()
    talk.arm()
    talk.step(GO, talk.status(tick=50_000))
    talk.step(GO, talk.status(tick=12))
    assert "restarted" in talk.session.lost


def test_silence_ends_the_session() -> None:
    talk = Talk()
    talk.arm()
    talk.step(GO, talk.status())
    talk.step(GO, after=1.0)
    assert "nothing from the brainstem" in talk.session.lost


def test_a_refusal_says_what_is_wrong() -> None:
    talk = Talk()
    talk.link()
    talk.step(GO)
    talk.step(GO, m.Result(talk.seq_sent(), m.Arm.id, m.Outcome.UNSAFE, m.State.DISARMED, m.Fault.ESTOP, 5))
    assert "estop" in talk.session.refused and not talk.session.armed


@given(st.lists(st.tuples(st.binary(max_size=80), st.booleans(), st.floats(0.0, 0.5)), max_size=40))
def test_no_bytes_whatsoever_arm_it_or_break_it(life: list[tuple[bytes, bool, float]]) -> None:
    session, now = Session(TUNING), 0.0
    session.opened(now)
    for data, permitted, wait in life:
        now += wait
        sent = session.step(now, data, Wish(permitted=permitted, linear_mps=math.pi))
        assert not session.armed
        assert all(isinstance(f.message, m.Hello | m.Ping | m.Arm | m.Clear) for f in Decoder().feed(sent))


def test_without_a_device_the_driver_says_so_and_asks_for_a_stop(tmp_path: Path) -> None:
    body = SerialBody(Settings(sim="none", link=LinkSettings(device=str(tmp_path / "nowhere"))))
    state = StopState(header=Header.at(0.0), latched=False, source="", active=[])
    sent = body.step(0.02, Inbox.of([t.STOP_STATE.of(state)]))
    assert "nowhere" in body.why()
    assert any(item.topic is t.STOP_REQUEST and item.value.stop for item in sent)  # type: ignore[attr-defined]


@pytest.mark.parametrize("name", ["missing", "."])
def test_what_is_no_serial_device_is_an_answer_and_no_crash(tmp_path: Path, name: str) -> None:
    port = SerialPort(str(tmp_path / name), 500_000)
    assert not port.open() and port.trouble
    assert port.read() == b""
    port.write(b"x")
