"""The gate after a failure: the playbook's next step, named, and bounded by the budgets."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml
from support.gate_rig import SETTINGS, Bench, accepted, call, objective, objectives, said, stop_state, thing

from anima import topics as t
from anima.config import ConfigError
from anima.failure import Failure
from anima.planner.lexicon import known_names
from anima.planner.validate import validate
from anima.regions.gate.playbooks import CLASSES, PLAYBOOKS_FILE, Playbooks, load_playbooks
from anima.types.mind import Lease, WorldState

CUBE = {"objects": [thing("red_cube", "kitchen_table")]}
PICK = call("c1", "pick", object="red_cube")
GO = call("c1", "go_to", place="kitchen")


def fetching(playbooks: Playbooks | None = None) -> Bench:
    """A gate whose person wants the red cube in the robot's hand; with the playbooks of the file, or others."""
    bench = Bench(playbooks=playbooks)
    bench.tick(objectives(bench.now, objective("o1", "holding(red_cube)", said="take the red cube")))
    return bench


def going() -> Bench:
    bench = Bench()
    bench.tick(objectives(bench.now, objective("o1", "at(robot, kitchen)", said="go to the kitchen")))
    return bench


def after(bench: Bench, lease: Lease, failure: Failure) -> Lease:
    """The lease that the gate grants of itself after a failure."""
    (found,) = bench.end(lease, failure) + bench.wait(0.5)
    return found


def text(lease: Lease) -> str:
    return f"{lease.call.source}: {lease.call.skill} {lease.call.arguments}"


class TestTheFile:
    def test_every_class_of_failure_has_a_playbook_that_ends(self) -> None:
        books = load_playbooks()
        assert set(books) == set(CLASSES) == set(Failure) - {Failure.NONE}
        for book in books.values():
            assert book.step(book.length - 1).do in ("ask", "abandon")
            assert book.step(10_000).do in ("ask", "abandon")

    @pytest.mark.parametrize(
        ("change", "says"),
        [
            ({"slip": None}, "slip: has no playbook"),
            ({"boredom": [{"do": "ask"}]}, "boredom: is no failure"),
            ({"slip": [{"do": "dance"}, {"do": "ask"}]}, "slip"),
            ({"slip": [{"do": "retry"}]}, "ask or abandon is last"),
            ({"slip": [{"do": "ask"}, {"do": "ask"}]}, "ask or abandon is last"),
            ({"slip": [{"do": "back_off"}, {"do": "ask"}]}, "wait_s"),
            ({"slip": []}, "slip"),
        ],
    )
    def test_a_file_that_is_incomplete_or_has_no_end_is_refused_by_name(
        self, tmp_path: Path, change: dict[str, object], says: str
    ) -> None:
        data = yaml.safe_load(PLAYBOOKS_FILE.read_text()) | change
        file = tmp_path / "playbooks.yaml"
        file.write_text(yaml.safe_dump({k: v for k, v in data.items() if v is not None}))
        with pytest.raises(ConfigError, match=says) as error:
            load_playbooks(file)
        assert str(file) in str(error.value)


class TestRescan:
    def test_after_a_missed_grasp_the_gate_itself_has_the_robot_look_again(self) -> None:
        bench = fetching()
        bench.world_update = CUBE
        lease = after(bench, bench.begin(PICK), Failure.GRASP_FAILED)
        assert text(lease) == 'playbook: look_for {"object": "red_cube"}'
        assert lease.deadline.seconds > bench.now
        assert bench.backlog is not None and bench.backlog.recovery == "after grasp_failed: rescan"
        assert bench.reason_of("o1") == "after grasp_failed: rescan"
        assert bench.failures[-1] == "after grasp_failed: rescan, look_for(red_cube)"

    def test_without_playbooks_it_is_left_to_the_planner(self) -> None:
        bench = fetching(playbooks={})
        bench.world_update = CUBE
        bench.end(bench.begin(PICK), Failure.GRASP_FAILED)
        assert bench.wait(5.0) == [] and bench.reason_of("o1") == ""

    def test_the_call_passes_the_validator_as_every_other(self) -> None:
        bench = fetching()
        bench.world_update = CUBE
        lease = after(bench, bench.begin(PICK), Failure.GRASP_FAILED)
        state = bench.inbox.last(t.WORLD_STATE)
        assert isinstance(state, WorldState)
        assert validate(lease.call, state, known_names(SETTINGS)).accepted

    def test_what_the_planner_wants_meanwhile_is_denied_with_the_reason(self) -> None:
        bench = fetching()
        bench.world_update = CUBE
        after(bench, bench.begin(PICK), Failure.GRASP_FAILED)
        bench.tick(accepted(0, call("c2", "say", text="oops")))
        assert bench.failures[-1] == (
            "say(oops): not begun, look_for(red_cube) is under way, after grasp_failed: rescan"
        )

    def test_a_stop_in_the_middle_of_a_recovery_ends_it_for_good(self) -> None:
        bench = fetching()
        bench.world_update = CUBE
        lease = after(bench, bench.begin(PICK), Failure.GRASP_FAILED)
        (back,) = bench.tick(said(bench.now, "stop"))
        assert (back.id, back.granted) == (lease.id, False)
        bench.end(lease, Failure.INTERRUPTED)
        assert bench.wait(30.0) == []

    def test_it_does_not_begin_while_the_stop_is_latched(self) -> None:
        bench = fetching()
        bench.world_update = CUBE
        lease = bench.begin(PICK)
        bench.tick(stop_state(bench.now, True))
        bench.end(lease, Failure.GRASP_FAILED)
        assert bench.wait(5.0) == []

    def test_a_recovery_that_fails_is_followed_by_the_next_step_for_the_first_failure(self) -> None:
        bench = fetching()
        bench.world_update = CUBE
        lease = after(bench, bench.begin(PICK), Failure.GRASP_FAILED)
        bench.end(lease, Failure.PERCEPTION_MISS)
        assert bench.reason_of("o1") == "after grasp_failed: change_method"


