"""The keeper: writes down what must survive a restart, as it comes by."""

from __future__ import annotations

from pydantic import Field

from anima import topics as t
from anima.body.pose import Pose2D, is_lost
from anima.config import CONFIG, Settings, Tuning, parse, read_yaml
from anima.memory.kinds import (
    BODY_COSTS,
    EPISODE,
    OBJECTIVE,
    POSITION,
    RISKS,
    TEMPERAMENT,
    Dispositions,
    KeptCosts,
    KeptPosition,
    KeptRisks,
)
from anima.memory.opening import RunClock, body_id, home_id, open_store, run_clock
from anima.memory.rows import Change
from anima.memory.writer import Writer
from anima.runtime.component import Inbox
from anima.topics import Sent
from anima.types.costs import BodyCosts, Risks
from anima.types.glue import Episode, Temperament
from anima.types.mind import Backlog
from anima.types.std import PoseWithCovarianceStamped

_OPEN = frozenset({"pending", "focused", "parked"})
_STANDS_S, _SAME_PLACE_M = 3.0, 0.10  # so long within so far is a stand


class MemoryTuning(Tuning):
    """What is written down, and how often (`config/memory.yaml`).

    `disposition_step` and `disposition_every_s` up: the drift of temperament is written less finely, and a killed
    robot wakes further back in it. `changes_waiting` up: more is held while the disk is stuck, before it is lost.
    """

    disposition_step: float = Field(gt=0, le=0.5)
    disposition_every_s: float = Field(ge=0, le=3600)
    changes_waiting: int = Field(ge=10, le=1_000_000)


def load_memory_tuning() -> MemoryTuning:
    """The tuning; raises `ConfigError` that names the file, the key and what is allowed."""
    file = CONFIG / "memory.yaml"
    tuning: MemoryTuning = parse(MemoryTuning, read_yaml(file), str(file))
    return tuning


