"""What is unfinished presses; an idle robot takes it up again, or goes to look at what it has not seen for long."""

from __future__ import annotations

from typing import Any

import pytest
from support.drives_rig import Stepper, backlog, condition, objective, resources, surface, temperament
from support.gate_rig import said, thing, world

from anima import topics as t
from anima.config import Settings
from anima.regions.drives.pressure import load_striatum
from anima.regions.striatum import Striatum
from anima.types.glue import GoalTension

SETTINGS = Settings()
TUNING = load_striatum()
NOW = 5000.0
LEFT = objective("o1", "at(red_cube, kitchen_table)", reason="it rests for a while")


def striatum() -> Stepper:
    return Stepper(Striatum(SETTINGS), now=NOW)


def wish(stepper: Stepper) -> GoalTension:
    return stepper.last(t.GOAL_TENSION)


def waits_until(stepper: Stepper, wants: str, limit_s: int = 600) -> int | None:
    """Seconds until it wants that, or None."""
    for second in range(limit_s):
        stepper.step()
        if stepper.sent and wish(stepper).wants == wants:
            return second
    return None


def test_an_idle_robot_wants_to_go_on_with_what_it_left_unfinished() -> None:
    stepper = striatum()
    stepper.step(backlog(NOW, LEFT), world(NOW), resources(NOW))
    assert wish(stepper).wants == "nothing"
    waited = waits_until(stepper, "resume")
    assert waited is not None and waited > 5
    assert wish(stepper).objective == "o1"
    assert "unfinished" in wish(stepper).why


def test_it_wants_nothing_while_it_works() -> None:
    stepper = striatum()
    working = objective("o2", "docked", "focused")
    stepper.step(backlog(NOW, working, LEFT), world(NOW), resources(NOW))
    assert waits_until(stepper, "resume") is None
    assert wish(stepper).tension == 0.0


@pytest.mark.parametrize("reason", ["the software stop was latched by ana", "stuck; shall I go on, or let it be?"])
def test_what_waits_for_a_person_is_not_taken_up_by_itself(reason: str) -> None:
    stepper = striatum()
    held = LEFT.model_copy(update={"reason": reason})
    stepper.step(backlog(NOW, held), world(NOW), resources(NOW))
    assert waits_until(stepper, "resume") is None
    assert waits_until(stepper, "explore") is None


def test_of_two_the_one_that_is_nearer_to_done_is_taken_up() -> None:
    stepper = striatum()
    other = objective("o0", "at(blue_cylinder, shelf)")
    stepper.step(backlog(NOW, other, LEFT), world(NOW, objects=[thing("red_cube", "office_table")]), resources(NOW))
    assert waits_until(stepper, "resume") is not None
    assert wish(stepper).objective == "o1"


def test_nothing_is_resumed_while_the_dock_comes_first() -> None:
    stepper = striatum()
    stepper.step(backlog(NOW, LEFT), world(NOW), resources(NOW, must_dock=True))
    assert waits_until(stepper, "resume") is None


def test_initiative_shortens_the_wait_and_strain_lengthens_it() -> None:
    waits = []
    for initiative, strain in ((0.9, 0.0), (0.5, 0.0), (0.5, 0.6)):
        stepper = striatum()
        more = (temperament(NOW, initiative), condition(NOW, strain=strain))
        stepper.step(backlog(NOW, LEFT), world(NOW), resources(NOW), *more)
        waits.append(waits_until(stepper, "resume"))
    assert None not in waits
    assert waits == sorted(waits) and len(set(waits)) == 3  # type: ignore[type-var]


def test_real_progress_relieves_the_pressure_and_going_to_and_fro_does_not() -> None:
    stepper = striatum()
    stepper.step(backlog(NOW, LEFT), world(NOW), resources(NOW))
    stepper.wait(60)
    pressed = wish(stepper).tension
    nearer = world(NOW, objects=[thing("red_cube", "office_table")])
    stepper.step(nearer, dt=0.0)
    relieved = wish(stepper).tension
    assert relieved < pressed - 0.05
    for _ in range(10):
        stepper.step(world(NOW), dt=0.0)
        stepper.step(nearer, dt=0.0)
    stepper.wait(6)
    assert wish(stepper).tension >= relieved


def test_done_is_relief_and_then_calm() -> None:
    stepper = striatum()
    stepper.step(backlog(NOW, LEFT), world(NOW), resources(NOW, may_explore=False))
    stepper.wait(60)
    aroused = wish(stepper).arousal
    stepper.step(backlog(stepper.now, LEFT.model_copy(update={"state": "done"})))
    stepper.wait(200)
    assert wish(stepper).tension < 0.05
    assert wish(stepper).arousal < aroused


