"""Hand-made recordings: which hazards are read out of them, and that bad answers to them are seen."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pytest
from support.reflex_rig import bumpers, cliffs, drive, joints, request

from anima import topics as t
from anima.audit.recording import Recording
from anima.topics import Sent
from anima.types.base import Header
from anima.types.mind import Fault, GroundTruth
from anima.types.std import Pose
from anima_sim.acceptance.numbers import Answer, judge
from anima_sim.acceptance.reading import Drive, Message, read_drive, read_messages
from anima_sim.config import load_robot

ROBOT = load_robot()
FRONT_M, BOX_M = ROBOT.base.footprint_m.front, 0.17
TICK_S = 0.02


def truth(x: float, collisions: int = 0) -> GroundTruth:
    return GroundTruth(
        header=Header.at(0.0), robot=Pose.planar(x, 0.0, 0.0), linear_speed=0.0, angular_speed=0.0,
        wheel_speeds=np.zeros(2), objects=[], collisions=collisions, worst_collision_speed=0.0, docked=False,
    )


@dataclass
class Tape:
    """A recording in the making. The robot goes as fast as it is allowed to, from x = 0 on."""

    messages: list[Message] = field(default_factory=list)
    now: float = 0.0
    x: float = 0.0
    collisions: int = 0
    pressed: bool = False
    floor: bool = True

    def put(self, sent: Sent) -> None:
        self.messages.append(Message(self.now, sent.topic.name, sent.value))

    def go(self, seconds: float, allowed: float, wished: float | None = 0.3) -> None:
        """Some ticks of a body that is asked for `wished` (None: of nothing)."""
        for _ in range(round(seconds / TICK_S)):
            self.now += TICK_S
            self.x += allowed * TICK_S
            if wished is not None:
                self.put(t.CMD_VEL_TELEOP.of(drive(self.now, wished)))
            wheel = allowed / ROBOT.base.wheel_radius_m
            self.put(t.JOINT_STATES.of(joints(self.now, (wheel, wheel))))
            self.put(t.BUMPERS.of(bumpers(self.now, left=self.pressed)))
            self.put(t.CLIFFS.of(cliffs(self.now, None if self.floor else {"cliff_front_left_link": 0.4})))
            self.put(t.GROUND_TRUTH.of(truth(self.x, self.collisions)))
            self.put(t.CMD_VEL.of(drive(self.now, allowed)))

    def box(self, ahead_m: float) -> None:
        at = self.x + FRONT_M + ahead_m + BOX_M
        self.put(t.FAULT.of(Fault(kind="blocked_path", target=f"{at},0.0")))

    def read(self) -> Drive:
        return read_drive(self.messages, ROBOT)

    def answers(self) -> list[Answer]:
        read = self.read()
        return list(judge(read.samples, read.hazards).answers)


def test_a_box_is_a_hazard_from_when_it_is_too_near_until_it_is_taken_away() -> None:
    tape = Tape()
    tape.go(1.0, 0.3)
    tape.box(0.25)
    tape.go(0.5, 0.3)
    tape.go(2.0, 0.0)
    tape.put(t.FAULT.of(Fault(kind="")))
    tape.go(1.0, 0.3)
    (answer,) = tape.answers()
    assert answer.hazard.kind == "obstacle"
    assert answer.hazard.began_s == pytest.approx(1.5, abs=0.03) and answer.hazard.ended_s == pytest.approx(3.5)
    assert answer.to_stop_s < 0.1 and answer.held == 1.0 and answer.to_resume_s < 0.1


def test_a_touch_of_the_box_is_counted() -> None:
    tape = Tape()
    tape.go(0.5, 0.3)
    tape.box(0.05)
    tape.go(0.2, 0.3)
    tape.collisions = 1
    tape.go(1.0, 0.0)
    (answer,) = tape.answers()
    assert answer.hazard.touches == 1


def test_a_box_that_a_frozen_lidar_cannot_show_is_the_bumpers_affair() -> None:
    tape = Tape()
    tape.go(0.5, 0.3)
    tape.put(t.FAULT.of(Fault(kind="lost_sensor", target="lidar:frozen")))
    tape.box(0.10)
    tape.go(0.3, 0.3)
    tape.pressed, tape.collisions = True, 1
    tape.go(0.1, 0.3)
    tape.go(1.0, 0.0)
    (answer,) = tape.answers()
    assert answer.hazard.kind == "bumper" and answer.hazard.touches == 0
    assert answer.to_stop_s == pytest.approx(0.1)


def test_presses_within_a_second_are_one_bump() -> None:
    tape = Tape()
    for _ in range(3):
        tape.pressed = True
        tape.go(0.1, 0.0)
        tape.pressed = False
        tape.go(0.5, 0.0)
    tape.go(2.0, 0.3)
    (answer,) = tape.answers()
    assert answer.hazard.ended_s == pytest.approx(1.3)


def test_no_floor_is_a_cliff_until_there_is_floor_again() -> None:
    tape = Tape()
    tape.go(1.0, 0.3)
    tape.floor = False
    tape.go(0.4, 0.3)
    tape.go(1.0, 0.0)
    tape.floor = True
    tape.go(1.0, 0.3)
    (answer,) = tape.answers()
    assert answer.hazard.kind == "cliff" and answer.to_stop_s == pytest.approx(0.4, abs=0.03)


def stopped(*after_reset: tuple[float, float, float | None]) -> list[Answer]:
    """A person's stop, and its reset a second later; then `(seconds, allowed, wished)`."""
    tape = Tape()
    tape.go(1.0, 0.3)
    tape.put(t.STOP_REQUEST.of(request(tape.now, True)))
    tape.go(1.0, 0.0)
    tape.put(t.STOP_REQUEST.of(request(tape.now, False)))
    for part in after_reset:
        tape.go(*part)
    return tape.answers()


