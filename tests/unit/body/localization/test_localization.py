"""Localization on a cart of two numbers in the flat's own map: where it is, and honest about it."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from support.flat_world import STEP_S, Cart

from anima import topics as t
from anima.body.grid_map import OCCUPIED, GridMap, load_occupancy
from anima.body.localization.node import Localization
from anima.body.pose import Pose2D, PoseTracker, is_lost, wrap
from anima.config import Settings
from anima.memory.node import MemoryKeeper
from anima.runtime.component import Inbox
from anima.topics import Sent
from anima.types.base import Header
from anima.types.std import (
    BatteryState,
    LaserScan,
    OccupancyGrid,
    PoseWithCovariance,
    PoseWithCovarianceStamped,
    TFMessage,
)

SETTINGS = Settings(seed=3)
DRAWN = load_occupancy(SETTINGS.map_folder)
FLAT = GridMap(DRAWN.resolution_m, DRAWN.origin, DRAWN.cells == OCCUPIED)
BEAMS = 90
DOCK = Pose2D(5.20, 1.54, math.pi / 2)
KITCHEN, LIVING_ROOM, OFFICE = Pose2D(6.3, 4.4, 0.3), Pose2D(3.6, 4.4, 2.0), Pose2D(1.6, 1.6, -1.0)


class Robot:
    """A cart whose odometry begins at zero, and what localization makes of its senses."""

    def __init__(
        self, at: Pose2D = DOCK, drift: float = 0.0, seed: int = 3, settings: Settings | None = None
    ) -> None:
        self.cart = Cart(FLAT, at)
        self.localization = Localization(settings or Settings(seed=seed))
        self.heard = PoseTracker()
        self.said: list[PoseWithCovarianceStamped] = []
        self.transforms: list[TFMessage] = []
        self.maps: list[OccupancyGrid] = []
        self.change_scan: Callable[[LaserScan], LaserScan] = lambda scan: scan
        self._drift = drift
        self._odom = Pose2D(0.0, 0.0, 0.0)
        self._ticks = 0

    def run(self, seconds: float, velocity: tuple[float, float] = (0.0, 0.0), *more: Sent) -> None:
        """Drive for a while."""
        given = list(more)
        for _ in range(round(seconds / STEP_S)):
            before = self.cart.pose
            self.cart.drive(velocity)
            step = before.inverse() @ self.cart.pose
            self._odom = self._odom @ Pose2D(step.x * (1 + self._drift), step.y, step.yaw * (1 + self._drift))
            odometry = self.cart.odometry()
            moved = PoseWithCovariance(pose=self._odom.to_msg(), covariance=np.zeros(36))
            given.append(t.ODOM.of(odometry.model_copy(update={"pose": moved})))
            if self._ticks % 2 == 0:
                given.append(t.SCAN.of(self.change_scan(self.cart.scan(BEAMS))))
            self._ticks += 1
            for sent in given:
                if sent.topic is t.ODOM:
                    self.heard.add_odometry(odometry.model_copy(update={"pose": moved}))
            self._hear(self.localization.step(self.cart.now, Inbox.of(given)))
            given = []

    def _hear(self, sent: list[Sent]) -> None:
        for item in sent:
            if isinstance(item.value, PoseWithCovarianceStamped):
                self.said.append(item.value)
                self.heard.add_localization(item.value)
            elif isinstance(item.value, TFMessage):
                self.transforms.append(item.value)
            elif isinstance(item.value, OccupancyGrid):
                self.maps.append(item.value)

    def carry_to(self, where: Pose2D) -> None:
        """Lift it somewhere else: odometry doesn't notice."""
        self.cart.pose = where

    def odometry_begins_anew(self) -> None:
        """The driver restarts."""
        self._odom = Pose2D(0.0, 0.0, 0.0)

    @property
    def sure(self) -> bool:
        return self.heard.pose is not None

    @property
    def off_m(self) -> float:
        assert self.heard.pose is not None
        return self.heard.pose.distance(self.cart.pose)

    def turns_until_sure(self) -> bool:
        """Turn about, go a little on, and turn again, as `relocalize` does."""
        for _ in range(3):
            for _ in range(24):
                self.run(0.5, (0.0, 0.6))
                if self.sure:
                    return True
            self.run(2.0, (0.15, 0.0))
        return False


def told(where: Pose2D, sigma_m: float = 0.3, frame: str = "map") -> Sent:
    covariance = np.diag([sigma_m**2, sigma_m**2, 0.0, 0.0, 0.0, 0.07]).ravel()
    pose = PoseWithCovariance(pose=where.to_msg(), covariance=covariance)
    return t.INITIAL_POSE.of(PoseWithCovarianceStamped(header=Header.at(0.0, frame), pose=pose))


