"""The launch files start what the brain table says, with the same settings as `anima up`."""

from __future__ import annotations

import ast
import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest
from ament_index_python.packages import get_package_prefix
from support.launch_resolver import ROOT, LaunchResolver, Refused, Started, Unavailable

from anima.brain import table
from anima.config import Settings, load_settings
from anima.runtime.processes import Process
from anima.runtime.supervisor import WORLD, commands
from anima_nodes.process import overrides, parse

pytestmark = pytest.mark.ros

LAUNCH_FILES = sorted((ROOT / "launch").glob("*.launch.py"))
SIM, ROBOT = (ROOT / "launch" / f"{name}.launch.py" for name in ("sim", "robot"))
# What comes with a full ROS 2 or with a gz sim that is installed beside, and that no test can start.
FOREIGN = {"ros_gz_bridge", "rviz2", "joy"}

# What launch_ros.actions.Node takes, with what it hands on to launch.actions.ExecuteProcess and ExecuteLocal.
NODE_KEYWORDS = {
    "package", "executable", "name", "namespace", "exec_name", "parameters", "remappings", "ros_arguments", "arguments",
    "prefix", "cwd", "env", "additional_env", "shell", "sigterm_timeout", "sigkill_timeout", "emulate_tty", "output",
    "output_format", "cached_output", "log_cmd", "on_exit", "respawn", "respawn_delay", "respawn_max_retries",
    "condition",
}


@pytest.fixture(scope="module")
def resolver(tmp_path_factory: pytest.TempPathFactory) -> LaunchResolver:
    try:
        return LaunchResolver(tmp_path_factory.mktemp("resolver"))
    except Unavailable as error:
        pytest.skip(str(error))


def configured(words: Sequence[str]) -> tuple[str, Settings]:
    """The process and the settings that a process with this command line has."""
    arguments = parse(list(words))
    path = Path(arguments.settings) if arguments.settings else None
    return arguments.process, load_settings(overrides(arguments.set), path)


def configured_by_anima_up(settings: dict[str, str], settings_file: str = "") -> list[tuple[str, Settings]]:
    found = []
    for name, command in commands(settings, settings_file=settings_file).items():
        if name == WORLD:
            continue
        words = command[command.index("anima_nodes.process") + 1 : command.index("--ros-args")]
        found.append(configured(words))
    return found


@pytest.mark.parametrize(
    ("arguments", "settings"),
    [
        ({}, {}),
        ({"seed": "7"}, {"seed": "7"}),
        ({"speed": "2.5", "robot": "anima", "sim": "mujoco"}, {"speed": "2.5", "robot": "anima", "sim": "mujoco"}),
        ({"llm": "/models/other.gguf"}, {"llm.model": "/models/other.gguf"}),
        ({"namespace": "robot2", "log_level": "warn"}, {}),
    ],
)
def test_ros2_launch_starts_the_same_processes_with_the_same_settings_as_anima_up(
    resolver: LaunchResolver, arguments: dict[str, str], settings: dict[str, str]
) -> None:
    started = resolver.resolve(SIM, **arguments)

    expected = configured_by_anima_up({"sim": "mujoco", **settings})
    assert [configured(process.arguments) for process in started] == expected
    assert [process.parameters for process in started] == [{"use_sim_time": True}] * len(Process)


@pytest.mark.parametrize(
    ("arguments", "settings"),
    [
        ({}, {}),
        ({"device": "/dev/anima", "map": "flat"}, {"link.device": "/dev/anima", "map": "flat"}),
        ({"self": "guardian", "packs": "social"}, {"inner.self_name": "guardian", "inner.packs": "social"}),
    ],
)
def test_on_a_robot_the_same_processes_start_on_the_clock_of_the_wall_with_a_board_as_body(
    resolver: LaunchResolver, arguments: dict[str, str], settings: dict[str, str]
) -> None:
    started = resolver.resolve(ROBOT, **arguments)

    expected = configured_by_anima_up({"sim": "none", **settings})
    assert [configured(process.arguments) for process in started] == expected
    assert [process.parameters for process in started] == [{"use_sim_time": False}] * len(Process)
    assert {settings.sim for _, settings in expected} == {"none"}


def test_behind_the_emulated_board_the_world_is_a_process_of_its_own_with_the_settings_of_the_rest(
    resolver: LaunchResolver,
) -> None:
    world, *started = resolver.resolve(SIM, sim="firmware", seed="7", namespace="robot2")

    expected = configured_by_anima_up({"sim": "firmware", "seed": "7"})
    assert [configured(process.arguments) for process in started] == expected
    assert (world.package, world.executable, world.namespace) == ("anima_nodes", "world", "/robot2")
    assert configured(["--process", "body", *world.arguments]) == expected[0]
    assert world.respawn is False


