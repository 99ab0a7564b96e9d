"""What was learned reaches what the robot says: length of reports, wishes answered at once, reminders, small talk."""

from __future__ import annotations

import pytest
from support.planner_rig import Bench, backlog, objective, of

from anima import topics as t
from anima.config import Settings, Switches
from anima.failure import Failure
from anima.planner import speech
from anima.planner.conversation import Conversation, talk_prefix
from anima.planner.lexicon import known_names
from anima.planner.llm.base import Request
from anima.planner.options import Step
from anima.runtime.component import Inbox
from anima.topics import Sent
from anima.types.base import Header
from anima.types.learning import Guidance, Reminder
from anima.types.mind import Utterance


def guidance(text: str = "", portrait: str = "", length: str = "") -> Sent:
    return t.GUIDANCE.of(
        Guidance(
            header=Header.at(0.0), encounter="e1", person="ana", text=text, portrait=portrait, report_length=length,
            speed_near_people="", search_order=[], address="", because=[],
        )
    )


class Remembering(Bench):
    """A planner beside a learner that keeps what it is told."""

    def __init__(self, script: object) -> None:
        super().__init__(script)
        self.give(guidance())


def ends(bench: Bench, state: str = "done", reason: str = "") -> list[str]:
    bench.give(t.BACKLOG.of(backlog(objective("at(red_cube, kitchen_table)"))))
    bench.run(1.0)
    bench.give(t.BACKLOG.of(backlog(objective("at(red_cube, kitchen_table)", state, reason))))
    return [reply.text for reply in of(bench.run(1.0), t.REPLY)]


def test_reports_are_short_for_whom_wants_them_so() -> None:
    bench = Bench("wait(5)")
    bench.give(guidance(length="short"))
    assert ends(bench) == ["Done."]


def test_a_short_report_of_a_failure_still_says_what_failed() -> None:
    failed = objective("at(red_cube, kitchen_table)", "failed", "the way is blocked")
    assert speech.ended(failed, "short") == "I could not put the red cube on the kitchen table."
    assert speech.ended(failed).endswith("the way is blocked.")


def test_a_full_report_tells_the_steps_and_what_went_wrong() -> None:
    steps = [Step("look_for(red_cube)", Failure.NONE), Step("pick(red_cube)", Failure.SLIP)]
    said = speech.ended(objective("at(red_cube, person)", "done"), "full", steps)
    assert said == (
        "Done: you have the red cube. It took 2 steps: look for red cube, pick red cube. "
        "On the way pick red cube failed (slip)."
    )


def test_a_wish_that_a_mechanism_obeys_is_answered_at_once_and_no_model_is_asked() -> None:
    bench = Remembering("decline(not_able)")
    said = of(bench.say("that's too much detail, just tell me when you're done"), t.REPLY)
    assert [reply.text for reply in said] == ["OK, I'll keep it short."]
    assert bench.model.requests == []


def test_something_for_later_is_taken_on_at_once() -> None:
    bench = Remembering("decline(not_able)")
    (reply,) = of(bench.say("next time ask how the cat is"), t.REPLY)
    assert reply.text == "OK, I'll ask how the cat is then."


def test_an_order_with_a_wish_in_it_is_still_an_order() -> None:
    bench = Remembering("bring(red_cube, person)")
    bench.say("bring me the red cube, and slow down near me")
    assert len(bench.model.requests) == 1


@pytest.mark.parametrize("learns", [False, True], ids=["nobody learns", "switched off"])
def test_nothing_is_promised_that_would_not_be_kept(learns: bool) -> None:
    settings = Settings(learn=Switches(lessons=not learns, intentions=not learns))
    talk = Conversation(settings, known_names(settings))
    if learns:
        talk.take(Inbox.of([guidance()]))
    for text in ("be brief please", "next time ask how the cat is"):
        assert talk.at_once(Utterance(header=Header.at(0.0), id="u", speaker="ana", text=text)) == ""


def test_a_reminder_is_said_once_nobody_waits_for_an_answer() -> None:
    bench = Bench("answer(battery)")
    reminder = Reminder(header=Header.at(0.0), id="i1", person="ana", text="I wanted to ask how the cat is.", why="")
    bench.give(t.REMINDER.of(reminder))
    said = of(bench.say("how is your battery?"), t.REPLY)
    assert [reply.cause for reply in said] == ["u1", "i1"]
    assert said[1].text == reminder.text


def test_small_talk_is_led_by_what_was_learned_and_its_prefix_is_the_same_bytes_in_every_turn() -> None:
    def script(request: Request) -> str:
        return "Hello Ana, how is the cat?" if request.role == "talk" else 'reply("Hello!")'

    bench = Bench(script)
    bench.give(guidance(text="What I still mean to do:\n- ask how the cat is", portrait="I'm Anima. I like questions."))
    replies = of(bench.say("hello") + bench.say("how are you?", "u2"), t.REPLY)
    assert [reply.text for reply in replies] == ["Hello Ana, how is the cat?"] * 2
    talks = [request for request in bench.model.requests if request.role == "talk"]
    assert len({request.messages[: request.stable] for request in talks}) == 1
    assert "ask how the cat is" in talks[0].messages[0].content
    assert "hello" not in talks[0].messages[0].content


def test_without_anything_learned_small_talk_costs_no_second_turn() -> None:
    bench = Bench('reply("Hello!")')
    bench.give(guidance())
    (reply,) = of(bench.say("hello"), t.REPLY)
    assert reply.text == "Hello!"
    assert [request.role for request in bench.model.requests] == ["listen"]


def test_the_prefix_of_small_talk_says_who_it_is() -> None:
    known = guidance(portrait="I'm Anima. I like questions.").value
    assert isinstance(known, Guidance)
    (system,) = talk_prefix("anima", known)
    assert "called Anima" in system.content
    assert "I like questions." in system.content
