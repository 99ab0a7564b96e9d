"""Twins of `anima_msgs`: the compact signals by which the glue shapes behaviour, and what the planner gets to see."""

from __future__ import annotations

from typing import ClassVar

from .base import Float64s, Header, Msg, Time


class Event(Msg):
    """Something that happened, routed by the thalamus: de-duplicated, habituated, rate-limited per source.

    `kind` is a word such as utterance, failure, reflex, battery, object_seen, object_lost, process_silent, teleop;
    `subject` what it is about (object, place, process); `text` one short fact; `repeats` how often it came
    since it was last passed on; `because` holds ids of what it was made from.
    """

    ros: ClassVar[str] = "anima_msgs/msg/Event"
    header: Header
    id: str
    source: str
    kind: str
    subject: str
    text: str
    repeats: int
    because: list[str]


class Salient(Msg):
    """How much an event matters now. `urgency` 0..1 with its reason; `interrupts`: none, deliberation, execution."""

    ros: ClassVar[str] = "anima_msgs/msg/Salient"
    header: Header
    event: Event
    urgency: float
    why: str
    interrupts: str


class Resources(Msg):
    """What the body can afford. `charge_drive` 0..1; `must_dock` is survival: nothing but docking may begin.

    `think_budget_s` bounds a planner turn, `may_simulate` and `may_explore` gate prospection and curiosity.
    `range_m` is how far the battery still takes the robot with enough left to come back to the dock.
    `share_per_m`, `share_per_s`: what a metre and a second cost, as learned; `reserve`: what is not to be spent. Shares
    are of a full battery; 0 where nobody knows.
    """

    ros: ClassVar[str] = "anima_msgs/msg/Resources"
    header: Header
    battery: float
    temperature: float
    wear: float
    charge_drive: float
    must_dock: bool
    think_budget_s: float
    may_simulate: bool
    may_explore: bool
    range_m: float
    why: str
    share_per_m: float = 0.0
    share_per_s: float = 0.0
    reserve: float = 0.0


class Conflict(Msg):
    """Effort that does not turn into progress. `kind`: no_progress, oscillation, repeated_failure.

    `advice`: change_tactic, escalate, ask. `avoid` holds the calls (as `render` writes them) that must not be tried
    again for this objective.
    """

    ros: ClassVar[str] = "anima_msgs/msg/Conflict"
    header: Header
    id: str
    kind: str
    objective: str
    advice: str
    avoid: list[str]
    why: str
    because: list[str]


class Condition(Msg):
    """How the robot is. `label`: STABLE, STRAINED, WORN, DEGRADED; `mode`: FOCUSED, CAUTIOUS, RECOVERY, RUMINATING,
    IDLE_SOCIAL. `strain` 0..1; `retry_scale` and `persistence_scale` multiply the gate's budgets (0..1]."""

    ros: ClassVar[str] = "anima_msgs/msg/Condition"
    header: Header
    label: str
    mode: str
    strain: float
    retry_scale: float
    persistence_scale: float
    why: str


class Episode(Msg):
    """What was lived: situation, action, outcome, and what mended it if anything did.

    `situation` is the canonical text that episodes are compared by; `call` and `fix` as `render` writes them.
    The same call that ends in the same way in the same situation is one episode, lived `count` times, last `at`.
    `origin`: lived, or recalled once it came to mind; what is recalled is no new evidence and is never kept again.
    """

    ros: ClassVar[str] = "anima_msgs/msg/Episode"
    id: str
    at: Time
    situation: str
    objective: str
    call: str
    success: bool
    failure: int
    detail: str
    fix: str
    count: int
    origin: str


class Recall(Msg):
    """Episodes that came to mind by themselves because the situation resembles theirs, best first, ≤ 3.

    `similarity` goes with `episodes`. `avoid` are calls that failed in such a situation, `prefer` calls that worked
    or mended it; both bias the choice, neither forbids.
    """

    ros: ClassVar[str] = "anima_msgs/msg/Recall"
    header: Header
    objective: str
    episodes: list[Episode]
    similarity: Float64s
    avoid: list[str]
    prefer: list[str]


class GoalTension(Msg):
    """The pressure of what is unfinished. `tension` and `arousal` 0..1.

    `wants`: nothing, resume or explore; `objective` is the parked objective to resume, `condition` the condition of
    an exploration to begin (`seen_surface` is not a word of the vocabulary: it is `at(robot, place)`).
    """

    ros: ClassVar[str] = "anima_msgs/msg/GoalTension"
    header: Header
    tension: float
    arousal: float
    wants: str
    objective: str
    condition: str
    why: str


class Forecast(Msg):
    """What short rollouts say of a call: mean over them. `advice`: go, refuse, or rather (then `rather` is the call).

    `call` and `rather` as `render` writes them, `id` the call's id; without `rollouts` there was no doubt.
    `success` 0..1, `cost_s` seconds, `energy` share of the battery, `hazard` 0..1.
    """

    ros: ClassVar[str] = "anima_msgs/msg/Forecast"
    header: Header
    call: str
    rollouts: int
    success: float
    cost_s: float
    energy: float
    hazard: float
    advice: str
    rather: str
    why: str
    id: str = ""


class Temperament(Msg):
    """Slow dispositions, each 0..1 with 0.5 as neutral, and the one word that people and prompts see."""

    ros: ClassVar[str] = "anima_msgs/msg/Temperament"
    header: Header
    initiative: float
    persistence: float
    caution: float
    word: str


class ContextSection(Msg):
    """One section of the context packet: its text as the model sees it, what it costs and may cost, what was cut."""

    ros: ClassVar[str] = "anima_msgs/msg/ContextSection"
    name: str
    text: str
    tokens: int
    budget: int
    cut: list[str]


class ContextPacket(Msg):
    """All that a turn of the planner gets to see, in the order in which the model reads it.

    `thought` is the id of the turn; `prefix_tokens` counts the part in front of it, the same bytes in every turn.
    """

    ros: ClassVar[str] = "anima_msgs/msg/ContextPacket"
    header: Header
    thought: str
    prefix_tokens: int
    tokens: int
    sections: list[ContextSection]
