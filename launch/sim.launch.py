"""Anima in the simulator: the graph of `robot.launch.py`, all of its arguments included, on the simulator's clock.

`ros2 launch anima_bringup sim.launch.py seed:=3`. An argument that is left empty keeps what the settings file says.
"""

from pathlib import Path

from launch import LaunchDescription
from launch.actions import DeclareLaunchArgument, IncludeLaunchDescription
from launch.launch_description_sources import PythonLaunchDescriptionSource


def generate_launch_description():
    """The same processes as on a robot; what is declared here comes before what is declared there."""
    return LaunchDescription([
        DeclareLaunchArgument(
            "sim", default_value="mujoco", choices=["mujoco", "gazebo", "firmware"],
            description="The simulator: scripts/gazebo installs Gazebo, make firmware the emulated board",
        ),
        DeclareLaunchArgument(
            "use_sim_time", default_value="true", description="Take time from the topic clock, as a simulator gives it"
        ),
        IncludeLaunchDescription(PythonLaunchDescriptionSource(str(Path(__file__).parent / "robot.launch.py"))),
    ])
