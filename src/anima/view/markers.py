"""The mind as markers: what it sees and knows, what it is after, what it could do, what moves it, what holds it."""

from __future__ import annotations

from collections.abc import Iterator

from anima import topics as t
from anima.body.places import Places, load_places
from anima.config import Settings
from anima.runtime.component import Inbox
from anima.skills.arguments import OfObject
from anima.skills.registry import SKILLS, render
from anima.topics import Sent
from anima.types.base import Header
from anima.types.glue import Salient
from anima.types.mind import Backlog, Detections, ObjectState, StopState, WorldState
from anima.types.std import Path, Point, Pose, Quaternion, Vector3
from anima.types.view import (
    CUBE,
    CYLINDER,
    DELETE_ALL,
    LINE_STRIP,
    SPHERE,
    TEXT,
    Marker,
    MarkerArray,
)
from anima.view.palette import rgba

MAP, ROBOT = "map", "base_link"
_SHAPES = {"cube": CUBE, "block": CUBE, "cylinder": CYLINDER, "ball": SPHERE}
_SEEN_FOR_S = 1.0  # a detection is drawn as long
_URGENT_FOR_S = 5.0  # and an event that mattered
_URGENT = 0.3
_TEXT_M = 0.09
_ABOVE_ROBOT_M = 1.15  # over the mast
_OF_OBJECT = [skill for skill in SKILLS.values() if skill.arguments is OfObject]