@pytest.mark.parametrize("launch_file", [SIM, ROBOT], ids=lambda path: path.name)
def test_rviz_opens_only_if_wanted_and_looks_into_the_namespace(resolver: LaunchResolver, launch_file: Path) -> None:
    assert "rviz2" not in {process.package for process in resolver.resolve(launch_file)}
    *_, rviz = resolver.resolve(launch_file, rviz="true", namespace="robot2")
    assert (rviz.package, rviz.namespace) == ("rviz2", "/robot2")
    assert Path(rviz.arguments[1]) == ROOT / "config" / "rviz" / "anima.rviz"
    assert Path(rviz.arguments[1]).exists()


def test_a_gamepad_of_one_namespace_drives_that_robot(resolver: LaunchResolver) -> None:
    (pad,) = resolver.resolve(ROOT / "launch" / "teleop.launch.py", namespace="robot2", joy_device="1")
    assert (pad.package, pad.namespace, pad.parameters["device_id"]) == ("joy", "/robot2", 1)


def test_arguments_left_empty_keep_what_the_settings_file_says(resolver: LaunchResolver, tmp_path: Path) -> None:
    file = tmp_path / "mine.yaml"
    file.write_text("seed: 41\nllm: {threads: 1, model: small}\n", encoding="utf-8")

    started = resolver.resolve(SIM, params_file=str(file), llm="large")

    expected = configured_by_anima_up({"sim": "mujoco", "llm.model": "large"}, settings_file=str(file))
    assert [configured(process.arguments) for process in started] == expected
    assert expected[0][1].seed == 41
    assert expected[0][1].llm.threads == 1
    assert expected[0][1].llm.model == "large"


@pytest.mark.parametrize(
    ("launch_file", "sim"), [(SIM, "mujoco"), (SIM, "gazebo"), (SIM, "firmware"), (ROBOT, "none")]
)
def test_with_one_process_per_node_it_starts_the_rows_of_the_table_in_its_order(
    resolver: LaunchResolver, launch_file: Path, sim: str
) -> None:
    started = resolver.resolve(launch_file, composed="false", sim=sim, namespace="robot2")
    nodes = [process for process in started if process.executable == "process"]

    found = [configured(process.arguments) for process in nodes]
    assert [name for name, _ in found] == [row.node for row in table(sim)]
    assert found == configured_by_anima_up({"sim": sim, "composed": "false"})
    assert {process.namespace for process in nodes} == {"/robot2"}
    assert {settings.composed for _, settings in found} == {False}


@pytest.mark.parametrize("launch_file", [SIM, ROBOT], ids=lambda path: path.name)
@pytest.mark.parametrize("composed", ["true", "false"])
def test_ros2_launch_starts_again_what_is_safe_to_start_again(
    resolver: LaunchResolver, launch_file: Path, composed: str
) -> None:
    found = {configured(one.arguments)[0]: one.respawn for one in resolver.resolve(launch_file, composed=composed)}
    dead = {process for process, again in found.items() if not again}
    body = "driver" if launch_file == ROBOT else "body"
    assert dead == ({"body", "reflex"} if composed == "true" else {body, "reflex_kernel"})


def test_a_namespace_holds_for_every_process(resolver: LaunchResolver) -> None:
    assert {process.namespace for process in resolver.resolve(SIM)} == {"/"}
    assert {process.namespace for process in resolver.resolve(SIM, namespace="robot2")} == {"/robot2"}


def test_the_log_level_and_the_source_of_time_reach_every_process(resolver: LaunchResolver) -> None:
    started = resolver.resolve(SIM, log_level="debug", use_sim_time="false")

    assert [process.ros_arguments for process in started] == [["--log-level", "debug"]] * len(Process)
    assert [process.parameters for process in started] == [{"use_sim_time": False}] * len(Process)


def test_messages_with_fields_of_the_wrong_type_raise_instead_of_being_sent(resolver: LaunchResolver) -> None:
    assert all(process.environment["ROS_PYTHON_CHECK_FIELDS"] == "1" for process in resolver.resolve(SIM))


