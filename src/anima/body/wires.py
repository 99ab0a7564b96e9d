"""How a robot's own drivers say what the mind says otherwise: other names, types and units of the same topics."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from anima import topics as t
from anima.body.equipment import Drivers, load_equipment
from anima.config import Settings
from anima.topics import Qos, Topic
from anima.types.base import Header, Msg
from anima.types.std import BatteryState, LaserScan, Twist, TwistStamped


@dataclass(frozen=True)
class Wire:
    """A topic as it is outside: its `name`, `type` and `qos` there.

    `inward(value, now)` makes the mind's value of one that came at `now`; `outward` is the way back.
    """

    name: str
    type: type[Msg]
    qos: Qos
    inward: Callable[[Any, float], Msg] = lambda value, now: value
    outward: Callable[[Any], Msg] = lambda value: value


def plain(topic: Topic[Any]) -> Wire:
    """The topic as it is inside."""
    return Wire(topic.name, topic.type, topic.qos)


def wires(settings: Settings) -> dict[str, Wire]:
    """The topics that are not plain for this robot, by the mind's names. Raises `ConfigError`."""
    drivers = load_equipment(settings).drivers
    if drivers is None:
        return {}
    # Best effort and volatile: it hears whatever a driver chose to send with.
    found = {
        topic.name: Wire(drivers.names.get(topic.name, topic.name), topic.type, Qos.SENSOR)
        for topic in (t.ODOM, t.SCAN, t.IMU, t.JOINT_STATES, t.BATTERY)
    }
    found[t.CMD_VEL.name] = _velocity(drivers)
    if drivers.zero_is_free:
        found[t.SCAN.name] = replace(found[t.SCAN.name], inward=_zero_is_free)
    if drivers.battery_in_percent:
        found[t.BATTERY.name] = replace(found[t.BATTERY.name], inward=_in_percent)
    return found


def _velocity(drivers: Drivers) -> Wire:
    name = drivers.names.get("cmd_vel", t.CMD_VEL.name)
    if drivers.cmd_vel == "TwistStamped":
        return Wire(name, TwistStamped, t.CMD_VEL.qos)
    return Wire(name, Twist, t.CMD_VEL.qos, _stamped, lambda velocity: velocity.twist)


def _stamped(velocity: Twist, now: float) -> TwistStamped:
    return TwistStamped(header=Header.at(now, "base_link"), twist=velocity)


def _zero_is_free(scan: LaserScan, now: float) -> LaserScan:
    ranges = np.where(scan.ranges == 0.0, math.inf, scan.ranges)
    return scan.model_copy(update={"ranges": ranges.astype(np.float32)})


def _in_percent(battery: BatteryState, now: float) -> BatteryState:
    return battery.model_copy(update={"percentage": battery.percentage / 100.0})
