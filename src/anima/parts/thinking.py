"""The trains of thought: an event lived through its parts, a prediction that is due, parts that divide, join or end."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from anima import topics as t
from anima.parts import writing
from anima.parts.asking import Train, judge, write
from anima.parts.bidding import BadBid, Ballot, ballot, bid_request, query_request, read_bid, read_queries
from anima.parts.choosing import (
    Choice,
    NotClosed,
    Voiced,
    choose_request,
    closed,
    open_line,
    read_choice,
)
from anima.parts.context import REFUSED, Context
from anima.parts.happening import Happening
from anima.parts.library import Activated, Due, KeptPart
from anima.parts.schema import Suggestion, timestamp
from anima.parts.vocabulary import CAME_TRUE, DID_NOT, HERE, NOISY, OPEN, WITHIN, record_of
from anima.types.base import Header
from anima.types.parts import PartBid, PartBids

VERDICTS = {"true": CAME_TRUE, "false": DID_NOT}


# --- an event ------------------------------------------------------------------------------------


def live(context: Context, event: Happening) -> Train[None]:
    """One event through the whole mind: who wakes, what each wants, what the Self follows, what becomes of it."""
    tuning = context.tuning
    if context.isolated and event.origin == "person":
        planted = yield from judge("planted", text=event.text)
        if planted.best == "planted" and not planted.error:
            event = Happening(
                event.id, event.at, event.text, "outside", event.urgency, event.kind, event.where, event.spot
            )
    place = [f"at {event.where}"] if event.where else []
    woken = [a for a in context.library.retrieve([event.text, *place], tuning.voices) if a.score >= tuning.alike]
    active = yield from _reminded(context, event, woken)
    voiced: list[Voiced] = []
    ballots: list[Ballot] = []
    for activated in active:
        kept = activated.kept
        concerns = yield from judge("concerns", part=_brief(kept), event=event.text)
        if concerns.label == "other":
            continue
        offered = ballot(kept.part, event, context.names, context.places)
        text = yield from write(bid_request(kept.part, event, offered, tuning))
        draft = _read(context, text, lambda text: read_bid(text, kept.part, offered))  # noqa: B023
        if draft is not None:
            context.bids += 1
            voiced.append(Voiced(kept.part, draft, f"bid-{context.bids}", kept.version))
            ballots.append(offered)
    bidders = [a.kept for a in active if any(v.part is a.kept.part for v in voiced)]
    if voiced:
        choice = yield from _arbitrate(context, event, voiced, ballots)
        _act(context, event, bidders, voiced, choice)
    if event.may_change_parts:
        ended = yield from _conclude(context, event, [a.kept for a in active])
        if not ended:
            yield from _grow(context, event, woken)


def _reminded(context: Context, event: Happening, woken: Sequence[Activated]) -> Train[list[Activated]]:
    """Those whom the event's own words woke, then those whom it wakes in the model's words, as far as there is room.

    The model is asked only when somebody is left to be found. Its words find parts, and that is all: whether something
    deserves a part of its own is decided by the event's words.
    """
    room = context.tuning.voices - len(woken)
    if room <= 0 or len(context.library) <= len(woken):
        return list(woken)
    queries = _read(context, (yield from write(query_request(event, context.tuning))), read_queries)
    known = {one.kept.id for one in woken}
    found = context.library.retrieve(queries, context.tuning.voices + len(woken)) if queries else []
    more = [a for a in found if a.kept.id not in known and a.score >= context.tuning.alike]
    return [*woken, *more[:room]]


def _brief(kept: KeptPart) -> str:
    part = kept.part
    return f"{part.name}. {part.description} I wake at: {'; '.join(part.triggers[:4])}"


def _arbitrate(
    context: Context, event: Happening, voiced: Sequence[Voiced], ballots: Sequence[Ballot]
) -> Train[Choice]:
    nothing = Choice((False,) * len(voiced), ("the Self could not decide",) * len(voiced), -1)
    try:
        if context.isolated:
            names = [*context.names.places, *context.names.objects, *(a.name for a in context.places.coverings), HERE]
            known = [*names, *(focus for offered in ballots for focus in offered.focuses)]
            lines = [closed(one, event, known, WITHIN).line for one in voiced]
        else:
            lines = [open_line(one) for one in voiced]
    except NotClosed as error:
        context.tally.refused = [*context.tally.refused, f"isolated Self: {error}"][-20:]
        return nothing
    shown = None if context.isolated else event
    leaning = []
    for line, one in zip(lines, voiced, strict=True):
        said = line if context.isolated else f"{one.part.name}: {one.draft.want}"
        happened = "(not shown)" if context.isolated else event.text
        judged = yield from judge("follow", self=context.profile.text, event=happened, bid=said)
        leaning.append(judged.label)
    text = yield from write(choose_request(context.profile, shown, lines, context.tuning, leaning))
    return _read(context, text, lambda text: read_choice(text, len(voiced))) or nothing


def _act(
    context: Context, event: Happening, bidders: Sequence[KeptPart], voiced: Sequence[Voiced], choice: Choice
) -> None:
    """Tell what was bid and chosen, take up the stances, and note each suggestion with its prediction."""
    told, leaned = [], False
    for kept, one, followed, reason in zip(bidders, voiced, choice.followed, choice.reasons, strict=True):
        draft = one.draft
        target = one.draft.words if draft.leaning.kind == "speak" else draft.leaning.target
        told.append(
            PartBid(
                id=one.id, part=kept.id, version=kept.version, name=kept.part.name, focus=draft.focus,
                recommendation=draft.want, stance=draft.leaning.kind, target=target, prediction=draft.prediction,
                confidence=draft.confidence, within_s=draft.within_s, followed=followed, reason=reason,
            )
        )
        if followed and event.may_change_parts:
            leaned = context.leanings.follow(context.now, one, kept.id, event, f"{draft.want} ({reason})") or leaned
        if event.may_change_parts:
            _note(context, event, kept, one, followed)
    first = voiced[choice.first].id if choice.first >= 0 and event.may_change_parts else ""
    if not event.may_change_parts:  # it can be spoken of among the parts; nothing is done about it
        told = [bid.model_copy(update={"followed": False, "reason": "it was only read somewhere"}) for bid in told]
    context.sent.append(
        t.BIDS.of(
            PartBids(
                header=Header.at(context.now), event=event.id, about=event.line, origin=event.origin,
                self_name=context.profile.name, mode="isolated" if context.isolated else "standard", bids=told,
                focus=first,
            )
        )
    )
    if leaned:
        context.sent.append(t.STANCES.of(context.leanings.message(context.now)))
    _echo(context, event, bidders, voiced)


def _note(context: Context, event: Happening, kept: KeptPart, one: Voiced, followed: bool) -> None:
    draft = one.draft
    lean = "" if draft.leaning.kind == "none" else f" [{draft.leaning}]"
    if any(not e.result and e.predicted_result == draft.prediction for e in kept.part.suggestions_and_results):
        return  # it says so already, and that is not due yet
    suggestion = Suggestion(
        predicted_result=draft.prediction, predicted_result_confidence=draft.confidence,
        predicted_result_timeframe_in_seconds=f"{draft.within_s:.0f}",
        your_suggestion=f"{draft.want}{lean}{'' if followed else ' (not followed)'}",
        timestamp=timestamp(context.utc_s), result="",
    )
    patch = writing.predict_patch(kept.part, suggestion)
    if patch:
        cause = context.cause(f"it bid about {event.text[:80]!r}", event.id)
        context.change(lambda: context.library.patch(kept.id, patch, cause), "predicted", event.id)


def _echo(context: Context, event: Happening, bidders: Sequence[KeptPart], voiced: Sequence[Voiced]) -> None:
    """Remember who spoke alike about the same event: whether they are one voice is looked at when it is quiet."""
    for i, one in enumerate(voiced):
        for j in range(i + 1, len(voiced)):
            other = voiced[j]
            apart = len({one.draft.leaning.kind, other.draft.leaning.kind} - {"none"}) > 1
            if not (apart or one.part.core_part or other.part.core_part):
                pair = (bidders[i].id, bidders[j].id)
                context.echoes[min(pair), max(pair)] = (one.draft.want, other.draft.want, event.id)


def _conclude(context: Context, event: Happening, active: Sequence[KeptPart]) -> Train[bool]:
    """Put away what has come to its end; whether anything has. What ends a part is no reason for another."""
    ended = False
    for kept in active:
        if kept.part.core_part or not kept.part.conclude_when:
            continue
        verdict = yield from judge("concluded", conclude_when=kept.part.conclude_when, events=event.text)
        if verdict.label == "concluded":
            cause = context.cause(f"it has concluded: {kept.part.conclude_when}", event.id)
            context.change(lambda: context.library.archive(kept.id, cause), "archived", event.id)  # noqa: B023
            ended = True
            if context.leanings.drop(kept.id):
                context.sent.append(t.STANCES.of(context.leanings.message(context.now)))
    return ended


def _grow(context: Context, event: Happening, active: Sequence[Activated]) -> Train[None]:
    """Give what the Self felt a viewpoint of its own, or have the one that it has take it in."""
    worth = yield from judge("worth_a_part", self=context.profile.text, event=event.text)
    if worth.label != "part":
        return
    covering = [a for a in active if a.score >= context.tuning.covers and not a.kept.part.core_part]
    if covering and event.origin == "person":
        kept = context.library.get(covering[0].kept.id)
        if not kept.archived:
            yield from _revise(context, event, kept)
        return
    if covering:
        return
    profile = context.profile
    text = yield from write(writing.create_request(profile.text, profile.affects, event, context.tuning))
    born = _read(context, text, lambda text: writing.read_part(text, event, timestamp(context.utc_s)))
    if born is not None:
        part, felt = born
        cause = context.cause(f"{profile.name} felt it: {felt}", event.id, who=f"self:{profile.name}")
        context.change(lambda: context.library.create(part, cause), "created", event.id)


def _revise(context: Context, event: Happening, kept: KeptPart) -> Train[None]:
    text = yield from write(writing.rewrite_request(kept.part, [f"happened: {event.line}"], "new", context.tuning))
    new = _read(context, text, writing.read_rewriting)
    if new is not None:
        patch = writing.rewrite_patch(kept.part, new, "new")
        cause = context.cause(f"reality refined it: {event.text[:80]!r}", event.id)
        context.change(lambda: context.library.patch(kept.id, patch, cause), "updated", event.id)


# --- a prediction that is due --------------------------------------------------------------------


def evaluate(context: Context, due: Due) -> Train[None]:
    """Hold a prediction against what was sensed since, note the result, and have the part put itself anew."""
    kept, said = due.kept, due.suggestion
    made_at = context.clock.reading(due.due_utc_s - float(said.predicted_result_timeframe_in_seconds))
    about = f"{said.predicted_result} {said.your_suggestion} {kept.part.name}"
    sensed = context.diary.since(made_at, about, context.tuning.sensed_shown)
    verdict = OPEN
    if sensed:
        seen = "; ".join(line for line, _ in sensed)
        judged = yield from judge("prediction", prediction=said.predicted_result, sensed=seen)
        verdict = VERDICTS.get(judged.label, OPEN)
    because = (f"due:{kept.id}/{due.entry}", *(id for _, id in sensed[-3:]))
    if verdict == OPEN:
        new = writing.Rewriting("nothing that I sensed tells", kept.part.description, kept.part.intensity, -1, "")
    else:
        lived = [
            f'I predicted: "{said.predicted_result}" ({said.predicted_result_confidence})',
            "meanwhile: " + "; ".join(f'"{line}"' for line, _ in sensed),
        ]
        text = yield from write(writing.rewrite_request(kept.part, lived, verdict, context.tuning))
        read = _read(context, text, writing.read_rewriting)
        if read is None:
            return
        new = read
    patch = writing.rewrite_patch(kept.part, new, verdict, due.entry)
    if verdict != OPEN and not kept.part.needs_evaluation and _is_noisy(kept, verdict):
        patch.append(writing.noisy_patch(True))
    cause = context.cause(f"{verdict}: {said.predicted_result}", *because)
    context.change(lambda: context.library.patch(kept.id, patch, cause), "evaluated", because[0])


def _is_noisy(kept: KeptPart, verdict: str) -> bool:
    """Whether what it lived before does not go together with how this ended: one surprise alone is no noise."""
    before = [entry.result for entry in kept.part.suggestions_and_results]
    return record_of(before) != "untested" and record_of([*before, verdict]) in NOISY


# --- when it is quiet ----------------------------------------------------------------------------


def look_at(context: Context, id: str, event: str) -> Train[None]:
    """Whether a part that has changed carries two that don't go together; then it divides."""
    kept = context.library.get(id)
    part = kept.part
    if kept.archived or part.core_part or min(len(part.triggers), len(part.wants)) < 2:
        return  # who wants one thing is of one mind about it
    if len(part.triggers) + len(part.wants) < context.tuning.broad:
        return  # what one event gave rise to is one viewpoint; two take more than a few lines
    told = f"{part.name}. {part.description} I wake at: {'; '.join(part.triggers)}. I want: {'; '.join(part.wants)}"
    verdict = yield from judge("split", part=told)
    if verdict.label != "split":
        return
    text = yield from write(writing.split_request(part, context.tuning))
    halves = _read(context, text, lambda text: writing.read_split(text, part))
    if halves is None:
        return
    cause = context.cause("it had become two in one", event)
    try:
        born = context.library.split(id, halves, cause)
    except REFUSED as error:
        context.tally.refused = [*context.tally.refused, f"split: {error}"][-20:]
        return
    context.leanings.drop(id)
    for one in born:
        context.tell(one, "split", event)


