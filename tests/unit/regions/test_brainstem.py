"""The reflex kernel: what reaches the motors, and what never does."""

from __future__ import annotations

import itertools
import json
import math

import pytest
from support.reflex_rig import (
    BEAMS,
    CONFIG,
    SETTINGS,
    TICK_S,
    Rig,
    beam,
    beat,
    bumpers,
    cliffs,
    drive,
    imu,
    request,
    scan,
    scan_with,
    wall,
)

from anima import topics as t
from anima.regions.brainstem import ReflexKernel
from anima.runtime.component import Inbox
from anima.topics import Sent
from anima.types.base import Header
from anima.types.std import Twist, TwistStamped, Vector3

BASE = CONFIG.body.base
FRONT = BASE.footprint_m.front


@pytest.fixture
def rig() -> Rig:
    return Rig()


def skill(linear: float = 0.0, angular: float = 0.0) -> Sent:
    return t.CMD_VEL_SKILL.of(drive(0.0, linear, angular))


def teleop(linear: float = 0.0, angular: float = 0.0) -> Sent:
    return t.CMD_VEL_TELEOP.of(drive(0.0, linear, angular))


class TestWhoDrives:
    def test_without_any_command_an_explicit_zero_goes_out_at_every_step(self, rig: Rig) -> None:
        assert [rig.tick() for _ in range(10)] == [(0.0, 0.0)] * 10

    def test_a_skill_drives_the_base(self, rig: Rig) -> None:
        assert rig.drive(0.3) == (pytest.approx(0.3), 0.0)

    def test_that_a_person_drives_is_told_at_once_and_its_end_too(self, rig: Rig) -> None:
        rig.drive(0.3)
        rig.tick(teleop(0.1))
        assert rig.told("teleop") == [True] and rig.active == ["teleop"]
        rig.rest(1.5)
        assert rig.told("teleop") == [True, False] and rig.active == []

    def test_the_base_is_handed_back_without_a_jump(self, rig: Rig) -> None:
        for _ in range(50):
            rig.tick(teleop(-0.2), skill(0.4))
        speeds = [rig.out[0]]
        for _ in range(100):
            speeds.append(rig.tick(skill(0.4))[0])
        steps = [after - before for before, after in itertools.pairwise(speeds)]
        assert speeds[0] == pytest.approx(-0.2) and speeds[-1] == pytest.approx(0.4)
        assert max(steps) <= BASE.max_linear_accel_mps2 * TICK_S + CONFIG.tuning.commands.linear_brake_mps2 * TICK_S

    def test_a_person_at_the_teleop_takes_the_base_from_the_skill(self, rig: Rig) -> None:
        rig.drive(0.3)
        for _ in range(50):
            rig.tick(skill(0.3), teleop(-0.1))
        assert rig.out[0] == pytest.approx(-0.1)

    def test_a_teleop_at_zero_holds_the_base_and_gives_it_back_by_falling_silent(self, rig: Rig) -> None:
        rig.drive(0.3)
        for _ in range(30):
            rig.tick(skill(0.3), teleop())
        assert rig.out == (0.0, 0.0)
        assert rig.drive(0.3, seconds=1.5)[0] == pytest.approx(0.3)

    @pytest.mark.parametrize(("send", "timeout_s"), [(skill, 0.3), (teleop, 0.5)])
    def test_a_stream_that_falls_silent_stops_the_base_within_its_timeout(self, rig, send, timeout_s) -> None:
        for _ in range(50):
            rig.tick(send(0.3))
        assert rig.out[0] > 0
        rig.rest(timeout_s + TICK_S)
        assert rig.out == (0.0, 0.0)
        assert rig.told("stale_command") == [True]


