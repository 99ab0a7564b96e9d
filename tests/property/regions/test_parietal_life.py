"""Whatever the senses say, in whatever order, the world state is coherent."""

from __future__ import annotations

import json
import math

import numpy as np
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from anima import topics as t
from anima.body.arm.poses import ARM_JOINTS, load_poses
from anima.body.places import load_places
from anima.body.pose import Pose2D
from anima.config import Settings
from anima.regions.parietal import ParietalAffordance
from anima.runtime.component import Inbox
from anima.topics import Sent
from anima.types.base import Header
from anima.types.mind import Detection, Detections, Outcome, SkillCall, View, WorldState
from anima.types.std import (
    JointState,
    Odometry,
    Point,
    PoseWithCovariance,
    PoseWithCovarianceStamped,
    Twist,
    TwistWithCovariance,
    Vector3,
)
from anima.world.predicates import Predicate, holds
from anima.world.state import diff, rebuild

SETTINGS = Settings()
PLACES = load_places(SETTINGS.map_folder)
NAMES = ["red_cube", "blue_cylinder", "orange_ball", "brown_block"]
POSTURES = [load_poses().joints(name) for name in ("tuck", "carry", "look_right")]
ZEROS = np.zeros(36)

odd = st.sampled_from([math.nan, math.inf, -math.inf, 1e30, -5.0])
metres = st.floats(-1.0, 9.0)
coordinates = st.one_of(metres, metres, metres, odd)
shares = st.one_of(st.floats(0, 1), st.floats(0, 1), odd)


@st.composite
def sightings(draw: st.DrawFn) -> Detection:
    colour, shape = draw(st.sampled_from(NAMES)).split("_")
    surface = draw(st.sampled_from(PLACES.surfaces))
    near = Point(x=surface.centre[0], y=surface.centre[1], z=surface.height_m + 0.018)
    far = Point(x=draw(coordinates), y=draw(coordinates), z=draw(coordinates))
    size = Vector3(x=0.03, y=0.03, z=0.03)
    position = draw(st.sampled_from([near, near, far]))
    return Detection(
        colour=colour, shape=shape, position=position, yaw=draw(st.floats(-9, 9)), size=size, confidence=draw(shares)
    )


@st.composite
def events(draw: st.DrawFn, now: float) -> list[Sent]:
    """What may come within a fifth of a second; any of it may be missing or nonsense."""
    out: list[Sent] = []
    if draw(st.booleans()):
        surface = draw(st.sampled_from(PLACES.surfaces))
        pose = draw(st.sampled_from([Pose2D(*surface.approaches[0].pose), Pose2D(4.0, 2.0, math.nan)]))
        placed = PoseWithCovariance(pose=pose.to_msg(), covariance=ZEROS)
        twist = TwistWithCovariance(twist=Twist(), covariance=ZEROS)
        head = Header.at(now, "odom")
        out.append(t.ODOM.of(Odometry(header=head, child_frame_id="base_link", pose=placed, twist=twist)))
        out.append(t.POSE.of(PoseWithCovarianceStamped(header=Header.at(now, "map"), pose=placed)))
    if draw(st.booleans()):
        position = np.append(draw(st.sampled_from(POSTURES)), draw(st.sampled_from([-0.17, 0.3, 0.6, 0.95, math.nan])))
        names = [*ARM_JOINTS, "gripper"]
        out.append(
            t.JOINT_STATES.of(
                JointState(
                    header=Header.at(now), name=names, position=position, velocity=0 * position, effort=0 * position
                )
            )
        )
    if draw(st.booleans()):
        views = [View(surface=s.name, coverage=draw(shares)) for s in PLACES.surfaces if draw(st.booleans())]
        seen = draw(st.lists(sightings(), max_size=4))
        out.append(t.DETECTIONS.of(Detections(header=Header.at(now, "map"), detections=seen, views=views)))
    if draw(st.integers(0, 3)) == 0:
        objects = [json.dumps({"object": name}) for name in NAMES]
        arguments = draw(st.sampled_from([*objects, "", "[]", '{"object": 3}']))
        call = SkillCall(
            header=Header.at(now), id="c", skill=draw(st.sampled_from(["pick", "place", "hand_over", "go_to"])),
            arguments=arguments, objective="", source="planner", because=[],
        )
        out.append(
            t.OUTCOME.of(
                Outcome(
                    header=Header.at(now), lease="l", call=call, success=draw(st.booleans()), failure=0, detail="",
                    duration_s=1.0,
                )
            )
        )
    return out


def check(state: WorldState) -> None:
    names = [thing.name for thing in state.objects]
    assert names == sorted(set(names))
    held = [thing.name for thing in state.objects if thing.place == "gripper"]
    assert held == ([state.holding] if state.holding else [])
    assert all(holds(Predicate.parse(fact), state) for fact in state.facts)
    assert ("hand_empty" in state.facts) == (state.holding == "")
    assert all(0.0 <= surface.coverage <= 1.0 for surface in state.surfaces)
    json.dumps(state.model_dump(mode="json"), allow_nan=False)


# Shrinking a life of many messages costs minutes and says little more than the first one found.
@settings(max_examples=60, deadline=None, phases=[Phase.explicit, Phase.reuse, Phase.generate])
@given(st.data())
def test_any_mixture_of_senses_leaves_a_coherent_world(data: st.DataObject) -> None:
    region, inbox = ParietalAffordance(SETTINGS), Inbox()
    now, states = 0.0, []
    for _ in range(data.draw(st.integers(1, 25))):
        now += 0.2
        for item in data.draw(events(now)):
            inbox.deliver(item)
        states += [sent.value for sent in region.step(now, inbox)]
        inbox.clear()
        region.why()
    rebuilt = states[0]
    for state in states:
        assert isinstance(state, WorldState)
        check(state)
        rebuilt = rebuild(rebuilt, diff(rebuilt, state))
        assert rebuilt == state
    assert now - states[-1].header.stamp.seconds < 1.0
    twin = ParietalAffordance.load(SETTINGS, json.loads(json.dumps(region.dump())))
    assert twin.dump() == region.dump()