def charging(yes: bool) -> Sent:
    nothing = np.zeros(0, np.float32)
    return t.BATTERY.of(
        BatteryState(
            header=Header.at(0.0), voltage=12.0, temperature=math.nan, current=0.0, charge=math.nan, capacity=math.nan,
            design_capacity=math.nan, percentage=0.5, power_supply_status=1 if yes else 2, power_supply_health=1,
            power_supply_technology=2, present=True, cell_voltage=nothing, cell_temperature=nothing, location="",
            serial_number="",
        )
    )


class TestOnTheWay:
    def test_on_the_dock_it_knows_where_it_is_with_the_first_scans(self) -> None:
        robot = Robot()
        robot.run(0.3)
        assert robot.sure and robot.off_m < 0.05

    @pytest.mark.parametrize("drift", [0.0, 0.03, -0.05])
    def test_it_stays_within_centimetres_though_odometry_drifts(self, drift: float) -> None:
        robot = Robot(drift=drift)
        worst = 0.0
        robot.run(1.0)
        for velocity in ((0.3, 0.0), (0.0, 0.8), (0.3, 0.2), (0.0, -0.8), (0.25, -0.3)) * 2:
            robot.run(1.5, velocity)
            worst = max(worst, robot.off_m)
        assert worst < 0.08

    def test_odometry_that_begins_anew_does_not_carry_it_off(self) -> None:
        robot = Robot()
        robot.run(2.0, (0.3, 0.0))
        robot.odometry_begins_anew()
        robot.run(1.0, (0.2, 0.0))
        assert robot.sure and robot.off_m < 0.08

    def test_the_covariance_holds_the_true_error(self) -> None:
        robot = Robot(drift=0.02)
        robot.run(4.0, (0.25, 0.3))
        sigma = math.sqrt(robot.said[-1].pose.covariance[0] + robot.said[-1].pose.covariance[7])
        assert robot.off_m < 3 * sigma < 0.5

    def test_a_third_of_the_scan_full_of_people_does_not_lose_it(self) -> None:
        robot = Robot()
        robot.run(0.5)

        def crowded(scan: LaserScan) -> LaserScan:
            ranges = scan.ranges.copy()
            ranges[: BEAMS // 3] = np.minimum(ranges[: BEAMS // 3], 0.6)
            return scan.model_copy(update={"ranges": ranges})

        robot.change_scan = crowded
        robot.run(4.0, (0.2, 0.3))
        assert robot.sure and robot.off_m < 0.10

    @pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
    def test_a_scan_that_measures_nothing_leaves_it_to_odometry(self, value: float) -> None:
        robot = Robot()
        robot.run(1.0, (0.2, 0.0))
        robot.change_scan = lambda scan: scan.model_copy(update={"ranges": np.full(BEAMS, value, np.float32)})
        robot.run(2.0, (0.2, 0.0))
        assert robot.sure and robot.off_m < 0.10

    def test_standing_still_the_pose_stands_still(self) -> None:
        robot = Robot()
        robot.run(2.0, (0.2, 0.2))
        robot.run(2.0)
        before = robot.heard.pose
        robot.run(3.0)
        assert before is not None and robot.heard.pose is not None and robot.heard.pose.distance(before) < 0.003


class TestRep105:
    def test_map_to_odom_carries_odometry_to_the_pose(self) -> None:
        robot = Robot()
        robot.run(3.0, (0.2, 0.3))
        (transform,) = robot.transforms[-1].transforms
        assert (transform.header.frame_id, transform.child_frame_id) == ("map", "odom")
        shift, turn = transform.transform.translation, transform.transform.rotation.yaw
        reached = Pose2D(shift.x, shift.y, turn) @ robot._odom
        assert reached.distance(robot.cart.pose) < 0.08 and abs(wrap(reached.yaw - robot.cart.pose.yaw)) < 0.05

    def test_pose_and_transform_belong_together_in_time(self) -> None:
        robot = Robot()
        robot.run(1.0)
        assert [said.header for said in robot.said] == [moved.transforms[0].header for moved in robot.transforms]

    def test_the_map_is_said_once_with_its_walls_and_what_is_unknown(self) -> None:
        robot = Robot()
        robot.run(1.0)
        (grid,) = robot.maps
        assert grid.data.size == grid.info.width * grid.info.height
        assert set(np.unique(grid.data)) == {-1, 0, 100}

    def test_another_run_of_the_simulator_begins_anew(self) -> None:
        robot = Robot()
        robot.run(2.0, (0.3, 0.0))
        robot.cart.now = 0.0
        robot.carry_to(DOCK)
        robot.odometry_begins_anew()
        robot.run(0.5)
        assert robot.sure and robot.off_m < 0.05


class TestLost:
    @pytest.mark.parametrize("where", [KITCHEN, LIVING_ROOM, OFFICE])
    def test_carried_off_it_says_so_within_a_few_seconds_and_skills_have_no_pose(self, where: Pose2D) -> None:
        robot = Robot()
        robot.run(1.0)
        robot.carry_to(where)
        robot.run(3.0)
        assert is_lost(robot.said[-1]) and robot.heard.pose is None
        assert "lost" in robot.localization.why()

    @pytest.mark.parametrize("seed", range(10))
    def test_carried_anywhere_it_finds_itself_by_turning_about(self, seed: int) -> None:
        luck = np.random.default_rng(seed)
        where = (KITCHEN, LIVING_ROOM, OFFICE, Pose2D(4.4, 2.0, 0.0))[seed % 4]
        shift = luck.uniform(-0.3, 0.3, 2)
        robot = Robot(seed=seed)
        robot.run(1.0)
        robot.carry_to(Pose2D(where.x + float(shift[0]), where.y + float(shift[1]), float(luck.uniform(-3, 3))))
        robot.run(3.0)
        assert not robot.sure
        assert robot.turns_until_sure()
        assert robot.off_m < 0.10

    def test_started_away_from_the_dock_it_does_not_claim_to_know(self) -> None:
        robot = Robot(at=OFFICE)
        robot.run(2.0)
        assert not robot.sure
        assert robot.turns_until_sure() and robot.off_m < 0.10

    def test_switched_on_where_it_was_switched_off_it_knows_that_place(self, tmp_path: Path) -> None:
        memory = Settings(seed=3, memory_url=f"sqlite:///{tmp_path}/mind.db")
        keeper = MemoryKeeper(memory)
        for tick in range(10):
            pose = PoseWithCovarianceStamped.about(float(tick), OFFICE.to_msg(), 0.02, 0.05)
            keeper.step(float(tick), Inbox.of([t.POSE.of(pose)]))
        keeper.close()
        robot = Robot(at=OFFICE, settings=memory)
        robot.run(0.5)
        assert robot.sure and robot.off_m < 0.05

    def test_standing_still_it_does_not_become_sure_by_itself(self) -> None:
        robot = Robot(at=LIVING_ROOM)
        robot.run(8.0)
        assert not robot.sure

    @pytest.mark.parametrize(("off_m", "off_rad"), [(0.0, 0.0), (0.15, 0.1), (0.35, -0.25)])
    def test_a_person_who_points_roughly_at_the_map_is_believed_when_the_scan_agrees(
        self, off_m: float, off_rad: float
    ) -> None:
        robot = Robot(at=OFFICE)
        robot.run(1.0)
        robot.run(0.5, (0.0, 0.0), told(Pose2D(OFFICE.x + off_m, OFFICE.y - off_m, OFFICE.yaw + off_rad), 0.5))
        assert robot.sure and robot.off_m < 0.05

    def test_a_person_who_points_at_the_wrong_room_is_not_believed(self) -> None:
        robot = Robot(at=OFFICE)
        robot.run(1.0)
        robot.run(3.0, (0.0, 0.0), told(KITCHEN))
        assert not robot.sure

    @pytest.mark.parametrize("bad", [told(OFFICE, math.nan), told(Pose2D(math.nan, 0, 0)), told(OFFICE, frame="odom")])
    def test_a_pointer_that_makes_no_sense_is_ignored(self, bad: Sent) -> None:
        robot = Robot()
        robot.run(1.0)
        robot.run(1.0, (0.0, 0.0), bad)
        assert robot.sure and robot.off_m < 0.05

    def test_put_back_onto_the_dock_it_knows_at_once_because_it_charges(self) -> None:
        robot = Robot(at=OFFICE)
        robot.run(2.0)
        robot.carry_to(DOCK)
        robot.run(1.0, (0.0, 0.0), charging(True))
        assert robot.sure and robot.off_m < 0.05


def test_the_same_seed_gives_the_same_poses() -> None:
    def life() -> list[tuple[float, float]]:
        robot = Robot(at=KITCHEN, seed=7)
        robot.run(4.0, (0.1, 0.5))
        return [(said.pose.pose.position.x, said.pose.pose.position.y) for said in robot.said]

    assert life() == life()
