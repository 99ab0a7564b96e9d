"""Latencies as ratios within one run: the planner warm against cold, its KV reuse, the reflex, simulation speed."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
from rich.console import Console

from anima import topics as t
from anima.brain import Process
from anima.config import Settings
from anima.console.folders import state_folder
from anima.runtime.component import Inbox
from anima.runtime.supervisor import Supervisor, commands
from anima.topics import Sent
from anima.types.std import LaserScan, TwistStamped
from anima_sim.bench.options import BenchParser
from anima_sim.bench.planner import measure_warmth

WARM_TO_COLD = 0.2
CACHED_SHARE = 0.9
TICK_S = 0.02
OBSTACLE_M = 0.21


def bench_latency(seed: int, arguments: list[str], console: Console) -> tuple[dict[str, Any], bool]:
    """All of them; each part prints what it does."""
    parser = BenchParser("latency", __doc__)
    parser.add_argument("--trials", type=int, default=60, help="obstacles put before the reflex kernel (default 60)")
    options = parser.parse_args(arguments)
    figures: dict[str, Any] = {}
    with console.status("simulation speed"):
        from anima_sim.speed import bench_speed

        figures |= {f"simulation_{key}": value for key, value in bench_speed(seed=seed).items()}
    with console.status("obstacle in the scan to zero command"):
        figures |= reflex_latency(options.trials)
    with console.status("a planner tick, cold and warm"):
        warmth = measure_warmth(seed)
        figures |= {
            "planner_cold_s": warmth.cold_s,
            "planner_warm_s": warmth.warm_s,
            "planner_warm_to_cold": warmth.warm_s / warmth.cold_s,
            "planner_cached_share": warmth.cached_share,
        }
    met = figures["planner_warm_to_cold"] <= WARM_TO_COLD and figures["planner_cached_share"] >= CACHED_SHARE
    return figures, met


def _scan(real: LaserScan, ahead_m: float) -> LaserScan:
    """The scan with nothing around but something `ahead_m` from the laser, 15 degrees to either side."""
    bearings = real.angle_min + real.angle_increment * np.arange(len(real.ranges))
    ahead = np.cos(bearings) > np.cos(np.radians(15))
    return real.model_copy(update={"ranges": np.where(ahead, ahead_m, np.inf).astype(np.float32)})


def reflex_latency(trials: int) -> dict[str, Any]:
    """Wall time from sending a scan with an obstacle ahead to receiving the zero command of the real reflex process.

    A simulated body in this process is its sensors and clock, in real time; the obstacle is written into the scan
    at a random moment between two ticks. Milliseconds, and in ticks of 20 ms, which are the unit that matters.
    """
    import rclpy
    from rclpy.node import Node

    from anima_nodes.convert import ros_class, to_ros
    from anima_nodes.region_node import PROFILES
    from anima_sim.body import SimulatedBody

    body = SimulatedBody(Settings(seed=1, cameras=False))
    rng = np.random.default_rng(0)
    command = {"speed": 0.0, "at": 0.0}

    def hear(message: Any) -> None:
        command["speed"], command["at"] = message.twist.linear.x, time.perf_counter()

    times: list[float] = []
    with Supervisor(commands({}, [Process.REFLEX]), state_folder() / "log" / "latency"):
        rclpy.init()
        node = Node("reflex_bench")
        outlets: dict[str, Any] = {}

        def send(sent: Sent) -> None:
            topic = sent.topic
            if topic.name not in outlets:
                outlets[topic.name] = node.create_publisher(ros_class(topic.type.ros), topic.name, PROFILES[topic.qos])
            outlets[topic.name].publish(to_ros(sent.value))

        node.create_subscription(ros_class(t.CMD_VEL.type.ros), t.CMD_VEL.name, hear, PROFILES[t.CMD_VEL.qos])
        now, shown_at = 0.0, 0.0

        def tick(blocked: bool) -> None:
            nonlocal now, shown_at
            now += TICK_S
            for sent in body.step(now, Inbox()):
                if isinstance(sent.value, LaserScan):
                    sent = t.SCAN.of(_scan(sent.value, OBSTACLE_M if blocked else np.inf))
                    if blocked and not shown_at:
                        shown_at = time.perf_counter()
                send(sent)
            send(t.CMD_VEL_SKILL.of(TwistStamped.planar(now, 0.3, 0.0)))
            until = time.perf_counter() + TICK_S
            while (left := until - time.perf_counter()) > 0:
                rclpy.spin_once(node, timeout_sec=left)

        give_up = time.perf_counter() + 120.0
        while len(times) < trials and time.perf_counter() < give_up:
            while command["speed"] < 0.2 and time.perf_counter() < give_up:
                tick(blocked=False)
            time.sleep(float(rng.uniform(0, TICK_S)))
            shown_at = 0.0
            for _ in range(50):
                tick(blocked=True)
                if command["speed"] == 0.0 and command["at"] > shown_at > 0.0:
                    times.append(command["at"] - shown_at)
                    break
        node.destroy_node()
        rclpy.try_shutdown()
    if not times:
        raise RuntimeError("the reflex process never let a command through; its log is in the state folder")
    return {
        "reflex_trials": len(times),
        "reflex_stop_p50_ms": 1000 * float(np.percentile(times, 50)),
        "reflex_stop_p99_ms": 1000 * float(np.percentile(times, 99)),
        "reflex_stop_p50_ticks": float(np.percentile(times, 50)) / TICK_S,
        "reflex_stop_p99_ticks": float(np.percentile(times, 99)) / TICK_S,
    }
