"""The named places of the known map (`places.yaml`): rooms, surfaces, the dock, the person, and where not to go."""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from pydantic import Field

from anima.body.grid_map import GridMap, load_map
from anima.body.pose import Pose2D
from anima.config import ConfigError, Tuning, parse, read_yaml

Point2 = tuple[float, float]
Planar = tuple[float, float, float]
"""x, y in metres, yaw in radians, map frame."""


class UnknownPlace(LookupError):
    """No place of that name on this map; the message lists what there is."""


class Room(Tuning):
    """A room: its outline, and a pose in it where the robot stands out of the way."""

    name: str
    polygon: list[Point2] = Field(min_length=3)
    entry: Planar

    def contains(self, x: float, y: float) -> bool:
        """Whether the point lies in the room (even-odd rule)."""
        inside = False
        for (x1, y1), (x2, y2) in zip(self.polygon, [*self.polygon[1:], self.polygon[0]], strict=True):
            if (y1 > y) != (y2 > y) and x < x1 + (y - y1) / (y2 - y1) * (x2 - x1):
                inside = not inside
        return inside


class Approach(Tuning):
    """A pose that faces a surface from free floor, and the edge that it faces."""

    side: str
    pose: Planar
    edge_centre: Point2
    edge_length_m: float = Field(gt=0)


class Person(Tuning):
    """Somebody at a known place, and the surface where things are handed over."""

    name: str
    position: Point2
    room: str
    surface: str


class Dock(Tuning):
    """The charging dock: where the robot stands when docked, and before it, from where it backs straight in."""

    name: str
    room: str
    docked: Planar
    approach: Planar


class Door(Tuning):
    """The middle of an opening between two rooms."""

    name: str
    centre: Point2


class Area(Tuning):
    """A named polygon of the floor: one that the robot must not enter, or a covering such as a rug."""

    name: str
    polygon: list[Point2] = Field(min_length=3)


class _SurfaceEntry(Tuning):
    name: str
    kind: str
    room: str
    height_m: float = Field(gt=0)
    footprint: list[Point2] = Field(min_length=4, max_length=4)
    approaches: list[Approach] = Field(min_length=1)


class PlacesFile(Tuning):
    """`places.yaml` as it lies in the folder of a map."""

    frame: Literal["map"]
    rooms: list[Room] = Field(min_length=1)
    doors: tuple[Door, ...] = ()
    surfaces: list[_SurfaceEntry]
    people: tuple[Person, ...] = ()
    dock: Dock
    no_go: tuple[Area, ...] = ()
    coverings: tuple[Area, ...] = ()


@dataclass(frozen=True)
class Surface:
    """A level top, sides along the map's axes, and the poses that face it from free floor.

    `holder` is the person that things are handed to on it, or empty: at this surface the robot is at that person.
    """

    name: str
    kind: str
    room: str
    centre: Point2
    size_m: Point2
    height_m: float
    approaches: tuple[Approach, ...]
    holder: str

    def contains(self, x: float, y: float, margin_m: float = 0.0) -> bool:
        """Whether the point lies over the top; a positive margin widens it."""
        return (
            abs(x - self.centre[0]) <= self.size_m[0] / 2 + margin_m
            and abs(y - self.centre[1]) <= self.size_m[1] / 2 + margin_m
        )

    def distance_m(self, x: float, y: float) -> float:
        """Metres from a point to the nearest point of the top; 0 over it."""
        return math.hypot(
            max(0.0, abs(x - self.centre[0]) - self.size_m[0] / 2),
            max(0.0, abs(y - self.centre[1]) - self.size_m[1] / 2),
        )


