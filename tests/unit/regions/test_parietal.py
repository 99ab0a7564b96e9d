"""What the robot knows of the world, out of what its senses said."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence

import numpy as np
import pytest

from anima import topics as t
from anima.body.arm.poses import ARM_JOINTS, load_poses
from anima.body.perception.camera import on_floor
from anima.body.places import load_places
from anima.body.pose import Pose2D
from anima.body.robot_model import TOOL_LINK, load_robot_model
from anima.config import Settings
from anima.regions.parietal import ParietalAffordance
from anima.runtime.component import Inbox
from anima.topics import Sent
from anima.types.base import Header
from anima.types.mind import Detection, Detections, Outcome, SkillCall, StopState, View, WorldState
from anima.types.std import (
    BatteryState,
    JointState,
    Odometry,
    Point,
    PoseWithCovariance,
    PoseWithCovarianceStamped,
    Twist,
    TwistWithCovariance,
    Vector3,
)
from anima.world.state import means_the_same
from anima.world.tuning import load_world_tuning

SETTINGS = Settings()
PLACES = load_places(SETTINGS.map_folder)
MODEL = load_robot_model(SETTINGS)
TABLE = PLACES.surface("kitchen_table")
AT_TABLE = Pose2D(*TABLE.approaches[0].pose)
CUBE = (TABLE.centre[0] - 0.2, TABLE.centre[1], TABLE.height_m + 0.0175)
FULL_VIEW = 0.98  # what the camera shows of the kitchen table from there
CARRY = dict(zip(ARM_JOINTS, load_poses().joints("carry").tolist(), strict=True))
CLOSED, ON_CUBE, OPEN = -0.17, 0.58, 0.95
NONE = np.zeros(0, np.float32)


def seen(at: tuple[float, float, float] = CUBE, colour: str = "red", confidence: float = 0.9) -> Detection:
    return Detection(
        colour=colour, shape="cube", position=Point(x=at[0], y=at[1], z=at[2]), yaw=0.0,
        size=Vector3(x=0.035, y=0.035, z=0.035), confidence=confidence,
    )


class Life:
    """A parietal cortex and the senses that it gets, a tenth of a second at a time."""

    def __init__(self, pose: Pose2D = AT_TABLE) -> None:
        self.region = ParietalAffordance(SETTINGS)
        self.now = 0.0
        self.pose = pose
        self.joints = {**CARRY, "gripper": 0.0}
        self.said: list[WorldState] = []
        self._inbox = Inbox()

    @property
    def state(self) -> WorldState:
        return self.said[-1]

    @property
    def tool(self) -> tuple[float, float, float]:
        x, y, z = (on_floor(self.pose) @ MODEL.pose(TOOL_LINK, self.joints))[:3, 3]
        return float(x), float(y), float(z)

    def live(
        self, *detections: Detection, times: int = 1, view: float | None = FULL_VIEW, more: Sequence[Sent] = (),
        localized: bool = True,
    ) -> WorldState:
        """Time passes, a picture each time with the given detections (none without a view)."""
        for _ in range(times):
            self.now += 0.1
            for item in [*self._senses(localized), *more]:
                self._inbox.deliver(item)
            if view is not None:
                views = [View(surface="kitchen_table", coverage=view)] if view else []
                picture = Detections(header=Header.at(self.now, "map"), detections=list(detections), views=views)
                self._inbox.deliver(t.DETECTIONS.of(picture))
            for sent in self.region.step(self.now, self._inbox):
                assert isinstance(sent.value, WorldState)
                self.said.append(sent.value)
            self._inbox.clear()
        return self.state

    def outcome(self, skill: str, success: bool = True, **arguments: str) -> Sent:
        call = SkillCall(
            header=Header.at(self.now), id="c", skill=skill, arguments=json.dumps(arguments), objective="",
            source="planner", because=[],
        )
        return t.OUTCOME.of(
            Outcome(
                header=Header.at(self.now), lease="l", call=call, success=success, failure=0 if success else 1,
                detail="", duration_s=1.0,
            )
        )

    def _senses(self, localized: bool) -> list[Sent]:
        zeros = np.zeros(36)
        head = Header.at(self.now, "odom")
        pose = PoseWithCovariance(pose=self.pose.to_msg(), covariance=zeros)
        twist = TwistWithCovariance(twist=Twist(), covariance=zeros)
        values = np.array(list(self.joints.values()))
        state = JointState(
            header=Header.at(self.now), name=list(self.joints), position=values, velocity=0 * values, effort=0 * values
        )
        out = [
            t.ODOM.of(Odometry(header=head, child_frame_id="base_link", pose=pose, twist=twist)),
            t.JOINT_STATES.of(state),
        ]
        if localized:
            out.append(t.POSE.of(PoseWithCovarianceStamped(header=Header.at(self.now, "map"), pose=pose)))
        return out


def battery(percentage: float, status: int) -> Sent:
    return t.BATTERY.of(
        BatteryState(
            header=Header.at(0.0), voltage=12.0, temperature=math.nan, current=0.0, charge=math.nan, capacity=math.nan,
            design_capacity=math.nan, percentage=percentage, power_supply_status=status, power_supply_health=1,
            power_supply_technology=2, present=True, cell_voltage=NONE, cell_temperature=NONE, location="",
            serial_number="",
        )
    )


def status(state: WorldState, name: str) -> tuple[str, str]:
    thing = next((thing for thing in state.objects if thing.name == name), None)
    return ("", "") if thing is None else (thing.status, thing.place)


# --- objects --------------------------------------------------------------------------------------------------------


def test_an_object_seen_on_the_table_is_known_to_be_there() -> None:
    state = Life().live(seen(), times=4)
    assert status(state, "red_cube") == ("confirmed", "kitchen_table")
    assert "at(red_cube, kitchen_table)" in state.facts


def test_an_object_on_the_tray_is_with_the_person() -> None:
    tray = PLACES.surface("person_tray")
    state = Life().live(seen((*tray.centre, tray.height_m + 0.018)), times=4)
    assert status(state, "red_cube") == ("confirmed", "person")


def test_an_object_below_the_table_is_on_the_floor_and_one_above_it_nowhere() -> None:
    assert status(Life().live(seen((*CUBE[:2], 0.018)), times=4), "red_cube") == ("confirmed", "floor")
    assert status(Life().live(seen((*CUBE[:2], 0.70)), times=4), "red_cube") == ("confirmed", "")


def test_what_is_gone_from_a_well_seen_table_becomes_absent() -> None:
    life = Life()
    life.live(seen(), times=4)
    assert status(life.live(times=6), "red_cube")[0] == "absent"
    assert "seen(red_cube)" not in life.state.facts


def test_what_the_arm_hides_does_not_become_absent() -> None:
    life = Life()
    life.live(seen(), times=4)
    assert status(life.live(times=20, view=FULL_VIEW / 2), "red_cube")[0] == "confirmed"


def test_what_the_own_hand_is_just_in_front_of_does_not_become_absent() -> None:
    life = Life()
    life.live(seen(), times=4)
    life.joints.update(shoulder_pan=0.0, shoulder_lift=0.0, elbow_flex=0.3, wrist_flex=1.2)
    reach = (life.tool[0] - life.pose.x, life.tool[1] - life.pose.y)
    life.pose = Pose2D(CUBE[0] - reach[0], CUBE[1] - reach[1], 0.0)
    assert status(life.live(times=20), "red_cube")[0] == "confirmed"


def test_what_is_behind_the_robot_does_not_become_absent() -> None:
    life = Life()
    life.live(seen(), times=4)
    life.pose = Pose2D(AT_TABLE.x, AT_TABLE.y, math.pi)
    assert status(life.live(times=20, view=0.0), "red_cube")[0] == "confirmed"


# --- hand -----------------------------------------------------------------------------------------------------------


def picked_up() -> Life:
    life = Life()
    life.live(seen(), times=4)
    life.joints["gripper"] = ON_CUBE
    life.live(times=1, view=0.0)
    life.live(times=1, view=0.0, more=[life.outcome("pick", object="red_cube")])
    return life


def test_after_a_pick_the_object_is_in_the_hand() -> None:
    state = picked_up().state
    assert state.holding == "red_cube" and status(state, "red_cube") == ("confirmed", "gripper")
    assert "holding(red_cube)" in state.facts and "hand_empty" not in state.facts


def test_a_pick_that_is_said_to_have_worked_with_an_empty_gripper_is_not_believed() -> None:
    life = Life()
    life.joints["gripper"] = CLOSED
    state = life.live(view=0.0, times=2, more=[life.outcome("pick", object="red_cube")])
    assert state.holding == ""


def test_only_one_thing_is_held_whatever_is_said_to_have_been_picked() -> None:
    life = picked_up()
    state = life.live(view=0.0, more=[life.outcome("pick", object="blue_cylinder")])
    assert state.holding == "blue_cylinder"
    assert [thing.name for thing in state.objects if thing.place == "gripper"] == ["blue_cylinder"]


def test_a_failed_pick_puts_nothing_in_the_hand() -> None:
    life = Life()
    life.joints["gripper"] = ON_CUBE
    assert life.live(view=0.0, more=[life.outcome("pick", success=False, object="red_cube")]).holding == ""


def test_the_held_object_goes_where_the_robot_goes() -> None:
    life = picked_up()
    life.pose = Pose2D(4.2, 3.5, 1.0)
    state = life.live(seen(life.tool), times=12)
    at = next(thing.position for thing in state.objects if thing.name == "red_cube")
    assert (at.x, at.y) == pytest.approx(life.tool[:2], abs=0.01)
    assert state.holding == "red_cube"


def test_a_gripper_that_closed_on_nothing_has_dropped_it_and_nobody_knows_where() -> None:
    life = picked_up()
    life.joints["gripper"] = CLOSED
    state = life.live(times=6, view=0.0)
    assert state.holding == "" and status(state, "red_cube") in (("tentative", ""), ("", ""))


def test_let_go_just_above_the_table_it_is_on_the_table() -> None:
    life = picked_up()
    # The arm reaches down in front; the robot stands so that the hand is over the middle of the table.
    life.joints.update(shoulder_lift=0.4, elbow_flex=0.2, wrist_flex=1.0, shoulder_pan=0.0)
    reach = (life.tool[0] - life.pose.x, life.tool[1] - life.pose.y)
    life.pose = Pose2D(TABLE.centre[0] - reach[0], TABLE.centre[1] - reach[1], 0.0)
    assert 0.0 < life.tool[2] - TABLE.height_m < load_world_tuning().hand.release_height_m, life.tool
    life.live(times=2, view=0.0)
    life.joints["gripper"] = OPEN
    state = life.live(times=2, view=0.0)
    assert state.holding == "" and status(state, "red_cube") == ("confirmed", "kitchen_table")


def test_let_go_high_in_the_air_it_is_lost() -> None:
    life = picked_up()
    life.joints["gripper"] = OPEN
    state = life.live(times=2, view=0.0)
    assert state.holding == "" and status(state, "red_cube") == ("tentative", "")


def test_a_robot_that_wakes_up_with_something_in_the_hand_sees_that() -> None:
    life = Life(Pose2D(4.2, 3.5, 1.0))
    life.joints["gripper"] = ON_CUBE
    state = life.live(seen(life.tool), times=4)
    assert state.holding == "red_cube" and status(state, "red_cube") == ("confirmed", "gripper")


def test_an_object_believed_held_but_seen_on_the_table_for_a_while_is_on_the_table() -> None:
    life = picked_up()
    state = life.live(seen(), times=5)
    assert state.holding == "" and status(state, "red_cube") == ("confirmed", "kitchen_table")


# --- robot ----------------------------------------------------------------------------------------------------------


def test_room_and_place_follow_the_pose() -> None:
    state = Life().live()
    assert (state.room, state.place) == ("kitchen", "kitchen_table")
    assert {"at(robot, kitchen)", "at(robot, kitchen_table)"} <= set(state.facts)
    assert Life(Pose2D(4.6, 2.2, 0.0)).live().place == ""
    assert Life(Pose2D(*PLACES.surface("person_tray").approaches[0].pose)).live().place == "person"


def test_close_up_at_the_end_of_a_long_table_is_still_at_the_table_but_with_the_back_to_it_is_not() -> None:
    assert Life(AT_TABLE @ Pose2D(0.22, 0.40, 0.1)).live().place == "kitchen_table"
    assert Life(AT_TABLE @ Pose2D(0.0, 0.0, math.pi)).live().place == ""


@pytest.mark.parametrize(("power", "docked"), [(1, True), (4, True), (2, False), (0, False)])
def test_a_charging_robot_is_docked(power: int, docked: bool) -> None:
    state = Life(Pose2D(*PLACES.dock.docked)).live(more=[battery(0.55, power)])
    assert state.docked == docked and state.battery == pytest.approx(0.55)
    assert "charged(50)" in state.facts
    if docked:
        assert state.place == "dock"


def test_all_the_way_out_of_the_dock_the_robot_is_at_the_dock() -> None:
    docked, before = Pose2D(*PLACES.dock.docked), Pose2D(*PLACES.dock.approach)
    for share in (0.0, 0.25, 0.5, 0.75, 1.0):
        pose = Pose2D(docked.x + share * (before.x - docked.x), docked.y + share * (before.y - docked.y), docked.yaw)
        assert Life(pose).live().place == "dock"


def test_a_battery_that_does_not_know_its_charge_is_not_charged() -> None:
    state = Life().live(more=[battery(math.nan, 2)])
    assert state.battery == 0.0 and "charged(0)" in state.facts


def test_the_latched_stop_is_known() -> None:
    stop = StopState(header=Header.at(0.0), latched=True, source="person", active=[])
    assert Life().live(more=[t.STOP_STATE.of(stop)]).stopped


def test_without_localization_for_a_second_the_robot_is_lost() -> None:
    life = Life()
    assert life.live().localized
    assert not life.live(times=15, localized=False).localized
    assert life.live().localized


# --- surfaces -------------------------------------------------------------------------------------------------------


def coverage(state: WorldState) -> float:
    return next(surface.coverage for surface in state.surfaces if surface.name == "kitchen_table")


def test_the_best_look_at_a_surface_counts_and_is_forgotten_in_time() -> None:
    life = Life()
    life.live(view=0.7)
    assert coverage(life.live(view=0.2)) == pytest.approx(0.7)
    life.now += load_world_tuning().surfaces.memory_s + 1
    assert coverage(life.live(view=None)) == 0.0
    assert coverage(life.live(view=0.3)) == pytest.approx(0.3)


# --- saying it ------------------------------------------------------------------------------------------------------


def test_it_speaks_once_a_second_when_nothing_happens_and_at_once_when_something_does() -> None:
    life = Life()
    life.live(seen(), times=10)
    count = len(life.said)
    life.live(seen(), times=30)
    assert 3 <= len(life.said) - count <= 4
    life.joints["gripper"] = ON_CUBE
    before = len(life.said)
    life.live(seen(life.tool), more=[life.outcome("pick", object="red_cube")])
    assert len(life.said) == before + 1


def test_noise_in_sightings_changes_no_meaning() -> None:
    life, rng = Life(), np.random.default_rng(0)
    life.live(seen(), times=10)
    settled = life.state
    for _ in range(50):
        dx, dy, dz = rng.normal(0, 0.004, 3)
        state = life.live(seen((CUBE[0] + dx, CUBE[1] + dy, CUBE[2] + dz)))
        assert means_the_same(settled, state)


def test_when_time_jumps_back_the_old_world_is_forgotten() -> None:
    life = Life()
    life.live(seen(), times=30)
    life.now = 0.0
    assert life.live(view=0.0).objects == []


def test_a_restored_region_knows_what_the_dumped_one_knew() -> None:
    life, twin = picked_up(), Life()
    twin.region = ParietalAffordance.load(SETTINGS, json.loads(json.dumps(life.region.dump())))
    twin.now, twin.joints = life.now, dict(life.joints)
    assert means_the_same(life.live(view=0.0), twin.live(view=0.0))
    assert twin.state.holding == "red_cube" and "red_cube" in twin.region.why()
