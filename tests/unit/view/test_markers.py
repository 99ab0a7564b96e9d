"""What is seen in rviz: known things with their names, what is seen, wanted, possible and urgent, and why it stands."""

from __future__ import annotations

import pytest

from anima import topics as t
from anima.config import Settings
from anima.runtime.component import Inbox
from anima.topics import Sent
from anima.types.base import Header, Time
from anima.types.glue import Event, Salient
from anima.types.mind import (
    Backlog,
    Detection,
    Detections,
    Lease,
    Objective,
    ObjectState,
    Outcome,
    Route,
    SkillCall,
    StopState,
    WorldState,
)
from anima.types.std import Path, Point, Pose, PoseStamped, Vector3
from anima.types.view import CUBE, DELETE_ALL, Marker, MarkerArray
from anima.view.markers import Markers

SIZE = Vector3(x=0.05, y=0.05, z=0.05)


def cube(status: str) -> ObjectState:
    return ObjectState(
        name="red_cube", colour="red", shape="cube", status=status, position=Point(x=1.0, y=2.0, z=0.42), yaw=0.0,
        size=SIZE, place="desk", last_seen=Time.at(1.0), confidence=0.9,
    )


def world(*things: ObjectState, docked: bool = False) -> Sent:
    return t.WORLD_STATE.of(
        WorldState(
            header=Header.at(1.0), robot=Pose(), room="", place="", holding="", docked=docked, battery=1.0,
            stopped=False, localized=True, objects=list(things), surfaces=[], facts=[],
        )
    )


def wanting(condition: str) -> Sent:
    objective = Objective(
        id="o1", condition=condition, said="", source="ana", order=0, state="focused", reason="", created=Time.at(0.0)
    )
    return t.BACKLOG.of(Backlog(header=Header.at(1.0), objectives=[objective], focus="o1", why="", failures=[]))


CALL = SkillCall(
    header=Header.at(1.0), id="c1", skill="go_to", arguments='{"place": "desk"}', objective="o1", source="planner",
    because=[],
)


def lease() -> Sent:
    return t.LEASE.of(
        Lease(
            header=Header.at(1.0), id="l1", call=CALL, resources=["base"], deadline=Time.at(9.0), granted=True,
            reason="",
        )
    )


def urgent(now: float, urgency: float) -> Sent:
    event = Event(
        header=Header.at(now), id="e1", source="body", kind="battery", subject="", text="the battery is low", repeats=1,
        because=[],
    )
    return t.SALIENCE.of(Salient(header=Header.at(now), event=event, urgency=urgency, why="", interrupts="none"))


class Viewer:
    """What a viewer shows."""

    def __init__(self) -> None:
        self.component, self.inbox = Markers(Settings()), Inbox()

    def show(self, now: float, *sent: Sent) -> list[Marker]:
        for one in sent:
            self.inbox.deliver(one)
        self.sent = self.component.step(now, self.inbox)
        self.inbox.clear()
        (array,) = (one.value for one in self.sent if one.topic is t.MARKERS)
        assert isinstance(array, MarkerArray)
        first, *rest = array.markers
        assert first.action == DELETE_ALL, "what is gone is not drawn on"
        return rest


@pytest.fixture
def viewer() -> Viewer:
    return Viewer()


def words(markers: list[Marker], ns: str) -> list[str]:
    return [marker.text for marker in markers if marker.ns == ns and marker.text]


def test_every_marker_has_a_name_of_its_own(viewer: Viewer) -> None:
    stop = t.STOP_STATE.of(StopState(header=Header.at(1.0), latched=True, source="ana", active=[]))
    shown = viewer.show(1.0, world(cube("confirmed")), wanting("at(red_cube, kitchen_table)"), urgent(1.0, 0.9), stop)
    assert len({(marker.ns, marker.id) for marker in shown}) == len(shown)