class TestWhatIsRefused:
    @pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf])
    def test_a_command_that_is_not_finite_stops_its_sender(self, rig: Rig, bad: float) -> None:
        rig.drive(0.3)
        rig.tick(skill(bad))
        assert rig.out == (0.0, 0.0)
        assert rig.told("invalid_command") == [True]

    def test_an_old_command_is_refused(self, rig: Rig) -> None:
        rig.rest(0.2)
        rig.tick(t.CMD_VEL_SKILL.of(drive(rig.now - 0.4, 0.3)))
        assert rig.out == (0.0, 0.0)
        assert rig.told("stale_command") == [True]

    def test_a_command_from_the_future_is_refused(self, rig: Rig) -> None:
        rig.rest(0.2)
        rig.tick(t.CMD_VEL_SKILL.of(drive(rig.now + 5.0, 0.3)))
        assert rig.out == (0.0, 0.0)

    def test_a_command_older_than_the_one_before_does_not_replace_it(self, rig: Rig) -> None:
        rig.drive(0.2)
        rig.tick(skill(0.2), t.CMD_VEL_SKILL.of(drive(rig.now - 0.1, -0.2)))
        assert rig.out[0] == pytest.approx(0.2)

    @pytest.mark.parametrize("axis", ["y", "z"])
    def test_a_sideways_or_upward_command_is_refused_not_reinterpreted(self, rig: Rig, axis: str) -> None:
        rig.rest(0.2)
        twist = Twist(linear=Vector3(x=0.3, **{axis: 0.1}))
        for _ in range(5):
            rig.tick(t.CMD_VEL_SKILL.of(TwistStamped(header=Header.at(0.0, "base_link"), twist=twist)))
        assert rig.out == (0.0, 0.0)
        assert rig.told("invalid_command") == [True]

    def test_a_command_in_the_frame_of_the_map_is_refused(self, rig: Rig) -> None:
        rig.rest(0.2)
        rig.tick(t.CMD_VEL_SKILL.of(TwistStamped.planar(0.0, 0.3, 0.0, frame_id="map")))
        assert rig.out == (0.0, 0.0)

    def test_a_flood_of_bad_commands_is_told_once_with_its_count(self, rig: Rig) -> None:
        for _ in range(100):
            rig.tick(*[skill(math.nan)] * 20)
        rig.rest(1.0)
        assert rig.told("invalid_command") == [True, False]
        assert "2000 times" in rig.events[-1].detail


class TestLimits:
    def test_a_wild_speed_is_clamped_on_its_own_path(self, rig: Rig) -> None:
        rig.drive(8.0, 8.0, seconds=2.0)
        assert rig.out[0] <= BASE.max_linear_mps and rig.out[1] <= BASE.max_angular_radps
        assert rig.out[1] / rig.out[0] == pytest.approx(1.0)

    def test_speeding_up_keeps_to_the_acceleration_of_the_body(self, rig: Rig) -> None:
        before = 0.0
        for _ in range(22):
            rig.tick(skill(-0.4))
            assert before - rig.out[0] <= BASE.max_linear_accel_mps2 * TICK_S + 1e-9
            before = rig.out[0]
        assert rig.out[0] == pytest.approx(-0.4)

    def test_turning_round_goes_through_zero(self, rig: Rig) -> None:
        rig.drive(0.4)
        speeds = [rig.tick(skill(-0.4))[0] for _ in range(60)]
        assert 0.0 in speeds and speeds[-1] == pytest.approx(-0.4)

    def test_a_long_gap_between_steps_does_not_allow_a_leap(self, rig: Rig) -> None:
        rig.rest(0.1)
        rig.tick(skill(0.4), dt=5.0)
        assert rig.out[0] <= BASE.max_linear_accel_mps2 * 0.1 + 1e-9


