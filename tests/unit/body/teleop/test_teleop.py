"""Driving by hand: the pad moves the robot while a button is held, and never else."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import pytest

from anima import topics as t
from anima.body.teleop.keyboard import JOINTS, MOVES, Keyboard
from anima.body.teleop.node import Teleop
from anima.body.teleop.tuning import load_teleop
from anima.config import Settings
from anima.runtime.component import Inbox
from anima.topics import Sent
from anima.types.base import Header
from anima.types.operator import Joy
from anima.types.std import JointState, JointTrajectory, TwistStamped

TUNING = load_teleop()
BASE, ARM = TUNING.base, TUNING.arm
NAMES = ["left_wheel_joint", "right_wheel_joint", *ARM.joints]
STEP_S = 0.05


def joy(axes: dict[int, float] | None = None, held: Sequence[int] = ()) -> Sent:
    values = np.zeros(8, np.float32)
    for number, value in (axes or {}).items():
        values[number] = value
    buttons = np.array([int(number in held) for number in range(11)], np.int32)
    return t.JOY.of(Joy(header=Header.at(0.0), axes=values, buttons=buttons))


def joints(**at: float) -> Sent:
    positions = np.array([at.get(name, 0.0) for name in NAMES])
    return t.JOINT_STATES.of(
        JointState(header=Header.at(0.0), name=NAMES, position=positions, velocity=positions * 0, effort=positions * 0)
    )


class Pad:
    """A person at a pad."""

    def __init__(self) -> None:
        self.node = Teleop(Settings())
        self.now = 0.0
        self.inbox = Inbox()

    def step(self, *given: Sent, dt: float = STEP_S) -> tuple[TwistStamped | None, JointTrajectory | None]:
        """One step of the node; what it asks of base and arm."""
        self.now += dt
        for sent in given:
            self.inbox.deliver(sent)
        out = self.node.step(self.now, self.inbox)
        self.inbox.clear()
        base = next((s.value for s in out if isinstance(s.value, TwistStamped)), None)
        arm = next((s.value for s in out if isinstance(s.value, JointTrajectory)), None)
        return base, arm


@pytest.fixture
def pad() -> Pad:
    return Pad()


FORWARD = {BASE.drive_axis: 1.0}


class TestBase:
    def test_sticks_alone_move_nothing(self, pad: Pad) -> None:
        assert pad.step(joy(FORWARD)) == (None, None)

    def test_with_the_button_held_the_stick_drives(self, pad: Pad) -> None:
        base, _ = pad.step(joy({BASE.drive_axis: 0.5, BASE.turn_axis: -1.0}, [BASE.hold_button]))
        assert base is not None
        assert base.twist.linear.x == pytest.approx(0.5 * BASE.drive_mps)
        assert base.twist.angular.z == pytest.approx(-BASE.turn_radps)

    def test_with_both_buttons_it_goes_faster(self, pad: Pad) -> None:
        base, _ = pad.step(joy(FORWARD, [BASE.hold_button, BASE.fast_button]))
        assert base is not None and base.twist.linear.x == pytest.approx(BASE.fast_drive_mps)

    def test_letting_go_says_zero_once_and_then_nothing(self, pad: Pad) -> None:
        pad.step(joy(FORWARD, [BASE.hold_button]))
        base, _ = pad.step(joy(FORWARD))
        assert base is not None and base.twist.linear.x == base.twist.angular.z == 0.0
        assert pad.step(joy(FORWARD)) == (None, None)

    def test_a_pad_whose_battery_dies_stops_the_robot(self, pad: Pad) -> None:
        pad.step(joy(FORWARD, [BASE.hold_button]))
        base, _ = pad.step(dt=TUNING.timeout_s + 0.01)
        assert base is not None and base.twist.linear.x == 0.0
        assert pad.step() == (None, None)

    def test_between_two_messages_of_the_pad_the_stream_goes_on(self, pad: Pad) -> None:
        pad.step(joy(FORWARD, [BASE.hold_button]))
        base, _ = pad.step()
        assert base is not None and base.twist.linear.x > 0.0

    @pytest.mark.parametrize("value", [math.nan, math.inf, 0.5 * TUNING.dead_zone])
    def test_a_stick_that_trembles_or_talks_nonsense_is_at_rest(self, pad: Pad, value: float) -> None:
        base, _ = pad.step(joy({BASE.drive_axis: value}, [BASE.hold_button]))
        assert base is not None and base.twist.linear.x == 0.0

    def test_a_pad_with_few_buttons_and_axes_is_no_fault(self, pad: Pad) -> None:
        bare = Joy(header=Header.at(0.0), axes=np.zeros(0, np.float32), buttons=np.zeros(0, np.int32))
        assert pad.step(t.JOY.of(bare)) == (None, None)


class TestArm:
    def test_with_its_button_held_the_stick_moves_a_joint_at_the_speed_given(self, pad: Pad) -> None:
        lift = ARM.joints["shoulder_lift"]
        pad.step(joints())
        angle = 0.0
        for _ in range(20):
            _, arm = pad.step(joy({lift.axis: 1.0}, [ARM.hold_button]), joints(shoulder_lift=angle))
            assert arm is not None and arm.joint_names == ["shoulder_lift"]
            angle = float(arm.points[0].positions[0])
        assert angle == pytest.approx(20 * STEP_S * lift.radps, rel=0.01)

    def test_a_joint_that_is_held_fast_is_not_pushed_farther_and_farther(self, pad: Pad) -> None:
        lift = ARM.joints["shoulder_lift"]
        for _ in range(100):
            _, arm = pad.step(joy({lift.axis: 1.0}, [ARM.hold_button]), joints(shoulder_lift=0.3))
        assert arm is not None and arm.points[0].positions[0] <= 0.3 + abs(lift.radps) * ARM.lead_s + 1e-9

    def test_a_stick_let_go_holds_the_joint_where_it_is(self, pad: Pad) -> None:
        lift = ARM.joints["shoulder_lift"]
        pad.step(joy({lift.axis: 1.0}, [ARM.hold_button]), joints(shoulder_lift=0.3))
        _, arm = pad.step(joy({}, [ARM.hold_button]), joints(shoulder_lift=0.31))
        assert arm is not None and dict(zip(arm.joint_names, arm.points[0].positions, strict=True)) == {
            "shoulder_lift": pytest.approx(0.31)
        }

    def test_the_button_of_the_base_moves_no_joint(self, pad: Pad) -> None:
        _, arm = pad.step(joints(), joy({1: 1.0}, [BASE.hold_button]))
        assert arm is None

    def test_before_the_joints_are_known_nothing_is_asked_of_them(self, pad: Pad) -> None:
        assert pad.step(joy({1: 1.0}, [ARM.hold_button])) == (None, None)


class TestKeyboard:
    @pytest.mark.parametrize(("key", "way"), MOVES.items())
    def test_the_keys_of_teleop_twist_keyboard_drive(self, pad: Pad, key: str, way: tuple[int, int]) -> None:
        keyboard = Keyboard()
        keyboard.press(0.0, key)
        state = keyboard.state(0.1, 0.0)
        assert state is not None
        base, _ = pad.step(t.JOY.of(state))
        assert base is not None
        assert np.sign(base.twist.linear.x) == way[0] and np.sign(base.twist.angular.z) == way[1]

    @pytest.mark.parametrize(("key", "meant"), JOINTS.items())
    def test_each_joint_has_two_keys(self, pad: Pad, key: str, meant: tuple[str, int]) -> None:
        keyboard = Keyboard()
        keyboard.press(0.0, key)
        state = keyboard.state(0.1, 0.0)
        assert state is not None
        pad.step(joints())
        _, arm = pad.step(t.JOY.of(state))
        assert arm is not None and arm.joint_names == [meant[0]]
        assert np.sign(arm.points[0].positions[0]) == meant[1]

    def test_a_key_that_is_not_repeated_lets_go(self) -> None:
        keyboard = Keyboard()
        keyboard.press(0.0, "i")
        assert keyboard.state(TUNING.keyboard.hold_s - 0.01, 0.0) is not None
        assert keyboard.state(TUNING.keyboard.hold_s, 0.0) is None

    def test_any_other_key_halts(self, pad: Pad) -> None:
        keyboard = Keyboard()
        keyboard.press(0.0, "i")
        keyboard.press(0.1, "#")
        state = keyboard.state(0.15, 0.0)
        assert state is not None
        base, _ = pad.step(t.JOY.of(state))
        assert base is not None and base.twist.linear.x == 0.0

    def test_speed_keys_change_the_speed_and_never_past_the_fast_one(self, pad: Pad) -> None:
        keyboard = Keyboard()
        before = keyboard.drive
        keyboard.press(0.0, "x")
        assert keyboard.drive < before
        for _ in range(50):
            keyboard.press(0.0, "q")
        assert keyboard.drive == keyboard.turn == 1.0


def test_every_joint_of_the_configuration_belongs_to_the_robot() -> None:
    from anima.body.robot_model import load_robot_model

    assert set(ARM.joints) <= set(load_robot_model(Settings()).joints)
