"""The map picture of an errand: the known map, the way driven, where objects are believed and where they are."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np

from anima.body.places import Places
from anima.types.mind import GroundTruth, WorldState
from anima.types.std import OccupancyGrid
from anima.view.palette import PALETTE


def draw_map(
    file: Path,
    grid: OccupancyGrid,
    places: Places,
    way: Sequence[tuple[float, float]],
    world: WorldState | None,
    truth: GroundTruth | None,
    title: str,
) -> None:
    """Write the picture. Believed objects are filled, true ones are rings: they should lie on each other."""
    info = grid.info
    cells = grid.data.reshape(info.height, info.width)
    shade = np.where(cells < 0, 0.8, 1.0 - 0.75 * np.clip(cells, 0, 100) / 100)
    left, bottom = info.origin.position.x, info.origin.position.y
    extent = (left, left + info.width * info.resolution, bottom, bottom + info.height * info.resolution)
    figure, axes = plt.subplots(figsize=(8, 6.2), dpi=110)
    axes.imshow(shade, cmap="gray", vmin=0, vmax=1, origin="lower", extent=extent, interpolation="nearest")
    for surface in places.surfaces:
        (x, y), (width, depth) = surface.centre, surface.size_m
        axes.add_patch(plt.Rectangle((x - width / 2, y - depth / 2), width, depth, fill=False, ec="#666", lw=1))
        axes.text(x, y - depth / 2 - 0.1, surface.name.replace("_", " "), ha="center", va="top", fontsize=7)
    for room in places.rooms:
        x, y = np.mean(np.array(room.polygon), axis=0)
        axes.text(x, y, room.name.replace("_", " "), ha="center", color="#8a8a8a", fontsize=10, style="italic")
    if way:
        xs, ys = zip(*way, strict=True)
        axes.plot(xs, ys, "-", color="#3366cc", lw=1.6, alpha=0.8, label="way driven")
        axes.plot(xs[0], ys[0], "o", color="#3366cc", ms=5)
        axes.plot(xs[-1], ys[-1], marker=">", color="#3366cc", ms=9)
    for thing in world.objects if world else ():
        if thing.status == "confirmed":
            axes.plot(thing.position.x, thing.position.y, "s", color=PALETTE.get(thing.colour, "k"), ms=6)
    for real in truth.objects if truth else ():
        colour = PALETTE.get(real.name.split("_")[0], "k")
        axes.plot(real.pose.position.x, real.pose.position.y, "o", mfc="none", mec=colour, ms=11)
    axes.set(title=title, xlabel="x [m]", ylabel="y [m]", aspect="equal")
    axes.title.set_fontsize(10)
    figure.tight_layout()
    file.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(file)
    plt.close(figure)
