"""What rviz and Foxglove are set to show is what the graph has, by name, type and quality of service."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterator
from typing import Any

import pytest
import yaml
from support.launch_resolver import ROOT

from anima.brain import TABLE, AnyTopic
from anima.topics import Qos
from anima.view.markers import Markers
from anima_nodes.convert import ros_class
from anima_nodes.region_node import PROFILES

pytestmark = pytest.mark.ros

RVIZ = yaml.safe_load((ROOT / "config" / "rviz" / "anima.rviz").read_text(encoding="utf-8"))["Visualization Manager"]
LAYOUT = json.loads((ROOT / "config" / "foxglove" / "layout.json").read_text(encoding="utf-8"))
GRAPH = {f"/{topic.name}": topic for row in TABLE for topic in (*row.takes, *row.gives)}
GIVEN = {f"/{topic.name}" for row in TABLE for topic in row.gives}

# What each display of rviz subscribes to.
SHOWN_BY = {
    "Map": "nav_msgs/msg/OccupancyGrid", "RobotModel": "std_msgs/msg/String", "LaserScan": "sensor_msgs/msg/LaserScan",
    "PoseArray": "geometry_msgs/msg/PoseArray", "Path": "nav_msgs/msg/Path", "Image": "sensor_msgs/msg/Image",
    "PoseWithCovariance": "geometry_msgs/msg/PoseWithCovarianceStamped",
    "MarkerArray": "visualization_msgs/msg/MarkerArray",
}
WITHOUT_TOPIC = {"Grid", "TF"}
DISPLAYS = [one for one in RVIZ["Displays"] if one["Class"].rpartition("/")[2] not in WITHOUT_TOPIC]


@pytest.mark.parametrize("display", DISPLAYS, ids=lambda display: display["Name"])
def test_a_display_of_rviz_finds_its_topic_with_its_type_and_quality_of_service(display: dict[str, Any]) -> None:
    wanted = display.get("Topic") or display["Description Topic"]
    topic = GRAPH[wanted["Value"]]
    assert wanted["Value"] in GIVEN
    assert topic.type.ros == SHOWN_BY[display["Class"].rpartition("/")[2]]
    profile = PROFILES[topic.qos]
    assert wanted["Reliability Policy"].replace(" ", "_").upper() == profile.reliability.name
    assert wanted["Durability Policy"].replace(" ", "_").upper() == profile.durability.name


def test_rviz_shows_every_kind_of_marker() -> None:
    (mind,) = (one for one in DISPLAYS if one["Name"] == "Mind")
    doc = Markers.__doc__ or ""
    named = set(re.search(r"switched in the viewer: (.*)\.", " ".join(doc.split())).group(1).split(", "))  # type: ignore[union-attr]
    assert set(mind["Namespaces"]) == named


def test_a_pose_that_is_set_in_rviz_reaches_localization() -> None:
    (tool,) = (one for one in RVIZ["Tools"] if one["Class"].endswith("SetInitialPose"))
    assert GRAPH[tool["Topic"]["Value"]].qos is Qos.EVENT
    assert GRAPH[tool["Topic"]["Value"]].type.ros == "geometry_msgs/msg/PoseWithCovarianceStamped"


def test_every_topic_of_the_view_follows_the_namespace() -> None:
    tree = ast.parse((ROOT / "launch" / "rviz.launch.py").read_text(encoding="utf-8"))
    (names,) = (
        ast.literal_eval(node.value)
        for node in tree.body
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "TOPICS"
    )
    text = (ROOT / "config" / "rviz" / "anima.rviz").read_text(encoding="utf-8")
    used = set(re.findall(r"Value: /([\w/]+)", text)) - {"map_updates"}
    assert used | {"clock", "tf", "tf_static"} == set(names)


def paths(value: Any, key: str = "") -> Iterator[str]:
    """Every path of a topic in Foxglove's layout, as `/topic.field`."""
    if isinstance(value, dict):
        for name, inner in value.items():
            if key == "topics":
                yield name
            yield from paths(inner, name)
    elif isinstance(value, list):
        for inner in value:
            yield from paths(inner, key)
    elif key in ("value", "topicPath", "topicToRender", "imageTopic", "calibrationTopic", "topic", "poseEstimateTopic"):
        yield value


PATHS = sorted(set(paths(LAYOUT["configById"])))


def topic_of(path: str) -> AnyTopic:
    return GRAPH[path.partition(".")[0]]


@pytest.mark.parametrize("path", PATHS)
def test_what_foxglove_shows_is_a_field_of_a_topic(path: str) -> None:
    topic = topic_of(path)
    fields = re.sub(r"\[[^]]*\]|\{[^}]*\}", "", path.partition(".")[2])
    kind: str = topic.type.ros
    for field in filter(None, fields.split(".")):
        types = ros_class(kind).get_fields_and_field_types()
        assert field in types, f"{kind} has no {field}"
        inner = re.sub(r"^sequence<(.*)>$", r"\1", types[field])
        kind = inner.replace("/", "/msg/") if "/" in inner else ""


def test_every_panel_of_foxglove_has_its_place() -> None:
    def leaves(node: Any) -> Iterator[str]:
        if isinstance(node, str):
            yield node
        else:
            yield from leaves(node["first"])
            yield from leaves(node["second"])

    assert sorted(leaves(LAYOUT["layout"])) == sorted(LAYOUT["configById"])
