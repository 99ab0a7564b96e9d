"""The thin ROS side: every row of the brain table as an rclpy node, and the clients that people use."""
