"""Simulated time never outruns a living process, and no dead one stops it."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from anima.runtime.pacing import Pacer

TICK_S, LAG_S, PATIENCE_S = 0.02, 0.1, 0.5
EPS = 1e-9

speeds = st.floats(0.2, 50.0)
# What happens next: how long the wall clock goes on, whether a process catches up, whether the body is told to move.
events = st.lists(
    st.tuples(st.floats(0.0, 0.3), st.sampled_from(["", "brain", "planner", "reflex"]), st.booleans()), max_size=300
)


def pacer(speed: float = 1.0) -> Pacer:
    return Pacer(TICK_S, speed, lag_s=LAG_S, patience_s=PATIENCE_S, hold_s=0.5)


def run(subject: Pacer, wall: float, duration_s: float, poll_s: float = 0.0005, moves: bool = False) -> float:
    """Poll the pacer as the simulator does; the wall time at the end."""
    for _ in range(round(duration_s / poll_s)):
        wall += poll_s
        if moves:
            subject.moving(True)
        if subject.ready(wall):
            subject.advance()
    return wall


@given(speeds, events)
def test_time_never_runs_ahead_of_a_living_process_by_more_than_the_lag_and_a_tick(
    speed: float, happens: list[tuple[float, str, bool]]
) -> None:
    subject, wall = pacer(speed), 100.0
    beats: dict[str, tuple[float, float]] = {}
    for passes_s, process, moves in happens:
        wall += passes_s
        if process:
            beats[process] = (subject.now, wall)
            subject.beat(process, subject.now, wall)
        subject.moving(moves)
        for _ in range(20):
            if not subject.ready(wall):
                break
            subject.advance()
            for stamp, beaten in beats.values():
                alive = wall - beaten < PATIENCE_S
                assert not alive or subject.now - stamp <= LAG_S + TICK_S + EPS


@given(st.lists(st.tuples(st.sampled_from(["brain", "planner", "reflex"]), st.floats(0.0, 0.9)), max_size=60))
def test_it_waits_for_each_process_however_long_it_waited_for_another(answers: list[tuple[str, float]]) -> None:
    """On a busy machine they answer one after the other, each within the patience, and none is left behind."""
    subject, wall = pacer(), 0.0
    names = ("brain", "planner", "reflex")
    stamps = dict.fromkeys(names, 0.0)
    for name in names:
        subject.beat(name, 0.0, wall)
    for name, share in answers:
        while subject.ready(wall):
            subject.advance()
            wall += TICK_S
        wall += share * PATIENCE_S / len(names)
        stamps[name] = subject.now
        subject.beat(name, subject.now, wall)
        for other in subject.waits_for(wall):  # the others take their turns, and time stands still for them meanwhile
            wall += share * PATIENCE_S / len(names)
            stamps[other] = subject.now
            subject.beat(other, subject.now, wall)
        assert all(subject.now - stamp <= LAG_S + TICK_S + EPS for stamp in stamps.values())


def test_a_process_that_answers_at_once_is_not_gone_because_another_took_long() -> None:
    subject = pacer()
    for name in ("brain", "planner"):
        subject.beat(name, 0.0, 0.0)
    wall = run(subject, 0.0, 0.2)  # time now stands still for both
    subject.beat("brain", subject.now, wall)
    subject.beat("planner", 0.06, wall)
    wall = run(subject, wall, PATIENCE_S - 0.01)  # the planner takes nearly all patience
    subject.beat("planner", subject.now, wall)
    wall = run(subject, wall, 0.2)
    assert subject.waits_for(wall) == ["brain"], "it was given up for the planner's slowness"


@given(speeds)
def test_a_dead_process_holds_time_no_longer_than_the_patience(speed: float) -> None:
    subject, wall = pacer(speed), 50.0
    subject.beat("brain", 0.0, wall)
    subject.moving(True)
    wall = run(subject, wall, LAG_S + 2 * TICK_S + TICK_S / speed)
    while not subject.waits_for(wall):
        wall = run(subject, wall, TICK_S)
    held = subject.now
    assert held <= LAG_S + TICK_S + EPS
    wall = run(subject, wall, PATIENCE_S + 0.002)
    run(subject, wall, 0.2)
    assert subject.now > held


@given(st.floats(0.5, 20.0))
def test_time_runs_at_the_wished_speed_while_the_body_moves(speed: float) -> None:
    subject = pacer(speed)
    run(subject, 10.0, 2.0, moves=True)
    assert abs(subject.now - 2.0 * speed) <= 0.03 * 2.0 * speed + 2 * TICK_S


@given(st.floats(1.0, 50.0))
def test_time_runs_as_the_wall_clock_while_nobody_moves(speed: float) -> None:
    subject = pacer(speed)
    run(subject, 10.0, 0.5, moves=True)
    wall = run(subject, 10.5, 1.0)  # the last command's echo dies away
    before = subject.now
    run(subject, wall, 2.0)
    assert abs(subject.now - before - 2.0) <= 2 * TICK_S


@given(speeds, st.floats(0.05, 30.0))
def test_lost_time_is_not_caught_up_in_a_burst(speed: float, stall_s: float) -> None:
    subject = pacer(speed)
    wall = run(subject, 0.0, 0.2, moves=True)
    before = subject.now
    wall += stall_s
    window_s = 0.1
    run(subject, wall, window_s, moves=True)
    assert subject.now - before <= (window_s + TICK_S) * max(speed, 1.0) + 2 * TICK_S


@given(events)
def test_waiting_names_exactly_the_processes_that_owe_an_answer_and_not_for_too_long(
    happens: list[tuple[float, str, bool]],
) -> None:
    subject, wall = pacer(), 0.0
    stamps: dict[str, float] = {}
    owing: dict[str, float] = {}
    for passes_s, process, _ in happens:
        wall += passes_s
        if process:
            stamps[process] = subject.now
            owing.pop(process, None)
            subject.beat(process, subject.now, wall)
        if subject.ready(wall):
            subject.advance()
        for name, stamp in stamps.items():
            if subject.now - stamp > LAG_S:
                owing.setdefault(name, wall)
        assert set(subject.waits_for(wall)) == {name for name, since in owing.items() if wall - since < PATIENCE_S}
