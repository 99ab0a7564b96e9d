"""Figures of the scenarios, printed in the end."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from anima_sim.board.avr import IMAGE, RUNNER
from anima_sim.board.rig import BoardRig

_FIGURES: list[tuple[str, str, str]] = []

Figure = Callable[[str, float, float, str], None]


@pytest.fixture
def figure() -> Figure:
    """Note a figure and hold it to its limit; limits that are to be reached from above are negative."""

    def note(name: str, value: float, limit: float, unit: str) -> None:
        at_least = limit < 0
        bound = f"{'>=' if at_least else '<='} {abs(limit):g} {unit}"
        _FIGURES.append((name, f"{value:.4g} {unit}", bound))
        assert value >= -limit if at_least else value <= limit, f"{name}: {value:.4g} {unit}, {bound}"

    return note


@pytest.fixture
def rig() -> Iterator[BoardRig]:
    if not (IMAGE.exists() and RUNNER.exists()):
        pytest.fail("the firmware isn't built: make firmware")
    board = BoardRig()
    try:
        yield board
    finally:
        board.close()


def pytest_terminal_summary(terminalreporter: Any) -> None:
    if _FIGURES:
        terminalreporter.section("the brainstem's figures")
        for name, value, bound in _FIGURES:
            terminalreporter.write_line(f"{name:62} {value:>14}   {bound}")
