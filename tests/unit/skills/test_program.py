"""Every skill has a program, and the parts that programs are made of do what they say."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from anima.body.navigation.grid import GridNavigator
from anima.body.places import load_places
from anima.body.pose import Pose2D
from anima.config import Settings
from anima.failure import Failure
from anima.skills.arguments import ToPlace, Wait
from anima.skills.program import Body, Failed, Program, Senses, come_to_rest, hold_still, load_program, move_joints
from anima.skills.registry import SKILLS
from anima.types.base import Header
from anima.types.std import JointState, Odometry, PoseWithCovariance, Twist, TwistWithCovariance, Vector3

SETTINGS = Settings()
PLACES = load_places(SETTINGS.map_folder)


def joints(position: float, velocity: float = 0.0) -> JointState:
    return JointState(
        header=Header.at(0.0), name=["shoulder_pan", "left_wheel_joint"], position=np.array([position, 9.0]),
        velocity=np.array([velocity, 9.0]), effort=np.zeros(2),
    )


def odometry(speed: float) -> Odometry:
    return Odometry(
        header=Header.at(0.0, "odom"), child_frame_id="base_link",
        pose=PoseWithCovariance(pose=Pose2D(0.0, 0.0, 0.0).to_msg(), covariance=np.zeros(36)),
        twist=TwistWithCovariance(twist=Twist(linear=Vector3(x=speed)), covariance=np.zeros(36)),
    )


@pytest.fixture
def body() -> Body:
    senses = Senses(0.0, pose=Pose2D(4.6, 2.2, 0.0), odometry=odometry(0.0), joints=joints(0.0))
    return Body(SETTINGS, PLACES, GridNavigator.for_robot(SETTINGS, PLACES), senses)


def later(body: Body, seconds: float, **changes: object) -> None:
    body.senses = replace(body.senses, now=body.senses.now + seconds, **changes)  # type: ignore[arg-type]


@pytest.mark.parametrize("name", SKILLS)
def test_every_skill_of_the_registry_has_a_program(name: str) -> None:
    assert callable(load_program(name))


def test_holding_still_commands_zero_for_its_time(body: Body) -> None:
    steps = hold_still(body, 0.2)
    commanded = []
    for command in steps:
        commanded.append(command.velocity)
        later(body, 0.05)
    assert commanded == [(0.0, 0.0)] * 4


def test_coming_to_rest_waits_for_base_and_arm(body: Body) -> None:
    later(body, 0.0, odometry=odometry(0.3), joints=joints(0.0, 1.0))
    steps = come_to_rest(body)
    for _ in range(3):
        next(steps)
        later(body, 0.05)
    later(body, 0.05, odometry=odometry(0.0))
    next(steps)
    later(body, 0.05, joints=joints(0.0, 0.0))
    with pytest.raises(StopIteration):
        next(steps)


def test_a_body_that_does_not_come_to_rest_is_a_fault(body: Body) -> None:
    later(body, 0.0, odometry=odometry(0.3))
    with pytest.raises(Failed) as caught:
        for _ in come_to_rest(body, patience_s=0.5):
            later(body, 0.1)
    assert caught.value.failure is Failure.HARDWARE_FAULT


def test_joints_are_told_once_and_waited_for(body: Body) -> None:
    steps = move_joints(body, {"shoulder_pan": 1.0}, time_s=0.5)
    first = next(steps)
    assert first.joints == {"shoulder_pan": 1.0} and first.joint_time_s == 0.5
    later(body, 0.3, joints=joints(1.0))
    assert not next(steps).joints, "there, but not before its time"
    later(body, 0.3)
    with pytest.raises(StopIteration) as end:
        next(steps)
    assert end.value.value is True


def test_a_joint_that_does_not_arrive_is_told(body: Body) -> None:
    steps = move_joints(body, {"shoulder_pan": 1.0}, patience_s=0.2)
    next(steps)
    later(body, 0.3)
    with pytest.raises(StopIteration) as end:
        next(steps)
    assert end.value.value is False


def finish(program: Program, body: Body) -> str:
    while True:
        try:
            next(program)
        except StopIteration as end:
            return str(end.value)
        later(body, 0.05)


def test_waiting_ends_by_itself(body: Body) -> None:
    assert finish(load_program("wait")(Wait(seconds=1.0), body), body) == "waited 1 s"
    assert 0.95 <= body.senses.now <= 1.1


def test_going_nowhere_known_fails_with_the_places_there_are(body: Body) -> None:
    with pytest.raises(Failed, match="kitchen") as caught:
        next(load_program("go_to")(ToPlace(place="moon"), body))
    assert caught.value.failure is Failure.TOOL_MISMATCH


def test_without_a_pose_it_does_not_set_out(body: Body) -> None:
    later(body, 0.0, pose=None)
    with pytest.raises(Failed) as caught:
        next(load_program("go_to")(ToPlace(place="kitchen"), body))
    assert caught.value.failure is Failure.PRECONDITION_UNMET
