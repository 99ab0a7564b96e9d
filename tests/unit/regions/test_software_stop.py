"""The software stop latches, and its reset never restarts motion; nor does a clock that jumps."""

from __future__ import annotations

import pytest
from support.reflex_rig import (
    Rig,
    drive,
    request,
)

from anima import topics as t
from anima.topics import Sent


@pytest.fixture
def rig() -> Rig:
    return Rig()


def skill(linear: float = 0.0, angular: float = 0.0) -> Sent:
    return t.CMD_VEL_SKILL.of(drive(0.0, linear, angular))


def teleop(linear: float = 0.0, angular: float = 0.0) -> Sent:
    return t.CMD_VEL_TELEOP.of(drive(0.0, linear, angular))


class TestSoftwareStop:
    def stop(self, rig: Rig) -> None:
        rig.drive(0.3)
        rig.tick(skill(0.3), t.STOP_REQUEST.of(request(0.0, True)))

    def test_it_gives_zero_at_once_and_stays_though_everybody_commands(self, rig: Rig) -> None:
        self.stop(rig)
        assert rig.out == (0.0, 0.0)
        for _ in range(100):
            assert rig.tick(skill(0.3), teleop(0.3)) == (0.0, 0.0)
        assert rig.states[-1].latched and rig.states[-1].source == "ana"
        assert rig.told("software_stop") == [True]

    def test_an_old_stop_counts_as_much_as_a_new_one(self, rig: Rig) -> None:
        rig.drive(0.3)
        rig.tick(skill(0.3), t.STOP_REQUEST.of(request(1.0, True)))
        assert rig.out == (0.0, 0.0)

    def test_a_reset_does_not_restart_the_motion_that_goes_on_asking(self, rig: Rig) -> None:
        self.stop(rig)
        rig.tick(skill(0.3), t.STOP_REQUEST.of(request(0.0, False)))
        assert rig.drive(0.3, seconds=3.0) == (0.0, 0.0)
        assert not rig.states[-1].latched

    def test_after_a_reset_a_stream_that_has_let_go_may_drive(self, rig: Rig) -> None:
        self.stop(rig)
        rig.tick(t.STOP_REQUEST.of(request(0.0, False)))
        rig.rest(0.32)
        assert rig.drive(0.3)[0] == pytest.approx(0.3)

    def test_a_zero_after_the_reset_is_letting_go(self, rig: Rig) -> None:
        self.stop(rig)
        rig.tick(skill(0.3), t.STOP_REQUEST.of(request(0.0, False)))
        rig.tick(skill(0.0))
        assert rig.drive(0.3)[0] == pytest.approx(0.3)

    def test_a_command_stamped_before_the_reset_never_moves_the_robot(self, rig: Rig) -> None:
        self.stop(rig)
        rig.tick(t.STOP_REQUEST.of(request(0.0, False)))
        old = t.CMD_VEL_SKILL.of(drive(rig.now - 0.01, 0.3))
        rig.tick(old)
        rig.tick(old)
        assert rig.out == (0.0, 0.0)

    def test_a_reset_from_before_the_stop_is_refused(self, rig: Rig) -> None:
        before = rig.now
        self.stop(rig)
        rig.tick(t.STOP_REQUEST.of(request(before, False)))
        assert rig.states[-1].latched

    def test_a_stop_that_comes_with_a_reset_wins(self, rig: Rig) -> None:
        self.stop(rig)
        rig.tick(t.STOP_REQUEST.of(request(0.0, True)), t.STOP_REQUEST.of(request(0.0, False)))
        rig.rest(1.1)
        assert rig.states[-1].latched

    def test_the_state_is_told_on_change_and_every_second(self, rig: Rig) -> None:
        rig.rest(0.6)
        rig.states.clear()
        rig.rest(5.0)
        assert 4 <= len(rig.states) <= 6
        rig.states.clear()
        rig.tick(t.STOP_REQUEST.of(request(0.0, True)))
        assert rig.states[0].latched


class TestClock:
    def test_a_clock_that_jumps_back_stops_first_and_then_works_on(self, rig: Rig) -> None:
        rig.drive(0.3)
        rig.now = 1.0
        assert rig.step([*rig.healthy(), t.CMD_VEL_SKILL.of(drive(rig.now, 0.3))]) == (0.0, 0.0)
        assert rig.drive(0.3, seconds=0.2) == (0.0, 0.0)
        rig.rest(0.4)
        assert rig.drive(0.3)[0] == pytest.approx(0.3)

    def test_a_latched_stop_outlives_the_jump_and_can_be_reset_after_it(self, rig: Rig) -> None:
        rig.tick(t.STOP_REQUEST.of(request(0.0, True)))
        rig.now = 1.0
        rig.tick()
        assert rig.states[-1].latched
        rig.tick(t.STOP_REQUEST.of(request(0.0, False)))
        assert not rig.states[-1].latched
