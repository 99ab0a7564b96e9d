"""Diagnostics: what rqt_robot_monitor shows of the robot."""

from __future__ import annotations

from typing import Literal

import numpy as np
import pytest

from anima import topics as t
from anima.body.diagnostics.node import Diagnostics
from anima.brain import TABLE, rows_of
from anima.config import Settings
from anima.runtime.component import Inbox
from anima.runtime.processes import Process
from anima.topics import Sent
from anima.types.audit import BrainStatus, RegionStatus
from anima.types.base import Header
from anima.types.health import ERROR, OK, STALE, WARN, DiagnosticArray, DiagnosticStatus
from anima.types.link import LinkState
from anima.types.mind import StopState, Thought
from anima.types.std import BatteryState, Pose, PoseWithCovarianceStamped


def working(now: float, process: Process, share: float = 1.0) -> Sent:
    """A process whose nodes step at that share of their rates."""
    regions = [
        RegionStatus(node=row.node, steps_per_s=row.rate_hz * share, last_topic="", last_sent_s=0.0, why="it works")
        for row in rows_of(process.value)
    ]
    return t.BRAIN_STATUS[process.value].of(
        BrainStatus(header=Header.at(now), process=process.value, regions=regions)
    )


def battery(charge: float) -> Sent:
    nothing = np.zeros(0, np.float32)
    return t.BATTERY.of(
        BatteryState(
            header=Header.at(0.0), voltage=11.0, temperature=30.0, current=-1.0, charge=1.0, capacity=5.0,
            design_capacity=5.0, percentage=charge, power_supply_status=2, power_supply_health=1,
            power_supply_technology=2, present=True, cell_voltage=nothing, cell_temperature=nothing, location="",
            serial_number="",
        )
    )


def thought(error: str) -> Sent:
    return t.THOUGHT.of(
        Thought(
            header=Header.at(0.0), id="t1", role="act", prompt="", text="", prompt_tokens=100, cached_tokens=90,
            completion_tokens=14, prefill_s=0.5, decode_s=2.0, error=error,
        )
    )


def told(now: float, *given: Sent, sim: Literal["mujoco", "none"] = "mujoco") -> dict[str, DiagnosticStatus]:
    (sent,) = Diagnostics(Settings(sim=sim)).step(now, Inbox.of(given))
    assert isinstance(sent.value, DiagnosticArray) and sent.topic.name == "diagnostics"
    return {status.name.removeprefix("anima: "): status for status in sent.value.status}


def test_every_node_of_the_table_has_one_status() -> None:
    status = told(10.0, *(working(10.0, process) for process in Process))
    for row in TABLE:
        assert (status[row.node].level, status[row.node].message) == (OK, "it works")


def test_the_nodes_of_a_silent_process_are_stale_and_the_others_are_not() -> None:
    status = told(10.0, working(10.0, Process.BODY), working(5.0, Process.BRAIN))
    assert status["motor_cortex"].level == STALE and status["prefrontal_planner"].level == STALE
    assert status["state_publisher"].level == OK


def test_a_node_that_falls_behind_is_a_warning_with_its_rate() -> None:
    status = told(10.0, working(10.0, Process.REFLEX, share=0.5))
    assert (status["reflex_kernel"].level, status["reflex_kernel"].message) == (WARN, "slow: 25.0 of 50 Hz")


@pytest.mark.parametrize(("charge", "level"), [(0.8, OK), (0.25, WARN), (0.1, ERROR), (float("nan"), STALE)])
def test_the_battery_is_told_by_its_charge(charge: float, level: int) -> None:
    assert told(1.0, battery(charge))["battery"].level == level


@pytest.mark.parametrize(
    ("latched", "active", "level", "word"),
    [(False, [], OK, "free"), (False, ["obstacle"], WARN, "obstacle"), (True, [], ERROR, "latched by ana")],
)
def test_what_holds_the_body_is_told(latched: bool, active: list[str], level: int, word: str) -> None:
    state = StopState(header=Header.at(1.0), latched=latched, source="ana", active=active)
    status = told(1.0, t.STOP_STATE.of(state))["software_stop"]
    assert status.level == level and word in status.message


@pytest.mark.parametrize(("sigma_m", "level"), [(0.02, OK), (0.8, ERROR)])
def test_a_robot_that_is_lost_is_an_error(sigma_m: float, level: int) -> None:
    pose = PoseWithCovarianceStamped.about(1.0, Pose.planar(1.0, 2.0, 0.0), sigma_m, 0.1)
    assert told(1.0, t.POSE.of(pose))["position"].level == level


@pytest.mark.parametrize(("error", "level"), [("", OK), ("out of memory", WARN)])
def test_a_language_model_that_fails_is_a_warning(error: str, level: int) -> None:
    assert told(1.0, thought(error))["language_model"].level == level


def link(phase: str, heard: float, *faults: str) -> Sent:
    return t.LINK_STATE.of(
        LinkState(
            header=Header.at(1.0), phase=phase, trouble="the cable is out" if phase == "closed" else "",
            faults=list(faults), round_trip_s=0.002, heard_share=heard, frames_sent=9, frames_received=9, frames_lost=0,
            frames_bad=0,
        )
    )


@pytest.mark.parametrize(
    ("sent", "level", "word"),
    [
        (link("armed", 1.0), OK, "armed"),
        (link("armed", 0.5), WARN, "50%"),
        (link("armed", 1.0, "overcurrent"), WARN, "armed"),
        (link("ready", 1.0), WARN, "anima reset"),
        (link("closed", float("nan")), ERROR, "the cable is out"),
    ],
)
def test_a_board_behind_a_line_is_told_of_with_the_state_of_the_line(sent: Sent, level: int, word: str) -> None:
    status = told(1.0, sent, sim="none")["link"]
    assert status.level == level and word in status.message


def test_a_simulated_body_has_no_line() -> None:
    assert "link" not in told(1.0)
    assert told(1.0, sim="none")["link"].level == STALE
