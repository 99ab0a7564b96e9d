"""rviz with Anima's view: map, transforms, robot model, scan, particles, route, and what the mind makes of it.

`ros2 launch anima_bringup rviz.launch.py`, on any machine that hears the robot.
"""

from pathlib import Path

from launch import LaunchDescription
from launch.actions import DeclareLaunchArgument
from launch.substitutions import LaunchConfiguration
from launch_ros.actions import Node
from launch_ros.parameter_descriptions import ParameterValue

TOPICS = (
    "clock", "tf", "tf_static", "robot_description", "map", "scan", "particles", "pose", "plan",
    "local_costmap/costmap", "markers", "camera/color/image_raw", "initialpose",
)


def generate_launch_description():
    """One process; transforms are looked for in the namespace, as the robot publishes them there."""
    return LaunchDescription([
        DeclareLaunchArgument(
            "rviz_config", default_value=str(Path(__file__).parents[1] / "config" / "rviz" / "anima.rviz"),
            description="The file that says what rviz shows",
        ),
        DeclareLaunchArgument("namespace", default_value="", description="Namespace of the robot to look at"),
        DeclareLaunchArgument(
            "use_sim_time", default_value="false", description="Take time from the topic clock, as a simulator gives it"
        ),
        Node(
            package="rviz2",
            executable="rviz2",
            namespace=LaunchConfiguration("namespace"),
            output="screen",
            arguments=["-d", LaunchConfiguration("rviz_config")],
            parameters=[{"use_sim_time": ParameterValue(LaunchConfiguration("use_sim_time"), value_type=bool)}],
            # The file names topics from the root on, so that it can be opened without this one too.
            remappings=[(f"/{name}", name) for name in TOPICS],
        ),
    ])
