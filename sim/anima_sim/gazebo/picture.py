"""The picture in docs: the flat in Gazebo from above, and what the mast camera sees before the shelf.

`python -m anima_sim.gazebo.picture docs/gazebo.png`
"""

from __future__ import annotations

import argparse
import math
from pathlib import Path

import numpy as np
from PIL import Image

from anima_sim.gazebo.world import GazeboWorld
from anima_sim.robot_world import Picture
from anima_sim.scene import load_scene


def compose(world: GazeboWorld) -> Picture:
    """Overview (960 x 720) beside the mast camera's colours and distances, one above the other."""
    colour, depth = world.camera("mast")
    far_m = world.config.sensors.mast_camera.depth_max_m
    shade = np.nan_to_num(255.0 * (1.0 - depth / far_m)).clip(0, 255).astype(np.uint8)
    right = [Image.fromarray(colour), Image.fromarray(shade).convert("RGB")]
    column = np.concatenate([np.asarray(picture.resize((480, 360))) for picture in right], axis=0)
    whole: Picture = np.concatenate([world.overview_image(), column], axis=1)
    return whole


def main() -> None:
    """Write the picture."""
    parser = argparse.ArgumentParser(prog="python -m anima_sim.gazebo.picture", description=__doc__)
    parser.add_argument("file", type=Path, help="a .png")
    parser.add_argument("--seed", type=int, default=1, help="where the objects lie")
    options = parser.parse_args()
    world = GazeboWorld(load_scene("flat"), options.seed)
    try:
        world.place_robot(2.6, 5.0, math.pi / 2)
        world.step(0.5)
        Image.fromarray(compose(world)).save(options.file)
    finally:
        world.close()


if __name__ == "__main__":
    main()
