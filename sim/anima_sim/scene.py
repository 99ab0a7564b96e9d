"""The one description of a place, from which the physics world and the robot's map are derived."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Annotated, Literal, Protocol, TypeVar

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from anima_sim.errors import SceneError
from anima_sim.paths import scene_file

Point = tuple[float, float]
Unit = Annotated[float, Field(ge=0.0, le=1.0)]
Positive = Annotated[float, Field(gt=0.0)]
Colour = tuple[Unit, Unit, Unit]
Side = Literal["+x", "-x", "+y", "-y"]
Pose = tuple[float, float, float]
"""x, y in metres and heading in degrees, as people write it. `pose_rad` turns the heading into radians."""



class _HasName(Protocol):
    @property
    def name(self) -> str: ...


_Named = TypeVar("_Named", bound=_HasName)

OUTWARD: dict[str, Point] = {"+x": (1.0, 0.0), "-x": (-1.0, 0.0), "+y": (0.0, 1.0), "-y": (0.0, -1.0)}


def pose_rad(pose: Pose) -> tuple[float, float, float]:
    """The same pose with its heading in radians."""
    return pose[0], pose[1], math.radians(pose[2])


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, populate_by_name=True)


class _Span(_Part):
    """An axis-aligned rectangle on the floor."""

    start: Point = Field(alias="from")
    end: Point = Field(alias="to")

    @model_validator(mode="after")
    def _ordered(self) -> _Span:
        if not (self.start[0] < self.end[0] and self.start[1] < self.end[1]):
            raise ValueError(f"'from' {self.start} must be below and left of 'to' {self.end}")
        return self

    @property
    def centre(self) -> Point:
        return (self.start[0] + self.end[0]) / 2, (self.start[1] + self.end[1]) / 2

    @property
    def size(self) -> Point:
        return self.end[0] - self.start[0], self.end[1] - self.start[1]


class Slab(_Span):
    """A piece of floor, top at z = 0."""


class Floor(_Part):
    slabs: list[Slab] = Field(min_length=1)
    thickness_m: Positive
    colour: Colour
    friction: Positive


class Door(_Part):
    """An opening in a wall, `start_m` along it from its first end."""

    name: str
    start_m: float = Field(ge=0.0)
    width_m: float = Field(ge=0.9, description="narrower doors don't let the robot through")


class Wall(_Part):
    start: Point = Field(alias="from")
    end: Point = Field(alias="to")
    doors: list[Door] = []

    @property
    def length_m(self) -> float:
        return math.dist(self.start, self.end)

    def at(self, along_m: float) -> Point:
        """Point on the wall's centre line, `along_m` from its first end."""
        f = along_m / self.length_m
        return (
            self.start[0] + f * (self.end[0] - self.start[0]),
            self.start[1] + f * (self.end[1] - self.start[1]),
        )

    def pieces(self) -> list[tuple[float, float]]:
        """Solid stretches (from, to) in metres along the wall, the doors left out."""
        out, at = [], 0.0
        for door in sorted(self.doors, key=lambda d: d.start_m):
            if door.start_m > at:
                out.append((at, door.start_m))
            at = door.start_m + door.width_m
        if at < self.length_m - 1e-9:
            out.append((at, self.length_m))
        return out

    @model_validator(mode="after")
    def _straight_and_long_enough(self) -> Wall:
        if (self.start[0] == self.end[0]) == (self.start[1] == self.end[1]):
            raise ValueError(f"wall {self.start} - {self.end} must run along x or along y")
        at = 0.0
        for door in sorted(self.doors, key=lambda d: d.start_m):
            if door.start_m < at or door.start_m + door.width_m > self.length_m:
                raise ValueError(f"door '{door.name}' overlaps another or leaves its wall {self.start} - {self.end}")
            at = door.start_m + door.width_m
        return self


class Walls(_Part):
    height_m: float = Field(ge=1.0)
    thickness_m: Positive
    colour: Colour
    segments: list[Wall]


class Room(_Part):
    name: str
    polygon: list[Point] = Field(min_length=3)
    entry: Pose
    colour: Colour


class Surface(_Part):
    """A level top on which things stand."""

    name: str
    kind: Literal["table", "shelf", "tray"]
    centre: Point
    size_m: tuple[Positive, Positive]
    height_m: Positive
    approach_sides: list[Side] = Field(min_length=1)
    colour: Colour

    def edge(self, side: Side) -> tuple[Point, float]:
        """Middle of the edge on `side`, and the edge's length in metres."""
        out = OUTWARD[side]
        half = self.size_m[0] / 2 if out[0] else self.size_m[1] / 2
        length = self.size_m[1] if out[0] else self.size_m[0]
        return (self.centre[0] + out[0] * half, self.centre[1] + out[1] * half), length

    def approach(self, side: Side, distance_m: float) -> tuple[float, float, float]:
        """Pose (x, y, heading in radians) that faces the edge from `distance_m` before it."""
        (x, y), _ = self.edge(side)
        out = OUTWARD[side]
        return x + out[0] * distance_m, y + out[1] * distance_m, math.atan2(0.0 - out[1], 0.0 - out[0])

    def contains(self, x: float, y: float, margin_m: float = 0.0) -> bool:
        """Whether the point lies over the top, `margin_m` inside its edge."""
        return (
            abs(x - self.centre[0]) <= self.size_m[0] / 2 - margin_m
            and abs(y - self.centre[1]) <= self.size_m[1] / 2 - margin_m
        )


class Person(_Part):
    """A seated stand-in that holds a tray on the knees."""

    name: str
    seat: Pose
    tray: str


