"""How the robot is, once a second, for rqt_robot_monitor and everybody else who reads `/diagnostics`."""
