"""Diagnostics as a row of the brain table: a status per node, and for battery, link, stop, position, language model."""

from __future__ import annotations

import math
from collections.abc import Sequence

from pydantic import Field

from anima import topics as t
from anima.body.equipment import load_equipment
from anima.body.pose import is_lost
from anima.brain import table
from anima.config import CONFIG, Settings, Tuning, parse, read_yaml
from anima.runtime.component import Inbox
from anima.topics import Sent
from anima.types.audit import BrainStatus, RegionStatus
from anima.types.base import Header
from anima.types.health import ERROR, OK, STALE, WARN, DiagnosticArray, DiagnosticStatus, KeyValue
from anima.types.link import LinkState
from anima.types.mind import StopState, Thought
from anima.types.std import BatteryState, PoseWithCovarianceStamped

_WORST = ("well", "warnings", "errors", "silent")


class DiagnosticsTuning(Tuning):
    """When a part is not well.

    `stale_after_s` up: a silent process is told later. `slow_share` up: a node that falls behind is told sooner.
    `link_heard_share` up: a disturbed line to the board is told sooner. `battery_low` and `battery_critical` up: the
    battery is told of at a higher charge.
    """

    stale_after_s: float = Field(gt=1, le=60)
    slow_share: float = Field(gt=0, lt=1)
    link_heard_share: float = Field(gt=0, lt=1)
    battery_low: float = Field(gt=0, lt=1)
    battery_critical: float = Field(gt=0, lt=1)


def load_diagnostics() -> DiagnosticsTuning:
    """The tuning; raises `ConfigError` that names the file, the key and what is allowed."""
    source = CONFIG / "diagnostics.yaml"
    tuning: DiagnosticsTuning = parse(DiagnosticsTuning, read_yaml(source), str(source))
    return tuning


