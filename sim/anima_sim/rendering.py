"""Pictures: the robot's cameras, plain and fast, and the views for people, with shadows."""

from __future__ import annotations

import atexit
import os
import weakref
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

os.environ.setdefault("MUJOCO_GL", "egl")
import mujoco

Image = npt.NDArray[np.uint8]
View = Literal["overview", "third_person"]
_SAMPLES, _SHADOW_MAP = 4, 4096


class Studio:
    """Holds one renderer per picture size. Contexts are made when first needed: they cost a tenth of a second."""

    def __init__(self, model: Any) -> None:
        self._model = model
        self._plain: dict[tuple[int, int], Any] = {}
        self._pretty: dict[tuple[int, int], Any] = {}
        self._tidied = False

    def rgbd(self, data: Any, camera: str, width: int, height: int) -> tuple[Image, npt.NDArray[np.float32]]:
        """Clean colour (height, width, 3) and depth along the optical axis (height, width) in metres."""
        renderer = self._plain.get((width, height))
        if renderer is None:
            renderer = self._plain[width, height] = self._renderer(width, height)
        renderer.update_scene(data, camera)
        self._flags(renderer, shadows=False)
        colour = renderer.render().copy()
        renderer.enable_depth_rendering()
        depth = renderer.render().copy()
        renderer.disable_depth_rendering()
        return colour, depth

    def picture(
        self, data: Any, view: View, width: int, height: int, shadows: bool = True, base: str = "base_link"
    ) -> Image:
        """A view for people, smooth-edged, shape (height, width, 3). Shadows cost three times as much.

        `base` is the body of the robot that is seen in the third person.
        """
        renderer = self._pretty.get((width, height))
        if renderer is None:
            quality = self._model.vis.quality
            plain = quality.offsamples, quality.shadowsize
            quality.offsamples, quality.shadowsize = _SAMPLES, _SHADOW_MAP
            renderer = self._pretty[width, height] = self._renderer(width, height)
            quality.offsamples, quality.shadowsize = plain
        renderer.update_scene(data, "overview" if view == "overview" else self._behind(data, base))
        self._flags(renderer, shadows)
        return np.asarray(renderer.render().copy(), np.uint8)

    def close(self) -> None:
        """Frees the contexts."""
        for shelf in (self._plain, self._pretty):
            while shelf:
                shelf.popitem()[1].close()

    def _renderer(self, width: int, height: int) -> Any:
        renderer = mujoco.Renderer(self._model, height, width)
        if not self._tidied:
            # Registered after the GL back end's own exit handler, so that it runs before: contexts that are
            # still open when that one has shut the display down complain at length.
            atexit.register(_close, weakref.ref(self))
            self._tidied = True
        return renderer

    def _behind(self, data: Any, name: str) -> Any:
        base = self._model.body(name).id
        camera = mujoco.MjvCamera()
        camera.type = mujoco.mjtCamera.mjCAMERA_FREE
        forward = data.xmat[base].reshape(3, 3)[:, 0]
        camera.lookat[:] = data.xpos[base] + np.array([0.25 * forward[0], 0.25 * forward[1], 0.35])
        camera.distance = 1.9
        camera.azimuth = float(np.degrees(np.arctan2(forward[1], forward[0]))) + 38.0
        camera.elevation = -38.0
        return camera

    @staticmethod
    def _flags(renderer: Any, shadows: bool) -> None:
        flags = renderer.scene.flags
        flags[mujoco.mjtRndFlag.mjRND_SHADOW] = shadows
        flags[mujoco.mjtRndFlag.mjRND_REFLECTION] = False
        flags[mujoco.mjtRndFlag.mjRND_HAZE] = False


def _close(studio: weakref.ref[Studio]) -> None:
    alive = studio()
    if alive is not None:
        alive.close()
