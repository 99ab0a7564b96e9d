"""Which pixels have which colour, and the patches that they form."""

from __future__ import annotations

from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from anima.body.perception.tuning import Blobs, Colours
from anima.types.base import Bytes

Mask = NDArray[np.bool_]


@dataclass(frozen=True)
class Blob:
    """A connected patch of one colour: `mask` of shape (h, w), its top left pixel at (`left`, `top`) of the image.

    The patch has a margin of up to `MARGIN` pixels around the blob; `cut` when it touches the edge of the image.
    """

    colour: str
    left: int
    top: int
    mask: Mask
    cut: bool

    @property
    def area(self) -> int:
        """Pixels."""
        return int(np.count_nonzero(self.mask))

    @property
    def window(self) -> tuple[slice, slice]:
        """The patch's rows and columns in the image."""
        height, width = self.mask.shape
        return slice(self.top, self.top + height), slice(self.left, self.left + width)


MARGIN = 3


def colour_masks(rgb: Bytes, tuning: Colours) -> dict[str, Mask]:
    """Colour -> mask of shape (height, width) of the pixels of an RGB image (height, width, 3) that have it."""
    hsv = cv2.cvtColor(rgb.astype(np.float32) / 255.0, cv2.COLOR_RGB2HSV)
    hue, saturation, value = hsv[..., 0], hsv[..., 1], hsv[..., 2]
    vivid = (saturation >= tuning.min_saturation) & (value >= tuning.min_value)
    masks = {}
    for colour, (low, high) in tuning.hues_deg.items():
        within = (hue >= low) & (hue <= high) if low <= high else (hue >= low) | (hue <= high)
        masks[colour] = np.asarray(vivid & within)
    return masks


def find_blobs(rgb: Bytes, colours: Colours, tuning: Blobs) -> list[Blob]:
    """The patches that are large enough, by colour in the palette's order, the largest first."""
    height, width = rgb.shape[:2]
    kernel = np.ones((2 * tuning.close_px + 1,) * 2, np.uint8)
    blobs = []
    for colour, mask in colour_masks(rgb, colours).items():
        if np.count_nonzero(mask) < tuning.min_area_px:
            continue
        filled = cv2.morphologyEx(mask.astype(np.uint8), cv2.MORPH_CLOSE, kernel)
        count, labels, stats, _ = cv2.connectedComponentsWithStats(filled, connectivity=8)
        found = []
        for label in range(1, count):
            left, top, w, h, area = (int(n) for n in stats[label])
            if area < tuning.min_area_px:
                continue
            x0, y0 = max(0, left - MARGIN), max(0, top - MARGIN)
            x1, y1 = min(width, left + w + MARGIN), min(height, top + h + MARGIN)
            cut = left == 0 or top == 0 or left + w == width or top + h == height
            found.append(Blob(colour, x0, y0, labels[y0:y1, x0:x1] == label, cut))
        blobs += sorted(found, key=lambda blob: -blob.area)
    return blobs
