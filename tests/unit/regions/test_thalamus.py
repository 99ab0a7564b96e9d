"""What is passed on of all that happens, and how often."""

from __future__ import annotations

import itertools
import json

import pytest
from support.gate_rig import SETTINGS, accepted, call, refused, said, stop_state, thing, world
from support.glue_rig import Region, battery, go_to, outcome, reflex, wheels

from anima import topics as t
from anima.failure import Failure
from anima.regions.thalamus import Thalamus
from anima.types.base import Header
from anima.types.glue import Conflict, Event
from anima.types.std import Point
from anima.world.state import facts_of


@pytest.fixture
def thalamus() -> Region:
    return Region(Thalamus(SETTINGS))


def kinds(events: list[Event]) -> list[str]:
    return [f"{event.kind}/{event.subject}" for event in events]


def seen(region: Region, **update: object) -> list[Event]:
    """The world is so now, with the facts that follow."""
    value = world(region.now, **update).value
    return region.tick(t.WORLD_STATE.of(value.model_copy(update={"facts": facts_of(value)})))  # type: ignore[arg-type]


def test_what_a_person_says_passes_at_once_with_who_said_it(thalamus: Region) -> None:
    (event,) = thalamus.tick(said(100.0, "where is the cube?", id="u7"))
    assert (event.kind, event.subject, event.because) == ("utterance", "ana", ["u7"])
    assert "where is the cube?" in event.text


def test_a_person_who_says_the_same_thirty_times_is_heard_thirty_times(thalamus: Region) -> None:
    events = [event for n in range(30) for event in thalamus.tick(said(100.0, "hello", id=f"u{n}"))]
    assert len(events) == 30 and all(event.repeats == 0 for event in events)


def test_the_software_stop_is_told_when_it_is_latched_and_when_it_is_reset_and_not_between(thalamus: Region) -> None:
    told = [kinds(thalamus.tick(stop_state(0.0, latched))) for latched in (False, True, True, True, False, True)]
    assert told == [[], ["stop/software_stop"], [], [], ["stop_over/software_stop"], ["stop/software_stop"]]


def test_equal_events_close_together_are_told_once_and_counted(thalamus: Region) -> None:
    first = thalamus.tick(reflex(0, "bumper"), reflex(0, "bumper"), reflex(0, "bumper"))
    assert [event.repeats for event in first] == [0]
    assert [event.repeats for event in thalamus.wait(2.0)] == [1], "this one and one more were held back"


def test_what_goes_on_and_on_is_told_ever_more_rarely(thalamus: Region) -> None:
    passed = [thalamus.now for _ in range(600) if thalamus.tick(reflex(0, "obstacle"))]
    pauses = [later - earlier for earlier, later in itertools.pairwise(passed)]
    assert len(passed) < 10
    assert pauses == sorted(pauses) and pauses[-1] > 8 * pauses[0]


def test_after_a_long_silence_it_is_news_again(thalamus: Region) -> None:
    for _ in range(300):
        thalamus.tick(reflex(0, "obstacle"))
    thalamus.wait(120.0)
    (event,) = thalamus.tick(reflex(0, "obstacle"))
    assert event.repeats == 0


def test_new_content_is_news_but_another_reading_is_not(thalamus: Region) -> None:
    for _ in range(50):
        thalamus.tick(reflex(0, "tilt", detail="tilted by 12 degrees"))
    assert thalamus.tick(reflex(0, "tilt", detail="tilted by 13 degrees")) == []
    (event,) = thalamus.tick(reflex(0, "tilt", detail="lifted off the floor"))
    assert "lifted" in event.text


def test_a_source_that_floods_does_not_silence_the_others(thalamus: Region) -> None:
    flood = [outcome(0, go_to(f"c{n}", f"place_{n}"), Failure.PATH_BLOCKED) for n in range(50)]
    events = thalamus.tick(*flood, reflex(0, "cliff"))
    assert len([event for event in events if event.source == "skills"]) < 10
    assert "reflex/cliff" in kinds(events)


def test_outcomes_are_told_with_call_and_failure(thalamus: Region) -> None:
    (event,) = thalamus.tick(outcome(0, go_to("c1", "office"), Failure.PATH_BLOCKED, "a chair"))
    assert (event.kind, event.subject, event.because) == ("failure", "go_to(office)", ["c1"])
    assert event.text == "go_to(office): path_blocked, a chair"
    (event,) = thalamus.tick(outcome(0, go_to("c2", "office")))
    assert (event.kind, event.text) == ("done", "go_to(office) is done")
    (event,) = thalamus.tick(outcome(0, go_to("c3", "office"), Failure.INTERRUPTED))
    assert event.kind == "interrupted"


def test_only_refusals_of_the_planner_are_news_but_all_that_a_person_does_by_hand(thalamus: Region) -> None:
    proposal = call("c1", "dock")
    assert thalamus.tick(accepted(0, proposal)) == []
    assert kinds(thalamus.tick(refused(0, proposal))) == ["refusal/dock()"]
    by_hand = t.OPERATOR_VERDICT.of(accepted(0, proposal).value)  # type: ignore[arg-type]
    assert kinds(thalamus.tick(by_hand)) == ["teleop/dock()"]


def test_the_battery_is_told_at_its_thresholds_and_does_not_waver(thalamus: Region) -> None:
    told = []
    for charge in (0.5, 0.31, 0.29, 0.31, 0.295, 0.14, 0.16, 0.14, 0.5):
        told += kinds(thalamus.tick(battery(0, charge)))
    assert told == ["battery/low", "battery/critical", "battery/ok"]


def test_a_battery_of_unknown_charge_is_no_news(thalamus: Region) -> None:
    assert thalamus.tick(battery(0, float("nan"))) == []


