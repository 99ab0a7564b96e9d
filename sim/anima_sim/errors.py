"""What can go wrong in the simulator, each with what, where and what to do."""

from __future__ import annotations

from anima.config import ConfigError


class SimulationError(Exception):
    """Root of everything that the simulator raises."""


class SceneError(SimulationError, ConfigError):
    """A scene file is missing, unreadable or describes an impossible place."""


class RobotError(SimulationError, ConfigError):
    """The robot's description or its configuration is missing or doesn't fit together."""


class CommandError(SimulationError):
    """A command that the body can't mean: an unknown joint, or a number that isn't finite."""


class SensorLost(SimulationError):
    """A reading was asked of a sensor that gives no data at the moment (an injected fault)."""


class FaultError(SimulationError, ValueError):
    """A fault was asked for that this world can't produce."""
