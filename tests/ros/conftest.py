"""A ROS domain for the run, and a bench in a fresh context for each test that asks for one."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
import rclpy
from support.ros_domain import own_domain
from support.ros_rig import Bench, start_ros


@pytest.fixture(scope="session")
def domain() -> Iterator[int]:
    with own_domain() as number:
        yield number


@pytest.fixture
def bench(domain: int) -> Iterator[Bench]:
    start_ros(domain)
    bench = Bench()
    yield bench
    bench.close()
    rclpy.try_shutdown()
