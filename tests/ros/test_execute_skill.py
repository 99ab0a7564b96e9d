"""The action `execute_skill`: a person drives a skill by hand, through the real gate, and hears how it ended."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from action_msgs.msg import GoalStatus
from anima_msgs.action import ExecuteSkill
from rclpy.action import ActionClient
from support.ros_rig import Bench

from anima import topics as t
from anima.brain import TABLE
from anima.config import load_settings
from anima.failure import Failure
from anima.types.base import Header
from anima.types.mind import Lease, Outcome, SkillFeedback, WorldState
from anima.types.std import Pose
from anima_nodes.services import GateNode

pytestmark = pytest.mark.ros

TICK_S = 0.1


def world(now: float) -> WorldState:
    """A robot that stands in the kitchen with an empty hand and sees nothing."""
    return WorldState(
        header=Header.at(now, "map"), robot=Pose.planar(0.0, 0.0, 0.0), room="kitchen", place="", holding="",
        docked=False, battery=0.9, stopped=False, localized=True, objects=[], surfaces=[],
        facts=["at(robot, kitchen)"],
    )


class Gate:
    """The gate in ROS. The test plays the body behind it: it sees leases and says how they end."""

    def __init__(self, bench: Bench) -> None:
        row = next(row for row in TABLE if row.node == "basal_ganglia_gate")
        self.bench = bench
        self.node = bench.add(GateNode(row, load_settings({"memory_url": "none"})))
        self.client = ActionClient(bench.node, ExecuteSkill, "execute_skill")
        self.leases: list[Lease] = bench.listen(t.LEASE)
        self.say_outcome = bench.publisher(t.OUTCOME)
        self.say_progress = bench.publisher(t.SKILL_FEEDBACK)
        self.feedback: list[ExecuteSkill.Feedback] = []
        self.now = 1.0
        assert bench.until(lambda: self.node.count_subscribers(t.LEASE.name) == 1)
        bench.publisher(t.WORLD_STATE)(world(self.now))
        assert bench.until(lambda: self.node.inbox.last(t.WORLD_STATE))
        self.tick()

    def tick(self) -> None:
        self.now += TICK_S
        self.node.advance(self.now)

    def until(self, true: Callable[[], Any]) -> bool:
        """Let time pass until it is true."""

        def passes() -> Any:
            self.tick()
            return true()

        return self.bench.until(passes)

    def ask(self, skill: str, arguments: str = "{}") -> Any:
        """Ask for a skill; the goal's handle."""
        assert self.bench.until(self.client.server_is_ready)
        goal = ExecuteSkill.Goal(skill=skill, arguments=arguments)
        return self.bench.wait(
            self.client.send_goal_async(goal, feedback_callback=lambda m: self.feedback.append(m.feedback))
        )

    def result(self, handle: Any) -> tuple[int, ExecuteSkill.Result]:
        answer = handle.get_result_async()
        assert self.until(answer.done), "the goal never ended"
        return answer.result().status, answer.result().result

    def granted(self, skill: str) -> Lease:
        assert self.until(lambda: [lease for lease in self.leases if lease.granted and lease.call.skill == skill])
        return next(lease for lease in self.leases if lease.granted and lease.call.skill == skill)

    def end(self, lease: Lease, failure: Failure = Failure.NONE, detail: str = "") -> None:
        self.say_outcome(
            Outcome(
                header=Header.at(self.now), lease=lease.id, call=lease.call, success=failure is Failure.NONE,
                failure=int(failure), detail=detail, duration_s=1.5,
            )
        )


@pytest.fixture
def gate(bench: Bench) -> Iterator[Gate]:
    gate = Gate(bench)
    yield gate
    gate.client.destroy()


def test_a_skill_that_is_done_succeeds(gate: Gate) -> None:
    handle = gate.ask("wait", '{"seconds": 2.0}')
    assert handle.accepted
    lease = gate.granted("wait")
    assert lease.call.source == "operator"
    gate.end(lease)

    status, result = gate.result(handle)
    assert status == GoalStatus.STATUS_SUCCEEDED
    assert result.error_code == Failure.NONE
    assert result.duration_s == 1.5


