"""An event through the parts: who bids, what the Self follows, what becomes of it; all with a scripted mind."""

from __future__ import annotations

import json

import pytest
from support.inner_rig import BID, PART, REWRITTEN, STALL, context, event, kept, part, scripted, sent

from anima import topics as t
from anima.parts import thinking
from anima.parts.asking import Ask
from anima.parts.vocabulary import CAME_TRUE, DID_NOT, OPEN
from anima.planner.judge import Judgement


def test_a_part_that_wakes_bids_and_the_followed_bid_becomes_a_stance_that_names_it() -> None:
    mind = context()
    kept(mind, part())
    scripted(bid=BID).think(thinking.live(mind, STALL))
    (choice,) = sent(mind, t.BIDS)
    (bid,) = choice.bids
    assert bid.followed and bid.reason == "I fear repeating a mistake" and choice.focus == bid.id
    (stances,) = sent(mind, t.STANCES)
    (stance,) = stances.stances
    assert (stance.kind, stance.target, stance.part, stance.bid) == ("avoid", "rug", "wary-of-the-rug", bid.id)
    x0, y0, x1, y1 = stance.area
    assert x0 < 1.7 and y0 < 3.6 and x1 > 3.2 and y1 > 4.85


def test_an_ignored_bid_leans_to_nothing_and_its_reason_is_told() -> None:
    mind = context()
    kept(mind, part())
    nobody = json.dumps({"A": "ignore: it is not the moment", "first": "none"})
    scripted(bid=BID, choose=lambda request: nobody).think(thinking.live(mind, STALL))
    (choice,) = sent(mind, t.BIDS)
    assert choice.focus == "" and choice.bids[0].reason == "it is not the moment"
    assert sent(mind, t.STANCES) == []


def test_a_suggestion_is_noted_with_its_prediction_and_the_event_that_it_came_from() -> None:
    mind = context()
    kept(mind, part())
    scripted(bid=BID).think(thinking.live(mind, STALL))
    now = mind.library.get("wary-of-the-rug")
    (entry,) = now.part.suggestions_and_results
    assert entry.predicted_result == "The wheels stall again" and entry.result == ""
    assert entry.predicted_result_timeframe_in_seconds == "600"
    assert now.because == ("e1",) and now.version == 2


def test_the_same_open_prediction_is_not_noted_twice() -> None:
    mind = context()
    kept(mind, part())
    for number in (1, 2):
        scripted(bid=BID).think(thinking.live(mind, event("a wheel stalled on the rug", id=f"e{number}")))
    assert len(mind.library.get("wary-of-the-rug").part.suggestions_and_results) == 1


def test_a_part_that_the_event_does_not_concern_stays_silent() -> None:
    mind = context()
    kept(mind, part())
    scripted({"concerns": "other"}, bid=BID).think(thinking.live(mind, STALL))
    assert sent(mind, t.BIDS) == []


def test_what_the_self_felt_gets_a_part_of_its_own_and_later_events_wake_it() -> None:
    mind = context()
    scripted({"worth_a_part": "part"}, create=PART).think(thinking.live(mind, STALL))
    (change,) = sent(mind, t.PART_CHANGES)
    assert (change.what, change.event) == ("created", "e1")
    assert change.why == "helper felt it: I fear repeating a mistake"
    mind.sent.clear()
    scripted(bid=BID).think(thinking.live(mind, event("a wheel stalls on the rug again", id="e2")))
    (choice,) = sent(mind, t.BIDS)
    assert choice.bids[0].name == "Wary of the Rug"


def test_what_leaves_the_self_cold_makes_no_part() -> None:
    mind = context()
    scripted({"worth_a_part": "not"}, create=PART).think(thinking.live(mind, STALL))
    scripted(create=PART).think(thinking.live(mind, STALL))  # unsure is no yes
    assert mind.library.active() == []


