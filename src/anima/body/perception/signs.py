"""Reads what is written on QR signs in the camera image. It is data from outside, whatever it says."""

from __future__ import annotations

import cv2

from anima.body.perception.camera import ImageError, colour_image
from anima.config import Settings
from anima.runtime.component import Inbox
from anima.topics import CAMERA_COLOUR, SIGNS, Sent
from anima.types.std import String

AGAIN_AFTER_S = 60.0
MOST_CHARACTERS = 300
_KEPT = 50


class SignReader:
    """Looks for QR codes in the newest picture, and tells each text once in a while. A bad image is no sign."""

    def __init__(self, settings: Settings) -> None:
        del settings
        self._detector = cv2.QRCodeDetector()
        self._read_at: dict[str, float] = {}
        self._said = "It has seen no sign yet."

    def step(self, now: float, inbox: Inbox) -> list[Sent]:
        """What the newest picture says, if that wasn't told lately."""
        pictures = inbox.new(CAMERA_COLOUR)
        if not pictures:
            return []
        try:
            found, texts, _, _ = self._detector.detectAndDecodeMulti(colour_image(pictures[-1]))
        except (ImageError, cv2.error) as error:
            self._said = f"The picture can't be read: {error}"
            return []
        sent = []
        for text in texts if found else ():
            words = " ".join(text.split())[:MOST_CHARACTERS]
            if words and not 0 <= now - self._read_at.get(words, float("-inf")) < AGAIN_AFTER_S:
                self._read_at[words] = now
                self._said = f"It read a sign: {words[:60]!r}."
                sent.append(SIGNS.of(String(data=words)))
        while len(self._read_at) > _KEPT:
            self._read_at.pop(next(iter(self._read_at)))
        return sent

    def why(self) -> str:
        """One sentence: what it read last."""
        return self._said