def test_charger_on_and_off_are_told(thalamus: Region) -> None:
    told = [kinds(thalamus.tick(battery(0, 0.8, plugged))) for plugged in (False, True, True, False)]
    assert told == [[], ["power/plugged"], [], ["power/unplugged"]]


def test_a_battery_that_falls_fast_is_a_trend_in_words(thalamus: Region) -> None:
    slow = [event for n in range(20) for event in thalamus.tick(battery(0, 0.9 - n * 0.001), dt=10.0)]
    fast = [event for n in range(20) for event in thalamus.tick(battery(0, 0.8 - n * 0.004), dt=10.0)]
    assert slow == []
    assert [event.text for event in fast] == ["battery falling fast while standing"]


def test_a_wheel_that_needs_ever_more_effort_is_a_trend_in_words(thalamus: Region) -> None:
    seen(thalamus, room="kitchen")
    for _ in range(200):
        assert thalamus.tick(wheels(0, (-3.0, -3.0), (0.5, 0.5))) == []
    told = [event for n in range(100) for event in thalamus.tick(wheels(0, (-3, -3), (0.5 + n * 0.03, 0.5)))]
    assert [event.text for event in told] == ["left wheel effort rising while reversing in the kitchen"]


def test_a_wheel_at_rest_makes_no_trend(thalamus: Region) -> None:
    for n in range(300):
        assert thalamus.tick(wheels(0, (0.0, 0.0), (n * 0.01, 0.0))) == []


def test_what_is_known_at_the_start_is_no_news_but_what_is_seen_later_is(thalamus: Region) -> None:
    cube, ball = thing("red_cube", "kitchen_table"), thing("orange_ball", "shelf")
    assert seen(thalamus, objects=[cube]) == []
    (event,) = seen(thalamus, objects=[cube, ball])
    assert (event.kind, event.subject, event.text) == ("object_seen", "orange_ball", "orange_ball was seen at shelf")


def test_a_thing_that_is_gone_is_lost(thalamus: Region) -> None:
    cube = thing("red_cube", "kitchen_table")
    seen(thalamus, objects=[cube])
    events = seen(thalamus, objects=[cube.model_copy(update={"status": "absent"})])
    assert kinds(events) == ["object_lost/red_cube"]


def test_a_thing_that_creeps_is_told_when_it_has_come_far(thalamus: Region) -> None:
    cube = thing("red_cube", "kitchen_table")
    seen(thalamus, objects=[cube])
    told = []
    for n in range(12):
        thalamus.wait(1.0)
        told += seen(thalamus, objects=[cube.model_copy(update={"position": Point(x=1.0 + 0.04 * n, y=1.0, z=0.4)})])
    assert kinds(told) == ["object_moved/red_cube"] * 2


def test_grasping_docking_arriving_and_getting_lost_are_told(thalamus: Region) -> None:
    cube = thing("red_cube", "kitchen_table")
    seen(thalamus, objects=[cube])
    held = cube.model_copy(update={"place": "gripper"})
    assert "grasped/red_cube" in kinds(seen(thalamus, objects=[held], holding="red_cube"))
    assert "released/red_cube" in kinds(seen(thalamus, objects=[cube]))
    assert "arrived/shelf" in kinds(seen(thalamus, objects=[cube], place="shelf"))
    assert "docked/dock" in kinds(seen(thalamus, objects=[cube], docked=True))
    assert "localization/lost" in kinds(seen(thalamus, objects=[cube], docked=True, localized=False))


def test_noise_that_changes_no_decision_is_no_event(thalamus: Region) -> None:
    seen(thalamus)
    assert all(seen(thalamus, battery=0.9 - n * 1e-4) == [] for n in range(30))


def test_a_conflict_is_an_event_about_its_objective(thalamus: Region) -> None:
    conflict = Conflict(
        header=Header.at(0), id="x1", kind="oscillation", objective="o1", advice="change_tactic", avoid=[],
        why="it goes round", because=["c1"],
    )
    (event,) = thalamus.tick(t.CONFLICT.of(conflict))
    assert (event.kind, event.subject, event.because) == ("conflict", "o1", ["x1", "c1"])


def test_a_dumped_thalamus_goes_on_as_if_nothing_had_been(thalamus: Region) -> None:
    seen(thalamus, objects=[thing("red_cube", "shelf")])
    for n in range(40):
        thalamus.tick(reflex(0, "bumper"), battery(0, 0.5 - n * 0.001), wheels(0, (2, 2), (0.5, 0.5)))
    again = Region(Thalamus.load(SETTINGS, json.loads(json.dumps(thalamus.region.dump()))), thalamus.now)
    for region in (thalamus, again):
        region.sent.clear()
        for n in range(100):
            region.tick(reflex(0, "bumper"), battery(0, 0.46 - n * 0.01), wheels(0, (2, 2), (0.5 + n * 0.05, 0.5)))
    assert again.sent == thalamus.sent != []


def test_when_the_clock_is_set_back_it_goes_on_telling(thalamus: Region) -> None:
    for _ in range(100):
        thalamus.tick(reflex(0, "bumper"))
    thalamus.now = 0.0
    assert any(thalamus.tick(reflex(0, "bumper")) for _ in range(200))


def test_being_taken_over_by_hand_is_an_event_of_the_operators_and_so_is_its_end(thalamus: Region) -> None:
    (begun,) = thalamus.tick(reflex(0, "teleop", detail="a person drives the base by hand"))
    assert (begun.source, begun.kind) == ("operator", "teleop") and "drives the base by hand" in begun.text
    (ended,) = thalamus.tick(reflex(0, "teleop", active=False))
    assert (ended.source, ended.kind) == ("operator", "teleop_over")