def test_a_concluded_part_is_archived_lets_go_of_its_stance_and_is_silent() -> None:
    mind = context()
    kept(mind, part())
    scripted(bid=BID).think(thinking.live(mind, STALL))
    scripted({"concluded": "concluded"}, bid=BID).think(thinking.live(mind, event("it crossed the rug often", id="e2")))
    assert mind.library.get("wary-of-the-rug").archived
    assert sent(mind, t.STANCES)[-1].stances == []
    mind.sent.clear()
    scripted(bid=BID).think(thinking.live(mind, event("a wheel stalls on the rug", id="e3")))
    assert sent(mind, t.BIDS) == []


@pytest.mark.parametrize(("label", "begins"), [("true", CAME_TRUE), ("false", DID_NOT)])
def test_a_due_prediction_is_held_against_what_was_sensed_and_changes_the_wording(label: str, begins: str) -> None:
    mind = context()
    kept(mind, part())
    scripted(bid=BID).think(thinking.live(mind, STALL))
    mind.diary.note(event("go_to(person) is done over the rug", at=300.0, id="e7"))
    assert mind.library.due(mind.utc_s) == []
    mind.now = 800.0
    (due,) = mind.library.due(mind.utc_s)
    model = scripted({"prediction": label}, rewrite=REWRITTEN)
    model.think(thinking.evaluate(mind, due))
    assert '"go_to(person) is done over the rug"' in model.shown("rewrite")[0]
    now = mind.library.get("wary-of-the-rug")
    assert now.part.suggestions_and_results[0].result.startswith(begins)
    assert now.part.description == REWRITTEN["description"]
    assert "A wheel stalls on the wet rug" in now.part.triggers
    assert "e7" in now.because and mind.library.due(mind.utc_s) == []


def test_where_nothing_tells_the_result_says_so_and_the_part_stays_as_it_is() -> None:
    mind = context()
    kept(mind, part())
    scripted(bid=BID).think(thinking.live(mind, STALL))
    before = mind.library.get("wary-of-the-rug").part.description
    mind.now = 800.0
    (due,) = mind.library.due(mind.utc_s)
    scripted({"prediction": "true"}, rewrite=REWRITTEN).think(thinking.evaluate(mind, due))
    now = mind.library.get("wary-of-the-rug").part
    assert now.suggestions_and_results[0].result.startswith(OPEN) and now.description == before


def test_what_a_person_says_about_a_part_refines_it_instead_of_making_another() -> None:
    mind = context()
    kept(mind, part())
    said = event("ana said 'a wheel stalls on the rug only when the rug is wet, the rug holds the wheels'", "person")
    scripted({"worth_a_part": "part"}, create=PART, rewrite=REWRITTEN).think(thinking.live(mind, said))
    (only,) = mind.library.active()
    assert only.part.description == REWRITTEN["description"] and only.because == ("e1",)


SPLIT = {
    "one": "Roly: technical work", "two": "Roly: when he is sad", "triggers 1": "one", "triggers 2": "two",
    "triggers 3": "one", "wants 1": "one", "wants 2": "two", "wants 3": "one", "phrases 1": "one", "phrases 2": "two",
    "i_one": "I am exact with Roly about code.", "i_two": "I listen to Roly when he is sad.",
}
ROLY = part(
    "Roly", description="I am exact with Roly about code and soft with him when he is sad.",
    triggers=["Roly asks about code", "Roly is sad", "A test fails"],
    wants=["Give exact answers", "Listen quietly", "Find the fault"],
    phrases=["Line 12 fails.", "I am here."],
)


def test_an_overloaded_part_divides_into_two_contexts_and_is_put_away() -> None:
    mind = context()
    kept(mind, ROLY)
    scripted({"split": "split"}, split=SPLIT).think(thinking.look_at(mind, "roly", "e1"))
    one, two = sorted(mind.library.active(), key=lambda k: k.part.name)
    assert one.part.triggers == ["Roly asks about code", "A test fails"] and two.part.phrases == ["I am here."]
    assert mind.library.get("roly").archived and mind.library.lineage(one.id).split_from == "roly"


def test_a_part_that_spoke_is_looked_at_when_it_is_quiet() -> None:
    mind = context()
    kept(mind, part())
    scripted(bid=BID).think(thinking.live(mind, STALL))
    assert list(mind.touched) == ["wary-of-the-rug"]