def test_every_process_has_the_profile_of_fast_dds_unless_the_robot_has_one_of_its_own(
    resolver: LaunchResolver, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = "FASTRTPS_DEFAULT_PROFILES_FILE"  # as the release is called that the resolver stands for
    monkeypatch.delenv(name, raising=False)
    profile = ROOT / "config" / "fastdds.xml"
    assert all(Path(process.environment[name]).samefile(profile) for process in resolver.resolve(ROBOT))
    monkeypatch.setenv(name, "/etc/own.xml")
    assert all(process.environment[name] == "/etc/own.xml" for process in resolver.resolve(ROBOT))


@pytest.mark.parametrize("arguments", [{"sim": "matrix"}, {"log_level": "shout"}])
def test_a_value_that_does_not_exist_is_refused(resolver: LaunchResolver, arguments: dict[str, str]) -> None:
    with pytest.raises(Refused, match=next(iter(arguments.values()))):
        resolver.resolve(SIM, **arguments)


@pytest.mark.parametrize("launch_file", LAUNCH_FILES, ids=lambda path: path.name)
def test_every_executable_of_a_launch_file_is_in_the_built_workspace(
    resolver: LaunchResolver, launch_file: Path
) -> None:
    started: list[Started] = resolver.resolve(launch_file)
    assert started
    if launch_file == SIM:
        started += resolver.resolve(SIM, sim="firmware", record="true")
    for process in started:
        if process.package in FOREIGN:
            continue
        program = Path(get_package_prefix(process.package)) / "lib" / process.package / process.executable
        assert os.access(program, os.X_OK), program


@pytest.mark.parametrize("launch_file", LAUNCH_FILES, ids=lambda path: path.name)
def test_the_installed_launch_file_is_the_one_of_the_checkout(launch_file: Path) -> None:
    share = Path(get_package_prefix("anima_bringup")) / "share" / "anima_bringup" / "launch"
    assert (share / launch_file.name).read_bytes() == launch_file.read_bytes()


def calls(launch_file: Path, name: str) -> list[ast.Call]:
    """The calls of `name` in a launch file."""
    tree = ast.parse(launch_file.read_text(encoding="utf-8"))
    found = [node for node in ast.walk(tree) if isinstance(node, ast.Call)]
    return [call for call in found if isinstance(call.func, ast.Name) and call.func.id == name]


@pytest.mark.parametrize("launch_file", LAUNCH_FILES, ids=lambda path: path.name)
def test_nodes_are_given_only_keywords_that_launch_ros_knows(launch_file: Path) -> None:
    assert calls(launch_file, "Node") or calls(launch_file, "IncludeLaunchDescription")
    for call in calls(launch_file, "Node"):
        assert {keyword.arg for keyword in call.keywords} <= NODE_KEYWORDS


@pytest.mark.parametrize("launch_file", LAUNCH_FILES, ids=lambda path: path.name)
def test_every_launch_argument_has_a_default_and_a_description(launch_file: Path) -> None:
    for call in calls(launch_file, "DeclareLaunchArgument"):
        given = {keyword.arg: keyword.value for keyword in call.keywords}
        assert {"default_value", "description"} <= given.keys(), ast.unparse(call)
        description = given["description"]
        assert isinstance(description, ast.Constant)
        assert description.value


def test_every_declared_argument_changes_what_is_started(resolver: LaunchResolver, tmp_path: Path) -> None:
    file = tmp_path / "settings.yaml"
    file.touch()
    other = {
        "robot": "other", "map": "other", "sim": "gazebo", "composed": "false", "device": "/dev/other", "rviz": "true",
        "cmd_vel": "Twist",
        "gui": "true", "seed": "9", "speed": "3", "llm": "other",
        "params_file": str(file),
        "namespace": "other", "use_sim_time": "true", "log_level": "warn", "record": "true",
        "self": "guardian", "packs": "social", "isolated": "true", "parts": "false",
    }
    declared = {str(call.args[0].value) for call in calls(ROBOT, "DeclareLaunchArgument")}  # type: ignore[attr-defined]
    assert declared == other.keys()

    usual = resolver.resolve(ROBOT)
    for name in declared:
        assert resolver.resolve(ROBOT, **{name: other[name]}) != usual, name


def test_what_a_launch_file_imports_of_the_mind_needs_no_package_of_the_environment() -> None:
    """`ros2 launch` runs with the Python of ROS 2, which has none of them."""
    code = f"import sys; sys.path.insert(0, {str(ROOT / 'src')!r}); import anima.runtime.processes"
    subprocess.run([sys.executable, "-I", "-S", "-c", code], check=True, timeout=60)
    for launch_file in LAUNCH_FILES:
        tree = ast.parse(launch_file.read_text(encoding="utf-8"))
        modules = {node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) and node.module}
        assert {module for module in modules if module.startswith("anima")} <= {"anima.runtime.processes"}


@pytest.mark.skipif(shutil.which("ros2") is None, reason="this machine has no `ros2 launch`; play_launch stands in")
@pytest.mark.parametrize("launch_file", LAUNCH_FILES, ids=lambda path: path.name)
def test_ros2_launch_itself_lists_the_arguments(launch_file: Path) -> None:
    said = subprocess.run(
        ["ros2", "launch", "anima_bringup", launch_file.name, "--show-args"],
        capture_output=True, text=True, check=True, timeout=60,
    ).stdout
    for call in calls(launch_file, "DeclareLaunchArgument"):
        assert f"'{call.args[0].value}'" in said  # type: ignore[attr-defined]
