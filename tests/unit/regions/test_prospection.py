"""A doubtful or risky call is imagined before it begins; every call gets an answer in the step that it arrives in."""

from __future__ import annotations

from typing import Any

import pytest
from support.drives_rig import DOCK, KITCHEN, OFFICE, Stepper, condition, recall, resources, temperament
from support.gate_rig import accepted, call, refused, thing, world

from anima import topics as t
from anima.body.places import load_places
from anima.config import Settings
from anima.failure import Failure
from anima.regions.prospection import Prospection
from anima.topics import Sent
from anima.types.base import Header
from anima.types.glue import Forecast
from anima.types.mind import Outcome, SkillCall
from anima.types.std import Pose

SETTINGS = Settings()
PLACES = load_places(SETTINGS.map_folder)
TO_OFFICE = call("c1", "go_to", place="office_table")
SHORT = call("c2", "go_to", place="kitchen")


def at(place: tuple[float, float], **update: Any) -> Sent:
    """The world around a robot that stands there."""
    room = PLACES.room_at(*place)
    return world(100.0, **({"robot": Pose.planar(*place, 0.0), "room": room} | update))


def foresee(proposal: SkillCall, *given: Sent, stepper: Stepper | None = None) -> Forecast:
    """What it says of an accepted call, at once."""
    stepper = stepper or Stepper(Prospection(SETTINGS), now=100.0)
    sent = stepper.step(*given, accepted(100.0, proposal))
    (forecast,) = [item.value for item in sent if isinstance(item.value, Forecast)]
    return forecast


def familiar() -> Stepper:
    """One that has been everywhere."""
    stepper = Stepper(Prospection(SETTINGS), now=100.0)
    for name in PLACES.names:
        stepper.step(world(100.0, place=name))
    return stepper


def ended(proposal: SkillCall, failure: Failure = Failure.NONE, lasted_s: float = 20.0) -> Sent:
    return t.OUTCOME.of(
        Outcome(
            header=Header.at(100.0), lease="l", call=proposal, success=failure is Failure.NONE, failure=int(failure),
            detail="", duration_s=lasted_s,
        )
    )


def test_a_call_without_doubt_is_answered_at_once_without_imagining_it() -> None:
    found = foresee(SHORT, at((5.5, 4.0), room="corridor"), resources(100.0), stepper=familiar())
    assert (found.rollouts, found.advice, found.id) == (0, "go", "c2")


@pytest.mark.parametrize("proposal", [call("c", "say", text="hi"), call("c", "wait", seconds=3.0), call("c", "stop")])
def test_talking_and_standing_still_are_no_risk(proposal: SkillCall) -> None:
    found = foresee(proposal, at(DOCK), resources(100.0, battery=0.05))
    assert (found.rollouts, found.advice) == (0, "go")


def test_a_refused_call_is_not_imagined() -> None:
    assert Stepper(Prospection(SETTINGS), now=100.0).step(at(DOCK), refused(100.0, TO_OFFICE)) == []


def test_the_first_drive_to_a_place_is_imagined_and_the_next_is_not() -> None:
    stepper = familiar()
    new = Stepper(Prospection(SETTINGS), now=100.0)
    here = (at((5.5, 4.0), room="corridor"), resources(100.0))
    assert foresee(SHORT, *here, stepper=new).rollouts == 2
    assert foresee(SHORT, *here, stepper=stepper).rollouts == 0


@pytest.mark.parametrize(
    "doubt",
    [
        (condition(100.0, "STRAINED", "CAUTIOUS"),),
        (condition(100.0, "STABLE", "RECOVERY"),),
        (condition(100.0, "DEGRADED", "FOCUSED"),),
        (resources(100.0, battery=0.22),),
        (recall(100.0, "o1", ["go_to(kitchen)"], []),),
        (recall(100.0, "o1", [], [], ("go_to(kitchen)", False)),),
        (at((5.5, 4.0), room="corridor", holding="red_cube"),),
    ],
)
def test_what_gives_doubt(doubt: tuple[Sent, ...]) -> None:
    here = (at((5.5, 4.0), room="corridor"), resources(100.0))
    found = foresee(SHORT, *here, *doubt, stepper=familiar())
    assert found.rollouts >= 2
    assert "imagined because" in found.why


def test_a_long_drive_is_doubtful_and_costs_its_way() -> None:
    found = foresee(TO_OFFICE, at(KITCHEN), resources(100.0), stepper=familiar())
    assert found.rollouts >= 2 and found.advice == "go"
    assert 20.0 < found.cost_s < 120.0
    assert 0.0 < found.energy < 0.02
    assert found.success > 0.8


def test_nothing_is_imagined_when_the_body_cannot_afford_it() -> None:
    found = foresee(TO_OFFICE, at(KITCHEN), resources(100.0, may_simulate=False))
    assert (found.rollouts, found.advice) == (0, "go")


def test_a_drive_that_the_robot_could_not_come_back_from_is_refused() -> None:
    hungry = resources(100.0, battery=0.20, share_per_m=0.02, share_per_s=4e-5)
    found = foresee(TO_OFFICE, at(KITCHEN), hungry)
    assert found.advice == "refuse"
    assert found.hazard == 1.0 and found.success == 0.0
    assert "come back to the dock" in found.why