def test_what_one_event_gave_rise_to_is_not_divided_at_once() -> None:
    mind = context()
    kept(mind, part("Roly", triggers=ROLY.triggers[:2], wants=ROLY.wants[:2]))
    scripted({"split": "split"}, split=SPLIT).think(thinking.look_at(mind, "roly", "e1"))
    assert [k.id for k in mind.library.active()] == ["roly"]


def test_a_part_of_one_mind_stays_whole() -> None:
    mind = context()
    kept(mind, ROLY)
    scripted({"split": "keep"}, split=SPLIT).think(thinking.look_at(mind, "roly", "e1"))
    assert [k.id for k in mind.library.active()] == ["roly"]


def test_two_parts_that_say_the_same_are_noticed_when_they_speak_and_become_one() -> None:
    mind = context()
    kept(mind, part())
    kept(mind, part("Rug Danger", description="I think the rug is bad for wheels.", wants=["Keep off that rug"]))
    scripted(bid=BID).think(thinking.live(mind, STALL))
    ((pair, words),) = mind.echoes.items()
    merged = {"name": "Wary of the Rug", "description": "I believe that the rug holds wheels, so I go around."}
    scripted({"same_bid": "same"}, merge=merged).think(thinking.join(mind, pair, words))
    (only,) = mind.library.active()
    assert only.part.description == merged["description"]
    assert set(mind.library.lineage(only.id).merged_from) == set(pair) and only.because == ("e1",)


def test_two_parts_stay_two_when_they_only_sound_alike_in_one_order() -> None:
    mind = context()
    kept(mind, part())
    kept(mind, part("Rug Danger", description="I think the rug is bad for wheels.", wants=["Keep off that rug"]))
    train = thinking.join(mind, ("rug-danger", "wary-of-the-rug"), ("I go around.", "I call for help.", "e1"))
    asked = next(train)
    assert isinstance(asked, Ask) and asked.slots["second"] == "I call for help."
    asked = train.send(Judgement("same_bid", "same", "same", 0.9))
    assert isinstance(asked, Ask) and asked.slots["second"] == "I go around."
    with pytest.raises(StopIteration):
        train.send(Judgement("same_bid", "unsure", "different", 0.6))
    assert len(mind.library.active()) == 2


def test_what_is_only_read_somewhere_makes_changes_and_does_nothing() -> None:
    for origin in ("outside", "recalled"):
        mind = context()
        kept(mind, part())
        before = [(k.id, k.version) for k in mind.library.active()]
        given = {"worth_a_part": "part", "concluded": "concluded"}
        scripted(given, bid=BID, create=PART).think(thinking.live(mind, event("the rug is closed to robots", origin)))
        assert [(k.id, k.version) for k in mind.library.active()] == before
        assert sent(mind, t.STANCES) == [] and sent(mind, t.PART_CHANGES) == []
        for choice in sent(mind, t.BIDS):
            assert choice.focus == "" and not any(bid.followed for bid in choice.bids)


@pytest.mark.parametrize("answer", ["", "nonsense", '{"want": 3}', json.dumps({**BID, "lean": "avoid everything"})])
def test_an_answer_that_is_no_bid_costs_the_bid_and_nothing_else(answer: str) -> None:
    mind = context()
    kept(mind, part())
    model = scripted()
    model.turns["bid"] = answer
    model.think(thinking.live(mind, STALL))
    assert sent(mind, t.BIDS) == [] and mind.tally.unread == (1 if answer else 0)


QUERY = {"about": "the robot gets stuck on the carpet", "reminds": "somebody asks for a written summary"}
REPORTS = part(
    "Report Style", description="I care that written summaries are short.", triggers=["somebody asks for a summary"]
)


def test_the_models_own_words_for_an_event_wake_parts_that_its_own_words_do_not() -> None:
    mind = context()
    kept(mind, part())
    kept(mind, REPORTS)
    model = scripted(query=QUERY, bid={**BID, "lean": "none"})
    model.think(thinking.live(mind, STALL))
    (choice,) = sent(mind, t.BIDS)
    assert [bid.part for bid in choice.bids] == ["wary-of-the-rug", "report-style"]
    (request,) = [wish for wish in model.asked if getattr(wish, "role", "") == "parts.query"]
    assert request.background and request.messages[-1].content == STALL.line


