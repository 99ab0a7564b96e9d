"""The mind: pure Python, no ROS. Regions step on values and on a time that is passed in."""

__version__ = "0.1.0"
