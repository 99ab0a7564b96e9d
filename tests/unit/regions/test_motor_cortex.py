"""The motor cortex runs what is leased, and never says that a skill has ended while the body still moves."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.skill_rig import call_of

from anima import topics as t
from anima.config import Settings
from anima.failure import Failure
from anima.regions import motor_cortex
from anima.regions.motor_cortex import LETS_GO_S, MotorCortex
from anima.runtime.component import Inbox
from anima.skills.program import Body, Command, Failed, Program
from anima.skills.registry import skill
from anima.topics import Sent
from anima.types.base import Header, Time
from anima.types.mind import Lease, Outcome, SkillFeedback, Speech, StopState
from anima.types.std import (
    JointState,
    JointTrajectory,
    Odometry,
    Pose,
    PoseWithCovariance,
    Twist,
    TwistStamped,
    TwistWithCovariance,
    Vector3,
)

STEP_S = 0.05
DECELERATION = 0.8
ARM = ["shoulder_pan", "shoulder_lift", "elbow_flex", "wrist_flex", "wrist_roll", "gripper"]


class Bench:
    """A motor cortex over a body of two numbers: it follows commands with limited acceleration."""

    def __init__(self, program: Callable[[object, Body], Program] | None = None) -> None:
        self.cortex = MotorCortex(Settings())
        self.now, self.speed, self.wanted = 10.0, 0.0, 0.0
        self.arm_speed = 0.0
        self.kernel_answers = True
        self.sent: list[tuple[float, Sent]] = []
        self.pending: list[Sent] = []

    def lease(self, name: str, id: str = "a", timeout_s: float = 60.0, **arguments: object) -> Lease:
        lease = Lease(
            header=Header.at(self.now), id=id, call=call_of(name, self.now, f"call-{id}", **arguments),
            resources=[part.value for part in skill(name).resources], deadline=Time.at(self.now + timeout_s),
            granted=True, reason="",
        )
        self.pending.append(t.LEASE.of(lease))
        return lease

    def revoke(self, lease: Lease) -> None:
        self.pending.append(t.LEASE.of(lease.model_copy(update={"granted": False, "reason": "changed my mind"})))

    def latch(self, latched: bool = True) -> None:
        state = StopState(header=Header.at(self.now), latched=latched, source="a person", active=[])
        self.pending.append(t.STOP_STATE.of(state))

    def step(self) -> list[Sent]:
        self.now += STEP_S
        most = DECELERATION * STEP_S
        self.speed += float(np.clip(self.wanted - self.speed, -most, most))
        velocity = TwistWithCovariance(twist=Twist(linear=Vector3(x=self.speed)), covariance=np.zeros(36))
        pose = PoseWithCovariance(pose=Pose(), covariance=np.zeros(36))
        header = Header.at(self.now, "odom")
        joints = JointState(
            header=header, name=ARM, position=np.full(6, 0.3), velocity=np.full(6, self.arm_speed), effort=np.zeros(6)
        )
        senses = [
            t.ODOM.of(Odometry(header=header, child_frame_id="base_link", pose=pose, twist=velocity)),
            t.JOINT_STATES.of(joints),
        ]
        if self.kernel_answers:
            senses.append(t.CMD_VEL.of(TwistStamped.planar(self.now, self.wanted, 0.0)))
        out = self.cortex.step(self.now, self._inbox([*self.pending, *senses]))
        self.pending = []
        for sent in out:
            self.sent.append((self.now, sent))
            if isinstance(sent.value, TwistStamped):
                self.wanted = sent.value.twist.linear.x
        return out

    def _inbox(self, new: list[Sent]) -> Inbox:
        self.inbox = getattr(self, "inbox", Inbox())
        self.inbox.clear()
        for sent in new:
            self.inbox.deliver(sent)
        return self.inbox

    def outcomes(self) -> list[Outcome]:
        return [sent.value for _, sent in self.sent if isinstance(sent.value, Outcome)]

    def until_outcome(self, count: int = 1, steps: int = 400) -> Outcome:
        for _ in range(steps):
            self.step()
            if len(self.outcomes()) >= count:
                return self.outcomes()[-1]
        raise AssertionError("no outcome")

    def velocities(self) -> list[float]:
        return [sent.value.twist.linear.x for _, sent in self.sent if isinstance(sent.value, TwistStamped)]


def driving(arguments: object, body: Body) -> Program:
    for k in range(60):
        yield Command(velocity=(0.4, 0.0), phase="driving", progress=k / 60)
    return "arrived"


@pytest.fixture
def programs(monkeypatch: pytest.MonkeyPatch) -> Iterator[dict[str, Callable[..., Program]]]:
    table: dict[str, Callable[..., Program]] = {"go_to": driving}
    real = motor_cortex.load_program
    monkeypatch.setattr(motor_cortex, "load_program", lambda name: table.get(name) or real(name))
    yield table


def test_nothing_is_commanded_while_nobody_holds_a_lease() -> None:
    bench = Bench()
    for _ in range(20):
        assert bench.step() == []
    assert "no skill" in bench.cortex.why()


def test_a_finished_skill_is_reported_only_after_the_wheels_stand(programs: dict[str, object]) -> None:
    bench = Bench()
    bench.lease("go_to", place="kitchen")
    outcome = bench.until_outcome()
    assert outcome.success and outcome.failure == Failure.NONE and outcome.detail == "arrived"
    assert abs(bench.speed) < 0.01
    assert outcome.duration_s > 60 * STEP_S


def test_a_cancelled_skill_brings_the_base_to_rest_before_it_says_so(programs: dict[str, object]) -> None:
    bench = Bench()
    lease = bench.lease("go_to", place="kitchen")
    for _ in range(30):
        bench.step()
    assert bench.speed > 0.3
    bench.revoke(lease)
    already = len(bench.velocities())
    outcome = bench.until_outcome()
    assert Failure(outcome.failure) is Failure.INTERRUPTED
    assert outcome.detail == "changed my mind"
    assert abs(bench.speed) < 0.01
    assert set(bench.velocities()[already:]) == {0.0}, "a late command overwrote the zero"


@settings(max_examples=40, deadline=None)
@given(before=st.integers(0, 70), kind=st.sampled_from(["revoke", "stop", "deadline"]))
def test_whenever_and_however_it_is_cancelled_no_command_follows_the_zero(before: int, kind: str) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(motor_cortex, "load_program", lambda name: driving)
        bench = Bench()
        lease = bench.lease("go_to", place="kitchen", timeout_s=before * STEP_S if kind == "deadline" else 60.0)
        for _ in range(before):
            bench.step()
        if kind == "revoke":
            bench.revoke(lease)
        elif kind == "stop":
            bench.latch()
        already = len(bench.velocities())
        bench.until_outcome()
        assert abs(bench.speed) < 0.01
        if kind != "deadline":
            assert all(speed == 0.0 for speed in bench.velocities()[already:])
        for _ in range(10):
            assert bench.step() == []
        assert len(bench.outcomes()) == 1


def test_a_deadline_ends_a_skill_as_a_timeout_that_names_the_phase(programs: dict[str, object]) -> None:
    bench = Bench()
    bench.lease("go_to", timeout_s=1.0, place="kitchen")
    outcome = bench.until_outcome()
    assert Failure(outcome.failure) is Failure.TIMEOUT
    assert "driving" in outcome.detail


def test_a_latched_stop_interrupts_and_names_who_latched_it(programs: dict[str, object]) -> None:
    bench = Bench()
    bench.lease("go_to", place="kitchen")
    bench.step()
    bench.latch()
    outcome = bench.until_outcome()
    assert Failure(outcome.failure) is Failure.INTERRUPTED
    assert "a person" in outcome.detail


def test_a_silent_process_ends_what_moves_as_the_lease_may_have_died_with_the_gate(
    programs: dict[str, object],
) -> None:
    bench = Bench()
    bench.lease("go_to", place="kitchen")
    bench.step()
    silent = StopState(header=Header.at(bench.now), latched=False, source="", active=["process_silent"])
    bench.pending.append(t.STOP_STATE.of(silent))
    outcome = bench.until_outcome()
    assert Failure(outcome.failure) is Failure.INTERRUPTED
    assert "no sign of life" in outcome.detail


def test_the_robot_can_still_speak_while_the_stop_is_latched() -> None:
    bench = Bench()
    bench.latch()
    bench.lease("say", text="I am stopped.")
    outcome = bench.until_outcome()
    assert outcome.success
    speech = [sent.value for _, sent in bench.sent if isinstance(sent.value, Speech)]
    assert [s.text for s in speech] == ["I am stopped."]
    assert speech[0].cause == "call-a"


def test_it_speaks_while_it_drives(programs: dict[str, object]) -> None:
    bench = Bench()
    bench.lease("go_to", id="drive", place="kitchen")
    bench.lease("say", id="talk", text="On my way.")
    bench.step()
    bench.step()
    assert bench.outcomes()[0].lease == "talk"
    while bench.velocities()[-1] == 0.0 and bench.now < 11.0:
        bench.step()
    assert bench.velocities()[-1] == 0.4


def test_a_drive_lets_go_before_it_moves(programs: dict[str, object]) -> None:
    bench = Bench()
    bench.lease("go_to", place="kitchen")
    bench.step()
    until = bench.now + LETS_GO_S
    while bench.now < until - 0.5 * STEP_S:
        assert set(bench.velocities()) == {0.0}
        bench.step()
    bench.step()
    assert bench.velocities()[-1] == 0.4


def test_taking_a_lease_back_before_it_arrives_keeps_it_from_starting(programs: dict[str, object]) -> None:
    bench = Bench()
    lease = bench.lease("go_to", place="kitchen")
    bench.pending.clear()
    bench.revoke(lease)
    bench.step()
    bench.pending.append(t.LEASE.of(lease))
    outcome = bench.until_outcome()
    assert Failure(outcome.failure) is Failure.INTERRUPTED
    assert bench.velocities() == []


def test_a_new_lease_on_the_base_waits_until_the_old_motion_has_ended(programs: dict[str, object]) -> None:
    bench = Bench()
    first = bench.lease("go_to", id="first", place="kitchen")
    for _ in range(20):
        bench.step()
    bench.revoke(first)
    bench.lease("go_to", id="second", place="office")
    bench.until_outcome(2)
    ends = [at for at, sent in bench.sent if isinstance(sent.value, Outcome)]
    starts = [
        at for at, sent in bench.sent if isinstance(sent.value, SkillFeedback) and sent.value.lease == "second"
    ]
    assert bench.outcomes()[0].lease == "first"
    assert starts[0] >= ends[0]


def test_a_fault_in_a_program_stops_the_body_and_is_told(programs: dict[str, object]) -> None:
    def broken(arguments: object, body: Body) -> Program:
        for _ in range(10):
            yield Command(velocity=(0.4, 0.0))
        raise ZeroDivisionError("a mistake")

    programs["go_to"] = broken
    bench = Bench()
    bench.lease("go_to", place="kitchen")
    outcome = bench.until_outcome()
    assert Failure(outcome.failure) is Failure.UNKNOWN
    assert "a mistake" in outcome.detail and "test_motor_cortex.py" in outcome.detail
    assert abs(bench.speed) < 0.01


@pytest.mark.parametrize(
    "command",
    [Command(velocity=(float("nan"), 0.0)), Command(velocity=(0.1, float("inf"))), Command(joints={"gripper": 0.1})],
)
def test_a_command_that_no_program_may_give_never_leaves(programs: dict[str, object], command: Command) -> None:
    def wild(arguments: object, body: Body) -> Program:
        yield command
        return ""

    programs["go_to"] = wild
    bench = Bench()
    bench.lease("go_to", place="kitchen")
    outcome = bench.until_outcome()
    assert Failure(outcome.failure) is Failure.UNKNOWN
    assert set(bench.velocities()) == {0.0}
    assert not any(isinstance(sent.value, JointTrajectory) for _, sent in bench.sent)


def test_a_typed_failure_of_a_program_becomes_the_outcome(programs: dict[str, object]) -> None:
    def blocked(arguments: object, body: Body) -> Program:
        yield Command(velocity=(0.1, 0.0))
        raise Failed(Failure.PATH_BLOCKED, "a box stands in the door")

    programs["go_to"] = blocked
    bench = Bench()
    bench.lease("go_to", place="kitchen")
    outcome = bench.until_outcome()
    assert Failure(outcome.failure) is Failure.PATH_BLOCKED
    assert outcome.detail == "a box stands in the door"


def test_cancelling_a_grasp_holds_the_arm_where_it_is_and_keeps_the_grip(programs: dict[str, object]) -> None:
    def reaching(arguments: object, body: Body) -> Program:
        yield Command(joints={"shoulder_pan": 1.0, "gripper": -0.1}, phase="reaching")
        while True:
            yield Command()

    programs["pick"] = reaching
    bench = Bench()
    lease = bench.lease("pick", object="red_cube")
    bench.arm_speed = 0.5
    for _ in range(5):
        bench.step()
    bench.revoke(lease)
    for _ in range(10):
        bench.step()
    assert bench.outcomes() == [], "the arm still moves"
    bench.arm_speed = 0.0
    outcome = bench.until_outcome()
    assert Failure(outcome.failure) is Failure.INTERRUPTED
    hold = [sent.value for _, sent in bench.sent if isinstance(sent.value, JointTrajectory)][-1]
    assert "gripper" not in hold.joint_names
    assert np.allclose(hold.points[0].positions, 0.3)


def test_a_body_that_never_rests_is_a_fault_and_not_a_silence(programs: dict[str, object]) -> None:
    bench = Bench()
    lease = bench.lease("go_to", place="kitchen")
    bench.step()
    bench.kernel_answers = False
    bench.revoke(lease)
    outcome = bench.until_outcome()
    assert Failure(outcome.failure) is Failure.HARDWARE_FAULT
    assert "reflex kernel" in outcome.detail


def test_arguments_that_do_not_fit_are_refused_without_motion() -> None:
    bench = Bench()
    bench.lease("go_to", plaice="kitchen")
    outcome = bench.until_outcome()
    assert Failure(outcome.failure) is Failure.PARSE_ERROR
    assert "place" in outcome.detail


def test_progress_and_phase_are_told_twice_a_second(programs: dict[str, object]) -> None:
    bench = Bench()
    bench.lease("go_to", place="kitchen")
    bench.until_outcome()
    told = [(at, sent.value) for at, sent in bench.sent if isinstance(sent.value, SkillFeedback)]
    assert {feedback.phase for _, feedback in told} == {"driving"}
    gaps = np.diff([at for at, _ in told])
    assert len(told) >= 6 and gaps.max() <= 0.6
    assert [f.progress for _, f in told] == sorted(f.progress for _, f in told)


def test_a_clock_that_is_set_back_ends_what_ran(programs: dict[str, object]) -> None:
    bench = Bench()
    bench.lease("go_to", place="kitchen")
    for _ in range(10):
        bench.step()
    bench.now = 0.0
    outcome = bench.until_outcome()
    assert Failure(outcome.failure) is Failure.INTERRUPTED
    assert "clock" in outcome.detail
    assert bench.now < 5.0 and abs(bench.speed) < 0.01
