"""How the robot is, in the words of ROS's diagnostics (REP 107)."""

from __future__ import annotations

from typing import ClassVar

from .base import Header, Msg

OK, WARN, ERROR, STALE = 0, 1, 2, 3


class KeyValue(Msg):
    """A figure of a status, as text."""

    ros: ClassVar[str] = "diagnostic_msgs/msg/KeyValue"
    key: str
    value: str


class DiagnosticStatus(Msg):
    """How one part is: `level` is 0 OK, 1 WARN, 2 ERROR, 3 STALE."""

    ros: ClassVar[str] = "diagnostic_msgs/msg/DiagnosticStatus"
    level: int
    name: str
    message: str
    hardware_id: str
    values: list[KeyValue]


class DiagnosticArray(Msg):
    """How all parts are."""

    ros: ClassVar[str] = "diagnostic_msgs/msg/DiagnosticArray"
    header: Header
    status: list[DiagnosticStatus]