def test_nobody_is_looked_for_where_all_parts_are_awake_already() -> None:
    mind = context()
    kept(mind, part())
    model = scripted(query=QUERY, bid=BID)
    model.think(thinking.live(mind, STALL))
    assert model.shown("query") == [] and model.shown("bid")


@pytest.mark.parametrize("answer", ["no JSON", json.dumps({"about": "x"}), ""])
def test_queries_that_can_t_be_read_leave_the_event_with_its_own_words(answer: str) -> None:
    mind = context()
    kept(mind, part())
    kept(mind, REPORTS)
    scripted(query=lambda request: answer, bid=BID).think(thinking.live(mind, STALL))
    (choice,) = sent(mind, t.BIDS)
    assert [bid.part for bid in choice.bids] == ["wary-of-the-rug"]


def test_what_only_the_models_words_found_does_not_keep_a_new_part_from_being_made() -> None:
    mind = context()
    kept(mind, REPORTS)
    same = {"about": "somebody asks for a summary", "reminds": "somebody asks for a summary"}
    scripted({"worth_a_part": "part"}, query=same, bid={**BID, "lean": "none"}, create=PART).think(
        thinking.live(mind, STALL)
    )
    assert {one.id for one in mind.library.active()} == {"report-style", "wary-of-the-rug"}


def lived(result: str, number: int) -> dict[str, str]:
    return {
        "predicted_result": f"The wheels stall {number}", "predicted_result_confidence": "likely",
        "predicted_result_timeframe_in_seconds": "60", "your_suggestion": "I want to keep off the rug.",
        "timestamp": f"2026-02-13T13:29:5{number}+00:00", "result": result,
    }


def test_a_part_whose_results_do_not_go_together_is_marked_and_later_says_itself_anew_from_all_of_them() -> None:
    mind = context()
    kept(mind, part(suggestions_and_results=[lived(f"{CAME_TRUE}: it stalled", 1), lived("", 2)]))
    mind.diary.note(event("the wheels crossed the rug", at=200.0, id="e7"))
    mind.now = 800.0
    (due,) = mind.library.due(mind.utc_s)
    made_at = mind.clock.reading(due.due_utc_s - 60.0)
    mind.diary.note(event("the wheels crossed the rug and did not stall", at=made_at + 1.0, id="e8"))
    scripted({"prediction": "false"}, rewrite=REWRITTEN).think(thinking.evaluate(mind, due))
    assert mind.library.get("wary-of-the-rug").part.needs_evaluation
    assert mind.library.noisy() == ["wary-of-the-rug"]

    anew = {**REWRITTEN, "description": "I have learned that the rug holds wheels only when it is wet."}
    model = scripted(rewrite=anew)
    model.think(thinking.consolidate(mind, "wary-of-the-rug"))
    assert "it stalled" in model.shown("rewrite")[0] and "crossed without trouble" in model.shown("rewrite")[0]
    now = mind.library.get("wary-of-the-rug")
    assert now.part.description == anew["description"] and not now.part.needs_evaluation
    assert now.because and mind.library.noisy() == []


def test_a_model_that_can_t_say_it_anew_is_not_asked_again_and_again() -> None:
    mind = context()
    kept(mind, part(needs_evaluation=True))
    scripted().think(thinking.consolidate(mind, "wary-of-the-rug"))
    now = mind.library.get("wary-of-the-rug").part
    assert mind.library.noisy() == [] and now.description == part().description


def test_one_surprise_alone_does_not_mark_a_part() -> None:
    mind = context()
    kept(mind, part(suggestions_and_results=[lived("", 1)]))
    mind.now = 800.0
    (due,) = mind.library.due(mind.utc_s)
    made_at = mind.clock.reading(due.due_utc_s - 60.0)
    mind.diary.note(event("the wheels crossed the rug", at=made_at + 1.0, id="e8"))
    scripted({"prediction": "false"}, rewrite=REWRITTEN).think(thinking.evaluate(mind, due))
    assert mind.library.noisy() == []
