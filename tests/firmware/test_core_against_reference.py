"""The C core and an independent description of it go the same way through whatever happens to them."""

from __future__ import annotations

import math
from dataclasses import replace

from hypothesis import example, given, settings
from hypothesis import strategies as st
from support.brainstem import Brainstem, Inputs
from support.brainstem_reference import Reference

from anima.body.link.messages import Arm, Clear, Disarm, Drive, Fault, Hello, Joints, Outcome, Result, State, Stop

MEASURED = Fault.TILT | Fault.STALL | Fault.ENCODER_SENSOR | Fault.IMU_SENSOR
"""found by filters that have tests of their own"""

speeds = st.integers(-700, 700)
happenings = st.one_of(
    st.tuples(st.just("wait"), st.integers(1, 160)),
    st.tuples(st.just("drive"), st.tuples(speeds, st.integers(-2000, 2000), st.integers(1, 60), st.integers(0, 3))),
    st.tuples(st.just("drive"), st.tuples(speeds, speeds, st.integers(20, 400), st.just(0))),
    st.tuples(st.sampled_from(["arm", "arm", "arm", "clear"]), st.tuples(st.booleans(), st.sampled_from([0, 0, 0, 1]))),
    st.tuples(st.just("disarm"), st.integers(0, 1)),
    st.tuples(st.just("stop"), st.just(0)),
    st.tuples(st.just("arm, clear, stop"), st.permutations(["arm", "clear", "stop", "disarm"])),
    st.tuples(st.just("bumpers"), st.integers(0, 3)),
    st.tuples(st.just("estop"), st.integers(0, 1)),
    st.tuples(st.just("cliff_mm"), st.tuples(*[st.sampled_from([115, 115, 115, 19, 20, 165, 166, 65535])] * 4)),
    st.tuples(st.just("wheel_ma"), st.tuples(*[st.sampled_from([0, 5000, 5001, -5001])] * 2)),
    st.tuples(st.just("arm_ma"), st.sampled_from([0, 6000, 6001])),
    st.tuples(st.just("battery_mv"), st.sampled_from([12000, 9600, 9599, 4999, 15001])),
    st.tuples(st.just("calm"), st.just(0)),
)


class Pair:
    """The core and the reference, living the same life."""

    def __init__(self) -> None:
        self.core, self.reference = Brainstem(), Reference()
        self.seq = 0
        self.open: int | None = None  # the challenge that may be echoed

    def close(self) -> None:
        self.core.close()

    def tell(self, message: Drive | Joints | Arm | Clear | Disarm | Stop, behind: int = 0) -> None:
        self.seq = (self.seq + 1) % 256
        seq = (self.seq - behind) % 256
        self.core.say(message, seq)
        if self.reference.hear(message, seq, self.open):
            self.open = None

    def challenge(self, right: bool) -> int:
        self.core.say(Hello(1, 0))
        self.open = self.core.peek().challenge
        return self.open if right else self.open ^ 0x0101

    def tick(self, count: int = 1) -> None:
        for _ in range(count):
            asked = self.reference.waiting is not None
            out = self.core.tick()
            seen = self.core.peek()
            self.reference.tick(self.core.inputs, Fault(seen.live) & MEASURED)
            expected = self.reference
            assert State(seen.state) is expected.state
            assert Fault(seen.faults) == expected.faults
            assert Fault(seen.live) == expected.live
            assert out.motors_on == (expected.state in (State.ARMED, State.STOPPING))
            assert out.servos_on == expected.servos_on
            assert abs(seen.linear_umps / 1e6 - expected.linear) < 1e-9
            assert abs(seen.angular_uradps / 1e6 - expected.angular) < 1e-9
            for side, sign in ((0, -1), (1, 1)):
                wheel = 1000 * (expected.linear + sign * expected.angular * 0.16)
                assert abs(out.wheel_mmps[side] - wheel) <= 1.01
            if asked:
                result = [f.message for f in self.core.listen() if isinstance(f.message, Result)][-1]
                assert Outcome(result.outcome) is expected.outcome
                self.open = result.challenge
            self.core.roll(out)

    def live(self, what: str, value: object) -> None:
        core = self.core
        if what == "drive":
            linear, angular, times, behind = value  # type: ignore[misc]
            for _ in range((times + 19) // 20):
                self.tell(Drive(core.peek().session, linear, angular), behind)
                self.tick(min(times, 20))
            return
        if what in ("arm", "clear"):
            right, flags = value  # type: ignore[misc]
            self.tell((Arm if what == "arm" else Clear)(self.challenge(right), flags))
        elif what == "disarm":
            self.tell(Disarm(value))  # type: ignore[arg-type]
        elif what == "stop":
            self.tell(Stop(0))
        elif what == "arm, clear, stop":
            challenge = self.challenge(True)
            kinds = {"arm": Arm(challenge, 0), "clear": Clear(challenge, 0), "stop": Stop(0), "disarm": Disarm(1)}
            for name in value:  # type: ignore[attr-defined]
                self.tell(kinds[name])
        elif what == "wait":
            self.tick(value)  # type: ignore[arg-type]
        elif what == "calm":
            core.inputs = Inputs(wheel_count=core.inputs.wheel_count)
        else:
            core.inputs = replace(core.inputs, **{what: value})
        self.tick()


@settings(max_examples=150, deadline=None)
@given(st.lists(happenings, max_size=25))
@example([("drive", (121, 0, 20, 0)), ("wait", 148)])
def test_core_and_reference_agree_tick_by_tick(life: list[tuple[str, object]]) -> None:
    pair = Pair()
    try:
        pair.tick(2)
        pair.live("arm", (True, 0))
        for what, value in life:
            pair.live(what, value)
    finally:
        pair.close()


@settings(max_examples=12, deadline=None)
@given(angle=st.floats(0, math.pi), heading=st.floats(-math.pi, math.pi), rate=st.floats(0.5, 3.0))
def test_tilt_is_noticed_at_the_angle_it_is_set_to(angle: float, heading: float, rate: float) -> None:
    """The body leans over at a steady rate, gyroscope and accelerometer agreeing, and stays there."""
    core = Brainstem()
    axis = (math.cos(heading), math.sin(heading))
    leaned, noticed = 0.0, None
    for ms in range(int(1000 * angle / rate) + 400):
        turning = leaned < angle
        leaned = min(angle, ms / 1000 * rate)
        down = 1000 * math.sin(leaned)
        core.inputs.accel_mg = (round(-axis[1] * -down), round(-axis[0] * down), round(1000 * math.cos(leaned)))
        core.inputs.gyro_mradps = (
            (round(-1000 * rate * axis[0]), round(-1000 * rate * axis[1]), 0) if turning else (0, 0, 0)
        )
        core.tick()
        if noticed is None and Fault.TILT in Fault(core.peek().live):
            noticed = leaned
    core.close()
    if angle > 0.37:
        assert noticed is not None and 0.33 < noticed < 0.37
    elif angle < 0.33:
        assert noticed is None