class Markers:
    """Draws the whole picture anew each time, so that a viewer that comes late sees what everybody sees.

    Namespaces of the markers, to be switched in the viewer: place, object, label, detection, affordance, focus,
    salience, stop.
    """

    def __init__(self, settings: Settings) -> None:
        """Raises `ConfigError` when the map's places can't be read."""
        self._places: Places = load_places(settings.map_folder)
        self._call, self._lease = "", ""
        self._urgent: Salient | None = None
        self._drawn = 0

    def step(self, now: float, inbox: Inbox) -> list[Sent]:
        """The picture, and the way that is being driven as a path."""
        self._follow(now, inbox)
        world = inbox.last(t.WORLD_STATE)
        markers = [
            Marker(header=Header.at(0.0, MAP), ns="", id=0, type=CUBE, action=DELETE_ALL),
            *self._surfaces(),
            *self._seen(now, inbox.last(t.DETECTIONS)),
            *(self._known(world) if world else ()),
            *self._focus(world, inbox.last(t.BACKLOG)),
            *self._salience(),
            *self._stop(inbox.last(t.STOP_STATE)),
        ]
        self._drawn = len(markers) - 1
        sent = [t.MARKERS.of(MarkerArray(markers=markers))]
        if routes := inbox.new(t.ROUTE):
            path = routes[-1].path
            sent.append(t.PLAN.of(Path(header=Header(stamp=path.header.stamp, frame_id=MAP), poses=path.poses)))
        return sent

    def why(self) -> str:
        """One sentence: how much there is to see."""
        return f"It draws {self._drawn} markers."

    def _follow(self, now: float, inbox: Inbox) -> None:
        for lease in inbox.new(t.LEASE):
            if lease.granted:
                self._lease, self._call = lease.id, render(lease.call.skill, lease.call.arguments)
            elif lease.id == self._lease:
                self._call = ""
        for outcome in inbox.new(t.OUTCOME):
            if outcome.lease == self._lease:
                self._call = ""
        if self._urgent and not 0.0 <= now - self._urgent.header.stamp.seconds <= _URGENT_FOR_S:
            self._urgent = None
        for salient in inbox.new(t.SALIENCE):
            if salient.urgency >= max(_URGENT, self._urgent.urgency if self._urgent else 0.0):
                self._urgent = salient

    def _surfaces(self) -> Iterator[Marker]:
        for number, surface in enumerate(self._places.surfaces):
            at = Point(x=surface.centre[0], y=surface.centre[1], z=surface.height_m + 0.02)
            yield _text("place", number, at, surface.name.replace("_", " "), "#555555")

    def _seen(self, now: float, seen: Detections | None) -> Iterator[Marker]:
        if seen is None or now - seen.header.stamp.seconds > _SEEN_FOR_S:
            return
        for number, one in enumerate(seen.detections):
            yield Marker(
                header=Header.at(0.0, MAP), ns="detection", id=number, type=SPHERE,
                pose=Pose(position=one.position), scale=Vector3(x=0.1, y=0.1, z=0.1), color=rgba(one.colour, 0.35),
            )
            at = one.position.model_copy(update={"z": one.position.z + 0.26})
            yield _text(
                "detection", 1000 + number, at, f"sees {one.colour} {one.shape} {one.confidence:.0%}", "#333333"
            )

    def _known(self, world: WorldState) -> Iterator[Marker]:
        for number, thing in enumerate(world.objects):
            if thing.status == "absent":
                continue
            sure = thing.status == "confirmed"
            yield Marker(
                header=Header.at(0.0, MAP), ns="object", id=number, type=_SHAPES.get(thing.shape, SPHERE),
                pose=Pose(position=thing.position, orientation=Quaternion.from_yaw(thing.yaw)), scale=thing.size,
                color=rgba(thing.colour, 1.0 if sure else 0.4),
            )
            above = thing.position.model_copy(update={"z": thing.position.z + 0.12})
            name = thing.name.replace("_", " ")
            yield _text("label", number, above, name if sure else f"{name}?", "#111111")
            if sure and (words := _possible(world, thing)):
                higher = thing.position.model_copy(update={"z": thing.position.z + 0.20})
                yield _text("affordance", number, higher, words, "#2ca02c", _TEXT_M * 0.7)

    def _focus(self, world: WorldState | None, backlog: Backlog | None) -> Iterator[Marker]:
        focus = next((one for one in backlog.objectives if one.id == backlog.focus), None) if backlog else None
        words = [focus.condition] if focus else []
        words += [self._call] if self._call else []
        if words:
            yield _text("focus", 0, Point(z=_ABOVE_ROBOT_M), "\n".join(words), "#1f4fd6", frame=ROBOT)
        if not (focus and world):
            return
        for thing in world.objects:
            if thing.name in focus.condition and thing.status == "confirmed":
                yield Marker(
                    header=Header.at(0.0, MAP), ns="focus", id=1, type=LINE_STRIP, scale=Vector3(x=0.015),
                    color=rgba("blue", 0.7), points=[world.robot.position, thing.position],
                )
                return

    def _salience(self) -> Iterator[Marker]:
        if self._urgent:
            words = f"{self._urgent.urgency:.0%} {self._urgent.event.text}"
            yield _text("salience", 0, Point(z=_ABOVE_ROBOT_M + 0.25), words, "orange", frame=ROBOT)

    def _stop(self, stop: StopState | None) -> Iterator[Marker]:
        if stop is None or not (stop.latched or stop.active):
            return
        colour = "red" if stop.latched else "yellow"
        yield Marker(
            header=Header.at(0.0, ROBOT), ns="stop", id=0, type=CYLINDER, frame_locked=True,
            pose=Pose(position=Point(z=0.01)), scale=Vector3(x=0.7, y=0.7, z=0.01), color=rgba(colour, 0.6),
        )
        words = f"STOPPED by {stop.source}" if stop.latched else f"held by {', '.join(stop.active)}"
        yield _text("stop", 1, Point(z=_ABOVE_ROBOT_M + 0.4), words, colour, frame=ROBOT)


def _possible(world: WorldState, thing: ObjectState) -> str:
    """The skills whose preconditions hold for the object now."""
    arguments = OfObject(object=thing.name)
    return " · ".join(skill.name for skill in _OF_OBJECT if not skill.unmet(arguments, world))


def _text(
    ns: str, number: int, at: Point, words: str, colour: str, height_m: float = _TEXT_M, frame: str = MAP
) -> Marker:
    return Marker(
        header=Header.at(0.0, frame), ns=ns, id=number, type=TEXT, pose=Pose(position=at), frame_locked=frame == ROBOT,
        scale=Vector3(z=height_m), color=rgba(colour), text=words,
    )