# --- looking around --------------------------------------------------------------------------------

SEEN = [surface("kitchen_table", NOW - 100, 0.9), surface("office_table", 0.0), surface("person_tray", 0.0),
        surface("shelf", NOW - 200, 0.9)]


def at_leisure(**more: Any) -> Stepper:
    """A rested robot with nothing to do that has not seen the office table yet."""
    stepper = striatum()
    update = {"surfaces": SEEN} | more.pop("world", {})
    stepper.step(backlog(NOW), world(NOW, **update), resources(NOW, **more.pop("resources", {})), *more.pop("also", ()))
    return stepper


def trip(stepper: Stepper, state: str) -> Any:
    """The gate takes the wish up as an objective of the robot's own."""
    made = objective(f"e{stepper.now}", wish(stepper).condition, state, said="", source="striatum")
    return backlog(stepper.now, made)


def test_a_rested_robot_with_nothing_to_do_goes_to_see_what_it_has_not_seen_for_longest() -> None:
    stepper = at_leisure()
    waited = waits_until(stepper, "explore")
    assert waited is not None and waited >= TUNING.explore.idle_s - 2
    assert wish(stepper).condition == "at(robot, office_table)"
    assert "office_table" in wish(stepper).why


def test_it_stays_where_it_is_while_what_it_knows_is_fresh() -> None:
    fresh = [s.model_copy(update={"coverage": 0.9, "last_viewed": SEEN[0].last_viewed}) for s in SEEN]
    stepper = at_leisure(world={"surfaces": fresh})
    assert waits_until(stepper, "explore", 120) is None


@pytest.mark.parametrize(
    "hindrance",
    [
        {"resources": {"may_explore": False}},
        {"also": (condition(NOW, "DEGRADED", "CAUTIOUS"),)},
        {"also": (condition(NOW, "STRAINED", "RECOVERY"),)},
        {"also": (temperament(NOW, initiative=0.05),)},
        {"world": {"localized": False}},
        {"world": {"stopped": True}},
        {"world": {"holding": "red_cube"}},
        {"resources": {"range_m": 0.5}},
    ],
)
def test_it_does_not_explore_when_it_should_not(hindrance: dict[str, Any]) -> None:
    assert waits_until(at_leisure(**hindrance), "explore", 300) is None


def test_it_keeps_still_for_a_while_after_a_person_spoke() -> None:
    stepper = at_leisure()
    stepper.wait(50)
    stepper.step(said(stepper.now, "good evening"))
    waited = waits_until(stepper, "explore")
    assert waited is not None and waited >= TUNING.explore.quiet_s - 2


def test_it_looks_around_only_so_often_an_hour() -> None:
    stepper = at_leisure(world={"surfaces": [surface(s.name, 0.0) for s in SEEN]})
    begun: list[tuple[float, str]] = []
    while stepper.now < NOW + 3000:
        stepper.step(backlog(stepper.now))
        if wish(stepper).wants == "explore":
            begun.append((stepper.now, wish(stepper).condition))
            stepper.step(trip(stepper, "focused"))
            stepper.step(trip(stepper, "done"))
            stepper.step(said(stepper.now, "hello"))  # company keeps it awake
    assert 0 < len(begun) <= TUNING.explore.per_hour
    assert len({goal for _, goal in begun[:3]}) == len(begun[:3])
    assert not any("person" in goal for _, goal in begun)


def test_left_alone_for_hours_it_sleeps_and_a_voice_wakes_it() -> None:
    stepper = at_leisure(resources={"may_explore": False})
    stepper.wait(3 * 3600)
    stepper.step(resources(stepper.now))
    assert waits_until(stepper, "explore", 300) is None
    assert "sleeps" in wish(stepper).why
    stepper.step(said(stepper.now, "wake up"))
    assert waits_until(stepper, "explore", 300) is not None


def test_a_surface_that_nobody_lets_it_go_to_is_left_alone() -> None:
    stepper = at_leisure()
    assert waits_until(stepper, "explore") is not None
    assert waits_until(stepper, "nothing") is not None
    assert waits_until(stepper, "explore", 300) is None or wish(stepper).condition != "at(robot, office_table)"


def test_pressure_outlives_a_restart() -> None:
    stepper = striatum()
    stepper.step(backlog(NOW, LEFT), world(NOW), resources(NOW))
    stepper.wait(60)
    data = stepper.region.dump()  # type: ignore[attr-defined]
    again = Stepper(Striatum.load(SETTINGS, data), now=stepper.now)
    again.step(backlog(stepper.now, LEFT), world(stepper.now), resources(stepper.now), dt=5.0)
    assert wish(again).wants == "resume"