def test_at_15_percent_a_far_errand_gives_way_to_the_dock_and_at_the_dock_it_waits() -> None:
    low = resources(100.0, battery=0.15)
    found = foresee(TO_OFFICE, at(KITCHEN), low)
    assert (found.advice, found.rather) == ("rather", "dock()")
    docked = foresee(TO_OFFICE, at(DOCK, docked=True), low)
    assert docked.advice == "refuse" and "charge on" in docked.why
    assert foresee(TO_OFFICE, at(KITCHEN), resources(100.0)).advice == "go"


def test_the_way_to_the_dock_is_never_refused_for_want_of_energy() -> None:
    empty = resources(100.0, battery=0.01, share_per_m=0.01)
    assert foresee(call("c", "dock"), at(OFFICE), empty).advice == "go"


def test_what_was_remembered_to_work_is_preferred_to_what_failed_each_time() -> None:
    proposal = call("c1", "pick", object="red_cube")
    cube = thing("red_cube", "office_table").model_copy(update={"position": Pose.planar(0.66, 1.3, 0.0).position})
    here = at(OFFICE, robot=Pose.planar(1.0, 1.3, 3.1416), objects=[cube])
    lived = recall(100.0, "o1", ["pick(red_cube)"], ["approach(red_cube)"], *[("pick(red_cube)", False)] * 3)
    stepper = familiar()
    for _ in range(8):
        stepper.step(ended(proposal, Failure.GRASP_FAILED))
    found = foresee(proposal, here, resources(100.0), lived, stepper=stepper)
    assert (found.advice, found.rather) == ("rather", "approach(red_cube)")
    alone = foresee(proposal, here, resources(100.0), recall(100.0, "o1", ["pick(red_cube)"], []), stepper=stepper)
    assert alone.advice == "go" and alone.success < 0.6, "bad odds alone are no reason to say no"


def test_it_learns_which_way_is_often_blocked() -> None:
    stepper = familiar()
    given = (at(KITCHEN), resources(100.0))
    before = foresee(TO_OFFICE, *given, stepper=stepper).success
    for k in range(8):
        again = TO_OFFICE.model_copy(update={"id": f"k{k}"})
        foresee(again, *given, stepper=stepper)
        stepper.step(ended(again, Failure.PATH_BLOCKED))
    assert foresee(TO_OFFICE, *given, stepper=stepper).success < before - 0.2


def test_it_learns_how_fast_it_really_gets_about() -> None:
    stepper = familiar()
    given = (at(KITCHEN), resources(100.0))
    before = foresee(TO_OFFICE, *given, stepper=stepper).cost_s
    for k in range(8):
        again = TO_OFFICE.model_copy(update={"id": f"k{k}"})
        foresee(again, *given, stepper=stepper)
        stepper.step(ended(again, lasted_s=150.0))
    assert foresee(TO_OFFICE, *given, stepper=stepper).cost_s > 1.5 * before


def test_being_interrupted_teaches_nothing_of_the_world() -> None:
    stepper = familiar()
    before = stepper.region.dump()["experience"]  # type: ignore[attr-defined]
    stepper.step(ended(TO_OFFICE, Failure.INTERRUPTED))
    assert stepper.region.dump()["experience"] == before  # type: ignore[attr-defined]


def test_the_cautious_imagine_more() -> None:
    here = (at((5.5, 4.0), room="corridor"), resources(100.0))
    assert foresee(SHORT, *here, temperament(100.0, caution=0.9)).rollouts == 3
    assert foresee(SHORT, *here, temperament(100.0, caution=0.3)).rollouts == 2


def test_carrying_over_slippery_floor_is_refused_by_the_cautious_only() -> None:
    stepper = familiar()
    for k in range(30):
        stepper.step(ended(call(f"s{k}", "go_to", place="shelf"), Failure.SLIP if k % 5 < 3 else Failure.NONE))
    here = (at(KITCHEN, holding="red_cube"), resources(100.0))
    careful = foresee(TO_OFFICE, *here, temperament(100.0, caution=0.9), stepper=stepper)
    assert careful.advice == "refuse" and "red_cube" in careful.why
    bold = foresee(TO_OFFICE, *here, temperament(100.0, caution=0.1), stepper=stepper)
    assert bold.advice == "go"


def test_the_same_call_in_the_same_run_is_imagined_the_same_and_another_run_differently() -> None:
    given = (at(KITCHEN), resources(100.0))
    one, two = foresee(TO_OFFICE, *given), foresee(TO_OFFICE, *given)
    assert one == two
    other = Stepper(Prospection(SETTINGS.model_copy(update={"seed": 7})), now=100.0)
    assert foresee(TO_OFFICE, *given, stepper=other).cost_s != one.cost_s


def test_what_it_learned_outlives_a_restart() -> None:
    stepper = familiar()
    stepper.step(ended(call("c", "pick", object="red_cube"), Failure.GRASP_FAILED))
    data = stepper.region.dump()  # type: ignore[attr-defined]
    again = Prospection.load(SETTINGS, data)
    assert again.dump() == data
    assert "grasp:red_cube" in data["experience"]["lived"]


@pytest.mark.parametrize("text", ["", "[]", "{", '{"place": 3}', '{"place": "the moon"}'])
def test_arguments_that_mean_nothing_are_not_its_business(text: str) -> None:
    odd = TO_OFFICE.model_copy(update={"arguments": text})
    assert foresee(odd, at(KITCHEN), resources(100.0)).advice == "go"