def test_a_known_thing_has_its_shape_colour_and_name(viewer: Viewer) -> None:
    shown = viewer.show(1.0, world(cube("confirmed")))
    (thing,) = [marker for marker in shown if marker.ns == "object"]
    assert (thing.type, thing.scale, thing.pose.position.x) == (CUBE, SIZE, 1.0)
    assert thing.color.r > 0.8 > thing.color.g
    assert words(shown, "label") == ["red cube"]


def test_what_is_not_sure_is_pale_and_what_is_gone_is_not_there(viewer: Viewer) -> None:
    shown = viewer.show(1.0, world(cube("tentative")))
    assert [marker.color.a < 1.0 for marker in shown if marker.ns == "object"] == [True]
    assert words(shown, "label") == ["red cube?"]
    assert words(viewer.show(2.0, world(cube("absent"))), "label") == []


def test_a_thing_tells_what_can_be_done_with_it_now(viewer: Viewer) -> None:
    (possible,) = words(viewer.show(1.0, world(cube("confirmed"))), "affordance")
    assert "approach" in possible
    assert words(viewer.show(2.0, world(cube("confirmed"), docked=True)), "affordance") == []


def test_what_it_sees_now_is_drawn_while_it_sees_it(viewer: Viewer) -> None:
    seen = Detection(
        colour="blue", shape="ball", position=Point(x=1.0), yaw=0.0, size=SIZE, confidence=0.87
    )
    detections = t.DETECTIONS.of(Detections(header=Header.at(1.0), detections=[seen], views=[]))
    assert words(viewer.show(1.1, detections), "detection") == ["sees blue ball 87%"]
    assert words(viewer.show(5.0), "detection") == []


def test_over_the_robot_stands_what_it_is_after_and_what_it_does(viewer: Viewer) -> None:
    shown = viewer.show(1.0, world(cube("confirmed")), wanting("at(red_cube, desk)"), lease())
    assert words(shown, "focus") == ["at(red_cube, desk)\ngo_to(desk)"]
    assert any(marker.ns == "focus" and marker.points for marker in shown), "a line to what it is about"
    done = Outcome(
        header=Header.at(2.0), lease="l1", call=CALL, success=True, failure=0, detail="", duration_s=1.0
    )
    assert words(viewer.show(2.0, t.OUTCOME.of(done)), "focus") == ["at(red_cube, desk)"]


def test_what_mattered_most_is_shown_for_a_while(viewer: Viewer) -> None:
    assert words(viewer.show(1.0, urgent(1.0, 0.8)), "salience") == ["80% the battery is low"]
    assert words(viewer.show(2.0, urgent(2.0, 0.1)), "salience") == ["80% the battery is low"]
    assert words(viewer.show(30.0), "salience") == []


def test_a_robot_that_is_held_says_by_what(viewer: Viewer) -> None:
    def stop(latched: bool, *active: str) -> Sent:
        source = "ana" if latched else ""
        return t.STOP_STATE.of(StopState(header=Header.at(1.0), latched=latched, source=source, active=list(active)))

    assert words(viewer.show(1.0, stop(True)), "stop") == ["STOPPED by ana"]
    assert words(viewer.show(2.0, stop(False, "obstacle")), "stop") == ["held by obstacle"]
    assert [marker for marker in viewer.show(3.0, stop(False)) if marker.ns == "stop"] == []


def test_the_way_that_it_drives_is_a_path_of_the_map(viewer: Viewer) -> None:
    pose = PoseStamped(header=Header.at(1.0), pose=Pose.planar(1.0, 2.0, 0.0))
    route = Route(header=Header.at(1.0), goal="desk", path=Path(header=Header.at(1.0), poses=[pose]))
    viewer.show(1.0, t.ROUTE.of(route))
    (path,) = (one.value for one in viewer.sent if one.topic is t.PLAN)
    assert isinstance(path, Path)
    assert (path.header.frame_id, path.poses) == ("map", [pose])


def test_nothing_is_known_yet_and_the_flat_is_drawn(viewer: Viewer) -> None:
    shown = viewer.show(0.0)
    assert "kitchen table" in words(shown, "place")
    assert {marker.ns for marker in shown} == {"place"}