class MemoryKeeper:
    """Takes what must survive a restart off its topics and has it written; a step never waits.

    Each change of an objective's state is a version of it; one that ended, or that was open before a restart and is
    not in the first backlog after it, is archived. Objectives of a simulated
    run are kept under the run's id, because utterances are numbered anew in every run.
    """

    def __init__(self, settings: Settings) -> None:
        """Raises `StoreUnusable` when the settings name a store that can't be opened."""
        self._tuning = load_memory_tuning()
        self._personality, self._body, self._home = settings.temperament, body_id(settings), home_id(settings)
        self._stands: tuple[float, Pose2D] | None = None  # since when it stands where
        self._stood: Pose2D | None = None  # as it was last written
        self._states: dict[str, tuple[str, str]] = {}
        self._known: frozenset[str] = frozenset()  # open when the last run ended
        self._left: frozenset[str] = frozenset()  # of these, until it is seen which are taken up again
        self._kept: tuple[float, Dispositions] | None = None
        self._written = 0
        self._writer: Writer | None = None
        store = open_store(settings)
        if store is not None:
            self._clock: RunClock = run_clock(settings, store)
            self._known = self._left = frozenset(item.id for item in store.all(OBJECTIVE))
            self._writer = Writer(store, self._tuning.changes_waiting)

    def step(self, now: float, inbox: Inbox) -> list[Sent]:
        """Have what came by written."""
        writer = self._writer
        if writer is None:
            return []
        changes = [self._episode(now, episode) for episode in inbox.new(t.EPISODES)]
        for backlog in inbox.new(t.BACKLOG):
            changes += self._objectives(now, backlog)
        for temperament in inbox.new(t.TEMPERAMENT)[-1:]:
            changes += self._dispositions(now, temperament)
        for costs in inbox.new(t.BODY_COSTS)[-1:]:
            changes.append(self._costs(now, costs))
        for risks in inbox.new(t.RISKS)[-1:]:
            changes.append(self._risks(now, risks))
        for pose in inbox.new(t.POSE):
            changes += self._position(now, pose)
        if changes:
            self._written += len(changes)
            writer.submit(changes)
        return []

    def _episode(self, now: float, episode: Episode) -> Change:
        why = f"{episode.call} was mended by {episode.fix}" if episode.fix else f"{episode.call} ended"
        data = episode.model_dump(mode="json")
        at = self._clock.stamp(min(now, episode.at.seconds))
        return Change(EPISODE, episode.id, data, "hippocampus", why, at, (episode.objective,))

    def _objectives(self, now: float, backlog: Backlog) -> list[Change]:
        changes = []
        for objective in backlog.objectives:
            id = self._id(objective.id)
            if self._states.get(id) == (objective.state, objective.reason) or objective.state == "declined":
                continue
            if id not in self._states and id not in self._known and objective.state not in _OPEN:
                continue  # it ended before it was ever seen open: nothing of it could be interrupted
            self._states[id] = (objective.state, objective.reason)
            data = objective.model_dump(mode="json")
            why = f"{objective.state}: {objective.reason}" if objective.reason else objective.state
            because = (objective.source,) if objective.source else ()
            ended = objective.state not in _OPEN
            change = Change(OBJECTIVE, id, data, "basal_ganglia", why, self._clock.stamp(now), because, ended)
            changes.append(change)
        there = {self._id(objective.id) for objective in backlog.objectives}
        for id in sorted(self._left - there):
            why = "nobody took it up again after the restart"
            changes.append(Change(OBJECTIVE, id, None, "basal_ganglia", why, self._clock.stamp(now), archived=True))
        self._left = frozenset()
        self._states = {id: state for id, state in self._states.items() if id in there}
        return changes

    def _id(self, objective: str) -> str:
        # What the gate restored after a death of its own alone bears the id that it was written under in this run.
        whole = objective in self._known or objective in self._states or self._clock.is_real
        return objective if whole else f"{self._clock.id}:{objective}"

    def _dispositions(self, now: float, temperament: Temperament) -> list[Change]:
        values = Dispositions(
            initiative=temperament.initiative, persistence=temperament.persistence, caution=temperament.caution
        )
        if self._kept is not None:
            kept_at, kept = self._kept
            moved = max(abs(getattr(values, name) - getattr(kept, name)) for name in Dispositions.model_fields)
            due = not 0 <= now - kept_at < self._tuning.disposition_every_s
            if moved < self._tuning.disposition_step or not due:
                return []
        self._kept = (now, values)
        why = f"it has drifted, and is {temperament.word}"
        stamp = self._clock.stamp(now)
        return [Change(TEMPERAMENT, self._personality, values.model_dump(), "dmn", why, stamp)]

    def _position(self, now: float, pose: PoseWithCovarianceStamped) -> list[Change]:
        """Where it stands, once it stands there for a while: the way is not written."""
        where = Pose2D.of(pose.pose.pose)
        if is_lost(pose) or not where.is_finite:
            self._stands = None
            return []
        if self._stands is None or self._stands[1].distance(where) > _SAME_PLACE_M or now < self._stands[0]:
            self._stands = (now, where)
        if now - self._stands[0] < _STANDS_S or (self._stood and self._stood.distance(where) <= _SAME_PLACE_M):
            return []
        self._stood = where
        kept = KeptPosition(x=where.x, y=where.y, yaw=where.yaw)
        stamp = self._clock.stamp(now)
        return [Change(POSITION, self._home, kept.model_dump(), "localization", "it came to a stand", stamp)]

    def _costs(self, now: float, costs: BodyCosts) -> Change:
        kept = KeptCosts.model_construct(**costs.model_dump(exclude={"header"})).model_dump()
        why = "what the battery and the body showed"
        return Change(BODY_COSTS, self._body, kept, "hypothalamus", why, self._clock.stamp(now))

    def _risks(self, now: float, risks: Risks) -> Change:
        counts = zip(risks.tries.tolist(), risks.failures.tolist(), strict=True)
        kept = KeptRisks.model_construct(
            lived=dict(zip(risks.kinds, counts, strict=True)), speed_mps=risks.speed_mps,
            lasting_s=dict(zip(risks.skills, risks.lasting_s.tolist(), strict=True)), been=list(risks.been),
        )
        why = "how calls ended, and where it has been"
        return Change(RISKS, self._home, kept.model_dump(), "prospection", why, self._clock.stamp(now))

    def flush(self, timeout_s: float = 10.0) -> bool:
        """Wait until all is on the disk; False when it is not within the time."""
        return self._writer is None or self._writer.flush(timeout_s)

    def close(self) -> None:
        """Write what waits and let go of the database. Happens by itself when the process ends in order."""
        if self._writer is not None:
            self._writer.close()

    def why(self) -> str:
        """One sentence: what is kept where, or what is wrong."""
        if self._writer is None:
            return "It keeps nothing: memory_url is none."
        lost = f" {self._writer.lost} changes could not be kept." if self._writer.lost else ""
        if self._writer.fault:
            return f"Memory does not take in: {self._writer.fault}.{lost}"
        return f"It has handed {self._written} changes to the store.{lost}"
