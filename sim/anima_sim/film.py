"""A short film of an errand: the flat from above beside what the robot sees, with what it does written below."""

from __future__ import annotations

from pathlib import Path

import imageio_ffmpeg
import numpy as np
from matplotlib import font_manager
from numpy.typing import NDArray
from PIL import Image, ImageDraw, ImageFont

from anima.types.std import Image as RosImage

FRAMES_PER_S = 20
PANEL = (480, 360)
CAPTION_PX = 44
_INK = (240, 240, 236)
_GROUND = (24, 26, 30)

Picture = NDArray[np.uint8]


def picture(image: RosImage) -> Picture:
    """An rgb8 image as an array of shape (height, width, 3)."""
    return image.data.reshape(image.height, image.step // 3, 3)[:, : image.width]


class Film:
    """Writes frames to an H.264 file; `close` finishes it. Frames are `PANEL`s side by side over a caption."""

    def __init__(self, file: Path) -> None:
        file.parent.mkdir(parents=True, exist_ok=True)
        self.file = file
        self.frames = 0
        self._font = ImageFont.truetype(font_manager.findfont("DejaVu Sans"), 18)
        self._size = (2 * PANEL[0], PANEL[1] + CAPTION_PX)
        self._writer = imageio_ffmpeg.write_frames(
            str(file), self._size, fps=FRAMES_PER_S, macro_block_size=4, ffmpeg_log_level="error"
        )
        self._writer.send(None)

    def compose(self, above: Picture, robot: Picture | None, caption: str) -> Image.Image:
        """One frame."""
        frame = Image.new("RGB", self._size, _GROUND)
        frame.paste(Image.fromarray(above).resize(PANEL, Image.Resampling.BILINEAR), (0, 0))
        if robot is not None:
            frame.paste(Image.fromarray(robot).resize(PANEL, Image.Resampling.BILINEAR), (PANEL[0], 0))
        draw = ImageDraw.Draw(frame)
        draw.text((12, PANEL[1] + 11), caption[:110], font=self._font, fill=_INK)
        return frame

    def add(self, above: Picture, robot: Picture | None, caption: str) -> None:
        """Append a frame."""
        self._writer.send(self.compose(above, robot, caption).tobytes())
        self.frames += 1

    def close(self) -> None:
        """Finish the file."""
        self._writer.close()
