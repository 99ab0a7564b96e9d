"""What the model writes of parts: a new one, a rewritten one, one divided, two joined; each a closed form."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from anima.memory.patch import item_id
from anima.parts import gbnf
from anima.parts.bidding import BadBid, answer, portrait, whole_words
from anima.parts.happening import Happening, words_of
from anima.parts.roles import PartsTuning
from anima.parts.schema import Part, Suggestion
from anima.parts.vocabulary import CAME_TRUE, DID_NOT, EMOTIONS, INTENSITIES, OPEN
from anima.planner.llm.base import Request
from anima.planner.packet import one_line

_NAME, _SENTENCE, _LINE = 40, 180, 60
_RESULTS = 6
_LISTS = ("triggers", "wants", "phrases", "responses")
_NAMED_EMOTIONS = EMOTIONS[:-1]

# How a description begins after what was lived: in the words, not in a number, a part grows surer or more tentative.
OPENINGS: Mapping[str, tuple[str, ...]] = {
    CAME_TRUE: ("I have seen it: ", "I was right that ", "I know by now that "),
    DID_NOT: ("I am less sure now: ", "I was wrong to think that ", "I think that only sometimes "),
    "new": ("I have learned that ", "I understand now that ", "I was told that "),
}


# --- a new part --------------------------------------------------------------------------------------


def create_request(about: str, affects: Sequence[str], event: Happening, tuning: PartsTuning) -> Request:
    """The turn in which a Self gives a viewpoint of its own to something that it felt."""
    form = gbnf.Fields()
    form.add("felt", gbnf.choice(affects))
    form.add("name", gbnf.text(_NAME))
    form.add("description", gbnf.text(_SENTENCE, ("I ",)))
    form.add("emotion", gbnf.choice(_NAMED_EMOTIONS))
    form.add("intensity", gbnf.choice(INTENSITIES))
    form.add("triggers", gbnf.array(gbnf.text(_LINE), 3))
    form.add("wants", gbnf.array(gbnf.text(_LINE), 2))
    form.add("phrase", gbnf.text(_LINE))
    form.add("conclude_when", gbnf.text(_LINE))
    turn = f"{about}\nhappened: {event.line}"
    return tuning.roles.create.request("create", turn, form.grammar(), tuning.turns)


def read_part(text: str, event: Happening, timestamp: str) -> tuple[Part, str]:
    """The part in an answer, and the affect that it was born of; raises `BadBid`."""
    data = _object(text)
    try:
        lists = {name: _distinct(data[name]) for name in ("triggers", "wants")}
        part = Part(
            name=whole_words(data["name"], _NAME), description=whole_words(data["description"], _SENTENCE),
            suggestions_and_results=[], core_part=False, needs_evaluation=False,
            originating_event={"timestamp": timestamp, "result": one_line(event.text, 400)},  # type: ignore[arg-type]
            conclude_when=whole_words(data["conclude_when"], _LINE), emotion=data["emotion"],
            intensity=data["intensity"], personality="", triggers=lists["triggers"], wants=lists["wants"],
            phrases=[whole_words(data["phrase"], _LINE)], responses=[],
        )
        return part, str(data["felt"])
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise BadBid(f"{text[:80]!r} is no part: {error}") from error


# --- a part that learned -------------------------------------------------------------------------------


@dataclass(frozen=True)
class Rewriting:
    """How a part puts itself anew: what came of its suggestion, its description, and one trigger said more narrowly."""

    result: str
    description: str
    intensity: str
    trigger: int
    narrowed: str


def rewrite_request(part: Part, lived: Sequence[str], verdict: str, tuning: PartsTuning) -> Request:
    """The turn in which a part rewrites itself. `verdict` is a key of `OPENINGS`; `lived` are lines of data."""
    form = gbnf.Fields()
    form.add("result", gbnf.text(100))
    openings = [o for o in OPENINGS.get(verdict, ("I ",)) if not part.description.startswith(o)]
    form.add("description", gbnf.text(_SENTENCE, openings))
    form.add("intensity", gbnf.choice(INTENSITIES))
    numbers = [str(number) for number in range(1, min(len(part.triggers), 4) + 1)]
    form.add("trigger", gbnf.choice([*numbers, "keep"]))
    form.add("narrowed", gbnf.text(_LINE))
    turn = "\n".join((portrait(part), *lived, f"judged: {verdict}"))
    return tuning.roles.rewrite.request("rewrite", turn, form.grammar(), tuning.turns)


def read_rewriting(text: str) -> Rewriting:
    """The rewriting in an answer; raises `BadBid`."""
    data = answer(text, ("result", "description", "intensity", "trigger", "narrowed"))
    number = int(data["trigger"]) - 1 if data["trigger"].isdigit() else -1
    return Rewriting(
        whole_words(data["result"], 100), whole_words(data["description"], _SENTENCE), data["intensity"], number,
        whole_words(data["narrowed"], _LINE),
    )


def rewrite_patch(part: Part, new: Rewriting, verdict: str, entry: str = "") -> list[dict[str, Any]]:
    """The JSON Patch of a rewriting. `entry` is the suggestion whose result it is; without a verdict only that."""
    patch: list[dict[str, Any]] = []
    if entry:
        patch.append(_replace(f"/suggestions_and_results/{entry}/result", f"{verdict}: {new.result}"))
    if verdict == OPEN:
        return patch
    patch.append(_replace("/description", new.description))
    if new.intensity != part.intensity:
        patch.append(_replace("/intensity", new.intensity))
    if 0 <= new.trigger < len(part.triggers) and new.narrowed not in part.triggers:
        id = item_id(part.triggers[new.trigger], Part.patch_rules.lists["triggers"])
        patch.append(_replace(f"/triggers/{id}", new.narrowed))
    return patch


def consolidate_request(part: Part, tuning: PartsTuning) -> Request:
    """The turn in which a part whose results don't fit together says itself anew, in view of all the newest of them."""
    lived = [entry for entry in part.suggestions_and_results if entry.result][-_RESULTS:]
    lines = [f'lived: "{one_line(entry.your_suggestion, 60)}" -> "{one_line(entry.result, 100)}"' for entry in lived]
    return rewrite_request(part, lines, "new", tuning)