class Furniture(_Part):
    """A solid block. A cylinder stands upright in its bounding box."""

    name: str
    shape: Literal["box", "cylinder"]
    start: tuple[float, float, float] = Field(alias="from")
    end: tuple[float, float, float] = Field(alias="to")
    colour: Colour

    @model_validator(mode="after")
    def _ordered(self) -> Furniture:
        if not all(a < b for a, b in zip(self.start, self.end, strict=True)):
            raise ValueError(f"'from' {self.start} of '{self.name}' must be less than 'to' {self.end} on every axis")
        return self


class Rug(_Span):
    name: str
    thickness_m: Positive
    friction: Positive
    colour: Colour


class Stairs(_Span):
    """A flight that goes down from the floor's level. The robot must not go there."""

    name: str
    descends: Side
    steps: int = Field(ge=1)
    step_drop_m: float = Field(ge=0.15, description="less is no edge that a cliff sensor can tell from a sill")
    colour: Colour
    keep_out_margin_m: float = Field(ge=0.0)


class Dock(_Part):
    name: str
    docked: Pose
    approach_distance_m: Positive
    colour: Colour

    def approach(self) -> tuple[float, float, float]:
        """Pose (x, y, heading in radians) from which the robot backs straight in."""
        x, y, yaw = pose_rad(self.docked)
        return x + self.approach_distance_m * math.cos(yaw), y + self.approach_distance_m * math.sin(yaw), yaw


class SceneObject(_Part):
    """A thing to grasp. `size_m` is its bounding box."""

    name: str
    shape: Literal["box", "cylinder", "ball"]
    size_m: tuple[Positive, Positive, Positive]
    colour: Colour

    @model_validator(mode="after")
    def _round(self) -> SceneObject:
        x, y, z = self.size_m
        if (self.shape != "box" and x != y) or (self.shape == "ball" and x != z):
            raise ValueError(f"'{self.name}' is a {self.shape}: size_m needs equal diameters, not {self.size_m}")
        return self


class Placements(_Part):
    """Where objects may start. Distances are from an approachable edge to the object's centre."""

    surfaces: list[str] = Field(min_length=1)
    edge_distance_m: tuple[Positive, Positive]
    corner_margin_m: Positive
    gap_m: Positive


class Scene(_Part):
    """A place with everything in it, in the map frame (x east, y north, z up; metres)."""

    name: str
    floor: Floor
    walls: Walls
    rooms: list[Room] = Field(min_length=1)
    surfaces: list[Surface]
    approach_distance_m: Positive
    person: Person
    furniture: list[Furniture] = []
    rugs: list[Rug] = []
    stairs: Stairs
    dock: Dock
    parked: list[Pose] = []
    """Where further robots stand at first; the first stands on the dock."""
    objects: list[SceneObject]
    object_mass_kg: Positive
    placements: Placements

    @model_validator(mode="after")
    def _names(self) -> Scene:
        names = [
            *(r.name for r in self.rooms), *(s.name for s in self.surfaces), *(o.name for o in self.objects),
            *(f.name for f in self.furniture), *(r.name for r in self.rugs),
            *(d.name for w in self.walls.segments for d in w.doors),
            self.person.name, self.stairs.name, self.dock.name,
        ]
        twice = sorted({n for n in names if names.count(n) > 1})
        if twice:
            raise ValueError(f"names must be unique, these are used twice: {', '.join(twice)}")
        known = {s.name for s in self.surfaces}
        for wanted in [*self.placements.surfaces, self.person.tray]:
            if wanted not in known:
                raise ValueError(f"'{wanted}' is not a surface (there are: {', '.join(sorted(known))})")
        return self

    def starts(self, robots: int = 1) -> list[tuple[float, float, float]]:
        """Where each of so many robots stands at first, heading in radians; `SceneError` if there is no room."""
        poses = [self.dock.docked, *self.parked]
        if robots > len(poses):
            raise SceneError(f"'{self.name}' has room for {len(poses)} robots, not {robots}: add poses to 'parked'")
        return [pose_rad(pose) for pose in poses[:robots]]

    def surface(self, name: str) -> Surface:
        """The surface called `name`; `SceneError` if there is none."""
        return self._find(self.surfaces, name, "surface")

    def room(self, name: str) -> Room:
        """The room called `name`; `SceneError` if there is none."""
        return self._find(self.rooms, name, "room")

    def object(self, name: str) -> SceneObject:
        """The object called `name`; `SceneError` if there is none."""
        return self._find(self.objects, name, "object")

    def doors(self) -> dict[str, Point]:
        """Middle of each door opening."""
        return {d.name: w.at(d.start_m + d.width_m / 2) for w in self.walls.segments for d in w.doors}

    @staticmethod
    def _find(parts: list[_Named], name: str, what: str) -> _Named:
        for part in parts:
            if part.name == name:
                return part
        raise SceneError(f"no {what} '{name}' (there are: {', '.join(p.name for p in parts)})")


def load_scene(name_or_file: str | Path = "flat") -> Scene:
    """Reads a scene by name or file. Raises `SceneError` that names the file, the key and what is wrong."""
    file = name_or_file if isinstance(name_or_file, Path) else scene_file(name_or_file)
    try:
        data = yaml.safe_load(file.read_text(encoding="utf-8"))
    except (OSError, yaml.YAMLError) as error:
        raise SceneError(f"{file}: can't be read: {error}") from error
    try:
        return Scene.model_validate(data)
    except ValidationError as error:
        lines = [f"  {'.'.join(str(p) for p in e['loc']) or 'scene'}: {e['msg']}" for e in error.errors()]
        raise SceneError(f"{file}: {len(lines)} thing(s) to correct:\n" + "\n".join(lines)) from error
