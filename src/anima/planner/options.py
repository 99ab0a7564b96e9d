"""What can be done about an objective now: the calls that are possible, the blocked ones, and the way to the goal."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from anima.failure import Failure
from anima.planner.bias import NO_BIAS, Bias
from anima.planner.calls import CallError, parse_call
from anima.planner.names import KnownNames
from anima.skills.registry import SKILLS, InvalidArguments
from anima.types.mind import WorldState
from anima.world.affordances import Unmet
from anima.world.predicates import PERSON, ROBOT, Predicate, is_seen

MANY_FAILURES = 5  # of any calls for one objective
MAX_CHAIN = 6
WAIT_CALL, CHARGE_CALL = "wait(5)", "wait(60)"
_WHY_GIVE_UP = {  # what must have failed before the model may give up for that reason
    "not_found": (Failure.PERCEPTION_MISS,),
    "cannot_grasp": (Failure.GRASP_FAILED, Failure.SLIP),
    "way_blocked": (Failure.PATH_BLOCKED, Failure.STALLED, Failure.TIMEOUT),
    "body_faulty": (Failure.HARDWARE_FAULT,),
}
# After these the object may not be where, or as, it was thought to be.
_IN_DOUBT = (Failure.PERCEPTION_MISS, Failure.GRASP_FAILED, Failure.SLIP, Failure.UNKNOWN)


@dataclass(frozen=True)
class Step:
    """A call that has ended: its short form, how (0 for success), what was said of it, and the thought behind it."""

    call: str
    failure: Failure
    detail: str = ""
    thought: str = ""

    @property
    def ended(self) -> str:
        """``ok`` or the failure's word."""
        return "ok" if self.failure is Failure.NONE else self.failure.word


@dataclass(frozen=True)
class Blocked:
    """A relevant call whose preconditions don't hold."""

    call: str
    reason: str
    mend: str


@dataclass(frozen=True)
class Options:
    """`way` leads from the call that fulfils the condition back to the one that can be done now.

    `hopeless` says why that one can't be done, where nothing mends it; else it is empty.
    """

    possible: tuple[str, ...]
    blocked: tuple[Blocked, ...]
    way: tuple[str, ...]
    exhausted: tuple[str, ...]
    give_up: tuple[str, ...]
    bias: Bias = NO_BIAS
    hopeless: str = ""

    def note(self, call: str, history: Sequence[Step]) -> str:
        """What speaks for or against a possible call, in a few words, or empty."""
        if call.startswith("give_up(") and self.exhausted:
            return f"{self.exhausted[0]} failed {_failed_in_a_row(self.exhausted[0], history)}x"
        failed = _failed_in_a_row(call, history)
        notes = ["next on the way"] if call == self.way[-1] and call not in self.bias.avoid else []
        notes += [self.bias.prefer[call]] if call in self.bias.prefer else []
        notes += [self.bias.avoid[call]] if call in self.bias.avoid else []
        notes += [f"failed {failed}x"] if failed else []
        return ", ".join(notes)

    def thought(self, call: str, history: Sequence[Step]) -> str:
        """Why the call may have been chosen, in one word: recalled, again, next (on the way), or else."""
        if call in self.bias.prefer:
            return "recalled"
        if _failed_in_a_row(call, history):
            return "again"
        return "next" if call == self.way[-1] else "else"

    @property
    def calls(self) -> tuple[str, ...]:
        """Everything that may be decoded."""
        return (*self.possible, *(f"give_up({reason})" for reason in self.give_up))


def options(
    condition: Predicate, state: WorldState, names: KnownNames, history: Sequence[Step], bias: Bias = NO_BIAS
) -> Options:
    """The choices for the next step towards `condition`, `history` being the steps for it so far. Pure."""
    tried = {step.call for step in history}
    exhausted = {call for call in tried if _failed_in_a_row(call, history) >= bias.tries}
    way = _way(condition, state, names, history)
    remembered = [call for call in bias.prefer if _can_serve(call, condition, way, state, names, history)]
    bias = replace(bias, prefer={call: bias.prefer[call] for call in remembered})
    calls = dict.fromkeys((*way, *_relevant(condition, state, names, history, bias), *remembered))
    possible, blocked = [], []
    for call in calls:
        unmet = _unmet(call, condition, state, names, history)
        if call in bias.barred:
            blocked.append(Blocked(call, bias.barred[call], ""))
        elif unmet:
            mend = next((u.repair for u in unmet if u.repair), "")
            blocked.append(Blocked(call, unmet[0].reason, _concrete(mend, state, names)))
        elif call not in exhausted:
            possible.append(call)
    # What is read first is taken most easily: what worked before, then the next step of the way; last what failed.
    possible.sort(key=lambda call: (call in bias.avoid, call not in bias.prefer, call != way[-1]))
    hopeless = next((b.reason for b in blocked if b.call == way[-1] and not b.mend and b.call not in bias.barred), "")
    give_up = ("not_possible",) if hopeless else _give_up(way, possible, history)
    better = next((call for call in possible if call in bias.prefer and call not in bias.avoid), "")
    if better:  # a small model takes what it took before if it may; what worked has its turn first
        blocked += [Blocked(call, bias.avoid[call], better) for call in possible if call in bias.avoid]
        possible = [call for call in possible if call not in bias.avoid]
    return Options(tuple(possible), tuple(blocked), way, tuple(sorted(exhausted)), give_up, bias, hopeless)


