"""What happens to a robot, as messages: calls and objectives end, people take over, effort gets nowhere."""

from __future__ import annotations

from anima import topics as t
from anima.failure import Failure
from anima.topics import Sent
from anima.types.base import Header
from anima.types.glue import Conflict
from anima.types.mind import Backlog, Outcome, Verdict
from support.gate_rig import call, objective


def ended(failure: Failure = Failure.NONE) -> Sent:
    return t.OUTCOME.of(
        Outcome(
            header=Header.at(0.0), lease="lease", call=call("c", "pick", object="red_cube"),
            success=failure is Failure.NONE, failure=int(failure), detail="", duration_s=1.0,
        )
    )


def backlog(**states: str) -> Sent:
    objectives = [objective(id, "docked", state=state) for id, state in states.items()]
    return t.BACKLOG.of(
        Backlog.model_construct(header=Header.at(0.0), objectives=objectives, focus="", why="", failures=[])
    )


def taken_over() -> Sent:
    proposal = call("c", "stop", source="operator")
    return t.OPERATOR_VERDICT.of(
        Verdict(header=Header.at(0.0), call=proposal, accepted=True, correction="", failure=0, reason="", repair="")
    )


def conflict() -> Sent:
    return t.CONFLICT.of(
        Conflict(
            header=Header.at(0.0), id="x", kind="oscillation", objective="o1", advice="change_tactic", avoid=[],
            why="", because=[],
        )
    )
