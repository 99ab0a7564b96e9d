"""The arm: forward and inverse kinematics, clearance, grasp planning and trajectories, computed from the URDF."""