class TestOtherSteps:
    def test_a_blocked_path_is_waited_at_longer_each_time(self) -> None:
        bench = going()
        first = after(bench, bench.begin(GO), Failure.PATH_BLOCKED)
        bench.end(first)
        second = after(bench, bench.begin(call("c2", "go_to", place="corridor")), Failure.PATH_BLOCKED)
        assert [text(first), text(second)] == ['playbook: wait {"seconds": 2.0}', 'playbook: wait {"seconds": 8.0}']

    def test_a_change_of_method_forbids_the_call_until_another_has_worked(self) -> None:
        bench = fetching()
        bench.world_update = CUBE
        bench.end(bench.begin(PICK), Failure.TIMEOUT)  # retry
        bench.end(bench.begin(call("c2", "pick", object="red_cube")), Failure.UNKNOWN)  # retry
        bench.end(bench.begin(call("c3", "pick", object="red_cube")), Failure.UNKNOWN)  # change_method
        bench.tick(accepted(0, call("c4", "pick", object="red_cube")))
        bench.wait(1.0)
        denied = "pick(red_cube): not begun, change method: pick(red_cube) ended with unknown"
        assert bench.failures[-1] == denied
        bench.end(bench.begin(call("c5", "approach", object="red_cube")))
        assert bench.begin(call("c6", "pick", object="red_cube")).granted

    def test_a_robot_that_is_lost_has_to_find_itself_first(self) -> None:
        bench = going()
        bench.world_update = {"localized": False}
        assert text(after(bench, bench.begin(GO), Failure.PRECONDITION_UNMET)) == "playbook: relocalize {}"

    def test_a_robot_that_knows_where_it_is_skips_finding_itself(self) -> None:
        for localized, wanted in ((False, "relocalize"), (True, "change_method")):
            bench = going()
            bench.end(bench.begin(GO), Failure.TIMEOUT)
            bench.world_update = {"localized": localized}
            bench.end(bench.begin(call("c2", "wait", seconds=1.0)), Failure.TIMEOUT)
            assert bench.reason_of("o1") == f"after timeout: {wanted}"

    def test_where_nothing_mends_it_a_person_is_asked_and_the_objective_waits(self) -> None:
        bench = going()
        bench.end(bench.begin(GO), Failure.CONSTRAINT_PREVENTED)
        bench.end(bench.begin(call("c2", "wait", seconds=1.0)), Failure.CONSTRAINT_PREVENTED)
        bench.end(bench.begin(call("c3", "wait", seconds=2.0)), Failure.CONSTRAINT_PREVENTED)
        assert bench.state_of("o1") == "parked" and bench.focus == ""
        assert "shall I go on, or let it be? I need help" in bench.reason_of("o1")

    def test_a_question_that_is_answered_with_go_on_is_over(self) -> None:
        bench = self.asked()
        bench.tick(said(bench.now, "go on"))
        assert bench.focus == "o1"

    def test_a_question_that_nobody_answers_ends_the_objective_and_tells_what_was_tried(self) -> None:
        bench = self.asked()
        bench.wait(91.0)
        assert bench.state_of("o1") == "failed"
        assert "nobody answered" in bench.reason_of("o1")
        assert "after constraint_prevented: change_method" in bench.reason_of("o1")

    def test_a_question_lets_the_next_objective_have_its_turn(self) -> None:
        bench = going()
        bench.tick(objectives(0, objective("o2", "at(robot, office)", source="u2")))
        for i in range(3):
            bench.end(bench.begin(call(f"c{i}", "wait", seconds=1.0 + i)), Failure.CONSTRAINT_PREVENTED)
        assert bench.focus == "o2"

    @staticmethod
    def asked() -> Bench:
        bench = going()
        for i in range(3):
            bench.end(bench.begin(call(f"c{i}", "wait", seconds=1.0 + i)), Failure.CONSTRAINT_PREVENTED)
        return bench


@pytest.mark.parametrize("failure", CLASSES)
def test_whatever_fails_again_and_again_ends_within_the_budgets(failure: Failure) -> None:
    bench = going()
    leases: list[Lease] = []
    for i in range(200):
        if bench.state_of("o1") in ("failed", "parked"):
            break
        leases += bench.tick(*([] if leases else [accepted(0, call(f"c{i}", "wait", seconds=1.0 + i % 7))]))
        if leases:
            leases += bench.end(leases.pop(0), failure)
    bench.wait(100.0)
    assert bench.state_of("o1") in ("failed", "parked") and bench.reason_of("o1")


def test_a_recovery_that_helped_is_named_when_the_objective_is_done() -> None:
    bench = going()
    lease = after(bench, bench.begin(GO), Failure.PATH_BLOCKED)
    bench.end(lease)
    lease = bench.begin(call("c2", "go_to", place="kitchen"))
    bench.world_update = {"room": "kitchen"}
    bench.end(lease)
    bench.wait(1.0)
    assert (bench.state_of("o1"), bench.reason_of("o1")) == ("done", "the sensors say so; after path_blocked: back_off")
