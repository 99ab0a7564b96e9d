"""Twins of `anima_msgs`: what the robot has learned of its own costs and risks, told so that it can be kept."""

from __future__ import annotations

from typing import ClassVar

from .base import Float64s, Header, Msg


class BodyCosts(Msg):
    """What the body was found to use up, told when it has changed.

    `share_per_s` is what a second of standing takes, `share_per_m` what a metre takes beside its time, in shares of a
    full battery; `cruise_mps` how fast it gets about. `joules`, `metres` and `failed_grasps` count its life.
    """

    ros: ClassVar[str] = "anima_msgs/msg/BodyCosts"
    header: Header
    share_per_s: float
    share_per_m: float
    cruise_mps: float
    joules: float
    metres: float
    failed_grasps: int


class Risks(Msg):
    """What was learned from how calls ended, told when something was learned.

    `tries` and `failures` go with `kinds` (``grasp:red_cube``, ``way:kitchen-office``, ``slip``, a skill), the older
    the less they count; `lasting_s` goes with `skills`. `been`: places where it has stood, the newest last.
    """

    ros: ClassVar[str] = "anima_msgs/msg/Risks"
    header: Header
    kinds: list[str]
    tries: Float64s
    failures: Float64s
    speed_mps: float
    skills: list[str]
    lasting_s: Float64s
    been: list[str]
