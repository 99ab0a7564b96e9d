"""How the reflex kernel slows a wish down before what is in its way."""

from __future__ import annotations

import numpy as np
import pytest
from support.reflex_rig import CONFIG

from anima.regions.reflex.motion import guard
from anima.regions.reflex.mux import ZERO, Velocity


@pytest.mark.parametrize("wish", [Velocity(0.0, 2.2e-313), Velocity(5e-324, 0.0), Velocity(-1e-310, 1e-310)])
def test_a_wish_too_small_for_arithmetic_is_no_motion(wish: Velocity) -> None:
    wall = np.array([[0.3, y] for y in np.linspace(-0.5, 0.5, 41)])
    assert guard(wish, wall, CONFIG.body.base.footprint_m, CONFIG.tuning.obstacle) == ZERO
