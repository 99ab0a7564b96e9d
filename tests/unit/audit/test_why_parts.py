"""`anima why` names the part and the bid where one had a say in a call."""

from __future__ import annotations

import json

from support.parts_messages import bid, bids, stance, stances

from anima import topics as t
from anima.audit.timeline import Timeline, Told
from anima.audit.why import why
from anima.topics import Sent
from anima.types.base import Header, Time
from anima.types.mind import Backlog, Lease, Objective, Route, SkillCall
from anima.types.std import Path, Point, Pose, PoseStamped

RUG = (1.7, 3.6, 3.2, 4.85)


def call(id: str, objective: str = "", because: tuple[str, ...] = ()) -> SkillCall:
    return SkillCall(
        header=Header.at(12.0), id=id, skill="go_to", arguments=json.dumps({"place": "person"}), objective=objective,
        source="planner", because=list(because),
    )


def lease(of: SkillCall) -> Sent:
    return t.LEASE.of(
        Lease(
            header=Header.at(12.0), id="l1", call=of, resources=["base"], deadline=Time.at(99.0), granted=True,
            reason="",
        )
    )


def route(*points: tuple[float, float]) -> Sent:
    header = Header.at(12.5, "map")
    poses = [PoseStamped(header=header, pose=Pose(position=Point(x=x, y=y))) for x, y in points]
    return t.ROUTE.of(Route(header=header, goal="person", path=Path(header=header, poses=poses)))


def told(id: str, *given: tuple[float, Sent]) -> str:
    timeline = Timeline()
    for at, sent in given:
        timeline.topics.setdefault(sent.topic.name, []).append(Told(at, "", sent.topic.name, sent.value))
    return "\n".join(f"{heading}: {text}" for heading, text in why(timeline, id))


def test_a_way_around_what_a_part_avoids_is_told_with_part_and_bid() -> None:
    avoid = (10.0, stances(10.0, stance(10.0, "avoid", "rug", RUG)))
    said = told("c1", avoid, (12.0, lease(call("c1"))), (12.5, route((4.0, 3.5), (2.4, 5.2), (1.5, 4.2))))
    assert "part: Fear of the rug [p1, b1] has it avoid rug; the way leads around the rug" in said


def test_a_way_that_still_crosses_it_is_told_as_well() -> None:
    avoid = (10.0, stances(10.0, stance(10.0, "avoid", "rug", RUG)))
    said = told("c1", avoid, (12.0, lease(call("c1"))), (12.5, route((4.0, 3.5), (2.4, 4.2), (2.0, 4.2))))
    assert "the way still crosses the rug (2 of 3 points)" in said


def test_a_stance_that_has_run_out_had_no_say() -> None:
    gone = (1.0, stances(1.0, stance(1.0, "avoid", "rug", RUG, lasts_s=5.0)))
    assert "Fear of the rug" not in told("c1", gone, (12.0, lease(call("c1"))))


def test_an_objective_that_a_part_wanted_names_the_bid_and_the_reason_of_the_self() -> None:
    wanted = Objective(
        id="part-b1", condition="docked", said="", source="parts", order=0, state="focused", reason="",
        created=Time.at(11.0),
    )
    backlog = Backlog(header=Header.at(11.0), objectives=[wanted], focus="part-b1", why="it is all", failures=[])
    chosen = (10.0, bids(10.0, bid(focus="docked"), focus="b1"))
    said = told("c1", chosen, (11.0, t.BACKLOG.of(backlog)), (12.0, lease(call("c1", "part-b1"))))
    assert "bid: Fear of the rug: I want to keep off it  [p1 version 1, b1]" in said
    assert "the Self: helper (standard) followed it: I value arriving" in said