def test_a_stop_lasts_until_a_stream_that_let_go_begins_anew() -> None:
    (answer,) = stopped((1.0, 0.0, 0.3), (0.5, 0.0, None), (1.0, 0.3, 0.3))
    assert answer.hazard.ended_s == pytest.approx(3.52)
    assert answer.held == 1.0 and answer.to_resume_s < 0.05


def test_a_zero_counts_as_letting_go() -> None:
    (answer,) = stopped((1.0, 0.0, 0.3), (0.1, 0.0, 0.0), (1.0, 0.3, 0.3))
    assert answer.hazard.ended_s == pytest.approx(3.12)


def test_a_reset_that_restarts_the_motion_is_a_fault() -> None:
    (answer,) = stopped((1.0, 0.3, 0.3), (0.5, 0.0, None), (1.0, 0.3, 0.3))
    assert answer.held < 0.7


def test_it_is_read_from_the_file_as_it_was_sent(tmp_path: Path) -> None:
    tape = Tape()
    tape.go(0.3, 0.3)
    tape.box(0.05)
    tape.go(0.3, 0.0)
    topics = {topic.name: topic for topic in (
        t.CMD_VEL, t.CMD_VEL_TELEOP, t.JOINT_STATES, t.BUMPERS, t.CLIFFS, t.GROUND_TRUTH, t.FAULT,
    )}
    with Recording(tmp_path / "drive") as recording:
        for message in tape.messages:
            recording.put(Sent(topics[message.topic], message.value), message.at_s)
    read, made = read_drive(read_messages(tmp_path / "drive"), ROBOT), tape.read()
    assert len(read.samples) == len(made.samples) == 30
    assert [h.kind for h in read.hazards] == [h.kind for h in made.hazards] == ["obstacle"]
    for ours, theirs in zip(read.samples, made.samples, strict=True):
        assert ours.allowed == theirs.allowed and ours.moved == pytest.approx(theirs.moved)
