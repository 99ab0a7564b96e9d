"""What the robot can do: the registry of skills, the motor programs behind them, and how they are run."""
