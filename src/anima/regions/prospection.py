"""Prospection: imagines a doubtful or risky call a few times before it begins."""

from __future__ import annotations

from dataclasses import dataclass
from random import Random
from statistics import fmean
from typing import Any

from anima import topics as t
from anima.config import Settings
from anima.memory.opening import remembered_risks
from anima.planner.calls import CallError, parse_call
from anima.planner.lexicon import known_names
from anima.regions.drives.config import load_battery, load_hypothalamus
from anima.regions.gate.objectives import plain
from anima.regions.rollouts.config import load_prospection
from anima.regions.rollouts.experience import Experience
from anima.regions.rollouts.imagine import Energy, Plan, Run, imagine, plan_of
from anima.regions.rollouts.ways import Ways
from anima.runtime.component import Inbox
from anima.skills.registry import SKILLS, InvalidArguments, render
from anima.topics import Sent
from anima.types.base import Header
from anima.types.glue import Condition, Forecast, Recall, Resources
from anima.types.mind import Outcome, SkillCall, WorldState

GO, REFUSE, RATHER = "go", "refuse", "rather"
DOCK = "dock()"
_DOUBTFUL_MODES = frozenset({"CAUTIOUS", "RECOVERY", "RUMINATING"})
_DOUBTFUL_LABELS = frozenset({"WORN", "DEGRADED"})
_FORESEEN_KEPT = 32
_COUNTED = 3  # an episode that was lived more often than this weighs no more: the world changes


@dataclass(frozen=True)
class _Scene:
    """What a call is weighed against."""

    world: WorldState
    resources: Resources | None
    condition: Condition | None
    recall: Recall | None
    caution: float
    energy: Energy


