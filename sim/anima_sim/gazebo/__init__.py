"""The same scene and robot in Gazebo 11, stepped in lock-step: `sim: gazebo` in the settings."""
