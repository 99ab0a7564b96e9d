"""One arm for all tests here: reading the description takes longer than the tests."""

from __future__ import annotations

import pytest

from anima.body.arm.grasp import ArmPlanner
from anima.body.arm.kinematics import ArmKinematics
from anima.body.arm.poses import ArmPoses, load_poses
from anima_sim.robot import urdf


@pytest.fixture(scope="session")
def arm() -> ArmKinematics:
    return ArmKinematics(urdf())


@pytest.fixture(scope="session")
def poses() -> ArmPoses:
    return load_poses()


@pytest.fixture(scope="session")
def planner(arm: ArmKinematics, poses: ArmPoses) -> ArmPlanner:
    return ArmPlanner(arm, poses.gripper.open_rad)
