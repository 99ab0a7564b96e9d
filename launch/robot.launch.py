"""Anima on a robot: one process of nodes per line of the brain table, and a board behind a serial line as its body.

`ros2 launch anima_bringup robot.launch.py device:=/dev/anima`. `sim.launch.py` starts the same with a simulator in the
body's place. An argument that is left empty keeps what the settings file says.
"""

import os
from pathlib import Path

from launch import LaunchDescription
from launch.actions import DeclareLaunchArgument, IncludeLaunchDescription, OpaqueFunction, SetEnvironmentVariable
from launch.conditions import IfCondition
from launch.launch_description_sources import PythonLaunchDescriptionSource
from launch.substitutions import EnvironmentVariable, LaunchConfiguration, PythonExpression
from launch_ros.actions import Node
from launch_ros.parameter_descriptions import ParameterValue

from anima.runtime.processes import is_restarted, processes

# What pictures and many processes need of Fast DDS, by the variable of its release; a file of the robot's own wins.
FAST_DDS = Path(__file__).parent.parent / "config" / "fastdds.xml"
OLD_FAST_DDS = os.environ.get("ROS_DISTRO") in ("humble", "iron", "jazzy")
PROFILES = "FASTRTPS_DEFAULT_PROFILES_FILE" if OLD_FAST_DDS else "FASTDDS_DEFAULT_PROFILES_FILE"

# Launch argument -> the setting that it overrides.
SETTINGS = {
    "robot": "robot", "map": "map", "sim": "sim", "composed": "composed", "device": "link.device",
    "cmd_vel": "cmd_vel", "gui": "gui", "seed": "seed", "speed": "speed", "llm": "llm.model", "record": "record.on",
    "self": "inner.self_name", "packs": "inner.packs", "isolated": "inner.isolated", "parts": "learn.parts",
}


def _settings():
    settings = [["--settings=", LaunchConfiguration("params_file")]]
    for argument, setting in SETTINGS.items():
        settings += ["--set", [f"{setting}=", LaunchConfiguration(argument)]]
    return settings


def _nodes_of_the_mind(context):
    """The processes of the brain table. A process that dies is started again where that is safe."""
    composed = LaunchConfiguration("composed").perform(context) == "true"
    return [
        # No name: it would rename every node of the process.
        Node(
            package="anima_nodes",
            executable="process",
            namespace=LaunchConfiguration("namespace"),
            output="screen",
            respawn=is_restarted(process),
            respawn_delay=2.0,
            arguments=["--process", process, *_settings()],
            ros_arguments=["--log-level", LaunchConfiguration("log_level")],
            parameters=[{"use_sim_time": ParameterValue(LaunchConfiguration("use_sim_time"), value_type=bool)}],
        )
        for process in processes(composed, LaunchConfiguration("sim").perform(context))
    ]


def generate_launch_description():
    """Five processes or one per node, and recorder, the emulated board's world and rviz if wanted."""
    settings = _settings()
    return LaunchDescription([
        DeclareLaunchArgument("robot", default_value="", description="The robot: a file of config/robots"),
        DeclareLaunchArgument("map", default_value="", description="Where it is: a folder of config/maps"),
        DeclareLaunchArgument(
            "sim", default_value="none", description="What simulates the body; none: it is real",
            choices=["none", "mujoco", "gazebo", "firmware"],
        ),
        DeclareLaunchArgument(
            "composed", default_value="true", choices=["true", "false"],
            description="The nodes in five processes; false: each in one of its own, which costs memory and time",
        ),
        DeclareLaunchArgument("device", default_value="", description="The serial device of the body's board"),
        DeclareLaunchArgument(
            "cmd_vel", default_value="", choices=["", "Twist", "TwistStamped"],
            description="What the robot's own drivers take; empty: as its file says",
        ),
        DeclareLaunchArgument("gui", default_value="", description="true opens Gazebo's window"),
        DeclareLaunchArgument("seed", default_value="", description="Where things lie, and the simulator's noise"),
        DeclareLaunchArgument(
            "speed", default_value="", description="How much faster than the wall clock time may run as the body moves"
        ),
        DeclareLaunchArgument(
            "llm", default_value="", description="The planner's model: a name of models/manifest.yaml or a GGUF file"
        ),
        DeclareLaunchArgument(
            "params_file", default_value="", description="A settings file in place of config/anima.yaml"
        ),
        DeclareLaunchArgument(
            "record", default_value="false", choices=["true", "false"],
            description="Record every topic and the steps of the mind, for replay, Foxglove and rosbag2",
        ),
        DeclareLaunchArgument("self", default_value="", description="Who it is inside: a file of config/selves"),
        DeclareLaunchArgument(
            "packs", default_value="", description="Packs of core parts, files of config/packs, with commas between"
        ),
        DeclareLaunchArgument(
            "isolated", default_value="", description="Whether the Self sees nothing but the closed form of the bids"
        ),
        DeclareLaunchArgument(
            "parts", default_value="", description="Whether dynamic parts are kept and bid; false leaves them out"
        ),
        DeclareLaunchArgument("namespace", default_value="", description="Namespace of all nodes and topics"),
        DeclareLaunchArgument(
            "use_sim_time", default_value="false", description="Take time from the topic clock, as a simulator gives it"
        ),
        DeclareLaunchArgument(
            "rviz", default_value="false", choices=["true", "false"], description="Open rviz with Anima's view"
        ),
        DeclareLaunchArgument(
            "log_level", default_value="info", description="From which severity on messages are printed",
            choices=["debug", "info", "warn", "error", "fatal"],
        ),
        # Without the check a field of the wrong type is sent as garbage instead of raising.
        SetEnvironmentVariable("ROS_PYTHON_CHECK_FIELDS", "1"),
        SetEnvironmentVariable(PROFILES, EnvironmentVariable(PROFILES, default_value=str(FAST_DDS))),
        # First, so that nothing is missed; nobody waits for it.
        Node(
            package="anima_nodes",
            executable="recorder",
            namespace=LaunchConfiguration("namespace"),
            output="screen",
            condition=IfCondition(LaunchConfiguration("record")),
            arguments=settings,
        ),
        # The board and the world around it, which go on whatever becomes of the robot's own processes.
        Node(
            package="anima_nodes",
            executable="world",
            namespace=LaunchConfiguration("namespace"),
            output="screen",
            condition=IfCondition(PythonExpression(["'", LaunchConfiguration("sim"), "' == 'firmware'"])),
            arguments=settings,
            ros_arguments=["--log-level", LaunchConfiguration("log_level")],
        ),
        OpaqueFunction(function=_nodes_of_the_mind),
        IncludeLaunchDescription(
            PythonLaunchDescriptionSource(str(Path(__file__).parent / "rviz.launch.py")),
            condition=IfCondition(LaunchConfiguration("rviz")),
        ),
    ])
