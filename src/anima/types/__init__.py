"""Values that cross a topic: pydantic twins of the ROS messages, with the same field names."""
