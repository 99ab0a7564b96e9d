"""What Gazebo's physics (ODE) needs besides the scene and the robot: `simulation.gazebo` of a robot's configuration."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field


class Touch(BaseModel):
    """How a surface touches. Of two that meet, the smaller friction counts; stiffness (N/m) and damping add up."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    friction: float = Field(ge=0.0)
    stiffness: float = Field(gt=0.0)
    damping: float = Field(ge=0.0)
    fastest_mps: float = Field(default=0.05, ge=0.0)
    """How fast two bodies that are in each other are pushed apart at most."""
    depth_m: float = Field(default=0.0, ge=0.0)
    """How far bodies may be in each other without being pushed apart."""


class GazeboTuning(BaseModel):
    """Steps, solver, surfaces."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    timestep_s: float = Field(default=0.001, gt=0.0)
    solver: Literal["quick", "world"] = "world"
    iterations: int = Field(default=60, ge=1)
    relaxation: float = Field(default=1.3, gt=0.0)
    friction_cone: bool = False
    softness: float = Field(default=0.0, ge=0.0)
    correction: float = Field(default=0.2, gt=0.0)
    rotor_inertia_kgm2: float = Field(default=2e-4, ge=0.0)
    servo_gain_1ps: float = Field(default=40.0, gt=0.0)
    ground: Touch = Touch(friction=1.0, stiffness=1e6, damping=100.0)
    thing: Touch = Touch(friction=3.0, stiffness=1e5, damping=10.0, fastest_mps=0.02, depth_m=0.0003)
    pad: Touch = Touch(friction=3.0, stiffness=1e5, damping=10.0, fastest_mps=0.02, depth_m=0.0003)
    pads: tuple[str, ...] = ("fixed_pad", "moving_pad")

    def touch(self, name: str, geom: ET.Element) -> Touch:
        """How the shape called `name` touches; `geom` is its MJCF, which says its friction."""
        if name in self.pads:
            return self.pad
        if "mass" in geom.attrib and geom.attrib["mass"] != "0":
            return self.thing
        sliding = float(geom.get("friction", "1").split()[0])
        return self.ground.model_copy(update={"friction": sliding})
