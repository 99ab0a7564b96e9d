"""A gamepad for driving by hand: the joystick's driver; the node `teleop` of the robot's graph does the rest.

`ros2 launch anima_bringup teleop.launch.py`. Buttons and axes, the dead-man button among them: config/teleop.yaml. A
keyboard needs no launch file: `anima teleop`.
"""

from launch import LaunchDescription
from launch.actions import DeclareLaunchArgument
from launch.substitutions import LaunchConfiguration
from launch_ros.actions import Node
from launch_ros.parameter_descriptions import ParameterValue


def generate_launch_description():
    """One process; it repeats what it last saw, so that its silence is a sign that it died."""
    return LaunchDescription([
        DeclareLaunchArgument("namespace", default_value="", description="Namespace of the robot to drive"),
        DeclareLaunchArgument("joy_device", default_value="0", description="Which joystick, counted from 0"),
        Node(
            package="joy",
            executable="joy_node",
            namespace=LaunchConfiguration("namespace"),
            output="screen",
            parameters=[{
                "device_id": ParameterValue(LaunchConfiguration("joy_device"), value_type=int),
                "autorepeat_rate": 20.0,
                "sticky_buttons": False,
            }],
        ),
    ])