def _can_serve(
    call: str,
    condition: Predicate,
    way: Sequence[str],
    state: WorldState,
    names: KnownNames,
    history: Sequence[Step],
) -> bool:
    """Whether a remembered call is of use now: possible, about the same things, and not just done."""
    try:
        if call not in way and _unmet(call, condition, state, names, history):
            return False
    except (CallError, InvalidArguments):
        return False
    about = [arg for arg in condition.args if arg in names.objects or arg in names.places]
    since = 1 + max((i for i, step in enumerate(history) if step.failure is not Failure.NONE), default=-1)
    done = any(step.call == call for step in history[since:])
    return not done and (call in way or call == WAIT_CALL or any(arg in call for arg in about))


def _give_up(way: Sequence[str], possible: Sequence[str], history: Sequence[Step]) -> tuple[str, ...]:
    """The reasons for which the objective may be given up now.

    Persistence is no matter of the model's mood: while the next step of the way can be done and has not used up its
    tries, there is no reason, and none can be decoded. Many failures of any kind are one.
    """
    failures = [step.failure for step in history if step.failure is not Failure.NONE]
    if way[-1] in possible and len(failures) < MANY_FAILURES:
        return ()
    reasons = tuple(reason for reason, kinds in _WHY_GIVE_UP.items() if set(failures) & set(kinds))
    return reasons or ("not_possible",)


def _failed_in_a_row(call: str, history: Sequence[Step]) -> int:
    count = 0
    for step in reversed(history):
        if step.call == call:
            if step.failure is Failure.NONE:
                break
            count += 1
    return count


def _goal_call(condition: Predicate, state: WorldState, names: KnownNames) -> str:
    """The call whose success makes the condition true."""
    match condition.name, condition.args:
        case "at", (thing, place) if thing == ROBOT:
            return f"go_to({place})"
        case "at", (thing, place):
            return f"hand_over({thing})" if place == PERSON else f"place({thing}, {place})"
        case "holding", (thing,):
            return f"pick({thing})"
        case "seen", (thing,):
            return f"look_for({thing})"
        case "told", (thing,):
            return f"say({thing})"
        case "docked", ():
            return "dock()"
        case "charged", _:
            return CHARGE_CALL
        case "hand_empty", () if state.holding:
            return f"place({state.holding}, {_put_down(state, names)})"
    return WAIT_CALL


def _way(
    condition: Predicate, state: WorldState, names: KnownNames, history: Sequence[Step]
) -> tuple[str, ...]:
    """Backward from the goal: each call is what mends the first unmet precondition of the one before."""
    way = [_goal_call(condition, state, names)]
    while len(way) < MAX_CHAIN:
        unmet = _unmet(way[-1], condition, state, names, history)
        mends = [_concrete(u.repair, state, names) for u in unmet if "(" in u.repair]
        mends = [m for m in mends if m not in way]
        if not mends:
            break
        way.append(mends[0])
    return tuple(way)


def _unmet(
    call: str, condition: Predicate, state: WorldState, names: KnownNames, history: Sequence[Step]
) -> Sequence[Unmet]:
    skill, arguments = parse_call(call, names)
    unmet = list(SKILLS[skill].unmet(SKILLS[skill].parse(arguments), state))
    if skill == "say" and condition.name == "told":
        (thing,) = condition.args
        looked = any(step.call == f"look_for({thing})" for step in history)
        if not is_seen(state, thing) and state.holding != thing and not looked:
            unmet.append(Unmet(f"nobody has looked for {thing} yet", f"look_for({thing})"))
    if call == CHARGE_CALL and not state.docked:
        unmet.append(Unmet("the battery only charges on the dock", "dock()"))
    return unmet


def _concrete(repair: str, state: WorldState, names: KnownNames) -> str:
    """A repair whose open slot is filled: a hand is emptied where the robot stands, or at the first surface."""
    return repair.replace("…", _put_down(state, names))


def _put_down(state: WorldState, names: KnownNames) -> str:
    free = [s for s in names.surfaces if s not in names.holders]
    if state.place in free:
        return state.place
    near = [s for s in free if names.surface_rooms.get(s) == state.room]
    return (near or free or list(names.surfaces))[0]


def _relevant(
    condition: Predicate, state: WorldState, names: KnownNames, history: Sequence[Step], bias: Bias
) -> list[str]:
    """Other calls that can serve the condition at this moment, whether or not their preconditions hold."""
    things = [arg for arg in condition.args if arg in names.objects]
    calls = []
    for thing in things:
        failed = any(step.failure in _IN_DOUBT and thing in step.call for step in history)
        failed = failed or any(thing in call for call in bias.barred)  # another tactic needs something to begin with
        if state.holding == thing:
            continue
        if condition.name != "told" and (failed or not is_seen(state, thing)):
            calls.append(f"look_for({thing})")
        if condition.name in ("at", "holding"):
            calls += [f"approach({thing})", f"pick({thing})"] if failed else [f"pick({thing})"]
    if state.holding and things and state.holding not in things:
        calls.append(f"place({state.holding}, {_put_down(state, names)})")
    last = history[-1].failure if history else Failure.NONE
    waiting_helps = (Failure.PATH_BLOCKED, Failure.INTERRUPTED, Failure.STALLED, Failure.RESOURCE_DENIED)
    if last in waiting_helps or state.stopped:
        calls.append(WAIT_CALL)
    return calls
