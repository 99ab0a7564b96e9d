"""The numbers of driving by hand."""

from __future__ import annotations

from pydantic import Field, model_validator

from anima.config import CONFIG, Tuning, parse, read_yaml


class BaseTeleop(Tuning):
    """Sticks and buttons of the base. Speeds up: faster at full deflection, never past the robot's own limits."""

    hold_button: int = Field(ge=0, le=63)
    fast_button: int = Field(ge=0, le=63)
    drive_axis: int = Field(ge=0, le=63)
    turn_axis: int = Field(ge=0, le=63)
    drive_mps: float = Field(gt=0, le=2)
    turn_radps: float = Field(gt=0, le=4)
    fast_drive_mps: float = Field(gt=0, le=2)
    fast_turn_radps: float = Field(gt=0, le=4)


class JointTeleop(Tuning):
    """The axis that moves a joint, and how fast at full deflection."""

    axis: int = Field(ge=0, le=63)
    radps: float = Field(ge=-3, le=3)


class ArmTeleop(Tuning):
    """Sticks and buttons of the arm. `lead_s` up: targets run farther ahead of the joints, so it stops later."""

    hold_button: int = Field(ge=0, le=63)
    lead_s: float = Field(gt=0, le=1)
    joints: dict[str, JointTeleop]


class KeyboardTeleop(Tuning):
    """Keys instead of sticks. A terminal tells of no release, only of repeats: a key counts as held for a while.

    `hold_s` up: the robot goes on for longer after the key is let go; below the keyboard's own delay of repetition it
    stutters. `speed_step` is by how much of the speed q, w and e make it faster, and z, x and c slower.
    """

    hold_s: float = Field(gt=0.1, le=2)
    speed_step: float = Field(gt=0, le=0.5)


class TeleopTuning(Tuning):
    """Everything in `config/teleop.yaml`.

    `timeout_s` up: a pad that falls silent is obeyed for longer. `dead_zone` up: sticks must be moved farther to count.
    """

    timeout_s: float = Field(gt=0, le=1)
    dead_zone: float = Field(ge=0, lt=0.9)
    base: BaseTeleop
    arm: ArmTeleop
    keyboard: KeyboardTeleop

    @model_validator(mode="after")
    def _holds_differ(self) -> TeleopTuning:
        if self.base.hold_button == self.arm.hold_button:
            raise ValueError("base.hold_button and arm.hold_button must differ: the same sticks move both")
        return self


def load_teleop() -> TeleopTuning:
    """The tuning; raises `ConfigError` that names the file, the key and what is allowed."""
    source = CONFIG / "teleop.yaml"
    tuning: TeleopTuning = parse(TeleopTuning, read_yaml(source), str(source))
    return tuning
