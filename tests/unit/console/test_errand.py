"""An errand is followed from the words to its end."""

from __future__ import annotations

from anima import topics as t
from anima.console.errand import Errand
from anima.failure import Failure
from anima.skills.words import AGAIN
from anima.topics import Sent
from anima.types.base import Header, Time
from anima.types.mind import Backlog, Objective, Objectives, Outcome, SkillCall, Speech

HEADER = Header.at(1.0)


def objective(number: int, state: str, source: str = "u1") -> Objective:
    return Objective(
        id=f"{source}.{number}", condition="docked", said="go charge", source=source, order=number, state=state,
        reason="", created=Time.at(1.0),
    )


def understood(*objectives: Objective) -> Sent:
    return t.OBJECTIVES.of(Objectives(header=HEADER, objectives=list(objectives), replace=True))


def backlog(*objectives: Objective) -> Sent:
    return t.BACKLOG.of(Backlog(header=HEADER, objectives=list(objectives), focus="", why="", failures=[]))


def reply(text: str, cause: str) -> Sent:
    return t.REPLY.of(Speech(header=HEADER, text=text, cause=cause))


def followed(*sent: Sent) -> Errand:
    errand = Errand("u1")
    for item in sent:
        errand.feed(item)
    return errand


def test_it_is_over_when_every_objective_has_ended() -> None:
    first, second = objective(0, "done"), objective(1, "pending")
    errand = followed(understood(objective(0, "pending"), second), backlog(first, second))
    assert not errand.over and errand.verdict == "open"
    errand.feed(backlog(first, objective(1, "done")))
    assert errand.over and errand.verdict == "done"


def test_one_failed_objective_makes_the_errand_failed() -> None:
    ended = [objective(0, "done"), objective(1, "failed")]
    assert followed(understood(*ended), backlog(*ended)).verdict == "failed"


def test_an_answer_in_words_ends_a_question() -> None:
    assert followed(reply("It is on the shelf.", "u1")).verdict == "answered"


def test_a_notice_is_no_answer() -> None:
    assert not followed(reply("One moment, I am still waking up.", "")).over


def test_words_before_objectives_do_not_end_an_order() -> None:
    errand = followed(reply("OK: I'll go to the dock.", "u1"), understood(objective(0, "pending")))
    assert not errand.over


def test_objectives_of_other_orders_do_not_count() -> None:
    errand = followed(understood(objective(0, "pending")), backlog(objective(0, "done", "u0"), objective(0, "focused")))
    assert not errand.over


def ended(skill: str, failure: Failure = Failure.NONE, detail: str = "") -> Sent:
    call = SkillCall(
        header=HEADER, id=skill, skill=skill, arguments="{}", objective="u1.0", source="planner", because=[]
    )
    return t.OUTCOME.of(
        Outcome(
            header=HEADER, lease="l", call=call, success=failure == Failure.NONE, failure=failure, detail=detail,
            duration_s=1.0,
        )
    )


def test_what_helped_after_a_failure_is_named() -> None:
    errand = followed(ended("undock", Failure.INTERRUPTED), ended("wait"), ended("undock"), ended("go_to"))
    assert errand.recoveries == ["after interrupted of undock: wait"]


def test_a_second_grasp_is_named_as_what_helped() -> None:
    assert followed(ended("pick", detail=f"holding the cup; {AGAIN}")).recoveries == ["within pick: a second grasp"]
    assert not followed(ended("pick", detail="holding the cup")).recoveries
