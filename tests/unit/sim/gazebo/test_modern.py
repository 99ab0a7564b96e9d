"""What is written for gz sim: its form, and topics and types that are those of the table. It isn't run by any test."""

from __future__ import annotations

import xml.etree.ElementTree as ET

import yaml

from anima.brain import TABLE
from anima_sim.gazebo.modern import BRIDGE, NOT_BRIDGED, bridge_yaml, modern_sdf

BODY = next(row for row in TABLE if row.node == "body")


def test_every_topic_of_the_body_is_bridged_or_said_not_to_be() -> None:
    bridged = {row.topic.name for row in BRIDGE}
    missing = {topic.name for topic in NOT_BRIDGED}
    assert not bridged & missing
    faults = {"sim/fault"}  # nobody breaks anything in gz sim
    assert bridged | missing | faults == {topic.name for topic in (*BODY.gives, *BODY.takes)}


def test_directions_follow_the_table_and_types_are_the_topics() -> None:
    rows = {row["ros_topic_name"]: row for row in yaml.safe_load(bridge_yaml())}
    for topic in BODY.gives:
        if topic.name in rows:
            assert rows[topic.name]["direction"] == "GZ_TO_ROS"
            assert rows[topic.name]["ros_type_name"] == topic.type.ros
    assert {name for name, row in rows.items() if row["direction"] == "ROS_TO_GZ"} == {
        "cmd_vel", "arm_controller/joint_trajectory",
    }
    assert all(row["gz_type_name"].startswith("gz.msgs.") for row in rows.values())


def test_the_world_has_a_source_for_every_topic_of_the_bridge() -> None:
    world = ET.fromstring(modern_sdf())
    said = {element.text for tag in ("topic", "odom_topic") for element in world.iter(tag)}
    for row in BRIDGE:
        root = row.gz_topic.split("/")[0]
        if root in ("clock", "model"):
            continue  # the server's own, and the battery's, which is named after its model
        assert row.gz_topic in said or root in said, row.gz_topic
    assert {plugin.attrib["name"].rpartition("::")[2] for plugin in world.iter("plugin")} >= {
        "Physics", "Sensors", "DiffDrive", "JointStatePublisher", "JointTrajectoryController", "Contact", "Imu",
    }