def test_progress_is_fed_back(gate: Gate) -> None:
    handle = gate.ask("wait", '{"seconds": 2.0}')
    lease = gate.granted("wait")
    gate.say_progress(
        SkillFeedback(
            header=Header.at(gate.now), lease=lease.id, call=lease.call.id, skill="wait", phase="stands", progress=0.5
        )
    )
    assert gate.until(lambda: gate.feedback)
    assert (gate.feedback[0].phase, gate.feedback[0].progress) == ("stands", 0.5)
    gate.end(lease)
    gate.result(handle)


def test_a_skill_that_fails_aborts_with_the_code_and_the_reason(gate: Gate) -> None:
    handle = gate.ask("go_to", '{"place": "kitchen_table"}')
    gate.end(gate.granted("go_to"), Failure.PATH_BLOCKED, "a chair stands in the way")

    status, result = gate.result(handle)
    assert status == GoalStatus.STATUS_ABORTED
    assert result.error_code == Failure.PATH_BLOCKED
    assert result.error_msg == "a chair stands in the way"


@pytest.mark.parametrize(
    ("skill", "arguments"),
    [
        ("levitate", "{}"),
        ("go_to", '{"place": "the moon"}'),
        ("wait", '{"seconds": -1}'),
        ("wait", "not json"),
        ("place", '{"object": "red_cube", "surface": "kitchen_table"}'),
    ],
)
def test_a_call_that_the_validator_refuses_is_aborted_with_a_reason_and_never_leased(
    gate: Gate, skill: str, arguments: str
) -> None:
    status, result = gate.result(gate.ask(skill, arguments))
    assert status == GoalStatus.STATUS_ABORTED
    assert Failure(result.error_code) is not Failure.NONE
    assert result.error_msg
    assert gate.leases == []


def test_a_cancelled_skill_ends_only_after_the_body_said_that_it_stopped(gate: Gate) -> None:
    handle = gate.ask("go_to", '{"place": "kitchen_table"}')
    lease = gate.granted("go_to")
    answer = handle.get_result_async()
    cancelled = gate.bench.wait(handle.cancel_goal_async())
    assert cancelled.goals_canceling

    assert gate.until(lambda: any(not seen.granted and seen.id == lease.id for seen in gate.leases))
    gate.bench.pass_time(0.2)
    assert not answer.done()

    gate.end(lease, Failure.INTERRUPTED, "stopped")
    assert gate.until(answer.done)
    assert answer.result().status == GoalStatus.STATUS_CANCELED
    assert answer.result().result.error_code == Failure.INTERRUPTED


def test_a_second_skill_takes_the_body_from_the_first(gate: Gate) -> None:
    first = gate.ask("go_to", '{"place": "kitchen_table"}')
    lease = gate.granted("go_to")
    second = gate.ask("wait", '{"seconds": 1.0}')
    assert gate.until(lambda: any(not seen.granted and seen.id == lease.id for seen in gate.leases))
    gate.end(lease, Failure.INTERRUPTED, "a person drives by hand")
    gate.end(gate.granted("wait"))

    assert gate.result(first)[1].error_code == Failure.INTERRUPTED
    assert gate.result(second)[0] == GoalStatus.STATUS_SUCCEEDED


def test_before_anything_is_known_of_the_world_a_call_is_refused_with_that_reason(bench: Bench) -> None:
    row = next(row for row in TABLE if row.node == "basal_ganglia_gate")
    node = bench.add(GateNode(row, load_settings({"memory_url": "none"})))
    node.advance(1.0)
    client = ActionClient(bench.node, ExecuteSkill, "execute_skill")
    assert bench.until(client.server_is_ready)
    handle = bench.wait(client.send_goal_async(ExecuteSkill.Goal(skill="wait", arguments='{"seconds": 1.0}')))
    answer = bench.wait(handle.get_result_async())
    client.destroy()
    assert answer.status == GoalStatus.STATUS_ABORTED
    assert "world" in answer.result.error_msg
