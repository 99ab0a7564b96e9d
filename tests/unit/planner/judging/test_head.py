"""Heads: what is learned from labelled states, how honest its probabilities are, and which heads are refused."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anima.planner.judge import Judge
from anima.planner.judging import fit
from anima.planner.judging.head import Head, HeadError, Origin, features, load_head, softmax
from anima.planner.judging.question import Case, Question
from anima.planner.judging.train import LAST, SPAN, TrainingError, train
from anima.planner.llm.base import Read, State, Weighed

LABELS = ("yes", "no", "perhaps")
QUESTION = Question(
    doc="", question="Well?", turn="It: {it}", about="it", opening="It is:", labels=dict.fromkeys(LABELS, "")
)
WIDTH = 40
ALL = (*LAST, *SPAN)


def states_and_cases(count: int, noise: float, seed: int = 2) -> tuple[dict[State, np.ndarray], list[Case]]:
    """Cases whose states point in a direction of their label, more or less."""
    y = np.arange(count) % len(LABELS)
    centres = np.random.default_rng(1).standard_normal((len(LABELS), WIDTH))
    rng = np.random.default_rng(seed)
    states = {state: centres[y] + noise * rng.standard_normal((count, WIDTH)) for state in ALL}
    return states, [Case(label=LABELS[k], slots={"it": f"case {i}"}, group=str(i)) for i, k in enumerate(y)]


@pytest.fixture(scope="module")
def trained() -> tuple[Head, fit.Choice]:
    states, cases = states_and_cases(60, 1.0)
    return train(QUESTION, cases, states, "model-a", lambda share: None)


def test_what_is_in_the_states_is_learned_and_holds_on_new_cases(trained: tuple[Head, fit.Choice]) -> None:
    head, choice = trained
    new, labelled = states_and_cases(60, 1.0, seed=9)
    right = 0
    for i, case in enumerate(labelled):
        rows = np.stack([new[state][i] for state in head.states])
        p = head.judge(rows.astype(np.float32))
        right += max(p, key=lambda label: p[label]) == case.label
        assert sum(p.values()) == pytest.approx(1.0)
    assert right >= 54
    assert choice.figures.accuracy > 0.8


def test_where_there_is_nothing_to_learn_the_head_says_that_it_is_unsure() -> None:
    rng = np.random.default_rng(4)
    states, cases = states_and_cases(60, 0.0)
    noise = {state: rng.standard_normal(rows.shape) for state, rows in states.items()}
    _, choice = train(QUESTION, cases, noise, "model-a", lambda share: None)
    assert choice.figures.unsure > 0.7
    assert choice.figures.calibration_error < 0.3


def test_a_head_comes_back_from_its_file_as_it_was(trained: tuple[Head, fit.Choice], tmp_path: Path) -> None:
    head, _ = trained
    head.save(tmp_path / "x.npz")
    again = load_head("x", tmp_path / "x.npz")
    rows = np.random.default_rng(2).standard_normal((len(head.states), WIDTH)).astype(np.float32)
    assert again.origin == head.origin
    for label, p in head.judge(rows).items():
        assert again.judge(rows)[label] == pytest.approx(p, abs=0.01)


def test_missing_and_damaged_heads_say_how_to_train_one(trained: tuple[Head, fit.Choice], tmp_path: Path) -> None:
    with pytest.raises(HeadError, match="anima judges train x"):
        load_head("x", tmp_path / "x.npz")
    trained[0].save(tmp_path / "x.npz")
    (tmp_path / "x.npz").write_bytes((tmp_path / "x.npz").read_bytes()[:200])
    with pytest.raises(HeadError, match="anima judges train x"):
        load_head("x", tmp_path / "x.npz")


def test_a_head_of_another_model_is_refused_and_nothing_is_judged(trained: tuple[Head, fit.Choice]) -> None:
    head, _ = trained
    states = np.ones((len(head.states), WIDTH), np.float32)
    judge = Judge("x", QUESTION, head)
    assert judge.decide(Read(states, "model-a")).best in LABELS
    judged = judge.decide(Read(states, "model-b"))
    assert (judged.label, judged.best, judged.is_sure) == ("unsure", "", False)
    assert "anima judges train x" in judged.error


def test_below_the_bar_the_answer_is_unsure_but_the_likeliest_is_told() -> None:
    judge = Judge("x", QUESTION, None)
    unsure = judge.decide(Weighed((-1.0, -1.1, -1.2)))
    sure = judge.decide(Weighed((-9.0, -0.1, -7.0)))
    assert (unsure.label, unsure.best, unsure.is_sure) == ("unsure", "yes", False)
    assert (sure.label, sure.is_sure) == ("no", True)
    assert list(sure.probabilities) == ["no", "perhaps", "yes"]
    assert judge.decide(Weighed(error="no model")).error == "no model"


def test_a_label_with_hardly_any_cases_can_not_be_trained() -> None:
    states, cases = states_and_cases(60, 1.0)
    few = [replace_label(case) for case in cases]
    with pytest.raises(TrainingError, match="perhaps"):
        train(QUESTION, few, states, "model-a", lambda share: None)
    alike = [case.model_copy(update={"group": "one household"}) for case in cases]
    with pytest.raises(TrainingError, match="groups"):
        train(QUESTION, alike, states, "model-a", lambda share: None)


def replace_label(case: Case) -> Case:
    return case.model_copy(update={"label": "yes"}) if case.label == "perhaps" else case


def test_cases_about_the_same_words_are_never_split_between_learning_and_testing() -> None:
    groups = [f"robot says {i // 4}" for i in range(80)]
    fold = fit.folds(groups, seed=1)
    assert all(len({int(f) for f, g in zip(fold, groups, strict=True) if g == group}) == 1 for group in groups)
    assert set(fold) == set(range(fit.FOLDS))


def test_the_calibration_error_tells_honest_probabilities_from_boasting_ones() -> None:
    rng = np.random.default_rng(3)
    y = rng.integers(0, 2, 400)
    says = np.where(rng.random(400) < 0.75, y, 1 - y)  # right three times out of four
    honest, boasting = np.full((400, 2), 0.25), np.full((400, 2), 0.01)
    honest[np.arange(400), says], boasting[np.arange(400), says] = 0.75, 0.99
    assert fit.figures(honest, y, 0.6).calibration_error < 0.06
    assert fit.figures(boasting, y, 0.6).calibration_error > 0.18
    assert fit.temperature_of(np.log(boasting), y, 400) > 2.0


def test_a_head_without_a_mistake_is_as_sure_as_the_variety_of_its_cases_allows() -> None:
    y = np.arange(60) % 2
    scores = np.where(np.eye(2)[y] > 0, 1.0, -1.0)

    def surest(groups: int) -> float:
        return float(softmax(scores / fit.temperature_of(scores, y, fit.worth(60, groups))).max())

    assert surest(5) < surest(20) < surest(60)
    assert surest(5) == pytest.approx(0.952, abs=0.005)  # 60 cases in 5 households are worth 18.75
    assert surest(60) == pytest.approx(61 / 62, abs=0.005)


def test_households_that_show_their_answers_each_in_its_own_way_are_not_told_as_learned() -> None:
    """Folds that mix the households would boast: the next household has a way of its own again."""
    rng = np.random.default_rng(5)
    y = np.arange(120) % 2
    households = [f"household {i // 12}" for i in range(120)]
    signs = rng.standard_normal((10, WIDTH))
    x = np.array([signs[i // 12] * (1 if k else -1) for i, k in enumerate(y)]) + 0.1 * rng.standard_normal((120, WIDTH))
    states = {state: x for state in ALL}
    apart = fit.choose(states, [ALL[:1]], y, households, 2, 0.6, lambda share: None)
    mixed = fit.choose(states, [ALL[:1]], y, [str(i) for i in range(120)], 2, 0.6, lambda share: None)
    assert mixed.figures.accuracy > 0.95
    assert apart.figures.accuracy < 0.75
    assert apart.figures.calibration_error < 0.3


@given(st.integers(0, 2**32 - 1))
def test_probabilities_stay_finite_however_wild_the_states_are(seed: int) -> None:
    rng = np.random.default_rng(seed)
    states = (rng.standard_normal((3, 2, WIDTH)) * 10.0 ** rng.integers(-6, 6)).astype(np.float32)
    x = features(states)
    assert np.isfinite(x).all()
    assert np.isfinite(softmax(x.astype(np.float64)[:, :4] * 100)).all()
    assert np.isfinite(features(np.zeros((1, 2, WIDTH), np.float32))).all()


def test_an_origin_says_on_what_a_head_was_trained(trained: tuple[Head, fit.Choice]) -> None:
    origin: Origin = trained[0].origin
    assert (origin.model, origin.question, origin.count) == ("model-a", QUESTION.digest, 60)
    other = QUESTION.model_copy(update={"question": "Really?"})
    assert other.digest != QUESTION.digest
    assert replace(origin, model="b") != origin