class TestObstacles:
    def test_a_wall_in_the_scan_gives_zero_in_the_same_step(self, rig: Rig) -> None:
        rig.drive(0.3)
        rig.now += TICK_S
        out = rig.step(
            [*rig.healthy()[1:], t.SCAN.of(wall(rig.now, FRONT + 0.02)), t.CMD_VEL_SKILL.of(drive(rig.now, 0.3))]
        )
        assert out == (0.0, 0.0)
        assert rig.told("obstacle") == [True]
        assert "obstacle" in rig.active

    def test_too_close_to_measure_stops_the_robot(self, rig: Rig) -> None:
        rig.drive(0.3)
        rig.tick(skill(0.3), t.SCAN.of(scan_with(0.0, {3.0: -math.inf})))
        assert rig.out == (0.0, 0.0)

    def test_too_close_to_measure_behind_leaves_the_way_ahead_free(self, rig: Rig) -> None:
        rig.drive(0.3)
        rig.tick(skill(0.3), t.SCAN.of(scan_with(0.0, {180.0: -math.inf})))
        assert rig.out[0] == pytest.approx(0.3)

    def test_it_comes_to_rest_in_front_of_a_wall_and_not_into_it(self, rig: Rig) -> None:
        gap, closest = 1.0, 1.0
        for _ in range(600):
            gap -= rig.out[0] * TICK_S
            closest = min(gap, closest)
            rig.tick(skill(0.4), t.SCAN.of(wall(0.0, FRONT + gap)))
        assert rig.out == (0.0, 0.0)
        assert 0.015 < closest < 0.06

    def test_near_furniture_it_creeps(self, rig: Rig) -> None:
        rig.drive(0.4, 0.0, 1.0, t.SCAN.of(wall(0.0, FRONT + 0.10)))
        assert 0.05 < rig.out[0] < 0.3

    def test_backing_off_from_a_wall_is_free(self, rig: Rig) -> None:
        assert rig.drive(-0.2, 0.0, 1.0, t.SCAN.of(wall(0.0, FRONT + 0.01)))[0] == pytest.approx(-0.2)

    def test_reversing_into_a_wall_stops_too(self, rig: Rig) -> None:
        rig.drive(-0.2, 0.0, 1.0, t.SCAN.of(wall(0.0, -(BASE.footprint_m.rear + 0.01))))
        assert rig.out == (0.0, 0.0)

    def test_a_table_leg_beside_the_robot_does_not_stop_it(self, rig: Rig) -> None:
        assert rig.drive(0.2, 0.0, 1.0, t.SCAN.of(scan_with(0.0, {90.0: 0.19, -90.0: 0.19})))[0] == pytest.approx(0.2)

    def test_a_leg_in_the_curve_of_the_path_is_seen_though_it_is_not_straight_ahead(self, rig: Rig) -> None:
        leg = t.SCAN.of(scan_with(0.0, {48.0: 0.30}))
        assert rig.drive(0.3, 0.0, 1.0, leg)[0] == pytest.approx(0.3)
        assert rig.drive(0.3, 0.9, 1.0, leg)[0] < 0.2

    def test_turning_on_the_spot_before_a_wall_is_allowed_while_the_corners_clear_it(self, rig: Rig) -> None:
        radius = math.hypot(FRONT, BASE.footprint_m.half_width)
        assert rig.drive(0.0, 0.8, 1.0, t.SCAN.of(wall(0.0, radius + 0.05)))[1] == pytest.approx(0.8)
        rig = Rig()
        assert rig.drive(0.0, 0.8, 1.0, t.SCAN.of(wall(0.0, FRONT + 0.005)))[1] == 0.0

    def test_blocked_ahead_it_still_turns_when_the_command_turns(self, rig: Rig) -> None:
        rig.drive(0.3, 0.5, 1.0, t.SCAN.of(scan_with(0.0, {0.0: FRONT + 0.02})))
        assert rig.out[0] == 0.0 and 0.3 < rig.out[1] <= 0.5

    def test_its_own_portal_and_mast_are_not_obstacles(self, rig: Rig) -> None:
        own = t.SCAN.of(scan_with(0.0, {48.0: 0.149, -48.0: 0.149, 180.0: 0.115}))
        assert rig.drive(0.3, 0.0, 1.0, own)[0] == pytest.approx(0.3)
        assert rig.drive(-0.3, 0.5, 1.5, own)[0] == pytest.approx(-0.3)

    def test_a_few_bad_beams_are_ignored_and_many_make_the_robot_blind(self, rig: Rig) -> None:
        few = [math.inf] * BEAMS
        few[beam(-10) : beam(10)] = [math.nan] * 20
        assert rig.drive(0.3, 0.0, 1.0, t.SCAN.of(scan(0.0, few)))[0] == pytest.approx(0.3)
        many = [math.inf] * BEAMS
        many[beam(-60) : beam(60)] = [math.nan] * 120
        rig.tick(skill(0.3), t.SCAN.of(scan(0.0, many)))
        assert rig.out == (0.0, 0.0)
        assert "sensor_silent" in rig.active
        assert rig.drive(-0.3, 0.0, 1.0, t.SCAN.of(scan(0.0, many)))[0] == pytest.approx(-0.3)


