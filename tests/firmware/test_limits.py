"""The firmware's limits are the body's, and lie outside the host's, so that the host's reflexes act first."""

from __future__ import annotations

import re
from typing import Any

import yaml
from support.brainstem import FIRMWARE

from anima.config import ROOT


def read(path: str) -> Any:
    return yaml.safe_load((ROOT / path).read_text(encoding="utf-8"))


DEFINED = {
    name: int(value.rstrip("uL"))
    for name, value in re.findall(
        r"^#define (\w+) (-?\d+u?L?) ", (FIRMWARE / "core/limits.h").read_text(), re.MULTILINE
    )
}
BASE = read("config/robots/anima.yaml")["base"]
HOST = read("config/reflex.yaml")
OWN = read("firmware/brainstem.yaml")


def test_speeds_and_accelerations_are_the_bodys() -> None:
    assert DEFINED["LINEAR_MAX_MMPS"] == BASE["max_linear_mps"] * 1000
    assert DEFINED["ANGULAR_MAX_MRADPS"] == BASE["max_angular_radps"] * 1000
    assert DEFINED["LINEAR_ACCEL_UMPS"] == BASE["max_linear_accel_mps2"] * 1000
    assert DEFINED["ANGULAR_DECEL_URADPS"] == BASE["max_angular_decel_radps2"] * 1000
    assert DEFINED["JOINT_STEP_MRAD"] == read("config/robots/anima.yaml")["arm"]["max_joint_speed_radps"]


def test_a_silent_host_is_noticed_by_the_firmware_before_the_body_would_time_out() -> None:
    assert OWN["host"]["silence_ms"] / 1000 <= BASE["command_timeout_s"]
    stopping_s = BASE["max_linear_mps"] / BASE["max_linear_decel_mps2"]
    assert OWN["host"]["silence_ms"] / 1000 + stopping_s <= 0.3


def test_the_hosts_reflexes_act_first() -> None:
    assert OWN["tilt"]["limit_mrad"] > HOST["tilt"]["limit_rad"] * 1000
    assert OWN["stall"]["after_ms"] > HOST["stall"]["after_s"] * 1000
    nominal = read("config/robots/anima.yaml")["sensors"]["cliffs"]["nominal_range_m"]
    assert OWN["cliff"]["farthest_mm"] > (nominal + HOST["contact"]["cliff_drop_m"]) * 1000
    assert OWN["voltage"]["cut_mv"] < read("config/robots/anima.yaml")["battery"]["empty_voltage_v"] * 1000
