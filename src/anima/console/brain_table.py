"""The brain table, live: each node's rate, what it last sent, why, and the decision that it last changed."""

from __future__ import annotations

from rich.table import Table

from anima import topics as t
from anima.brain import TABLE
from anima.skills.registry import render
from anima.topics import Sent
from anima.types.audit import BrainStatus, RegionStatus
from anima.types.glue import Condition, Conflict, Episode, Forecast, Recall, Resources, Salient, Temperament
from anima.types.mind import Backlog, Lease, Objectives, Outcome, SkillCall, Thought, Verdict

GONE_S = 3.0
SOURCES = (
    *t.BRAIN_STATUS.values(), t.BACKLOG, t.LEASE, t.VERDICT, t.OPERATOR_VERDICT, t.OUTCOME, t.SALIENCE, t.CONFLICT,
    t.EPISODES, t.RECALL, t.FORECAST, t.THOUGHT, t.OBJECTIVES, t.CONDITION, t.RESOURCES, t.TEMPERAMENT,
)
_IDS_KEPT = 1000
# Objectives that the robot sets itself, by the word that they come from.
_OWN = {"survival": "hypothalamus_arbiter", "curiosity": "striatum_tension"}


class BrainTable:
    """Fed with what the graph says; `table` draws it. Which node a decision came from is read off its `because`."""

    def __init__(self) -> None:
        self.status: dict[str, tuple[float, RegionStatus]] = {}
        self.changed: dict[str, str] = {}
        self._now = 0.0
        self._makers: dict[str, tuple[str, ...]] = {}
        self._states: dict[str, str] = {}

    def feed(self, sent: Sent) -> None:
        """Take note of a value."""
        match sent.value:
            case BrainStatus() as status:
                self._now = max(self._now, status.header.stamp.seconds)
                for region in status.regions:
                    self.status[region.node] = (status.header.stamp.seconds, region)
            case Salient() as salient:
                self._make(salient.event.id, "thalamus_router", "amygdala_salience")
                if salient.interrupts != "none":
                    self.changed["amygdala_salience"] = f"{salient.interrupts} interrupted: {salient.event.text}"
            case Conflict() as conflict:
                self._make(conflict.id, "acc_conflict")
            case Episode() as episode:
                self._make(episode.id, "hippocampus_episodes")
            case Recall() as recall:
                for episode in recall.episodes:
                    self._make(episode.id, "hippocampus_episodes")
            case Thought() as thought:
                self._make(thought.id, "prefrontal_planner")
            case Objectives() as new:
                for objective in new.objectives:
                    self._make(objective.id, "prefrontal_planner")
                    self.changed["prefrontal_planner"] = f"objective {objective.condition} {objective.state}"
            case Forecast() as forecast if forecast.advice != "go":
                rather = f", rather {forecast.rather}" if forecast.rather else ""
                self.changed["prospection"] = f"{forecast.advice} {forecast.call}{rather}"
            case Verdict() as verdict:
                self._credit(verdict.call, _judged(verdict))
            case Lease() as lease:
                did = "leased" if lease.granted else "took back"
                self.changed["basal_ganglia_gate"] = f"{did} {_call(lease.call)}"
                self._credit(lease.call, f"{did} {_call(lease.call)}")
            case Outcome() as outcome:
                how = "did" if outcome.success else "failed at"
                self.changed["motor_cortex"] = f"{how} {_call(outcome.call)}"
            case Backlog() as backlog:
                self._see_backlog(backlog)
            case Condition() as condition if condition.retry_scale < 1.0 or condition.persistence_scale < 1.0:
                self.changed["insula_condition"] = (
                    f"budgets × {condition.retry_scale:.2f} retries, × {condition.persistence_scale:.2f} persistence"
                )
            case Resources() as resources if resources.must_dock:
                self.changed["hypothalamus_arbiter"] = "nothing but docking may begin"
            case Temperament() as temperament:
                self.changed["dmn_temperament"] = f"budgets × {0.5 + temperament.persistence:.2f} ({temperament.word})"
            case _:
                pass

    def _make(self, identity: str, *nodes: str) -> None:
        self._makers[identity] = nodes
        while len(self._makers) > _IDS_KEPT:
            self._makers.pop(next(iter(self._makers)))

    def _credit(self, call: SkillCall, decision: str) -> None:
        for identity in call.because:
            for node in self._makers.get(identity, ()):
                self.changed[node] = decision

    def _see_backlog(self, backlog: Backlog) -> None:
        for objective in backlog.objectives:
            if self._states.get(objective.id) == objective.state:
                continue
            self._states[objective.id] = objective.state
            reason = f": {objective.reason}" if objective.reason else ""
            decision = f"{objective.condition} {objective.state}{reason}"
            self.changed["basal_ganglia_gate"] = decision
            if objective.state == "done":
                self.changed["parietal_affordance"] = decision
            if node := _OWN.get(objective.source):
                self.changed[node] = decision

    def table(self) -> Table:
        """The table as it stands."""
        table = Table("node", "region", "rate", "last sent", "why", "decision last changed", expand=True)
        for row in TABLE:
            at, status = self.status.get(row.node, (0.0, None))
            if status is None:
                rate = f"[dim]– of {row.rate_hz:g}[/dim]"
                table.add_row(row.node, row.region, rate, "", "[dim]not heard of[/dim]", "")
                continue
            rate = f"{status.steps_per_s:.1f} of {row.rate_hz:g}"
            if self._now - at > GONE_S:
                rate = f"[red]silent for {self._now - at:.0f} s[/red]"
            last = status.last_topic and f"{status.last_topic}, {max(0.0, at - status.last_sent_s):.0f} s ago"
            table.add_row(
                row.node, row.region, rate, last, _plain(status.why), _plain(self.changed.get(row.node, ""))
            )
        return table


def _plain(text: str) -> str:
    return text.replace("[", r"\[")


def _call(call: SkillCall) -> str:
    return render(call.skill, call.arguments)


def _judged(verdict: Verdict) -> str:
    return f"{'accepted' if verdict.accepted else 'refused'} {_call(verdict.call)}"


def rows_and_topics() -> Table:
    """The table that the graph is started from: each node with what it takes and gives."""
    table = Table("node", "region", "process", "rate", "what it is for")
    for row in TABLE:
        table.add_row(row.node, row.region, row.process.value, f"{row.rate_hz:g} Hz", row.doc)
        takes, gives = (", ".join(topic.name for topic in side) for side in (row.takes, row.gives))
        table.add_row("", "", "", "", f"[dim]takes {takes}\ngives {gives}[/dim]", end_section=True)
    return table
