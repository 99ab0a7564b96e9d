"""Door 3, whatever comes: no topic, in any order and with any values, makes the kernel send what it must not."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from support.reflex_rig import (
    BEAMS,
    CONFIG,
    TICK_S,
    Rig,
    beat,
    bumpers,
    cliffs,
    drive,
    imu,
    joints,
    odom,
    reach,
    request,
    scan,
    scan_with,
    wall,
)

from anima import topics as t
from anima.runtime.processes import Process
from anima.topics import Sent
from anima.types.base import Header
from anima.types.std import Twist, TwistStamped, Vector3

BASE, ARM = CONFIG.body.base, CONFIG.body.arm
FEW = settings(max_examples=60, deadline=None)

wild = st.sampled_from([math.nan, math.inf, -math.inf, 1e308, -1e308, 1e9, -0.0, 0.0, 5e-324]) | st.floats(-2, 2)
sane = st.floats(-0.6, 0.6)
age = st.sampled_from([0.0, 0.0, 0.0, 0.01, 0.2, 1.0, 1e6, -0.05, -0.5, -1e6])


@st.composite
def velocity(draw: st.DrawFn, number: st.SearchStrategy[float] = wild) -> tuple[Any, float]:
    rest = draw(st.tuples(wild, wild, wild, wild) | st.just((0.0, 0.0, 0.0, 0.0)))
    twist = Twist(
        linear=Vector3(x=draw(number), y=rest[0], z=rest[1]),
        angular=Vector3(x=rest[2], y=rest[3], z=draw(number)),
    )
    topic = draw(st.sampled_from([t.CMD_VEL_SKILL, t.CMD_VEL_TELEOP]))
    return topic.of(TwistStamped(header=Header.at(0.0, "base_link"), twist=twist)), draw(age)


@st.composite
def arm_targets(draw: st.DrawFn) -> tuple[Any, float]:
    names = draw(st.lists(st.sampled_from([*ARM.range_rad, "tail", "left_wheel_joint"]), min_size=1, max_size=6))
    message = reach(0.0, dict.fromkeys(names, 0.0), draw(st.sampled_from([0.0, 0.5, 1e-9])))
    point = message.points[0].model_copy(
        update={"positions": np.array([draw(wild) for _ in range(draw(st.sampled_from([len(set(names)), 2])))])}
    )
    return t.ARM_COMMAND_SKILL.of(message.model_copy(update={"points": [point]})), draw(age)


@st.composite
def sensor(draw: st.DrawFn) -> tuple[Any, float]:
    value = draw(wild)
    width = draw(st.integers(1, BEAMS))
    made = draw(
        st.sampled_from(
            [
                t.SCAN.of(scan(0.0, [min(max(value, -1e38), 1e38) if math.isfinite(value) else value] * width)),
                t.SCAN.of(scan(0.0, [])),
                t.SCAN.of(scan(0.0).model_copy(update={"angle_increment": value, "range_max": draw(wild)})),
                t.SCAN.of(scan_with(0.0, {draw(st.floats(-180, 179)): draw(st.floats(width=32))})),
                t.BUMPERS.of(bumpers(0.0, draw(st.booleans()), draw(st.booleans()))),
                t.CLIFFS.of(cliffs(0.0, {"cliff_front_left_link": value, "somewhere": draw(wild)})),
                t.IMU.of(imu(0.0, value)) if math.isfinite(value) and abs(value) < 10 else t.IMU.of(imu(0.0, 1.0)),
                t.ODOM.of(odom(0.0)),
                t.JOINT_STATES.of(joints(0.0, (value, value), value, {"elbow_flex": value})),
                t.JOINT_STATES.of(joints(0.0).model_copy(update={"velocity": np.zeros(0), "effort": np.zeros(1)})),
            ]
        )
    )
    return made, draw(age)


stop = st.tuples(st.booleans().map(lambda s: t.STOP_REQUEST.of(request(0.0, s))), age)
heartbeat = st.tuples(st.sampled_from([process.value for process in Process]).map(lambda p: beat(0.0, p)), age)
anything = st.one_of(velocity(), velocity(sane), arm_targets(), sensor(), stop, heartbeat)
gap = st.sampled_from([TICK_S, TICK_S, TICK_S, 0.0, 0.1, 0.6, 10.0, -0.5, -50.0])
story = st.lists(st.tuples(gap, st.booleans(), st.lists(anything, max_size=8)), min_size=1, max_size=30)


def stamped(rig: Rig, item: Sent, seconds_ago: float) -> Sent:
    header = item.value.header  # type: ignore[attr-defined]
    update = {"header": Header.at(max(rig.now - seconds_ago, 0.0), header.frame_id)}
    return Sent(item.topic, item.value.model_copy(update=update))


@FEW
@given(story)
def test_only_finite_commands_within_the_limits_ever_leave(steps: list[Any]) -> None:
    rig = Rig()
    arm_before: dict[str, float] = {}
    for dt, healthy, items in steps:
        rig.now = max(rig.now + dt, 0.0)
        before = rig.out
        rig.step([*(rig.healthy() if healthy else []), *(stamped(rig, *item) for item in items)])
        linear, angular = rig.out
        assert math.isfinite(linear) and abs(linear) <= BASE.max_linear_mps
        assert math.isfinite(angular) and abs(angular) <= BASE.max_angular_radps
        capped = min(max(dt, 0.0), 0.1)
        faster = 0.0 if linear * before[0] < 0 else abs(before[0])
        assert abs(linear) - faster <= BASE.max_linear_accel_mps2 * capped + 1e-9
        turned = 0.0 if angular * before[1] < 0 else abs(before[1])
        assert abs(angular) - turned <= BASE.max_angular_accel_radps2 * capped + 1e-9
        if rig.arm is not None:
            sent = dict(zip(rig.arm.joint_names, rig.arm.points[0].positions.tolist(), strict=True))
            for name, position in sent.items():
                lower, upper = ARM.range_rad[name]
                assert lower <= position <= upper
                # The made-up joint states move the elbow about as a hand would.
                if dt >= 0 and name in arm_before and name != "elbow_flex":
                    assert abs(position - arm_before[name]) <= ARM.max_speed_radps * capped + 1e-9
            arm_before = sent


@FEW
@given(st.lists(st.lists(st.one_of(velocity(), velocity(sane), arm_targets()), max_size=6), min_size=1, max_size=40))
def test_a_latched_stop_lets_no_motion_through_and_its_reset_none_that_was_asked_for_before(steps: list[Any]) -> None:
    rig = Rig()
    rig.drive(0.3)
    rig.tick(t.STOP_REQUEST.of(request(0.0, True)))
    for items in steps:
        rig.tick(*(stamped(rig, *item) for item in items))
        assert rig.out == (0.0, 0.0) and rig.arm is None
    reset_at = rig.now + TICK_S
    rig.tick(t.STOP_REQUEST.of(request(0.0, False)))
    for items in steps:
        rig.now += TICK_S
        old = [stamped(rig, item, rig.now - reset_at + max(0.0, ago)) for item, ago in items]
        rig.step([*rig.healthy(), *old])
        assert rig.out == (0.0, 0.0) and rig.arm is None


@FEW
@given(st.lists(st.tuples(sane, sane), min_size=1, max_size=60), st.booleans())
def test_a_stream_that_never_lets_go_is_never_let_in_after_a_reset(
    wishes: list[tuple[float, float]], far: bool
) -> None:
    rig = Rig()
    rig.drive(0.3)
    rig.tick(t.STOP_REQUEST.of(request(0.0, True)))
    rig.tick(t.STOP_REQUEST.of(request(0.0, False)))
    for linear, angular in wishes:
        linear = linear or 0.1
        rig.tick(t.CMD_VEL_SKILL.of(drive(0.0, linear, angular)), dt=0.2 if far else TICK_S)
        assert rig.out == (0.0, 0.0)


@FEW
@given(
    st.lists(velocity(sane), min_size=1, max_size=30),
    st.sampled_from(["bumper", "front cliff", "rear cliff", "wall", "wall behind", "too near", "tilt", "no scan"]),
)
def test_under_a_reflex_the_base_only_moves_away(items: list[Any], reflex: str) -> None:
    rig = Rig()
    rig.drive(0.3, 0.2, 0.4)
    escape = CONFIG.tuning.contact.escape_mps
    extent = BASE.footprint_m
    for item, _ in items:
        hazard = {
            "bumper": t.BUMPERS.of(bumpers(0.0, True)),
            "front cliff": t.CLIFFS.of(cliffs(0.0, {"cliff_front_right_link": math.inf})),
            "rear cliff": t.CLIFFS.of(cliffs(0.0, {"cliff_rear_left_link": 0.3})),
            "wall": t.SCAN.of(wall(0.0, extent.front + 0.02)),
            "wall behind": t.SCAN.of(wall(0.0, -extent.rear - 0.02)),
            "too near": t.SCAN.of(scan_with(0.0, {20.0: -math.inf})),
            "tilt": t.IMU.of(imu(0.0, 0.6)),
            "no scan": t.SCAN.of(scan(0.0, [math.nan] * BEAMS)),
        }[reflex]
        linear, angular = rig.tick(hazard, item)
        if reflex in ("bumper", "front cliff"):
            assert -escape <= linear <= 0.0 and angular == 0.0
        elif reflex == "rear cliff":
            assert 0.0 <= linear <= escape and angular == 0.0
        elif reflex in ("wall", "too near"):
            assert linear <= 0.0
        elif reflex == "wall behind":
            assert linear >= 0.0
        elif reflex == "tilt":
            assert (linear, angular) == (0.0, 0.0)
        else:
            assert linear == 0.0 and abs(angular) <= CONFIG.tuning.obstacle.blind_turn_radps


@FEW
@given(st.lists(st.tuples(velocity(sane), st.sampled_from([TICK_S, 0.01, 0.05])), min_size=1, max_size=40))
def test_silence_is_zero_within_the_longest_timeout(steps: list[Any]) -> None:
    rig = Rig()
    for (item, _), dt in steps:
        rig.tick(item, dt=dt)
    longest = CONFIG.tuning.commands.teleop_timeout_s
    silent_since = rig.now
    while rig.now - silent_since <= longest:
        rig.tick()
    assert rig.out == (0.0, 0.0)


@settings(max_examples=40, deadline=None)
@given(
    st.floats(0.05, 1.5), st.floats(-60, 60), st.floats(0.05, 0.4), st.floats(-1.0, 1.0),
    st.sampled_from([1.0, -1.0]),
)
def test_on_no_path_does_the_footprint_touch_a_post(
    far: float, bearing_deg: float, linear: float, angular: float, way: float
) -> None:
    """The wheels do at once what was let through; the post stands still in the world."""
    extent = BASE.footprint_m
    x, y, yaw = 0.0, 0.0, 0.0
    bearing = math.radians(bearing_deg) + (math.pi if way < 0 else 0.0)
    reach_m = math.hypot(extent.front, extent.half_width) + CONFIG.tuning.obstacle.margin_m + far
    post = (reach_m * math.cos(bearing), reach_m * math.sin(bearing))
    rig = Rig()
    closest = math.inf
    for _ in range(200):
        dx, dy = post[0] - x, post[1] - y
        px, py = math.cos(yaw) * dx + math.sin(yaw) * dy, math.cos(yaw) * dy - math.sin(yaw) * dx
        beams = {math.degrees(math.atan2(py, px)): math.hypot(px, py)}
        rig.tick(t.CMD_VEL_SKILL.of(drive(0.0, way * linear, angular)), t.SCAN.of(scan_with(0.0, beams)))
        x += rig.out[0] * math.cos(yaw) * TICK_S
        y += rig.out[0] * math.sin(yaw) * TICK_S
        yaw += rig.out[1] * TICK_S
        gap_x = max(px - extent.front, -extent.rear - px)
        gap_y = abs(py) - extent.half_width
        closest = min(closest, math.hypot(max(gap_x, 0), max(gap_y, 0)) + min(max(gap_x, gap_y), 0))
    # A beam is a degree wide, which at the corner is half a centimetre.
    assert closest > -0.006


@FEW
@given(story)
def test_events_never_flood(steps: list[Any]) -> None:
    rig = Rig()
    begun = rig.now
    for dt, healthy, items in steps:
        rig.now += abs(dt)
        rig.step([*(rig.healthy() if healthy else []), *(stamped(rig, *item) for item in items)])
    most = 2 + 2 * (rig.now - begun) / CONFIG.tuning.report.quiet_s
    for kind in {event.kind for event in rig.events}:
        told = rig.told(kind)
        assert len(told) <= most
        assert told == [i % 2 == 0 for i in range(len(told))], "begin and end alternate"
