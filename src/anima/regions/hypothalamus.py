"""Hypothalamus: what the body can afford, weighed against what is asked of it."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import Any

from anima import topics as t
from anima.body.equipment import load_equipment
from anima.body.places import load_places
from anima.config import Settings
from anima.memory.opening import remembered_costs
from anima.regions.drives.body_use import Discharge, Heat, Wear
from anima.regions.drives.config import load_battery, load_hypothalamus
from anima.regions.gate.objectives import CURIOSITY, OPEN
from anima.runtime.component import Inbox
from anima.topics import Sent
from anima.types.base import Header
from anima.types.costs import BodyCosts
from anima.types.glue import Resources
from anima.types.std import BatteryState

_CHARGING, _FULL = 1, 4  # sensor_msgs/BatteryState POWER_SUPPLY_STATUS_*
_GRASPS = frozenset({"pick"})
_FASTEST_MPS = 2.0  # a pose that moved faster than this was corrected, not driven
_SPEED_GAIN = 0.02  # of the newest second of driving, in how fast it gets about
_TOLD_SHARE, _TOLD_M = 0.02, 20.0  # what was learned is told when it moved so far, or the robot
_WINDOW_S = 5.0  # a longer gap between two steps tells nothing of the time between


@dataclass
class _Drives:
    """What lasts between two steps besides what was learned: the three latches, and when work was last seen."""

    must_dock: bool = False
    hungry: bool = False
    hot: bool = False
    worked_at: float = -math.inf


@dataclass(frozen=True)
class _Asked:
    """What is asked of the robot: a person waits, something is open."""

    person: bool
    open: bool


class Hypothalamus:
    """Battery, heat, wear and stop state against task urgency.

    Two latches with a wide gap keep the drives from flapping: `must_dock` begins below the energy for the way to the
    dock and the reserve, and ends well above it; the wish to charge begins at `charge_from_share` and ends at
    `charged_share`. `step` is pure in (state, now, inbox); it is silent until the battery was heard.
    """

    def __init__(self, settings: Settings) -> None:
        """Raises `ConfigError` when the tuning, the robot's file or the map can't be used."""
        self._tuning = load_hypothalamus()
        self._has_dock = load_equipment(settings).dock  # without one a person charges it, and it wants nothing
        places = load_places(settings.map_folder)
        self._dock = places.dock.approach
        poses = [pose for name in places.names for pose in places.poses(name)]
        self._farthest_m = max(math.hypot(p.x - self._dock[0], p.y - self._dock[1]) for p in poses)
        battery = load_battery(settings)
        self._discharge = Discharge(self._tuning.discharge, battery)
        self._heat = Heat(self._tuning.heat, battery)
        self._wear = Wear()
        self._cruise_mps = self._tuning.discharge.travel_mps
        self._drives = _Drives()
        self._now: float | None = None
        self._level: float | None = None
        self._at: tuple[float, float] | None = None
        self._said: tuple[float, list[object]] | None = None
        self._told: list[float] = self._learned()
        self._remember(settings)
        self._why = "It has not heard from the battery yet."

    # --- the step --------------------------------------------------------------------------------

    def step(self, now: float, inbox: Inbox) -> list[Sent]:
        """Feel the body, set the drives, and say what it can afford when that has changed."""
        dt = 0.0 if self._now is None else now - self._now
        if dt < 0.0:  # time jumped back: another run of the same body
            self._said, self._at, dt = None, None, 0.0
            self._drives.worked_at = -math.inf
        self._now = now
        battery = inbox.last(t.BATTERY)
        if battery is None or not self._take_level(battery.percentage, dt):
            return []
        docked = battery.power_supply_status in (_CHARGING, _FULL)
        if dt <= _WINDOW_S:
            self._feel(inbox, battery, dt, docked)
        asked = self._asked(now, inbox)
        stop = inbox.last(t.STOP_STATE)
        latched = stop is not None and stop.latched
        said = self._tell(now, self._resources(now, battery.temperature, asked, docked, latched))
        return said + self._tell_costs(now)

    def _take_level(self, percentage: float, dt: float) -> bool:
        """Smooth the gauge; whether anything is known of it."""
        if math.isfinite(percentage):
            share = min(max(percentage, 0.0), 1.0)
            if self._level is None or abs(share - self._level) > 0.1:
                self._level = share  # the first reading, or another battery
            else:
                self._level += (share - self._level) * (1.0 - math.exp(-dt / self._tuning.smooth_s))
        return self._level is not None

    def _feel(self, inbox: Inbox, battery: BatteryState, dt: float, docked: bool) -> None:
        metres = self._moved(inbox, dt)
        joules = self._heat.feel(inbox.new(t.JOINT_STATES), dt) if dt > 0.0 else 0.0
        self._wear.joules += joules
        self._wear.metres += metres
        for outcome in inbox.new(t.OUTCOME):
            self._wear.failed_grasps += not outcome.success and outcome.call.skill in _GRASPS
        if dt <= 0.0 or not math.isfinite(battery.percentage):
            return
        moving = metres >= self._tuning.still_mps * dt
        if moving:
            speed = min(max(metres / dt, 0.05), _FASTEST_MPS)
            self._cruise_mps += _SPEED_GAIN * (speed - self._cruise_mps)
        self._discharge.feel(battery.percentage, battery.current, dt, metres, moving=moving, charging=docked)

    def _moved(self, inbox: Inbox, dt: float) -> float:
        """Metres since the last step, and where the robot is now."""
        pose = inbox.last(t.POSE)
        if pose is None:
            return 0.0
        at = pose.pose.pose.position
        if not (math.isfinite(at.x) and math.isfinite(at.y)):
            return 0.0
        before, self._at = self._at, (at.x, at.y)
        if before is None:
            return 0.0
        metres = math.dist(before, self._at)
        return metres if metres <= _FASTEST_MPS * max(dt, 0.0) else 0.0

    def _asked(self, now: float, inbox: Inbox) -> _Asked:
        backlog = inbox.last(t.BACKLOG)
        # Its own looking around is neither work nor asked for: it must not end itself.
        objectives = () if backlog is None else [o for o in backlog.objectives if o.source != CURIOSITY]
        asked = _Asked(
            person=any(o.said and o.state in ("pending", "focused") for o in objectives),
            open=any(o.state in OPEN for o in objectives),
        )
        if any(o.state == "focused" for o in objectives):
            self._drives.worked_at = now
        return asked

    # --- the drives ------------------------------------------------------------------------------

    @property
    def share_per_m(self) -> float:
        """Share of the battery that a metre costs, the time for it included."""
        return self._discharge.per_m + self._discharge.per_s / self._cruise_mps

    def _home_m(self, docked: bool) -> float:
        """Metres to the dock; where nothing is known of the place, from the farthest there is."""
        if docked:
            return 0.0
        straight = self._farthest_m if self._at is None else math.dist(self._at, self._dock[:2])
        return straight * self._tuning.detour

    def _resources(self, now: float, measured_c: float, asked: _Asked, docked: bool, latched: bool) -> Resources:
        tuning, drives, wear = self._tuning, self._drives, self._wear.level(self._tuning.wear)
        level = self._level or 0.0
        reserve = tuning.reserve_share + wear * tuning.wear.reserve_share
        home_m = self._home_m(docked)
        home = 0.0 if docked else home_m * self.share_per_m + tuning.docking_s * self._discharge.per_s
        # The latch ends below full, or a robot whose way home costs much would never leave the dock again.
        latch = _latch(drives.must_dock, reserve + home, tuning.release_share, tuning.charged_share)
        drives.must_dock = self._has_dock and level < latch
        drives.hungry = self._has_dock and (
            drives.must_dock or level < (tuning.charged_share if drives.hungry else tuning.charge_from_share)
        )
        temperature = max(self._heat.wheels_c, self._heat.arm_c, measured_c if math.isfinite(measured_c) else -math.inf)
        drives.hot = temperature > (tuning.heat.warm_c if drives.hot else tuning.heat.hot_c)
        rested = now - drives.worked_at >= tuning.rest_s
        fit = rested and not latched and temperature <= tuning.heat.warm_c
        rich = not drives.hungry and level >= tuning.explore_above_share + wear * tuning.wear.reserve_share
        return Resources.model_construct(
            header=Header.at(now),
            battery=level,
            temperature=temperature,
            wear=wear,
            charge_drive=self._charge_drive(level, reserve + home, asked),
            must_dock=drives.must_dock,
            think_budget_s=self._think_s(asked, docked),
            may_simulate=not drives.hot and not latched and (docked or level >= tuning.simulate_above_share),
            may_explore=fit and rich and not asked.open,
            range_m=max(0.0, ((level - reserve) / self.share_per_m - home_m) / 2.0),
            why=self._words(level, reserve, home, temperature, asked, docked, latched),
            share_per_m=self._discharge.per_m,
            share_per_s=self._discharge.per_s,
            reserve=reserve,
        )

    def _charge_drive(self, level: float, least: float, asked: _Asked) -> float:
        tuning = self._tuning
        if self._drives.must_dock:
            return 1.0
        if not self._drives.hungry:
            return 0.0
        span = max(tuning.charge_from_share - least, 1e-3)
        drive = min(max((tuning.charge_from_share - level) / span, tuning.drive_floor), 1.0)
        return drive * (1.0 - tuning.person_discount) if asked.person else drive

    def _think_s(self, asked: _Asked, docked: bool) -> float:
        think = self._tuning.think
        if self._drives.hot or (self._drives.must_dock and not docked):
            return think.critical_s
        if asked.person:
            return think.person_s
        return think.docked_s if docked else think.free_s

    def _words(
        self, level: float, reserve: float, home: float, temperature: float, asked: _Asked, docked: bool, latched: bool
    ) -> str:
        percent = f"the battery is at {level:.0%}"
        if self._drives.must_dock and docked:
            why = f"{percent}: it stays at the dock until there is enough to work with"
        elif self._drives.must_dock:
            why = f"{percent}, with {reserve:.0%} as reserve and {home:.1%} for the way to the dock: it must dock"
        elif self._drives.hungry:
            waits = ", though a person waits" if asked.person else ""
            why = f"{percent}: it wants to charge up to {self._tuning.charged_share:.0%}{waits}"
        else:
            why = f"{percent}: enough to work with"
        if self._drives.hot:
            why += f"; a motor or the battery is hot ({temperature:.0f} degrees)"
        return why + ("; the software stop holds it" if latched else "")

    # --- telling ---------------------------------------------------------------------------------

    def _tell(self, now: float, said: Resources) -> list[Sent]:
        self._why = said.why
        meaning: list[object] = [
            round(said.battery, 2), round(said.temperature / 5), said.must_dock, round(said.charge_drive, 1),
            said.think_budget_s, said.may_simulate, said.may_explore,
        ]
        if self._said is not None and self._said[1] == meaning and now - self._said[0] < self._tuning.repeat_s:
            return []
        self._said = (now, meaning)
        return [t.RESOURCES.of(said)]

    def _learned(self) -> list[float]:
        wear = self._wear
        return [
            self._discharge.per_s, self._discharge.per_m, self._cruise_mps, wear.joules, wear.metres,
            float(wear.failed_grasps),
        ]

    def _remember(self, settings: Settings) -> None:
        """Go on from what was learned of this body in earlier lives."""
        kept = remembered_costs(settings)
        if kept is None:
            return
        self._discharge.believe(kept.share_per_s, kept.share_per_m)
        self._cruise_mps = min(max(kept.cruise_mps, 0.05), _FASTEST_MPS)
        self._wear = Wear(joules=kept.joules, metres=kept.metres, failed_grasps=kept.failed_grasps)
        self._told = self._learned()

    def _tell_costs(self, now: float) -> list[Sent]:
        learned, told = self._learned(), self._told
        moved = max(abs(new - old) / max(old, 1e-12) for new, old in zip(learned[:3], told[:3], strict=True))
        if moved < _TOLD_SHARE and learned[4] - told[4] < _TOLD_M and learned[5] == told[5]:
            return []
        self._told = learned
        per_s, per_m, cruise_mps, joules, metres, grasps = learned
        costs = BodyCosts(
            header=Header.at(now), share_per_s=per_s, share_per_m=per_m, cruise_mps=cruise_mps, joules=joules,
            metres=metres, failed_grasps=int(grasps),
        )
        return [t.BODY_COSTS.of(costs)]

    def why(self) -> str:
        """One sentence: what it can afford."""
        return f"{self._why[0].upper()}{self._why[1:].rstrip('.')}."

    def dump(self) -> dict[str, Any]:
        """What lasts, as JSON: what was learned of the battery, wear, heat and the latches."""
        drives = asdict(self._drives) | {"worked_at": None}
        if math.isfinite(self._drives.worked_at):
            drives["worked_at"] = self._drives.worked_at
        return {
            "now": self._now,
            "level": self._level,
            "at": None if self._at is None else list(self._at),
            "cruise_mps": self._cruise_mps,
            "discharge": self._discharge.dump(),
            "heat": [self._heat.wheels_c, self._heat.arm_c],
            "wear": asdict(self._wear),
            "drives": drives,
            "said": self._said,
            "told": self._told,
        }

    @classmethod
    def load(cls, settings: Settings, data: dict[str, Any]) -> Hypothalamus:
        """One that goes on from what `dump` gave."""
        out = cls(settings)
        out._now, out._level, out._cruise_mps = data["now"], data["level"], data["cruise_mps"]
        out._at = None if data["at"] is None else (data["at"][0], data["at"][1])
        out._discharge.restore(data["discharge"])
        out._heat.wheels_c, out._heat.arm_c = data["heat"]
        out._wear = Wear(**data["wear"])
        out._told = list(data["told"])
        out._said = None if data["said"] is None else (data["said"][0], data["said"][1])
        worked_at = data["drives"]["worked_at"]
        out._drives = _Drives(**(data["drives"] | {"worked_at": -math.inf if worked_at is None else worked_at}))
        return out


def _latch(held: bool, least: float, release: float, full: float) -> float:
    """The level below which the latch is on: `least` when it is off; when on, `release` above it, but not above
    `full` unless `least` is."""
    return max(least, min(least + release, full)) if held else least
