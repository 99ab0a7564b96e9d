"""The very programs that `ros2 launch` would start, with its arguments: the whole graph comes up and ends cleanly."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import rclpy
import yaml
from ament_index_python.packages import get_package_prefix
from rcl_interfaces.srv import GetParameters
from rclpy.parameter import parameter_value_to_python
from support.launch_resolver import ROOT, LaunchResolver, Started, Unavailable
from support.ros_domain import own_domain
from support.ros_rig import Bench, start_ros
from support.running_graph import SETTINGS

from anima import topics as t
from anima.brain import TABLE
from anima.runtime.processes import Process
from anima.runtime.supervisor import Supervisor
from anima_nodes.region_node import PROFILES

pytestmark = [pytest.mark.ros, pytest.mark.timeout(240)]

NAMESPACE = "/robot3"


def command(started: Started) -> list[str]:
    """As launch_ros puts it together."""
    program = Path(get_package_prefix(started.package)) / "lib" / started.package / started.executable
    words = [str(program), *started.arguments, "--ros-args", *started.ros_arguments, "-r", f"__ns:={started.namespace}"]
    for name, value in started.parameters.items():
        words += ["-p", f"{name}:={yaml.safe_dump(value).splitlines()[0]}"]
    return words


def differences(bench: Bench) -> list[str]:
    """What the wire has otherwise than the table: who publishes and who hears, the types, the qualities of service."""
    found = []
    for row in TABLE:
        for topics, infos_of in (
            (row.gives, bench.node.get_publishers_info_by_topic),
            (row.takes, bench.node.get_subscriptions_info_by_topic),
        ):
            for topic in topics:
                name = topic.name if topic.name.startswith("/") else f"{NAMESPACE}/{topic.name}"
                infos = [info for info in infos_of(name) if info.node_name == row.node]
                profile = PROFILES[topic.qos]
                right = [
                    info
                    for info in infos
                    if info.topic_type == topic.type.ros
                    and info.qos_profile.reliability == profile.reliability
                    and info.qos_profile.durability == profile.durability
                ]
                if len(right) != 1 or len(infos) != 1:
                    found.append(f"{row.node} {name}: {infos}")
    return found


def parameter(bench: Bench, node: str, name: str) -> Any:
    """A parameter of a node, asked of the node itself."""
    client = bench.node.create_client(GetParameters, f"{NAMESPACE}/{node}/get_parameters")
    assert client.wait_for_service(timeout_sec=30.0), node
    (value,) = bench.wait(client.call_async(GetParameters.Request(names=[name])), 30.0).values
    bench.node.destroy_client(client)
    return parameter_value_to_python(value)


def test_what_sim_launch_starts_is_the_graph_of_the_table_and_every_process_ends_with_0(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    try:
        resolver = LaunchResolver(tmp_path)
    except Unavailable as error:
        pytest.skip(str(error))
    settings = tmp_path / "settings.yaml"
    values = {"cameras": False, "memory_url": "none", "llm": {"server": SETTINGS["llm.server"]}}
    settings.write_text(yaml.safe_dump(values), encoding="utf-8")
    started = resolver.resolve(
        ROOT / "launch" / "sim.launch.py", params_file=str(settings), namespace=NAMESPACE.strip("/"), seed="5"
    )
    commands = {process.value: command(one) for process, one in zip(Process, started, strict=True)}
    with own_domain() as domain:
        monkeypatch.setenv("ROS_DOMAIN_ID", str(domain))
        start_ros(domain)
        bench = Bench()
        try:
            with Supervisor(commands, tmp_path / "logs") as running:
                hearts = [t.HEARTBEATS[name] for name in commands]
                beats = [bench.listen(replace(topic, name=f"{NAMESPACE}/{topic.name}")) for topic in hearts]
                logs = "\n".join(running.log(name).read_text() for name in commands)
                assert bench.until(lambda: all(beats), 120.0), logs
                nodes = {(row.node, NAMESPACE) for row in TABLE}
                assert bench.until(lambda: nodes <= set(bench.node.get_node_names_and_namespaces()), 30.0)
                assert bench.until(lambda: not differences(bench), 30.0), differences(bench)
                assert {row.node: parameter(bench, row.node, "use_sim_time") for row in TABLE} == dict.fromkeys(
                    (row.node for row in TABLE), True
                )
                codes = running.stop()
                logs = "\n".join(running.log(name).read_text() for name in commands)
            assert codes == {process.value: 0 for process in Process}, logs
        finally:
            bench.close()
            rclpy.try_shutdown()