class Places:
    """What `places.yaml` names, and the grid that belongs to it."""

    def __init__(self, file: PlacesFile, grid: GridMap) -> None:
        self.rooms = file.rooms
        self.doors = file.doors
        self.people = file.people
        self.dock = file.dock
        self.no_go = file.no_go
        self.coverings = file.coverings
        holders = {person.surface: person.name for person in file.people}
        self.surfaces = [_surface(entry, holders.get(entry.name, "")) for entry in file.surfaces]
        self.grid = grid

    @property
    def names(self) -> list[str]:
        """Everything that can be driven to."""
        rooms, surfaces = [room.name for room in self.rooms], [surface.name for surface in self.surfaces]
        return [*rooms, *surfaces, *(person.name for person in self.people), self.dock.name]

    def surface(self, name: str) -> Surface:
        """The surface of that name, or that the person of that name holds; raises `UnknownPlace`."""
        for surface in self.surfaces:
            if name in (surface.name, surface.holder):
                return surface
        raise UnknownPlace(f"no surface {name!r}; there are {', '.join(s.name for s in self.surfaces)}")

    def poses(self, place: str) -> list[Pose2D]:
        """The poses at which the robot is at `place`, any of them will do; raises `UnknownPlace`."""
        if place == self.dock.name:
            return [Pose2D(*self.dock.approach)]
        for room in self.rooms:
            if room.name == place:
                return [Pose2D(*room.entry)]
        if place not in self.names:
            raise UnknownPlace(f"no place {place!r}; there are {', '.join(self.names)}")
        return [Pose2D(*approach.pose) for approach in self.surface(place).approaches]

    def is_room(self, place: str) -> bool:
        """Whether the place is a room."""
        return any(room.name == place for room in self.rooms)

    def room_at(self, x: float, y: float) -> str:
        """The room of a point, or empty."""
        return next((room.name for room in self.rooms if room.contains(x, y)), "")

    def covering_at(self, x: float, y: float, margin_m: float = 0.0) -> str:
        """The rug, or the like, that a point is on; a positive margin widens it. Empty on the bare floor."""
        for area in self.coverings:
            x0, y0, x1, y1 = bounds(area.polygon)
            if x0 - margin_m <= x <= x1 + margin_m and y0 - margin_m <= y <= y1 + margin_m:
                return area.name
        return ""

    def area_of(self, name: str) -> tuple[float, float, float, float] | None:
        """The bounds (x0, y0, x1, y1) of a covering, a room or the top of a surface, metres; None for others."""
        for area in self.coverings:
            if area.name == name:
                return bounds(area.polygon)
        for room in self.rooms:
            if room.name == name:
                return bounds(room.polygon)
        for surface in self.surfaces:
            if surface.name == name:
                (x, y), (w, d) = surface.centre, surface.size_m
                return x - w / 2, y - d / 2, x + w / 2, y + d / 2
        return None

    def surface_at(self, x: float, y: float, margin_m: float = 0.0) -> str:
        """The surface under a point, or empty."""
        return next((s.name for s in self.surfaces if s.contains(x, y, margin_m)), "")

    def near(self, place: str, x: float, y: float, within_m: float) -> bool:
        """Whether a point is in the room, or within metres of the surface or of the dock. Raises `UnknownPlace`."""
        if self.is_room(place):
            return self.room_at(x, y) == place
        if place == self.dock.name:
            poses = (self.dock.approach, self.dock.docked)
            return any(math.hypot(x - pose[0], y - pose[1]) <= within_m for pose in poses)
        return self.surface(place).distance_m(x, y) <= within_m


def bounds(polygon: Sequence[Point2]) -> tuple[float, float, float, float]:
    """The axis-aligned bounds of a polygon: x0, y0, x1, y1."""
    xs, ys = [point[0] for point in polygon], [point[1] for point in polygon]
    return min(xs), min(ys), max(xs), max(ys)


@functools.lru_cache(maxsize=4)
def load_places(folder: Path) -> Places:
    """The places and the grid in the folder of a map. Raises `ConfigError` that names the file and the fault."""
    source = folder / "places.yaml"
    file: PlacesFile = parse(PlacesFile, read_yaml(source), str(source))
    surfaces = {surface.name for surface in file.surfaces}
    for person in file.people:
        if person.surface not in surfaces:
            there = ", ".join(sorted(surfaces))
            raise ConfigError(f"{source}: people.{person.name}: no surface {person.surface!r}; there are {there}")
    return Places(file, load_map(folder))


def _surface(entry: _SurfaceEntry, holder: str) -> Surface:
    xs, ys = [point[0] for point in entry.footprint], [point[1] for point in entry.footprint]
    return Surface(
        name=entry.name,
        kind=entry.kind,
        room=entry.room,
        centre=((min(xs) + max(xs)) / 2, (min(ys) + max(ys)) / 2),
        size_m=(max(xs) - min(xs), max(ys) - min(ys)),
        height_m=entry.height_m,
        approaches=tuple(entry.approaches),
        holder=holder,
    )
