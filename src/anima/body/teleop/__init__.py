"""A person's hands on the robot: what a gamepad, or a keyboard that plays one, means for base and arm."""
