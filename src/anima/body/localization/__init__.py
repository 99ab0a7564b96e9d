"""Where the robot is on its known map: a particle filter over lidar and odometry, honest about being lost."""
