"""How well the configured model plans: labelled orders and labelled moments, right answers counted, cost measured."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml
from pydantic import Field

from anima.config import ConfigError, Settings, Tuning, parse
from anima.failure import Failure
from anima.planner import act, listen
from anima.planner.act import load_act_prompt
from anima.planner.bias import Bias
from anima.planner.lexicon import known_names, load_lexicon
from anima.planner.listen import Hearing, load_listen_prompt
from anima.planner.llm.base import Completion, LanguageModel, LlmError, Request
from anima.planner.objectives import NotUnderstood
from anima.planner.options import WAIT_CALL, Step
from anima.planner.packet import Concern, Situation, build
from anima.planner.session import WARM_UP_BUDGET_S, warm_up
from anima.types.base import Header, Time
from anima.types.mind import Objective, ObjectState, WorldState
from anima.types.std import Point, Pose, Vector3
from anima.world.affordances import SHOULDER_X_M
from anima.world.state import facts_of

_IN_REACH_M = SHOULDER_X_M + 0.25
_FAR_M = 3.0


class Order(Tuning):
    """An utterance and every reading of it that is right."""

    say: str
    want: list[str]


class Moment(Tuning):
    """A situation in short form and every next call that is right in it. Object -> place in `lies`, `gone`.

    `avoid` (call -> why), `prefer`, `recall`, `concerns` (``tag: text``), `news` and `word` are what the glue said.
    """

    goal: str
    room: str
    want: list[str]
    place: str = ""
    holding: str = ""
    docked: bool = False
    battery: float = 0.8
    lies: dict[str, str] = Field(default_factory=dict)
    gone: dict[str, str] = Field(default_factory=dict)
    reach: list[str] = Field(default_factory=list)
    done: list[str] = Field(default_factory=list)
    news: list[str] = Field(default_factory=list)
    avoid: dict[str, str] = Field(default_factory=dict)
    prefer: list[str] = Field(default_factory=list)
    recall: list[str] = Field(default_factory=list)
    concerns: list[str] = Field(default_factory=list)
    word: str = ""
    heldout: bool = False


@dataclass(frozen=True)
class Score:
    """Outcome of a run.

    `contested` cases offered a wrong choice too, `contested_right` of them went right, and `contested_by_lot` would
    have, had one of the choices been drawn by lot. The rest was decided by what was offered.
    """

    right: int
    total: int
    seconds_per_turn: float
    cached_share: float
    misses: tuple[str, ...]
    contested: int = 0
    contested_right: int = 0
    contested_by_lot: float = 0.0

    def __str__(self) -> str:
        contested = (
            f" ({self.contested_right}/{self.contested} where a wrong choice was offered, "
            f"by lot {self.contested_by_lot:.1f})"
            if self.contested
            else ""
        )
        return (
            f"{self.right}/{self.total} right{contested}, {self.seconds_per_turn:.2f} s a turn, "
            f"{self.cached_share:.1%} of the prompt tokens from the cache"
        )


def load_cases(file: Path, kind: type[Tuning]) -> list[Any]:
    """The labelled cases in a YAML list; raises `ConfigError` naming file and fault."""
    try:
        data = yaml.safe_load(file.read_text(encoding="utf-8"))
    except (OSError, yaml.YAMLError) as error:
        raise ConfigError(f"{file}: {error}") from error
    if not isinstance(data, list):
        raise ConfigError(f"{file}: expected a list of cases")
    return [parse(kind, case, f"{file} case {number}") for number, case in enumerate(data, 1)]


def ask(model: LanguageModel, request: Request) -> Completion:
    """One turn, waited for; its budgets bound the wait."""
    pending = model.start(request)
    while (completion := pending.poll()) is None:
        time.sleep(0.01)
    return completion


def bench_listen(
    settings: Settings, model: LanguageModel, orders: Iterable[Order], say: Callable[[str], None] = print
) -> Score:
    """How many orders are read rightly; `say` gets a line for each miss and a last one for the score."""
    names, lexicon = known_names(settings), load_lexicon()
    stable = listen.prefix(load_listen_prompt(), lexicon)
    ask(model, warm_up("listen", stable))
    tally = _Tally(say)
    for order in orders:
        hearing = Hearing.of(order.say, names, lexicon)
        llm = settings.llm
        done = ask(model, listen.request(hearing, stable, llm.prefill_budget_s, llm.decode_budget_s))
        try:
            got = done.error or str(hearing.read(done.text))
        except NotUnderstood as error:
            got = str(error)
        tally.add(f"{order.say!r}", got, order.want, done)
    return tally.score()


def bench_act(
    settings: Settings, model: LanguageModel, moments: Iterable[Moment], say: Callable[[str], None] = print
) -> Score:
    """How often the next call is a right one, against drawing lots where a wrong one is offered too."""
    stable = act.prefix(load_act_prompt())
    ask(model, warm_up("act", stable))
    tally = _Tally(say)
    for moment in moments:
        situation = situation_of(moment, settings)
        choices = situation.options()
        llm = settings.llm
        packet = build(situation, choices).text
        done = ask(model, act.request(packet, choices, stable, llm.prefill_budget_s, llm.decode_budget_s))
        tally.contest(done.text, moment.want, choices.calls)
        tally.add(f"{moment.goal} after {moment.done}", done.error or done.text, moment.want, done)
    return tally.score()


@dataclass(frozen=True)
class Warmth:
    """What the kept prefix saves: seconds of a turn that computes everything, and of those after it."""

    cold_s: float
    warm_s: float
    cached_share: float


def bench_warmth(settings: Settings, model: LanguageModel, moments: Sequence[Moment]) -> Warmth:
    """The first turn against the others, in one run. `model` must be new and keep no prefixes on disk.

    Raises `LlmError` when a turn fails.
    """
    stable = act.prefix(load_act_prompt())
    done = []
    for moment in moments:
        situation = situation_of(moment, settings)
        choices = situation.options()
        packet = build(situation, choices).text
        request = act.request(packet, choices, stable, WARM_UP_BUDGET_S, settings.llm.decode_budget_s)
        done.append(ask(model, request))
        if done[-1].error:
            raise LlmError(done[-1].error)
    cold, *warm = done
    return Warmth(
        cold_s=cold.prefill_s + cold.decode_s,
        warm_s=sum(turn.prefill_s + turn.decode_s for turn in warm) / len(warm),
        cached_share=sum(turn.cached_tokens for turn in warm) / sum(turn.prompt_tokens for turn in warm),
    )


class _Tally:
    """Counts as it goes."""

    def __init__(self, say: Callable[[str], None]) -> None:
        self._say = say
        self._right, self._total = 0, 0
        self._seconds: list[float] = []
        self._cached, self._prompt = 0, 0
        self._misses: list[str] = []
        self._contested, self._contested_right, self._by_lot = 0, 0, 0.0

    def contest(self, got: str, want: list[str], offered: Sequence[str]) -> None:
        """Count the case as contested if a wrong choice was offered."""
        right = sum(choice in want for choice in offered)
        if right < len(offered):
            self._contested += 1
            self._contested_right += got in want
            self._by_lot += right / len(offered)

    def add(self, case: str, got: str, want: list[str], done: Completion) -> None:
        self._total += 1
        self._right += got in want
        self._seconds.append(done.prefill_s + done.decode_s)
        self._cached += done.cached_tokens
        self._prompt += done.prompt_tokens
        if got not in want:
            self._misses.append(f"{case}: {got}, wanted {' or '.join(want)}")
            self._say(self._misses[-1])

    def score(self) -> Score:
        score = Score(
            right=self._right,
            total=self._total,
            seconds_per_turn=sum(self._seconds) / max(1, len(self._seconds)),
            cached_share=self._cached / max(1, self._prompt),
            misses=tuple(self._misses),
            contested=self._contested,
            contested_right=self._contested_right,
            contested_by_lot=self._by_lot,
        )
        self._say(str(score))
        return score


def sample(cases: list[Any], count: int, seed: int = 0) -> list[Any]:
    """`count` of the cases, drawn by the seed, in their order."""
    chosen = set(random.Random(seed).sample(range(len(cases)), min(count, len(cases))))
    return [case for number, case in enumerate(cases) if number in chosen]


def situation_of(moment: Moment, settings: Settings) -> Situation:
    """The moment as the planner would meet it."""
    things = [_thing(name, "confirmed", place, name in moment.reach) for name, place in moment.lies.items()]
    things += [_thing(name, "absent", place, near=False) for name, place in moment.gone.items()]
    if moment.holding:
        things.append(_thing(moment.holding, "confirmed", "gripper", near=True))
    state = WorldState(
        header=Header.at(100.0, "map"), robot=Pose(), room=moment.room, place=moment.place, holding=moment.holding,
        docked=moment.docked, battery=moment.battery, stopped=False, localized=True,
        objects=sorted(things, key=lambda thing: thing.name), surfaces=[], facts=[],
    )
    objective = Objective(
        id="o", condition=moment.goal, said="", source="", order=0, state="focused", reason="", created=Time.at(0.0)
    )
    return Situation(
        objective=objective,
        state=state.model_copy(update={"facts": facts_of(state)}),
        names=known_names(settings),
        history=_steps(moment.done),
        news=tuple(moment.news),
        concerns=tuple(Concern(tag, text, 0.6) for tag, _, text in (c.partition(": ") for c in moment.concerns)),
        recall=tuple(moment.recall),
        disposition=moment.word,
        bias=Bias(avoid=moment.avoid, prefer={call: "worked before" for call in moment.prefer}),
    )


def _steps(texts: Sequence[str]) -> tuple[Step, ...]:
    steps: list[Step] = []
    for text in texts:
        call, _, ended = text.rpartition(" ")
        failed = next((step.failure for step in reversed(steps) if step.call == call), Failure.NONE)
        thought = "again" if failed else "else" if call == WAIT_CALL else "next"
        steps.append(Step(call, Failure.NONE if ended == "ok" else Failure[ended.upper()], thought=thought))
    return tuple(steps)


def _thing(name: str, status: str, place: str, near: bool) -> ObjectState:
    colour, _, shape = name.partition("_")
    return ObjectState(
        name=name, colour=colour, shape=shape, status=status,
        position=Point(x=_IN_REACH_M if near else _FAR_M, y=0.0, z=0.42), yaw=0.0,
        size=Vector3(x=0.04, y=0.04, z=0.04), place=place, last_seen=Time.at(99.0), confidence=0.9,
    )
