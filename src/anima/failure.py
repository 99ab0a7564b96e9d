"""The one taxonomy of failures, used by skills, validator, gate, episodes and playbooks."""

from __future__ import annotations

from enum import IntEnum


class Failure(IntEnum):
    """Why something did not work. The numbers are part of the interface: never reuse one."""

    NONE = 0
    PARSE_ERROR = 100
    CONSTRAINT_PREVENTED = 110
    PRECONDITION_UNMET = 111
    TOOL_MISMATCH = 112
    RESOURCE_DENIED = 113
    TIMEOUT = 200
    INTERRUPTED = 201
    PERCEPTION_MISS = 300
    GRASP_FAILED = 310
    SLIP = 311
    PATH_BLOCKED = 320
    STALLED = 321
    HARDWARE_FAULT = 400
    UNKNOWN = 999

    @property
    def word(self) -> str:
        """The name that people and prompts see, e.g. ``grasp_failed``."""
        return self.name.lower()
