"""Foxglove sees the graph as it is on the wire, and a topic is listened to only while somebody looks."""

from __future__ import annotations

import json
import struct
from collections.abc import Iterator
from typing import Any

import pytest
from support.ros_rig import Bench
from websockets.sync.client import ClientConnection, connect

from anima import topics as t
from anima.audit.interfaces import from_cdr
from anima.types.base import Header
from anima.types.mind import StopState
from anima_nodes.convert import ros_class, to_ros
from anima_nodes.foxglove_server import FoxgloveServer
from anima_nodes.region_node import PROFILES

pytestmark = pytest.mark.ros

STOPPED = StopState(header=Header.at(1.0), latched=True, source="ana", active=[])


@pytest.fixture
def server(bench: Bench) -> FoxgloveServer:
    return bench.add(FoxgloveServer(port=0))  # type: ignore[no-any-return]


@pytest.fixture
def viewer(server: FoxgloveServer) -> Iterator[ClientConnection]:
    with connect(f"ws://127.0.0.1:{server.port}", subprotocols=["foxglove.sdk.v1"]) as line:  # type: ignore[list-item]
        yield line


def channel_of(viewer: ClientConnection, name: str) -> Any:
    """What the server says of a topic that it has. It tells of them a hundred at a time, in any order."""
    found: dict[str, Any] = {}
    while name not in found:
        said = viewer.recv(timeout=10.0)
        if isinstance(said, str) and (told := json.loads(said))["op"] == "advertise":
            found |= {channel["topic"]: channel for channel in told["channels"]}
    return found[name]


def show(viewer: ClientConnection, channel: dict[str, Any]) -> None:
    viewer.send(json.dumps({"op": "subscribe", "subscriptions": [{"id": 7, "channelId": channel["id"]}]}))


def shown(viewer: ClientConnection, bench: Bench) -> bytes:
    """The next message, as it was on the wire."""
    got: list[bytes] = []

    def look() -> bool:
        try:
            said = viewer.recv(timeout=0.01)
        except TimeoutError:
            return False
        if isinstance(said, bytes) and said[0] == 1:
            assert struct.unpack("<I", said[1:5]) == (7,)
            got.append(said[13:])
        return bool(got)

    assert bench.until(look, 10.0), "nothing came"
    return got[0]


def test_a_viewer_that_comes_late_sees_the_state_as_it_was_sent(
    server: FoxgloveServer, viewer: ClientConnection, bench: Bench
) -> None:
    topic = t.STOP_STATE
    outlet = bench.node.create_publisher(ros_class(topic.type.ros), topic.name, PROFILES[topic.qos])
    outlet.publish(to_ros(STOPPED))
    channel = channel_of(viewer, "/software_stop/state")
    assert (channel["encoding"], channel["schemaName"]) == ("cdr", "anima_msgs/msg/StopState")
    assert "bool latched" in channel["schema"]

    show(viewer, channel)

    seen = from_cdr(StopState.ros, shown(viewer, bench))
    assert (seen.latched, seen.source) == (True, "ana")


def test_nobody_is_listened_to_before_somebody_looks(
    server: FoxgloveServer, viewer: ClientConnection, bench: Bench
) -> None:
    images = t.CAMERA_COLOUR.name
    assert bench.node.count_subscribers(images) == 0
    show(viewer, channel_of(viewer, "/" + images))
    assert bench.until(lambda: bench.node.count_subscribers(images) == 1)
    viewer.send(json.dumps({"op": "unsubscribe", "subscriptionIds": [7]}))
    assert bench.until(lambda: bench.node.count_subscribers(images) == 0)


def test_a_port_that_is_taken_is_said_and_leaves_nothing_behind(server: FoxgloveServer, bench: Bench) -> None:
    with pytest.raises(RuntimeError, match="in use"):
        FoxgloveServer(server.port)
    assert bench.node.get_node_names().count("foxglove_server") <= 1


def test_the_server_is_reached_from_this_machine_alone(server: FoxgloveServer) -> None:
    with open("/proc/net/tcp", encoding="ascii") as lines:
        local = [line.split()[1] for line in lines][1:]
    assert [address for address in local if address.endswith(f":{server.port:04X}") and address[:8] == "0100007F"]
    assert not [address for address in local if address == f"00000000:{server.port:04X}"]