class Diagnostics:
    """Tells how every node is by what its process said of it last. It is told, never asked whether a robot lives."""

    def __init__(self, settings: Settings) -> None:
        """Raises `ConfigError` when `config/diagnostics.yaml` can't be used."""
        self._tuning = load_diagnostics()
        self._robot = settings.robot
        equipment = load_equipment(settings)
        rows = [row for row in table(settings.sim, settings.composed) if equipment.takes_part(row.node)]
        self._rows = tuple((row.node, row.home(settings.composed), row.rate_hz, row.doc) for row in rows)
        self._has_line = any(t.LINK_STATE in row.gives for row in rows)
        self._said = "it has told nothing yet"

    def step(self, now: float, inbox: Inbox) -> list[Sent]:
        """One array of all statuses."""
        status = [*self._nodes(now, inbox), *self._parts(now, inbox)]
        levels = [one.level for one in status]
        self._said = ", ".join(f"{levels.count(level)} {word}" for level, word in enumerate(_WORST) if level in levels)
        return [t.DIAGNOSTICS.of(DiagnosticArray(header=Header.at(now), status=status))]

    def why(self) -> str:
        """One sentence: how many parts are well."""
        return self._said

    def _nodes(self, now: float, inbox: Inbox) -> list[DiagnosticStatus]:
        told: dict[str, tuple[BrainStatus, RegionStatus]] = {}
        for topic in t.BRAIN_STATUS.values():
            process = inbox.last(topic)
            if process is not None:
                told |= {region.node: (process, region) for region in process.regions}
        return [self._node(now, *row, told.get(row[0])) for row in self._rows]

    def _node(
        self,
        now: float,
        node: str,
        process: str,
        rate_hz: float,
        doc: str,
        told: tuple[BrainStatus, RegionStatus] | None,
    ) -> DiagnosticStatus:
        if told is None or now - told[0].header.stamp.seconds > self._tuning.stale_after_s:
            return self._status(STALE, node, f"the process {process} says nothing of it", {"process": process})
        region = told[1]
        slow = region.steps_per_s < self._tuning.slow_share * rate_hz
        level, message = (WARN, f"slow: {region.steps_per_s:.1f} of {rate_hz:g} Hz") if slow else (OK, region.why)
        rate = f"{region.steps_per_s:.1f}"
        figures = {"process": process, "steps_per_s": rate, "rate_hz": f"{rate_hz:g}", "for": doc}
        return self._status(level, node, message, figures)

    def _parts(self, now: float, inbox: Inbox) -> Sequence[DiagnosticStatus]:
        return (
            self._battery(inbox.last(t.BATTERY)),
            *([self._link(inbox.last(t.LINK_STATE))] if self._has_line else []),
            self._stop(inbox.last(t.STOP_STATE)),
            self._position(inbox.last(t.POSE)),
            self._model(inbox.last(t.THOUGHT)),
        )

    def _battery(self, battery: BatteryState | None) -> DiagnosticStatus:
        if battery is None or not math.isfinite(battery.percentage):
            return self._status(STALE, "battery", "its charge is not known", {})
        charge = battery.percentage
        low, critical = charge < self._tuning.battery_low, charge < self._tuning.battery_critical
        level = ERROR if critical else WARN if low else OK
        figures = {"voltage": f"{battery.voltage:.2f}", "current": f"{battery.current:.2f}"}
        return self._status(level, "battery", f"{charge:.0%} full", figures)

    def _link(self, link: LinkState | None) -> DiagnosticStatus:
        if link is None:
            return self._status(STALE, "link", "the driver says nothing of it", {})
        figures = {
            "phase": link.phase, "faults": ", ".join(link.faults), "round_trip_s": f"{link.round_trip_s:.4f}",
            "heard_share": f"{link.heard_share:.3f}", "frames_lost": str(link.frames_lost),
            "frames_bad": str(link.frames_bad),
        }
        if link.phase == "closed":
            return self._status(ERROR, "link", link.trouble or "no line to the board", figures)
        if link.phase != "armed" or link.faults:
            return self._status(WARN, "link", link.trouble or f"{link.phase}; anima reset arms it", figures)
        if link.heard_share < self._tuning.link_heard_share:
            return self._status(WARN, "link", f"the board understands {link.heard_share:.0%} of the frames", figures)
        return self._status(OK, "link", "armed", figures)

    def _stop(self, stop: StopState | None) -> DiagnosticStatus:
        if stop is None:
            return self._status(STALE, "software_stop", "the reflex kernel says nothing", {})
        if stop.latched:
            return self._status(ERROR, "software_stop", f"latched by {stop.source}: anima reset", {})
        held = ", ".join(stop.active)
        return self._status(WARN if held else OK, "software_stop", f"held by {held}" if held else "free", {})

    def _position(self, pose: PoseWithCovarianceStamped | None) -> DiagnosticStatus:
        if pose is None:
            return self._status(STALE, "position", "no pose yet", {})
        at, sigma = pose.pose.pose.position, math.sqrt(max(0.0, float(pose.pose.covariance[0])))
        figures = {"x": f"{at.x:.3f}", "y": f"{at.y:.3f}", "sigma_x": f"{sigma:.3f}"}
        if is_lost(pose):
            return self._status(ERROR, "position", "the robot does not know where it is: anima do relocalize", figures)
        return self._status(OK, "position", f"at ({at.x:.2f}, {at.y:.2f})", figures)

    def _model(self, thought: Thought | None) -> DiagnosticStatus:
        if thought is None:
            return self._status(OK, "language_model", "not asked yet", {})
        rate = thought.completion_tokens / thought.decode_s if thought.decode_s > 0.0 else math.nan
        figures = {
            "prefill_s": f"{thought.prefill_s:.2f}", "decode_s": f"{thought.decode_s:.2f}",
            "tokens_per_s": f"{rate:.1f}", "cached_tokens": str(thought.cached_tokens),
            "prompt_tokens": str(thought.prompt_tokens),
        }
        message = f"its last turn failed: {thought.error}" if thought.error else f"its last turn was for {thought.role}"
        return self._status(WARN if thought.error else OK, "language_model", message, figures)

    def _status(self, level: int, name: str, message: str, figures: dict[str, str]) -> DiagnosticStatus:
        values = [KeyValue(key=key, value=value) for key, value in figures.items()]
        return DiagnosticStatus(
            level=level, name=f"{self._robot}: {name}", message=message, hardware_id=self._robot, values=values
        )
