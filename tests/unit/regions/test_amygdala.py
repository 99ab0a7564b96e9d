"""What matters how much, and what is broken off for it."""

from __future__ import annotations

import json

import pytest
from support.gate_rig import SETTINGS, call, objective, thing, world
from support.glue_rig import Region, backlog, event, go_to, lease, outcome, resources, temperament

from anima.regions.amygdala import Amygdala
from anima.types.glue import Salient

BRING = objective("o1", "at(red_cube, shelf)", source="u1")


@pytest.fixture
def amygdala() -> Region:
    return Region(Amygdala(SETTINGS))


def weigh(region: Region, kind: str, subject: str, repeats: int = 0, because: tuple[str, ...] = ()) -> Salient:
    (salient,) = region.tick(event(region.now, kind, subject, repeats, because))
    assert isinstance(salient, Salient)
    return salient


def driving(region: Region) -> None:
    """It works on an order and drives somewhere."""
    region.tick(backlog(region.now, BRING), world(region.now), lease(region.now, go_to("c1", "shelf")))


def test_a_person_who_speaks_breaks_off_a_thought_but_no_deed(amygdala: Region) -> None:
    driving(amygdala)
    assert weigh(amygdala, "utterance", "ana").interrupts == "deliberation"


def test_who_gave_the_order_is_heeded_more_than_a_stranger(amygdala: Region) -> None:
    weigh(amygdala, "utterance", "ana", because=("u1",))
    driving(amygdala)
    stranger, giver = weigh(amygdala, "utterance", "ben"), weigh(amygdala, "utterance", "ana")
    assert giver.urgency > stranger.urgency
    assert "ana gave the order" in giver.why


def test_the_focus_object_being_lost_on_the_way_makes_it_think_anew_another_object_does_not(amygdala: Region) -> None:
    driving(amygdala)
    lost = weigh(amygdala, "object_lost", "red_cube")
    assert lost.interrupts == "deliberation" and "objective in focus" in lost.why
    assert weigh(amygdala, "object_lost", "orange_ball").interrupts == "none"
    assert weigh(amygdala, "object_moved", "red_cube").interrupts == "deliberation"


def test_the_sight_of_what_it_looks_for_makes_it_think_anew(amygdala: Region) -> None:
    driving(amygdala)
    assert weigh(amygdala, "object_seen", "orange_ball").interrupts == "none"
    seen = weigh(amygdala, "object_seen", "red_cube")
    assert seen.interrupts == "deliberation" and "looked for" in seen.why


def test_the_sight_may_be_told_after_the_world_already_shows_it(amygdala: Region) -> None:
    driving(amygdala)
    amygdala.tick(world(amygdala.now, objects=[thing("red_cube", "shelf")]))
    assert weigh(amygdala, "object_seen", "red_cube").interrupts == "deliberation"
    amygdala.wait(5.0)
    assert weigh(amygdala, "object_seen", "red_cube").interrupts == "none", "it has been known for long"


def test_a_thing_that_slips_from_the_hand_stops_the_drive_and_one_that_is_placed_does_not(amygdala: Region) -> None:
    driving(amygdala)
    assert weigh(amygdala, "released", "red_cube").interrupts == "execution"
    amygdala.wait(30.0)
    placing = call("c2", "place", object="red_cube", surface="shelf")
    amygdala.tick(outcome(amygdala.now, go_to("c1", "shelf")), lease(amygdala.now, placing))
    assert weigh(amygdala, "released", "red_cube").interrupts == "none"


def test_one_touch_breaks_off_nothing_but_touch_after_touch_does(amygdala: Region) -> None:
    driving(amygdala)
    told = [weigh(amygdala, "reflex", "bumper").interrupts for _ in range(4)]
    assert told[0] != "execution" and told[-1] == "execution"


def test_repeats_that_an_event_carries_count_like_events(amygdala: Region) -> None:
    driving(amygdala)
    assert weigh(amygdala, "reflex", "bumper", repeats=3).interrupts == "execution"


def test_what_runs_not_is_not_broken_off(amygdala: Region) -> None:
    assert [weigh(amygdala, "reflex", "bumper").interrupts for _ in range(5)][-1] == "deliberation"


def test_touches_long_apart_do_not_add_up(amygdala: Region) -> None:
    driving(amygdala)
    for _ in range(4):
        amygdala.wait(25.0, dt=1.0)
        assert weigh(amygdala, "reflex", "bumper").interrupts != "execution"


def touches_borne(caution: float) -> int:
    region = Region(Amygdala(SETTINGS))
    region.tick(temperament(region.now, caution))
    driving(region)
    borne = 0
    while borne < 20 and weigh(region, "reflex", "bumper").interrupts != "execution":
        borne += 1
    return borne


def test_a_skittish_robot_starts_at_less_than_a_stoic_one() -> None:
    skittish, neutral, stoic = touches_borne(0.9), touches_borne(0.5), touches_borne(0.2)
    assert 1 <= skittish < neutral < stoic < 20


def test_caution_changes_nothing_about_what_people_say(amygdala: Region) -> None:
    before = weigh(amygdala, "utterance", "ana").urgency
    amygdala.tick(temperament(amygdala.now, 0.9))
    assert weigh(amygdala, "utterance", "ben").urgency == before


def test_a_nearly_empty_battery_breaks_off_a_drive_unless_it_drives_to_the_dock(amygdala: Region) -> None:
    driving(amygdala)
    assert weigh(amygdala, "battery", "critical").interrupts == "execution"
    amygdala.wait(30.0)
    amygdala.tick(outcome(amygdala.now, go_to("c1", "shelf")), lease(amygdala.now, call("c2", "dock")))
    assert weigh(amygdala, "battery", "critical").interrupts == "none"


def test_the_need_to_charge_makes_power_matter_more(amygdala: Region) -> None:
    before = weigh(amygdala, "battery", "low")
    amygdala.wait(30.0)
    amygdala.tick(resources(amygdala.now, charge_drive=0.8))
    after = weigh(amygdala, "battery", "low")
    assert after.urgency > before.urgency and (before.interrupts, after.interrupts) == ("none", "deliberation")


def test_every_urgency_has_its_reason_in_a_sentence(amygdala: Region) -> None:
    driving(amygdala)
    for kind, subject in (("battery", "low"), ("something_new", "x"), ("trend", "left_wheel_joint")):
        salient = weigh(amygdala, kind, subject)
        assert salient.why.endswith(".") and len(salient.why) > 5
        assert salient.why in amygdala.region.why()


def test_the_end_of_a_skill_that_was_never_told_is_not_awaited_for_ever(amygdala: Region) -> None:
    driving(amygdala)
    amygdala.wait(200.0, dt=1.0)
    assert weigh(amygdala, "battery", "critical").interrupts == "deliberation"


def test_a_dumped_amygdala_goes_on_as_if_nothing_had_been(amygdala: Region) -> None:
    driving(amygdala)
    weigh(amygdala, "reflex", "bumper")
    amygdala.tick(temperament(amygdala.now, 0.7), resources(amygdala.now, 0.4))
    again = Region(Amygdala.load(SETTINGS, json.loads(json.dumps(amygdala.region.dump()))), amygdala.now)
    for name, subject in (("reflex", "bumper"), ("object_seen", "red_cube"), ("battery", "low")):
        assert weigh(again, name, subject) == weigh(amygdala, name, subject)
