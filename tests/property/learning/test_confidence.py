"""The update rule: what raises, lowers, overturns and outlasts."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from anima.learning.evidence import DAY_S, Evidence, Standing, confidence, standing
from anima.learning.tuning import load_learning_tuning

TUNING = load_learning_tuning().confidence
PRIOR = TUNING.belief / (TUNING.belief + TUNING.doubt)
NOW = 1e9

ONE = st.builds(
    Evidence,
    event=st.uuids().map(str),
    at_utc_s=st.floats(NOW - 400 * DAY_S, NOW - 1.0),
    sign=st.sampled_from([1, -1]),
    strength=st.sampled_from(["shown", "said", "told"]),
)
MANY = st.lists(ONE, max_size=30)


def sure(evidence: list[Evidence], at: float = NOW) -> float:
    return confidence(evidence, at, TUNING)


def fresh(event: str, sign: int = 1, strength: str = "shown") -> Evidence:
    return Evidence.model_validate({"event": event, "at_utc_s": NOW, "sign": sign, "strength": strength})


@given(MANY)
def test_confidence_is_a_probability_and_order_does_not_matter(evidence: list[Evidence]) -> None:
    assert 0.0 < sure(evidence) < 1.0
    assert abs(sure(evidence) - sure(evidence[::-1])) < 1e-12


@given(MANY, st.sampled_from(["shown", "said", "told"]))
def test_a_confirmation_raises_and_a_contradiction_lowers(evidence: list[Evidence], strength: str) -> None:
    assert sure([*evidence, fresh("new", 1, strength)]) > sure(evidence)
    assert sure([*evidence, fresh("new", -1, strength)]) < sure(evidence)


@given(MANY)
def test_the_same_event_counts_once(evidence: list[Evidence]) -> None:
    assert abs(sure(evidence + evidence) - sure(evidence)) < 1e-12


@given(st.lists(ONE.filter(lambda e: e.sign > 0), min_size=1, max_size=20), st.floats(1, 2000))
def test_what_nobody_confirms_fades_and_never_below_the_prior(evidence: list[Evidence], days: float) -> None:
    later = sure(evidence, NOW + days * DAY_S)
    assert PRIOR - 1e-9 <= later < sure(evidence)


@given(MANY)
def test_an_odd_reaction_does_not_overturn_a_habit(evidence: list[Evidence]) -> None:
    before = sure(evidence)
    if standing(Standing.TENTATIVE, before, TUNING) is Standing.HABIT:
        for strength in ("shown", "said"):
            after = standing(Standing.HABIT, sure([*evidence, fresh("odd", -1, strength)]), TUNING)
            assert after.guides


@given(MANY)
def test_an_instruction_overturns_whatever_was_there(evidence: list[Evidence]) -> None:
    told = standing(Standing.HABIT, sure([*evidence, fresh("told", -1, "told")]), TUNING)
    assert not told.guides
    back = standing(
        Standing.REFUTED, sure([*evidence, fresh("told", 1, "told")]), TUNING
    )
    assert back.guides


def test_one_sign_is_a_hypothesis_and_a_second_one_establishes_it() -> None:
    assert sure([fresh("a")]) == 0.5
    assert not standing(Standing.TENTATIVE, sure([fresh("a")]), TUNING).guides
    assert standing(Standing.TENTATIVE, sure([fresh("a"), fresh("b")]), TUNING).guides


def test_what_was_told_once_holds_for_a_year_without_being_told_again() -> None:
    assert sure([fresh("a", 1, "told")]) == 0.8
    assert standing(Standing.HABIT, sure([fresh("a", 1, "told")], NOW + 365 * DAY_S), TUNING).guides


def test_a_habit_that_was_only_seen_is_let_go_when_nothing_confirms_it_for_long() -> None:
    evidence = [fresh(str(n)) for n in range(4)]
    assert not standing(Standing.ESTABLISHED, sure(evidence, NOW + 365 * DAY_S), TUNING).guides
