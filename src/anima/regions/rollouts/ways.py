"""How far it is on the known map: from here to every place, and from there to the dock."""

from __future__ import annotations

import math
from collections import OrderedDict
from dataclasses import dataclass

from anima.body.navigation.grid import GridNavigator
from anima.body.places import UnknownPlace, load_places
from anima.body.pose import Pose2D
from anima.config import Settings

_CELL_M = 0.25  # starts this close together share their ways
_KEPT = 64
Point2 = tuple[float, float]


@dataclass(frozen=True)
class Leg:
    """A drive: metres (`inf`: no way), where it ends, the metres from there to the dock, and a name for this way."""

    metres: float
    end: Point2
    home_m: float
    way: str


class Ways:
    """Lengths of ways over the known map. One search from a start finds all places, and is kept for its neighbourhood;
    where the map says nothing, the straight line times a detour factor."""

    def __init__(self, settings: Settings, detour: float) -> None:
        """Searches once, from the dock; raises `ConfigError` when the map can't be used."""
        self._places = load_places(settings.map_folder)
        self._navigator = GridNavigator.for_robot(settings, self._places)
        self._detour = detour
        self._poses = [(name, pose) for name in self._places.names for pose in self._places.poses(name)]
        self.dock = Pose2D(*self._places.dock.approach)
        self._home = self._navigator.path_lengths(self.dock, [pose for _, pose in self._poses])
        self._found: OrderedDict[tuple[int, int], list[float]] = OrderedDict()

    @property
    def dock_name(self) -> str:
        """The dock's name."""
        return self._places.dock.name

    @property
    def surfaces(self) -> list[str]:
        """Names of all surfaces, or of the people who hold them."""
        return [surface.holder or surface.name for surface in self._places.surfaces]

    def knows(self, place: str) -> bool:
        """Whether the map names it."""
        return place in self._places.names

    def straight_m(self, start: Point2, end: Point2) -> float:
        """Metres by the straight line and the detour factor."""
        return math.dist(start, end) * self._detour

    def distance_m(self, start: Point2, surface: str) -> float:
        """Metres by the straight line to a surface's top."""
        return self._places.surface(surface).distance_m(*start)

    def home_m(self, start: Point2) -> float:
        """Metres to the dock from a point."""
        return self.to_place(start, self.dock_name).metres

    def to_place(self, start: Point2, place: str) -> Leg:
        """The shortest drive to where the robot is at `place`. Raises `UnknownPlace`."""
        named = self._named(place)
        lengths = self._from(start)
        if not any(map(math.isfinite, lengths)):  # the start itself is off the map's free floor
            return self.straight_to(start, place)
        best = min(named, key=lambda k: (lengths[k], k))
        return self._leg(start, best, place, lengths[best])

    def straight_to(self, start: Point2, place: str) -> Leg:
        """The same without a search: the straight line and the detour factor. Raises `UnknownPlace`."""
        metres = {k: self.straight_m(start, (self._poses[k][1].x, self._poses[k][1].y)) for k in self._named(place)}
        best = min(metres, key=lambda k: (metres[k], k))
        return self._leg(start, best, place, metres[best])

    def _named(self, place: str) -> list[int]:
        named = [k for k, (name, _) in enumerate(self._poses) if name == place]
        if not named:
            raise UnknownPlace(f"no place {place!r}; there are {', '.join(self._places.names)}")
        return named

    def _leg(self, start: Point2, pose: int, place: str, metres: float) -> Leg:
        end, home_m = (self._poses[pose][1].x, self._poses[pose][1].y), self._home[pose]
        if not math.isfinite(home_m):
            home_m = self.straight_m(end, (self.dock.x, self.dock.y))
        return Leg(metres, end, home_m, self._way(start, end, place))

    def to_point(self, start: Point2, end: Point2) -> Leg:
        """A drive to a point that has no name."""
        home_m = self.straight_m(end, (self.dock.x, self.dock.y))
        return Leg(self.straight_m(start, end), end, home_m, self._way(start, end, ""))

    def _way(self, start: Point2, end: Point2, place: str) -> str:
        """Drives through the same doors share their luck; within a room, those to the same place."""
        rooms = self._places.room_at(*start), self._places.room_at(*end)
        return f"{rooms[0]}>{rooms[1]}" if rooms[0] != rooms[1] else place or rooms[1]

    def _from(self, start: Point2) -> list[float]:
        cell = (round(start[0] / _CELL_M), round(start[1] / _CELL_M))
        found = self._found.get(cell)
        if found is None:
            at = Pose2D(*start, 0.0)
            found = self._found[cell] = self._navigator.path_lengths(at, [pose for _, pose in self._poses])
            if len(self._found) > _KEPT:
                self._found.popitem(last=False)
        else:
            self._found.move_to_end(cell)
        return found
