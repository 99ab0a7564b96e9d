"""A TurtleBot with its own drivers: the mind meets it over plain topics, and knows what it can't do.

The base is a scripted one, for the wiring (`support.bare_base`); `tests/sim/skills/test_bare_base.py` lets it drive.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from geometry_msgs.msg import Twist
from rclpy.qos import QoSProfile
from support.running_graph import NAMESPACE, Graph, at, running_graph

from anima import topics as t
from anima.config import Settings
from anima.types.base import Header
from anima.types.mind import SkillCall, WorldState
from anima.types.std import Pose, PoseWithCovarianceStamped

pytestmark = [pytest.mark.ros, pytest.mark.timeout(300)]

SETTINGS = Settings(robot="turtlebot3_burger")
START = (4.6, 1.7, 1.2)
PATIENCE_S = 60.0


@pytest.fixture(scope="module")
def graph(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Graph]:
    more = {"robot": "turtlebot3_burger", "sim": "none", "cmd_vel": "Twist"}
    with running_graph(tmp_path_factory.mktemp("graph"), more) as graph:
        yield graph


@pytest.fixture(scope="module")
def base(graph: Graph) -> Iterator[subprocess.Popen[bytes]]:
    words = [sys.executable, "-m", "support.bare_base", "--map", str(SETTINGS.map_folder), "--pose", *map(str, START)]
    words += ["--ros-args", "-r", f"__ns:={NAMESPACE}"]
    path = f"{Path(__file__).parents[1]}:{os.environ.get('PYTHONPATH', '')}"
    child = subprocess.Popen(words, env={**os.environ, "PYTHONPATH": path})
    yield child
    child.terminate()
    child.wait(10)


def call(graph: Graph, id: str, skill: str, **arguments: str) -> SkillCall:
    return SkillCall(
        header=Header.at(seconds(graph)), id=id, skill=skill, arguments=json.dumps(arguments), objective="",
        source="operator", because=[],
    )


def seconds(graph: Graph) -> float:
    return float(graph.bench.node.get_clock().now().nanoseconds * 1e-9)


def test_the_mind_hears_the_drivers_and_is_heard_by_them(graph: Graph, base: subprocess.Popen[bytes]) -> None:
    bench = graph.bench
    worlds: list[WorldState] = bench.listen(t.WORLD_STATE)
    verdicts, costmaps = bench.listen(t.OPERATOR_VERDICT), bench.listen(t.COSTMAP)
    told: list[Twist] = []
    bench.node.create_subscription(Twist, t.CMD_VEL.name, told.append, QoSProfile(depth=50))
    ask = bench.publisher(t.OPERATOR_CALL)
    assert bench.until(lambda: told, PATIENCE_S), f"cmd_vel is no Twist: {graph.logs()}"

    # Where it stands a person shows in rviz.
    show = bench.publisher(t.INITIAL_POSE)
    show(PoseWithCovarianceStamped.about(seconds(graph), Pose.planar(*START), 0.2, 0.2))
    assert bench.until(lambda: worlds and worlds[-1].localized, PATIENCE_S), f"it is lost: {graph.logs()}"
    assert {"lacks(arm)", "lacks(camera)", "lacks(dock)"} <= set(worlds[-1].facts)
    assert bench.until(lambda: costmaps, PATIENCE_S) and costmaps[-1].header.frame_id == "map"
    assert bench.until(lambda: worlds[-1].battery == pytest.approx(0.8, abs=0.01)), "80 percent is 0.8"

    ask(call(graph, "1", "pick", object="red_cube"))
    assert bench.until(lambda: verdicts, PATIENCE_S)
    assert not verdicts[-1].accepted and "no arm" in verdicts[-1].reason


def test_the_graph_has_only_the_nodes_that_this_robot_has_work_for(graph: Graph) -> None:
    nodes = set(graph.bench.node.get_node_names())
    assert {"reflex_kernel", "localization", "motor_cortex"} <= nodes
    assert not {"body", "driver", "perception", "sign_reader", "state_publisher"} & nodes
    (info,) = graph.bench.node.get_publishers_info_by_topic(at(t.CMD_VEL.name))
    assert info.topic_type == "geometry_msgs/msg/Twist"
