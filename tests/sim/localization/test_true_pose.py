"""With `pose: truth` the robot is told by the simulator where it is, and only a simulated one can be."""

from __future__ import annotations

import pytest

from anima import topics as t
from anima.body.pose import Pose2D
from anima.brain import TABLE, rows_of, table
from anima.config import ConfigError, Settings, load_settings
from anima.runtime.local_graph import LocalGraph
from anima.types.base import Header
from anima.types.std import Twist, TwistStamped, Vector3
from anima_sim.body import SimulatedBody


@pytest.mark.sim
def test_the_pose_is_the_truth_however_far_odometry_is_off() -> None:
    rows = [row for row in table(pose="truth") if row.node in ("body", "localization")]
    graph = LocalGraph(Settings(cameras=False, pose="truth"), rows, record=[t.ODOM])
    body = graph.component("body")
    assert isinstance(body, SimulatedBody)
    turn = Twist(linear=Vector3(x=0.2), angular=Vector3(z=0.8))
    for _ in range(150):
        graph.send(t.CMD_VEL.of(TwistStamped(header=Header.at(graph.now), twist=turn)))
        graph.tick()
    body.world.place_robot(6.3, 4.4, 1.0)  # carried off: odometry doesn't feel it
    graph.run_for(0.2)
    truths = {truth.header.stamp.seconds: Pose2D.of(truth.robot) for truth in graph.sent(t.GROUND_TRUTH)}
    poses = {pose.header.stamp.seconds: Pose2D.of(pose.pose.pose) for pose in graph.sent(t.POSE)}
    assert len(poses) > 50
    for stamp, pose in poses.items():
        assert pose.distance(truths[stamp]) < 1e-6
    last = max(poses)
    assert poses[last].distance(Pose2D(6.3, 4.4, 1.0)) < 0.05
    rolled = next(Pose2D.of(one.pose.pose) for one in graph.sent(t.ODOM) if one.header.stamp.seconds == last)
    (to_odom,) = graph.sent(t.TF)[-1].transforms
    shift = to_odom.transform.translation
    assert (to_odom.header.frame_id, to_odom.child_frame_id) == ("map", "odom")
    yaw = to_odom.transform.rotation.yaw
    assert (Pose2D(shift.x, shift.y, yaw) @ rolled).distance(poses[last]) < 1e-6
    assert graph.last(t.MAP) is not None


@pytest.mark.parametrize("sim", ["mujoco", "firmware", "gazebo"])
def test_localization_alone_is_told_the_truth_and_everything_else_stays(sim: str) -> None:
    told = table(sim, pose="truth")
    assert [row.node for row in told if t.GROUND_TRUTH in row.takes] == ["localization"]
    assert [row for row in told if row.node != "localization"] == [
        row for row in table(sim) if row.node != "localization"
    ]
    assert t.GROUND_TRUTH not in {topic for row in TABLE for topic in row.takes}
    assert [row.component for row in rows_of("localization", sim, composed=False, pose="truth")] == [
        "anima_sim.true_pose:TruePose"
    ]


def test_a_real_body_refuses_the_truth() -> None:
    with pytest.raises(ConfigError, match="simulated robot only"):
        load_settings({"sim": "none", "pose": "truth"})
