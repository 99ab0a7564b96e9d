"""The battery: what moving, holding and thinking cost, and what the dock gives back."""

from __future__ import annotations

from dataclasses import dataclass

from anima_sim.config import BatteryConfig

# Open-circuit voltage of a lithium cell against charge, as a share of the way from empty to full.
_CHARGE = (0.0, 0.05, 0.2, 0.5, 0.8, 1.0)
_LEVEL = (0.0, 0.30, 0.52, 0.64, 0.84, 1.0)
_TAPER_ABOVE = 0.9


@dataclass(frozen=True)
class BatteryState:
    """As ROS drivers say it: `percentage` 0..1, `current_a` negative while discharging.

    `plugged` is the dock's voltage on the contacts; `charging` ends when the cells are full.
    """

    percentage: float
    voltage_v: float
    current_a: float
    charging: bool
    plugged: bool


class Battery:
    """Integrates power. `scale` makes charge and drain faster than real, for tests and demonstrations."""

    def __init__(self, config: BatteryConfig, scale: float = 1.0) -> None:
        self._config = config
        self._scale = scale
        self.percentage = config.start_percentage
        self._state = self._reading(0.0, on_dock=False)

    def update(self, load_w: float, on_dock: bool, period_s: float) -> None:
        """Adds one period with `load_w` drawn by motors (the electronics come on top)."""
        c = self._config
        if on_dock:
            # The charger carries the electronics and tapers what goes into the cells as they fill.
            taper = min(1.0, max(0.05, (1.0 - self.percentage) / (1.0 - _TAPER_ABOVE)))
            net_w = c.charger_w * taper - load_w
            if self.percentage >= 1.0:
                net_w = 0.0
        else:
            net_w = -c.electronics_w - load_w
        self.percentage += self._scale * net_w * period_s / (c.capacity_wh * 3600.0)
        self.percentage = min(1.0, max(0.0, self.percentage))
        self._state = self._reading(net_w, on_dock)

    @property
    def state(self) -> BatteryState:
        return self._state

    def _reading(self, net_w: float, on_dock: bool) -> BatteryState:
        c = self._config
        rest_v = c.empty_voltage_v + (c.full_voltage_v - c.empty_voltage_v) * _between(self.percentage)
        current_a = net_w / rest_v
        voltage = rest_v + current_a * c.internal_resistance_ohm
        return BatteryState(self.percentage, voltage, current_a, on_dock and self.percentage < 1.0, on_dock)


def _between(charge: float) -> float:
    for low, high, a, b in zip(_CHARGE, _CHARGE[1:], _LEVEL, _LEVEL[1:], strict=False):
        if charge <= high:
            return a + (b - a) * (charge - low) / (high - low)
    return 1.0
