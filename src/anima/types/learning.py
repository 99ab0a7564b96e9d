"""Twins of `anima_msgs`: what is learned from people, and how it reaches behaviour."""

from __future__ import annotations

from typing import ClassVar

from .base import Header, Msg, Time


class Reaction(Msg):
    """How somebody took what the robot did or said last: one observation, never a rule.

    `source`: words, stop, teleop, push, silence. `act` is what it is about, `said` the person's words, if any.
    `kind`: correction, frustration, praise, engagement, disengagement, neutral, unsure; `signal` -1..1 follows it.
    `what` in that act it was about, `hint` how to act in future (empty: too early to tell); `is_explicit`: the
    person said how the robot shall behave. `category`: style, behavior. `situation` is what the robot was doing (a
    scope of lessons), `effect` a closed effect such as ``report_length=short``, or empty. `because` holds ids of
    what it was read off.
    """

    ros: ClassVar[str] = "anima_msgs/msg/Reaction"
    header: Header
    id: str
    encounter: str
    person: str
    source: str
    act: str
    said: str
    kind: str
    signal: float
    confidence: float
    what: str
    hint: str
    is_explicit: bool
    category: str
    situation: str
    effect: str
    because: list[str]


class Guidance(Msg):
    """What earlier encounters taught about dealing with the person of this one.

    `text` and `portrait` stand in prompts and are the same bytes from an encounter's beginning to its end. The other
    fields drive mechanisms, empty where nothing was learned: `report_length` short or full, `speed_near_people` slow or
    normal, `search_order` surfaces to look at first, `address` what the person wants to be called.
    `because` holds the ids of the lessons, beliefs and intentions in it.
    """

    ros: ClassVar[str] = "anima_msgs/msg/Guidance"
    header: Header
    encounter: str
    person: str
    text: str
    portrait: str
    report_length: str
    speed_near_people: str
    search_order: list[str]
    address: str
    because: list[str]


class Reminder(Msg):
    """An intention has come up, because its person or its time came: `text` is what to say of it to `person`."""

    ros: ClassVar[str] = "anima_msgs/msg/Reminder"
    header: Header
    id: str
    person: str
    text: str
    why: str


class EncounterEnd(Msg):
    """Somebody says that the encounter is over: of `person`, or of everybody when that is empty."""

    ros: ClassVar[str] = "anima_msgs/msg/EncounterEnd"
    header: Header
    person: str
    why: str


class LearningTurn(Msg):
    """One background turn of the learner, for the record: asked when, ended when (ROS time), and how.

    `ended`: done, unsure, failed, put_off (it gave way to the planner and is asked again).
    """

    ros: ClassVar[str] = "anima_msgs/msg/LearningTurn"
    header: Header
    role: str
    about: str
    asked: Time
    ended: str
    text: str
    seconds: float