class TestSilentSensors:
    @pytest.mark.parametrize("topic", [t.SCAN, t.BUMPERS, t.CLIFFS, t.IMU, t.ODOM, t.JOINT_STATES])
    def test_a_sensor_that_falls_silent_ends_driving_until_it_is_back(self, rig: Rig, topic) -> None:
        rig.drive(0.3)
        rig.mute.add(topic.name)
        rig.drive(0.3, seconds=0.5 + 2 * TICK_S)
        assert rig.out == (0.0, 0.0)
        assert topic.name.split("/")[0] in rig.kernel.why()
        rig.mute.clear()
        assert rig.drive(0.3)[0] == pytest.approx(0.3)
        assert rig.told("sensor_silent")[-2:] == [True, False]

    def test_without_a_scan_it_turns_only_slowly(self, rig: Rig) -> None:
        rig.mute.add(t.SCAN.name)
        assert rig.drive(0.3, 1.0) == (0.0, pytest.approx(CONFIG.tuning.obstacle.blind_turn_radps))

    def test_an_imu_without_orientation_counts_as_silent(self, rig: Rig) -> None:
        rig.sense[t.IMU.name] = t.IMU.of(imu(0.0, math.nan))
        assert rig.drive(0.3)[0] == 0.0


class TestContact:
    def test_a_pressed_bumper_forbids_all_but_backing_off_slowly(self, rig: Rig) -> None:
        rig.drive(0.3)
        pressed = t.BUMPERS.of(bumpers(0.0, left=True))
        rig.tick(skill(0.3, 0.5), pressed)
        assert rig.out == (0.0, 0.0)
        assert rig.drive(-0.3, 0.5, 1.0, pressed) == (pytest.approx(-CONFIG.tuning.contact.escape_mps), 0.0)

    def test_after_the_bumper_is_free_it_may_go_on(self, rig: Rig) -> None:
        rig.tick(skill(0.3), t.BUMPERS.of(bumpers(0.0, right=True)))
        assert rig.drive(0.3, seconds=2.0)[0] == pytest.approx(0.3)
        assert rig.told("bumper") == [True, False]

    @pytest.mark.parametrize("reading", [0.35, math.inf, math.nan])
    def test_no_floor_in_front_forbids_all_but_backing_off(self, rig: Rig, reading: float) -> None:
        edge = t.CLIFFS.of(cliffs(0.0, {"cliff_front_left_link": reading}))
        rig.drive(0.3)
        rig.tick(skill(0.3), edge)
        assert rig.out == (0.0, 0.0)
        assert rig.drive(0.0, 1.0, 0.5, edge) == (0.0, 0.0)
        assert rig.drive(-0.3, 0.0, 1.0, edge)[0] == pytest.approx(-CONFIG.tuning.contact.escape_mps)

    def test_no_floor_behind_forbids_backing_off(self, rig: Rig) -> None:
        edge = t.CLIFFS.of(cliffs(0.0, {"cliff_rear_right_link": 0.4}))
        assert rig.drive(-0.3, 0.0, 1.0, edge) == (0.0, 0.0)
        assert rig.drive(0.3, 0.0, 1.0, edge)[0] > 0

    def test_a_dock_too_close_to_measure_is_not_a_cliff(self, rig: Rig) -> None:
        dock = t.CLIFFS.of(cliffs(0.0, {"cliff_rear_left_link": -math.inf, "cliff_rear_right_link": -math.inf}))
        assert rig.drive(0.3, 0.0, 1.0, dock)[0] == pytest.approx(0.3)

    def test_a_rug_is_not_a_cliff(self, rig: Rig) -> None:
        rug = t.CLIFFS.of(cliffs(0.0, dict.fromkeys(CONFIG.tuning.contact.cliff_sides, 0.10)))
        assert rig.drive(0.3, 0.0, 1.0, rug)[0] == pytest.approx(0.3)


