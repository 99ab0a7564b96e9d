"""A keyboard that plays a gamepad: the keys of teleop_twist_keyboard for the base, and keys for the arm."""

from __future__ import annotations

import numpy as np

from anima.body.teleop.tuning import TeleopTuning, load_teleop
from anima.types.base import Header
from anima.types.operator import Joy

# Forward and counter-clockwise, as teleop_twist_keyboard has it.
MOVES: dict[str, tuple[int, int]] = {
    "u": (1, 1), "i": (1, 0), "o": (1, -1),
    "j": (0, 1), "k": (0, 0), "l": (0, -1),
    "m": (-1, -1), ",": (-1, 0), ".": (-1, 1),
}
# By how many steps: of driving, of turning.
SPEEDS: dict[str, tuple[int, int]] = {
    "q": (1, 1), "z": (-1, -1), "w": (1, 0), "x": (-1, 0), "e": (0, 1), "c": (0, -1),
}
JOINTS: dict[str, tuple[str, int]] = {
    "1": ("shoulder_pan", -1), "2": ("shoulder_pan", 1), "3": ("shoulder_lift", -1), "4": ("shoulder_lift", 1),
    "5": ("elbow_flex", -1), "6": ("elbow_flex", 1), "7": ("wrist_flex", -1), "8": ("wrist_flex", 1),
    "9": ("wrist_roll", -1), "0": ("wrist_roll", 1), "[": ("gripper", -1), "]": ("gripper", 1),
}
_SIZE = 64  # axes and buttons of the pad that it plays: as many as the configuration can name
HELP = """Drive the robot by hand. What you do comes before what the robot wants; it has itself back when you let go.

   u    i    o        i ,  forward, backward      q z  all faster, slower     1 2  shoulder pan    7 8  wrist flex
   j    k    l        j l  turn left, right       w x  driving                3 4  shoulder lift   9 0  wrist roll
   m    ,    .        k    halt                   e c  turning                5 6  elbow           [ ]  gripper

Hold a key: the robot stops when you let go. A reflex still stops it before obstacles, edges and people. Ctrl-C ends."""


class Keyboard:
    """Keys in, pad states out. Times are seconds of any clock that only goes forward."""

    def __init__(self, tuning: TeleopTuning | None = None) -> None:
        """Raises `ConfigError` when `config/teleop.yaml` can't be used."""
        self._tuning = tuning or load_teleop()
        self._key, self._until = "", 0.0
        self.drive = self.turn = 0.5
        """Shares of the fast speeds, 0..1."""

    def press(self, now: float, key: str) -> None:
        """A key was pressed, or repeated. One that means nothing halts, as every unexpected key should."""
        if key in SPEEDS:
            drive, turn = (1.0 + step * self._tuning.keyboard.speed_step for step in SPEEDS[key])
            self.drive, self.turn = min(1.0, self.drive * drive), min(1.0, self.turn * turn)
            return
        self._key = key if key in MOVES or key in JOINTS else "k"
        self._until = now + self._tuning.keyboard.hold_s

    def state(self, now: float, stamp: float) -> Joy | None:
        """The pad as it is now, stamped with ROS time; None while nothing is held, so that nobody has the robot."""
        if not self._key or now >= self._until:
            self._key = ""
            return None
        base, arm = self._tuning.base, self._tuning.arm
        axes, buttons = np.zeros(_SIZE, np.float32), np.zeros(_SIZE, np.int32)
        if self._key in MOVES:
            forward, left = MOVES[self._key]
            buttons[base.hold_button] = buttons[base.fast_button] = 1
            axes[base.drive_axis], axes[base.turn_axis] = forward * self.drive, left * self.turn
        else:
            name, way = JOINTS[self._key]
            joint = arm.joints.get(name)
            buttons[arm.hold_button] = 1
            if joint is not None:
                # The sign of a joint's speed belongs to the stick; a key turns the joint itself.
                axes[joint.axis] = way if joint.radps > 0 else -way
        return Joy(header=Header.at(stamp), axes=axes, buttons=buttons)
