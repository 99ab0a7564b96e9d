"""What the hand holds, as gripper, eyes and the last outcome together tell it."""

from __future__ import annotations

from pydantic import BaseModel, JsonValue

from anima.world.tuning import HandTuning


class Grip(BaseModel):
    """The hand's memory: what is held and at which opening, since when the gripper is closed on nothing, and which
    object was lately seen between the pads of an empty hand, at which stamps."""

    holding: str = ""
    opening_rad: float = 0.0
    empty_since_s: float | None = None
    seen: str = ""
    seen_at_s: list[float] = []


class Hand:
    """Decides what is held from three witnesses, none of which is enough alone.

    The gripper can't close on a thing (measured: a joint above `held_above_rad` after the swing was right 60 of 60);
    the outcome of a pick says which thing; the camera sees it in the hand, which also tells after a restart. A gripper
    that closes fully or opens has lost it, whatever anybody says.
    """

    def __init__(self, tuning: HandTuning, held_above_rad: float, open_rad: float) -> None:
        """`held_above_rad` is the least opening with a thing between the pads, `open_rad` the one to let go with."""
        self._tuning = tuning
        self._held_above_rad = held_above_rad
        self._open_rad = open_rad
        self._grip = Grip()

    @property
    def holding(self) -> str:
        """Name of the held object, or empty."""
        return self._grip.holding

    def picked(self, name: str, opening_rad: float) -> bool:
        """A pick is said to have succeeded; returns whether the gripper agrees."""
        if opening_rad <= self._held_above_rad:
            return False
        self._grip = Grip(holding=name, opening_rad=opening_rad)
        return True

    def looked(self, stamp: float, name: str, opening_rad: float, lifted: bool) -> bool:
        """Something of that name was seen at the tool point; returns whether that settles that it is held."""
        closed_on_it = self._held_above_rad < opening_rad < self._open_rad - self._tuning.open_by_rad / 2
        if self._grip.holding or not (lifted and closed_on_it):
            return False
        recent = [t for t in self._grip.seen_at_s if name == self._grip.seen and stamp - t <= 2.0]
        self._grip.seen, self._grip.seen_at_s = name, [*recent, stamp]
        if len(self._grip.seen_at_s) < self._tuning.seen_in_hand_looks:
            return False
        self._grip = Grip(holding=name, opening_rad=opening_rad)
        return True

    def feel(self, stamp: float, opening_rad: float) -> str:
        """Take in the gripper's opening; returns ``opened`` or ``closed`` when it has lost what it held, else empty."""
        grip = self._grip
        if not grip.holding:
            return ""
        # A thick object leaves little way to the open gripper: half of it is enough then.
        way = min(self._tuning.open_by_rad, (self._open_rad - grip.opening_rad) / 2)
        if opening_rad > grip.opening_rad + max(way, 0.05):
            self.empty()
            return "opened"
        if opening_rad > self._held_above_rad:
            grip.empty_since_s = None
        elif grip.empty_since_s is None:
            grip.empty_since_s = stamp
        elif stamp - grip.empty_since_s >= self._tuning.dropped_after_s:
            self.empty()
            return "closed"
        return ""

    def empty(self) -> None:
        """Nothing is held."""
        self._grip = Grip()

    def dump(self) -> JsonValue:
        """The hand's memory, as JSON."""
        data: JsonValue = self._grip.model_dump(mode="json")
        return data

    def restore(self, data: object) -> None:
        """Take over what `dump` gave."""
        self._grip = Grip.model_validate(data)