class Prospection:
    """Answers every accepted call in the step that it arrives in: most with "go" at once, doubtful ones with two or
    three rollouts in a kinematic model.

    Seeded by the run's seed and the call's id, and pure in (state, now, inbox). It learns risks and times from
    outcomes. It refuses only what would strand the robot, or endangers what it carries: a bad chance alone makes it
    point to a better call, never says no.
    """

    def __init__(self, settings: Settings) -> None:
        """Raises `ConfigError` when the tuning, the robot's file or the map can't be used."""
        self._tuning = load_prospection()
        self._names = known_names(settings)
        self._ways = Ways(settings, self._tuning.detour)
        self._seed = settings.seed
        battery, body = load_battery(settings), load_hypothalamus()
        # Believed until the hypothalamus says what it learned.
        self._first = Energy(
            1.0,
            body.discharge.drive_j_per_m / battery.capacity_j,
            battery.electronics_w / battery.capacity_j,
            body.reserve_share,
        )
        self._experience = Experience(speed_mps=self._tuning.drive.speed_mps, lasting_s=dict(self._tuning.lasting_s))
        if (kept := remembered_risks(settings)) is not None:
            self._experience.go_on_from(kept)
        self._foreseen: dict[str, tuple[str, float]] = {}
        self._why = "No call was in doubt yet."

    # --- the step --------------------------------------------------------------------------------

    def step(self, now: float, inbox: Inbox) -> list[Sent]:
        """Learn from what ended, then answer what was accepted."""
        outcomes = inbox.new(t.OUTCOME)
        for outcome in outcomes:
            self._learn(outcome)
        sent: list[Sent] = []
        for verdict in inbox.new(t.VERDICT):
            if verdict.accepted:
                sent.append(t.FORECAST.of(self._answer(now, verdict.call, inbox)))
        news = [self._experience.visit(world.place) for world in inbox.new(t.WORLD_STATE)]
        if outcomes or any(news):
            sent.append(t.RISKS.of(self._experience.told(now)))
        return sent

    def _learn(self, outcome: Outcome) -> None:
        call = outcome.call
        way, metres = self._foreseen.pop(call.id, ("", 0.0))
        thing = ""
        if call.skill == "pick":
            thing = render(call.skill, call.arguments).removeprefix("pick(").removesuffix(")")
        self._experience.live(
            call.skill, thing, way, metres, outcome.success, outcome.failure, outcome.duration_s
        )

    def _answer(self, now: float, call: SkillCall, inbox: Inbox) -> Forecast:
        text = _short(call.skill, call.arguments)
        world, resources = inbox.last(t.WORLD_STATE), inbox.last(t.RESOURCES)
        if world is None:
            return self._go(now, call, text, "nothing is known of the world yet")
        plan = plan_of(call, world, self._ways)
        if plan is None:
            return self._go(now, call, text, "it neither drives nor grasps")
        self._foreseen[call.id] = (plan.way, plan.metres)
        while len(self._foreseen) > _FORESEEN_KEPT:
            self._foreseen.pop(next(iter(self._foreseen)))
        if resources is not None and not resources.may_simulate:
            return self._go(now, call, text, "the body can't afford to imagine it")
        recall, temperament = inbox.last(t.RECALL), inbox.last(t.TEMPERAMENT)
        scene = _Scene(
            world=world,
            resources=resources,
            condition=inbox.last(t.CONDITION),
            recall=recall if recall is not None and recall.objective == call.objective else None,
            caution=0.5 if temperament is None else temperament.caution,
            energy=self._energy(world, resources),
        )
        doubts = self._doubts(text, plan, scene)
        if not doubts:
            return self._go(now, call, text, "there is no doubt about it")
        return self._imagined(now, call, text, plan, scene, doubts)

    def _energy(self, world: WorldState, resources: Resources | None) -> Energy:
        if resources is None:
            return Energy(world.battery, self._first.per_m, self._first.per_s, self._first.reserve)
        return Energy(
            resources.battery,
            resources.share_per_m or self._first.per_m,
            resources.share_per_s or self._first.per_s,
            resources.reserve or self._first.reserve,
        )

    def _doubts(self, text: str, plan: Plan, scene: _Scene) -> list[str]:
        """Why the call is imagined before it begins."""
        doubts = []
        condition, recall = scene.condition, scene.recall
        if recall is not None and (text in map(plain, recall.avoid) or self._remembered(text, recall) > 0.0):
            doubts.append("it failed in a situation like this")
        if condition is not None and (condition.mode in _DOUBTFUL_MODES or condition.label in _DOUBTFUL_LABELS):
            doubts.append(f"the robot is {condition.label.lower()}, {condition.mode.lower()}")
        if scene.energy.share - scene.energy.reserve < self._tuning.doubt.margin_share:
            doubts.append(f"the battery is at {scene.energy.share:.0%}")
        if plan.metres > self._tuning.doubt.long_m:
            doubts.append("the way is long")
        if scene.world.holding and plan.metres > 0.0:
            doubts.append(f"the {scene.world.holding} is in the hand")
        place = text.removeprefix("go_to(").removesuffix(")")
        if plan.skill == "go_to" and plan.metres > 0.0 and place not in self._experience.been:
            doubts.append(f"it was never at the {place}")
        return doubts

    @staticmethod
    def _remembered(text: str, recall: Recall) -> float:
        """Failures of the same call among the episodes that came to mind, less its successes, by their similarity."""
        total = 0.0
        for episode, similarity in zip(recall.episodes, recall.similarity, strict=False):
            if plain(episode.call) == text:
                lived = float(similarity) * min(episode.count, _COUNTED)
                total += -lived if episode.success else lived
        return total

    # --- rollouts --------------------------------------------------------------------------------

    def _rolled(self, plan: Plan, text: str, id: str, scene: _Scene, rollouts: int) -> list[Run]:
        rng = Random(f"{self._seed}:{id}:{text}")
        seen = 0.0 if scene.recall is None else self._remembered(text, scene.recall)
        if scene.recall is not None and not seen and text in map(plain, scene.recall.avoid):
            seen = 1.0
        carrying = bool(scene.world.holding)
        return [
            imagine(plan, scene.energy, carrying, self._experience, self._tuning, rng, seen) for _ in range(rollouts)
        ]

    def _imagined(
        self, now: float, call: SkillCall, text: str, plan: Plan, scene: _Scene, doubts: list[str]
    ) -> Forecast:
        tuning = self._tuning
        many = scene.caution >= tuning.many_from_caution or len(doubts) >= tuning.many_from_doubts
        runs = self._rolled(plan, text, call.id, scene, tuning.rollouts_many if many else tuning.rollouts_few)
        success, hazard = fmean(run.success for run in runs), fmean(run.hazard for run in runs)
        advice, rather, why = self._advice(call, text, plan, scene, runs)
        self._why = f"{text}: {why}, because {' and '.join(doubts)}"
        return Forecast.model_construct(
            header=Header.at(now), call=text, rollouts=len(runs), success=success,
            cost_s=fmean(run.cost_s for run in runs), energy=fmean(run.energy for run in runs), hazard=hazard,
            advice=advice, rather=rather, why=f"{why}; imagined because {' and '.join(doubts)}", id=call.id,
        )

    def _advice(
        self, call: SkillCall, text: str, plan: Plan, scene: _Scene, runs: list[Run]
    ) -> tuple[str, str, str]:
        tuning, docked = self._tuning, scene.world.docked
        success, hazard = fmean(run.success for run in runs), fmean(run.hazard for run in runs)
        left = min(run.left for run in runs)
        drives = plan.metres > 0.0 and plan.skill not in ("dock", "undock")
        if any(leg.metres == float("inf") for leg in plan.legs) and not plan.search:
            return REFUSE, "", "the map knows no way there"
        if drives and left < tuning.flat_share:
            return REFUSE, "", f"it could not come back to the dock: {max(left, 0.0):.0%} of the battery would be left"
        if drives and left < scene.energy.reserve:
            why = f"back at the dock {left:.0%} of the battery would be left, less than the reserve"
            return (REFUSE, "", f"{why}; it must charge on") if docked else (RATHER, DOCK, why)
        limit = tuning.hazard_limit + (0.5 - scene.caution) * tuning.caution_swing
        if hazard > limit:
            return REFUSE, "", f"the {scene.world.holding} would be at risk ({hazard:.0%})"
        if success < tuning.rather_below and scene.recall is not None:
            better = self._better(call, text, success, scene)
            if better:
                return RATHER, better, f"it succeeds in {success:.0%}, and {better} was remembered to work"
        return GO, "", f"it succeeds in {success:.0%}"

    def _better(self, call: SkillCall, text: str, success: float, scene: _Scene) -> str:
        """A remembered call that is possible now and likelier to succeed, or empty."""
        assert scene.recall is not None
        best, found = success + self._tuning.rather_better_by, ""
        for prefer in map(plain, scene.recall.prefer):
            if prefer == text:
                continue
            try:
                skill, arguments = parse_call(prefer, self._names)
                unmet = SKILLS[skill].unmet(SKILLS[skill].parse(arguments), scene.world)
            except (CallError, InvalidArguments):
                continue
            if unmet:
                continue
            other = call.model_copy(update={"skill": skill, "arguments": arguments})
            plan = plan_of(other, scene.world, self._ways)
            if plan is None:
                continue
            likely = fmean(
                run.success for run in self._rolled(plan, prefer, call.id, scene, self._tuning.rollouts_few)
            )
            if likely > best:
                best, found = likely, prefer
        return found

    # --- telling ---------------------------------------------------------------------------------

    @staticmethod
    def _go(now: float, call: SkillCall, text: str, why: str) -> Forecast:
        return Forecast.model_construct(
            header=Header.at(now), call=text, rollouts=0, success=1.0, cost_s=0.0, energy=0.0, hazard=0.0, advice=GO,
            rather="", why=why, id=call.id,
        )

    def why(self) -> str:
        """One sentence: what it last imagined, and what came of it."""
        return f"{self._why.rstrip('.')}."

    def dump(self) -> dict[str, Any]:
        """What was learned, and the calls under way, as JSON."""
        return {
            "experience": self._experience.model_dump(mode="json"),
            "foreseen": {id: list(way) for id, way in self._foreseen.items()},
        }

    @classmethod
    def load(cls, settings: Settings, data: dict[str, Any]) -> Prospection:
        """One that goes on from what `dump` gave."""
        out = cls(settings)
        out._experience = Experience.model_validate(data["experience"])
        out._foreseen = {id: (way, metres) for id, (way, metres) in data["foreseen"].items()}
        return out


def _short(skill: str, arguments: str) -> str:
    return plain(render(skill, arguments))
