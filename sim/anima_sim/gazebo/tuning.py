"""What Gazebo's physics (ODE) needs besides the scene and the robot: `simulation.gazebo` of a robot's configuration."""

from __future__ import annotations

import xml.etree.ElementTree as ET

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
    """Steps, solver, surfaces.

    ODE's quick solver: its exact one is smoother on the road, and breaks down when a hand closes on a thing. More
    `iterations` make joints and grasps stiffer and everything slower. `rotor_inertia_kgm2` is what the geared motors
    add to each arm link: less of it, and links as light as a finger shake. `servo_gain_1ps` up: the arm follows its
    set points more closely.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    timestep_s: float = Field(default=0.001, gt=0.0)
    iterations: int = Field(default=60, ge=1)
    rotor_inertia_kgm2: float = Field(default=2e-4, ge=0.0)
    servo_gain_1ps: float = Field(default=40.0, gt=0.0)
    ground: Touch = Touch(friction=1.0, stiffness=2e5, damping=1000.0)
    thing: Touch = Touch(friction=3.0, stiffness=3e4, damping=100.0, fastest_mps=0.1, depth_m=0.0001)
    pad: Touch = Touch(friction=3.0, stiffness=3e4, damping=100.0, fastest_mps=0.1, depth_m=0.0001)
    pads: tuple[str, ...] = ("fixed_pad", "moving_pad")

    def touch(self, name: str, geom: ET.Element) -> Touch:
        """How the shape called `name` touches; `geom` is its MJCF, which says its friction."""
        if name in self.pads:
            return self.pad
        if "mass" in geom.attrib and geom.attrib["mass"] != "0":
            return self.thing
        sliding = float(geom.get("friction", "1").split()[0])
        return self.ground.model_copy(update={"friction": sliding})