def noisy_patch(is_noisy: bool) -> dict[str, Any]:
    """The JSON Patch that says whether a part is to be looked at because its results don't fit together."""
    return {"op": "replace", "path": "/needs_evaluation", "value": is_noisy}


def predict_patch(part: Part, suggestion: Suggestion, most: int = 200) -> list[dict[str, Any]]:
    """The JSON Patch that notes a suggestion with its prediction. Of a very long life the oldest known result goes."""
    patch: list[dict[str, Any]] = []
    if len(part.suggestions_and_results) >= most:
        oldest = next((entry for entry in part.suggestions_and_results if entry.result), None)
        if oldest is None:
            return []
        patch.append({"op": "remove", "path": f"/suggestions_and_results/{oldest.id}"})
    value = suggestion.model_dump(mode="json")
    return [*patch, {"op": "add", "path": "/suggestions_and_results/-", "value": value}]


def _replace(path: str, value: str) -> dict[str, Any]:
    return {"op": "replace", "path": path, "value": value}


# --- one that divides, two that join -------------------------------------------------------------------


def split_request(part: Part, tuning: PartsTuning) -> Request:
    """The turn in which an overloaded part says into which two it divides, and what goes where."""
    shown = [f"I am: {part.name}. {one_line(part.description, 400)}"]
    form = gbnf.Fields()
    form.add("one", gbnf.text(_NAME)).add("two", gbnf.text(_NAME))
    for name in _LISTS:
        lines = getattr(part, name)[:8]
        for number, line in enumerate(lines, 1):
            shown.append(f"{name} {number}: {one_line(line, 70)}")
        for number in range(1, len(lines) + 1):
            form.add(f"{name} {number}", gbnf.choice(("one", "two", "both")))
    form.add("i_one", gbnf.text(_SENTENCE, ("I ",))).add("i_two", gbnf.text(_SENTENCE, ("I ",)))
    return tuning.roles.split.request("split", "\n".join(shown), form.grammar(), tuning.turns)