class TestTiltAndStall:
    def test_a_leaning_body_stands_still_until_it_is_upright_again(self, rig: Rig) -> None:
        rig.drive(0.3, 0.3)
        rig.tick(skill(0.3, 0.3), t.IMU.of(imu(0.0, 0.4)))
        assert rig.out == (0.0, 0.0)
        assert rig.drive(0.3, 0.0, 0.5) == (0.0, 0.0)
        assert rig.drive(0.3, seconds=2.0)[0] == pytest.approx(0.3)

    def test_wheels_that_push_and_do_not_turn_are_given_a_rest(self, rig: Rig) -> None:
        rig.stuck_nm = 5.0
        outs = []
        for _ in range(60):
            outs.append(rig.tick(skill(0.3))[0])
        assert outs[25] > 0 and outs[-1] == 0.0
        assert rig.told("stall")[0] is True
        rig.stuck_nm = None
        assert rig.drive(0.3, seconds=2.5)[0] == pytest.approx(0.3)

    def test_a_slow_start_without_effort_is_no_stall(self, rig: Rig) -> None:
        rig.stuck_nm = 0.2
        rig.drive(0.3, seconds=2.0)
        assert rig.told("stall") == []


class TestProcesses:
    def test_a_process_that_falls_silent_takes_the_base_from_the_skill_and_leaves_it_to_a_person(
        self, rig: Rig
    ) -> None:
        for _ in range(200):
            rig.tick(skill(0.3), beat(rig.now, "brain"))
        assert rig.out[0] == pytest.approx(0.3)
        rig.drive(0.3, seconds=0.4)
        assert rig.out == (0.0, 0.0)
        assert rig.active == ["process_silent"]
        assert "brain" in rig.events[-1].detail
        for _ in range(50):
            rig.tick(skill(0.3), teleop(0.1))
        assert rig.out[0] == pytest.approx(0.1)

    def test_processes_that_never_lived_are_not_missed_and_its_own_is_not_watched(self, rig: Rig) -> None:
        rig.tick(beat(rig.now, "reflex"))
        assert rig.drive(0.3, seconds=4.0)[0] == pytest.approx(0.3)

    @pytest.mark.parametrize(
        ("node", "goes_on"), [("memory", True), ("markers", True), ("motor_cortex", False), ("ears", False)]
    )
    def test_of_nodes_with_processes_of_their_own_only_those_that_steer_are_missed(
        self, rig: Rig, node: str, goes_on: bool
    ) -> None:
        rig.kernel = ReflexKernel(SETTINGS.model_copy(update={"composed": False}))
        rig.drive(0.3, 0.0, 4.0, beat(0.0, node))
        assert rig.out[0] == pytest.approx(0.3)
        rig.drive(0.3, seconds=0.4)
        assert rig.out[0] == pytest.approx(0.3 if goes_on else 0.0)

    def test_the_grace_at_the_start_covers_a_slow_process(self, rig: Rig) -> None:
        rig.tick(beat(rig.now, "planner"))
        assert rig.drive(0.3, seconds=1.0)[0] == pytest.approx(0.3)


def test_a_loaded_kernel_goes_on_exactly_as_the_dumped_one(rig: Rig) -> None:
    rig.drive(0.3, 0.2, 0.5, t.SCAN.of(wall(0.0, 0.5)), beat(rig.now, "brain"))
    rig.tick(t.BUMPERS.of(bumpers(0.0, left=True)), skill(math.nan))
    twin = ReflexKernel.load(SETTINGS, json.loads(json.dumps(rig.kernel.dump())))
    for i in range(300):
        rig.now += TICK_S
        extra = [t.STOP_REQUEST.of(request(rig.now, i == 40))] if i in (40, 80) else []
        inbox = [*rig.healthy(), t.CMD_VEL_SKILL.of(drive(rig.now, 0.2 if i > 60 else -0.2)), *extra]
        ours, theirs = rig.kernel.step(rig.now, Inbox.of(inbox)), twin.step(rig.now, Inbox.of(inbox))
        assert [(s.topic.name, s.value.model_dump_json()) for s in ours if s.topic is not t.ARM_COMMAND] == [
            (s.topic.name, s.value.model_dump_json()) for s in theirs if s.topic is not t.ARM_COMMAND
        ]


def test_it_says_why_the_base_stands_or_drives(rig: Rig) -> None:
    rig.drive(0.3)
    assert rig.kernel.why() == "skill drives at 0.30 m/s and 0.00 rad/s"
    rig.tick(t.STOP_REQUEST.of(request(0.0, True)))
    assert "latched by ana" in rig.kernel.why()


def test_every_sensor_the_robot_declares_has_a_side() -> None:
    assert set(CONFIG.body.cliff_frames) == set(CONFIG.tuning.contact.cliff_sides)
