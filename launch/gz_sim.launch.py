"""The flat in the Gazebo of today (gz sim) with its bridge to ROS 2: the robot's body for the rest of the graph.

First write the world and the bridge from the scene: `python -m anima_sim.gazebo.modern ~/.cache/anima/gz_sim`. Then
`ros2 launch anima_bringup gz_sim.launch.py`. It needs gz sim and ros_gz. Checked for form, topics and
types; it was not run where it was written. `anima_sim.gazebo.modern` says which topics the bridge can't make.
"""

from launch import LaunchDescription
from launch.actions import DeclareLaunchArgument, ExecuteProcess
from launch.substitutions import EnvironmentVariable, LaunchConfiguration
from launch_ros.actions import Node

FOLDER = [EnvironmentVariable("HOME"), "/.cache/anima/gz_sim"]


def generate_launch_description():
    """Gazebo, running from the start, and the bridge."""
    return LaunchDescription([
        DeclareLaunchArgument("world", default_value=[*FOLDER, "/flat.sdf"], description="The world file"),
        DeclareLaunchArgument(
            "bridge", default_value=[*FOLDER, "/ros_gz_bridge.yaml"], description="The bridge's configuration"
        ),
        DeclareLaunchArgument("namespace", default_value="", description="Namespace of the ROS side of the bridge"),
        ExecuteProcess(cmd=["gz", "sim", "-r", LaunchConfiguration("world")], output="screen"),
        Node(
            package="ros_gz_bridge",
            executable="parameter_bridge",
            namespace=LaunchConfiguration("namespace"),
            output="screen",
            parameters=[{"config_file": LaunchConfiguration("bridge"), "use_sim_time": True}],
        ),
    ])
