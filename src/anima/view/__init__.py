"""What people see of the robot in rviz and Foxglove, beyond what ROS shows by itself."""