def read_split(text: str, part: Part) -> tuple[Part, Part]:
    """The two parts in an answer, each with its share of lists and of what was lived; raises `BadBid`."""
    data = _object(text)
    try:
        names = [whole_words(data[which], _NAME) for which in ("one", "two")]
        described = [whole_words(data[f"i_{which}"], _SENTENCE) for which in ("one", "two")]
        shares = [_share(part, data, which) for which in ("one", "two")]
    except (KeyError, TypeError, AttributeError) as error:
        raise BadBid(f"{text[:80]!r} divides no part: {error}") from error
    if names[0].lower() == names[1].lower() or not all(names) or not all(described):
        raise BadBid(f"{text[:80]!r}: both halves are the same")
    if shares[0]["wants"] == shares[1]["wants"]:
        raise BadBid(f"{text[:80]!r}: both halves want the same, so nothing is divided")
    if not all(share["triggers"] for share in shares) or shares[0]["triggers"] == shares[1]["triggers"]:
        half = max(1, len(part.triggers) // 2)
        shares[0]["triggers"], shares[1]["triggers"] = part.triggers[:half], part.triggers[half:] or part.triggers[:1]
    halves = [words_of(f"{names[n]} {described[n]} {' '.join(shares[n]['triggers'])}") for n in (0, 1)]
    lived: list[list[Suggestion]] = [[], []]
    for entry in part.suggestions_and_results:
        about = words_of(f"{entry.your_suggestion} {entry.predicted_result}")
        lived[int(len(about & halves[1]) > len(about & halves[0]))].append(entry)
    one, two = (
        part.model_copy(
            update={"name": names[n], "description": described[n], "suggestions_and_results": lived[n], **shares[n]}
        )
        for n in (0, 1)
    )
    return one, two


def _share(part: Part, data: Mapping[str, Any], which: str) -> dict[str, list[str]]:
    return {
        name: [
            line
            for number, line in enumerate(getattr(part, name), 1)
            if data.get(f"{name} {number}", "both") in (which, "both")
        ]
        for name in _LISTS
    }


def merge_request(one: Part, two: Part, tuning: PartsTuning) -> Request:
    """The turn in which two parts that say the same find one name and one voice."""
    form = gbnf.Fields()
    form.add("name", gbnf.text(_NAME)).add("description", gbnf.text(_SENTENCE, ("I ",)))
    turn = "\n".join(
        f"{which}: {part.name}. {one_line(part.description, 200)} I want: {'; '.join(part.wants[:3])}"
        for which, part in (("one", one), ("two", two))
    )
    return tuning.roles.merge.request("merge", turn, form.grammar(), tuning.turns)


def read_merge(text: str, one: Part, two: Part) -> Part:
    """The joined part in an answer, with what both wake at, want and lived; raises `BadBid`."""
    data = answer(text, ("name", "description"))
    lists = {name: _united([*getattr(one, name), *getattr(two, name)]) for name in _LISTS}
    lived = {entry.id: entry for entry in (*one.suggestions_and_results, *two.suggestions_and_results)}
    ordered = sorted(lived.values(), key=lambda entry: entry.timestamp)
    older = min((one, two), key=lambda part: part.originating_event.timestamp)
    return older.model_copy(
        update={
            "name": whole_words(data["name"], _NAME), "description": whole_words(data["description"], _SENTENCE),
            "core_part": one.core_part or two.core_part, "suggestions_and_results": ordered[-250:], **lists,
        }
    )


def _united(lines: Sequence[str], most: int = 12) -> list[str]:
    """Each thing once: a line whose words are nearly those of one before it is left out."""
    kept: list[str] = []
    for line in lines:
        words = words_of(line)
        same = any(len(words & words_of(k)) >= 0.75 * max(len(words | words_of(k)), 1) for k in kept)
        if not same and line not in kept:
            kept.append(line)
    return kept[:most]


def _distinct(lines: Sequence[str]) -> list[str]:
    return list(dict.fromkeys(whole_words(line, _LINE) for line in lines))


def _object(text: str) -> dict[str, Any]:
    try:
        data = json.loads(text)
    except ValueError as error:
        raise BadBid(f"{text[:80]!r} is no JSON: {error}") from error
    if not isinstance(data, dict):
        raise BadBid(f"{text[:80]!r} is no JSON object")
    return data
