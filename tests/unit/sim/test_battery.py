"""The battery gives out with effort and fills on the dock."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from anima_sim.battery import Battery
from anima_sim.config import load_robot

CONFIG = load_robot().battery


def _after(load_w: float, on_dock: bool, start: float = 0.5, seconds: int = 600) -> Battery:
    battery = Battery(CONFIG)
    battery.percentage = start
    for _ in range(seconds):
        battery.update(load_w, on_dock, 1.0)
    return battery


def test_work_drains_faster_than_standing() -> None:
    assert _after(30.0, False).percentage < _after(0.0, False).percentage < 0.5


def test_the_current_is_negative_off_the_dock_and_positive_on_it() -> None:
    off, on = _after(10.0, False).state, _after(10.0, True).state
    assert off.current_a < 0.0 and not off.charging and not off.plugged
    assert on.current_a > 0.0 and on.charging and on.plugged


def test_it_fills_up_and_then_only_stays_plugged() -> None:
    full = _after(0.0, True, start=0.99, seconds=3600).state
    assert full.percentage == 1.0
    assert full.plugged and not full.charging


def test_the_voltage_sinks_under_load_and_with_charge() -> None:
    def volts(load_w: float, start: float = 0.5) -> float:
        return _after(load_w, False, start=start, seconds=1).state.voltage_v

    assert volts(60.0) < volts(0.0)
    assert volts(0.0, start=0.2) < volts(0.0, start=0.8)


def test_scale_makes_the_same_work_cost_more() -> None:
    slow, fast = Battery(CONFIG), Battery(CONFIG, scale=100.0)
    slow.update(20.0, False, 1.0)
    fast.update(20.0, False, 1.0)
    assert 1.0 - fast.percentage > 50 * (1.0 - slow.percentage)


@settings(deadline=None)
@given(st.lists(st.tuples(st.floats(0.0, 500.0), st.booleans()), max_size=50))
def test_charge_stays_between_empty_and_full(history: list[tuple[float, bool]]) -> None:
    battery = Battery(CONFIG, scale=500.0)
    for load_w, on_dock in history:
        battery.update(load_w, on_dock, 1.0)
        assert 0.0 <= battery.state.percentage <= 1.0
        assert CONFIG.empty_voltage_v - 6.0 < battery.state.voltage_v < CONFIG.full_voltage_v + 1.0
