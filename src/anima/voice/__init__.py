"""Speech in and out: what people say to the robot, however it was heard."""