def consolidate(context: Context, id: str) -> Train[None]:
    """A part whose results don't fit together says itself anew in view of them all; then it has been looked at."""
    kept = context.library.get(id)
    if kept.archived or not kept.part.needs_evaluation:
        return
    text = yield from write(writing.consolidate_request(kept.part, context.tuning))
    new = _read(context, text, writing.read_rewriting)
    kept = context.library.get(id)
    patch = [writing.noisy_patch(False), *(writing.rewrite_patch(kept.part, new, "new") if new is not None else [])]
    cause = context.cause("its results did not fit together", *kept.because)
    context.change(lambda: context.library.patch(id, patch, cause), "updated", kept.because[0])


def join(context: Context, pair: tuple[str, str], words: tuple[str, str, str]) -> Train[None]:
    """Whether two parts that spoke alike are one voice; then they become one."""
    one, two = (context.library.get(id) for id in pair)
    if one.archived or two.archived:
        return
    said, sure = words[:2], False
    for first, second in (said, said[::-1]):  # whoever is named second sounds more particular: each comes second once
        verdict = yield from judge("same_bid", first=first, second=second)
        if verdict.best != "same":
            return
        sure = sure or verdict.is_sure
    if not sure:
        return
    text = yield from write(writing.merge_request(one.part, two.part, context.tuning))
    part = _read(context, text, lambda text: writing.read_merge(text, one.part, two.part))
    if part is not None:
        cause = context.cause("they said the same in the same moments", words[2])
        context.change(lambda: context.library.merge(pair, part, cause), "merged", words[2])


def _read(context: Context, text: str, reader: Callable[[str], Any]) -> Any:
    """What a reader makes of an answer, or None; what can't be read is counted. No answer is not an unreadable one."""
    if not text:
        return None
    context.tally.written += 1
    try:
        return reader(text)
    except (BadBid, ValueError) as error:
        context.tally.unread += 1
        context.tally.refused = [*context.tally.refused, f"unread: {error}"][-20:]
        return None
