"""The numbers of navigation, and the limits of the base that they live within."""

from __future__ import annotations

from typing import Any

from pydantic import Field

from anima.config import CONFIG, Settings, Tuning, parse, read_yaml


class NavigationTuning(Tuning):
    """How the robot moves about (`config/navigation.yaml`).

    `turning_clearance_m` is how far from any obstacle the robot's centre stays where it may have to turn: turning it up
    makes the robot refuse narrow gaps, turning it down makes it scrape corners. `tight_clearance_m` is the least, and
    only allowed `tight_zone_m` around start and goal. `comfort_clearance_m` is how far it stays away where it can: more
    makes longer, calmer ways. `cruise_mps` and `turn_radps` are its pace; `brake_mps2` how gently it stops at a goal.
    `lookahead_m` smooths the ride when turned up and hugs the path when turned down. `obstacle_memory_s` is how long
    it believes in an obstacle that it no longer sees; `patience_s` how long it waits for a blocked way to clear.
    `disliked_cost` is by how much each metre over what it learned to dislike counts for more: up makes longer detours.
    """

    turning_clearance_m: float = Field(default=0.28, gt=0.1, lt=1.0)
    tight_clearance_m: float = Field(default=0.20, gt=0.05, lt=1.0)
    comfort_clearance_m: float = Field(default=0.60, gt=0.1, lt=2.0)
    tight_zone_m: float = Field(default=0.45, ge=0.0, lt=2.0)
    cruise_mps: float = Field(default=0.40, gt=0.05, le=2.0)
    turn_radps: float = Field(default=1.0, gt=0.1, le=4.0)
    brake_mps2: float = Field(default=0.4, gt=0.05, le=3.0)
    lookahead_m: float = Field(default=0.30, gt=0.05, le=2.0)
    obstacle_range_m: float = Field(default=3.0, gt=0.5, le=20.0)
    obstacle_memory_s: float = Field(default=20.0, gt=0.5, le=600.0)
    patience_s: float = Field(default=10.0, ge=0.0, le=120.0)
    stall_after_s: float = Field(default=2.0, gt=0.5, le=30.0)
    disliked_cost: float = Field(default=12.0, ge=0.0, le=100.0)


class BaseLimits(Tuning):
    """The `base` block of a robot's file: lengths in metres, speeds and accelerations in SI units."""

    max_linear_mps: float = Field(gt=0)
    max_angular_radps: float = Field(gt=0)


def load_tuning(settings: Settings) -> NavigationTuning:
    """The tuning of `config/navigation.yaml` (defaults where absent), held to what the robot's base can do.

    What a robot's file says under `navigation` counts before it: a smaller robot needs less room.

    Raises `ConfigError` that names the file, the key and the allowed range.
    """
    source = CONFIG / "navigation.yaml"
    data: dict[str, Any] = read_yaml(source) if source.exists() else {}
    robot = read_yaml(settings.robot_file)
    own: dict[str, Any] = robot.get("navigation") or {}
    where = f"{source} and {settings.robot_file}: navigation" if own else str(source)
    tuning: NavigationTuning = parse(NavigationTuning, {**data, **own}, where)
    base = robot.get("base", {})
    kept = {key: base[key] for key in BaseLimits.model_fields if key in base}
    limits: BaseLimits = parse(BaseLimits, kept, f"{settings.robot_file}: base")
    return tuning.model_copy(
        update={
            "cruise_mps": min(tuning.cruise_mps, limits.max_linear_mps),
            "turn_radps": min(tuning.turn_radps, limits.max_angular_radps),
        }
    )
