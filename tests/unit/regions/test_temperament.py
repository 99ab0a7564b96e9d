"""What a robot lives through changes it slowly, within bounds, and it stays itself."""

from __future__ import annotations

import itertools

import pytest
from support.gate_rig import call, refused
from support.happenings import backlog, conflict, ended, taken_over

from anima import topics as t
from anima.config import ConfigError, Settings
from anima.failure import Failure
from anima.regions.temperament import TemperamentDrift
from anima.runtime.component import Inbox
from anima.topics import Sent
from anima.types.base import Header
from anima.types.glue import Temperament

MINUTE, HOUR = 60.0, 3600.0


class Years:
    """A temperament over a long time, stepped every two seconds or slower."""

    def __init__(self, temperament: str = "default") -> None:
        self.region = TemperamentDrift(Settings(temperament=temperament))
        self.now = 0.0
        self.told: list[Temperament] = []

    def live(self, seconds: float, every_s: float = 30.0, *sent: Sent) -> Temperament:
        """Have the same happen again and again for a while; returns what it is at the end."""
        until = self.now + seconds
        while self.now < until:
            self.now += every_s
            for item in self.region.step(self.now, Inbox.of(sent)):
                assert isinstance(item.value, Temperament)
                self.told.append(item.value)
        state = self.region.dump()
        return Temperament(
            header=Header.at(self.now), initiative=state["initiative"], persistence=state["persistence"],
            caution=state["caution"], word=state["word"],
        )


def test_success_makes_it_eager_and_bold() -> None:
    years = Years()
    after = years.live(6 * HOUR, MINUTE, ended())
    assert after.initiative > 0.7 and after.persistence > 0.7 and after.caution < 0.4
    assert after.word == "driven"


def test_failure_makes_it_wary_and_less_stubborn() -> None:
    after = Years().live(6 * HOUR, MINUTE, ended(Failure.GRASP_FAILED))
    assert after.caution > 0.7 and after.persistence < 0.4 and after.initiative < 0.5
    assert after.word == "skittish"


def test_people_who_step_in_again_and_again_make_it_wait_for_them() -> None:
    after = Years().live(6 * HOUR, 5 * MINUTE, taken_over())
    assert after.initiative < 0.35
    assert after.word == "quiet"


def test_nothing_that_happens_once_changes_it_much() -> None:
    for happening in (ended(), ended(Failure.HARDWARE_FAULT), taken_over(), conflict()):
        years = Years()
        years.live(MINUTE, 2.0)
        years.live(2.0, 2.0, happening)
        after = years.live(HOUR, 2.0)
        for value in (after.initiative, after.persistence, after.caution):
            assert value == pytest.approx(0.5, abs=0.08)
        assert after.word == "steady"


def test_what_happens_no_more_is_forgotten() -> None:
    years = Years()
    years.live(6 * HOUR, MINUTE, ended(Failure.GRASP_FAILED))
    after = years.live(48 * HOUR, MINUTE)
    for value in (after.initiative, after.persistence, after.caution):
        assert value == pytest.approx(0.5, abs=0.01)
    assert after.word == "steady"


@pytest.mark.parametrize(
    ("temperament", "word"),
    [("default", "steady"), ("driven", "driven"), ("skittish", "skittish"), ("stoic", "stubborn")],
)
def test_a_personality_is_where_it_starts_and_comes_back_to(temperament: str, word: str) -> None:
    years = Years(temperament)
    first = years.live(2.0, 2.0)
    assert years.told[0].word == word
    years.live(3 * HOUR, MINUTE, ended(Failure.STALLED))
    last = years.live(60 * HOUR, MINUTE)
    assert last.word == word
    assert last.initiative == pytest.approx(first.initiative, abs=0.01)


def test_an_unknown_personality_is_an_error_that_lists_those_there_are() -> None:
    with pytest.raises(ConfigError, match="default, driven, skittish, stoic"):
        TemperamentDrift(Settings(temperament="grumpy"))


def test_objectives_count_when_they_end_and_not_again() -> None:
    def evidence(*backlogs: Sent) -> tuple[float, float, float]:
        region = TemperamentDrift(Settings())
        for sent in backlogs:
            region.step(1.0, Inbox.of([sent]))
        state = region.dump()
        return state["success"], state["failure"], state["override"]

    assert evidence(backlog(o1="done")) == (0.0, 0.0, 0.0), "it was done before this one was born"
    assert evidence(backlog(o1="focused"), backlog(o1="done"), backlog(o1="done")) == (1.0, 0.0, 0.0)
    assert evidence(backlog(o1="focused"), backlog(o1="failed")) == (0.0, 1.0, 0.0)
    stopped = backlog(o1="cancelled", o2="cancelled", o3="cancelled")
    assert evidence(backlog(o1="focused", o2="pending", o3="parked"), stopped) == (0.0, 0.0, 1.0)


def test_an_interruption_and_a_refused_operator_are_no_experience() -> None:
    region = TemperamentDrift(Settings())
    not_taken = t.OPERATOR_VERDICT.of(refused(0.0, call("c", "pick", object="red_cube")).value)  # type: ignore[arg-type]
    region.step(1.0, Inbox.of([ended(Failure.INTERRUPTED), not_taken]))
    state = region.dump()
    assert (state["success"], state["failure"], state["override"]) == (0.0, 0.0, 0.0)


def test_it_speaks_first_and_then_when_it_has_moved() -> None:
    years = Years()
    years.live(10 * MINUTE, 2.0)
    assert len(years.told) == 1
    years.live(10 * MINUTE, 2.0, ended())
    assert 1 < len(years.told) < 300


def test_a_word_does_not_flicker_at_its_bound() -> None:
    years = Years()
    words = [years.live(10 * MINUTE, 10.0, ended(Failure.STALLED)).word for _ in range(12)]
    words += [years.live(10 * MINUTE, 10.0).word for _ in range(60)]
    changes = sum(a != b for a, b in itertools.pairwise(words))
    assert changes <= 6
