"""Every form that a role may write parses, whatever is in it; and no text from outside breaks out of its line."""

from __future__ import annotations

import json

from hypothesis import given, settings
from hypothesis import strategies as st
from support.inner_rig import SETTINGS, part

from anima.body.places import load_places
from anima.parts.bidding import QUERY_CHARACTERS, BadBid, ballot, portrait, read_bid, read_queries
from anima.parts.choosing import read_choice
from anima.parts.happening import Happening
from anima.parts.schema import Part
from anima.parts.vocabulary import CONFIDENCES, WITHIN
from anima.parts.writing import read_merge, read_part, read_rewriting, read_split, rewrite_patch
from anima.planner.lexicon import known_names

PLACES, NAMES = load_places(SETTINGS.map_folder), known_names(SETTINGS)
# What the grammar lets through: printable, without the marks that end a string or a turn.
CHARACTERS = st.characters(codec="utf-8", exclude_categories=("Cc", "Cs"), exclude_characters='"\\<>|{}')
WORDS = st.text(CHARACTERS, min_size=1, max_size=80).filter(lambda text: text.strip(" ,.;:!?-") != "")
ANY = st.text(max_size=200)


@settings(max_examples=120, deadline=None)
@given(WORDS, WORDS, st.data())
def test_every_bid_of_the_grammar_is_read(want: str, prediction: str, data: st.DataObject) -> None:
    mine = part()
    event = Happening("e", 1.0, "it stalled on the rug in the kitchen", "lived", where="rug", spot=(2.4, 4.2))
    offered = ballot(mine, event, NAMES, PLACES)
    form = {
        "want": f"I {want}", "lean": data.draw(st.sampled_from(offered.leanings)),
        "focus": data.draw(st.sampled_from(offered.focuses)), "predict": prediction,
        "sure": data.draw(st.sampled_from(CONFIDENCES)), "within": data.draw(st.sampled_from(list(WITHIN))),
    }
    draft = read_bid(json.dumps(form), mine, offered)
    assert draft.want.startswith("I") and draft.within_s > 0
    assert not draft.words or draft.words in mine.phrases


@settings(max_examples=60, deadline=None)
@given(WORDS, WORDS)
def test_every_query_of_the_grammar_is_something_to_look_for(about: str, reminds: str) -> None:
    form = {"about": about[:QUERY_CHARACTERS], "reminds": reminds[:QUERY_CHARACTERS]}
    assert all(0 < len(query) <= QUERY_CHARACTERS and query.strip() for query in read_queries(json.dumps(form)))


@settings(max_examples=120, deadline=None)
@given(WORDS, WORDS, WORDS)
def test_every_part_of_the_grammar_is_a_part_and_every_rewriting_a_patch(name: str, words: str, line: str) -> None:
    form = {
        "felt": "I fear it", "name": name[:40], "description": f"I {words}", "emotion": "Fear", "intensity": "High",
        "triggers": [line[:60]], "wants": [words[:60]], "phrase": line[:60], "conclude_when": words[:60],
    }
    born, _ = read_part(json.dumps(form), Happening("e", 1.0, "it was felt", "lived"), "2026-01-01T00:00:00+00:00")
    assert isinstance(born, Part)
    new = {"result": words, "description": f"I {line}", "intensity": "Low", "trigger": "1", "narrowed": words[:60]}
    patch = rewrite_patch(born, read_rewriting(json.dumps(new)), "new")
    assert {operation["op"] for operation in patch} == {"replace"}


@settings(max_examples=200, deadline=None)
@given(ANY)
def test_what_is_no_form_is_refused_with_a_reason_and_never_with_a_surprise(text: str) -> None:
    mine, event = part(), Happening("e", 1.0, "x", "lived")
    offered = ballot(mine, event, NAMES, PLACES)
    for read in (
        lambda: read_bid(text, mine, offered), lambda: read_choice(text, 2), lambda: read_rewriting(text),
        lambda: read_part(text, event, "2026-01-01T00:00:00+00:00"), lambda: read_split(text, mine),
        lambda: read_merge(text, mine, mine), lambda: read_queries(text),
    ):
        try:
            read()
        except (BadBid, ValueError) as error:
            assert str(error)


@settings(max_examples=150, deadline=None)
@given(ANY)
def test_words_from_outside_stay_on_their_line(text: str) -> None:
    line = Happening("e", 1.0, text, "outside").line
    assert "\n" not in line and line.count('"') == 2
    shown = portrait(part(description=f"I saw {text.replace(chr(0), '')}" if text.isprintable() else "I saw it"))
    assert sum(row.startswith("I am:") for row in shown.splitlines()) == 1
