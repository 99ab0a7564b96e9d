"""Turns a scene into MuJoCo's format: floor, walls, furniture, the person, the dock, the things to grasp."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections.abc import Iterable, Sequence

from anima_sim.config import RobotConfig
from anima_sim.mjcf_robot import GENERAL, RIM, TYRE, robot_mjcf
from anima_sim.scene import OUTWARD, Colour, Scene, Stairs, Surface, Wall, pose_rad

DECORATION_GROUP = 2
OBSTACLES = ("obstacle_0", "obstacle_1")
"""Boxes that a fault can put in the way; until then they wait far below the floor."""
OBSTACLE_HALF_M = (0.17, 0.17, 0.25)
OBSTACLE_STORE_M = ((2.5, 4.0, -5.0), (4.0, 4.0, -5.0))
DOCK_DEPTH_M, DOCK_WIDTH_M, DOCK_HEIGHT_M = 0.10, 0.30, 0.10
TABLE_TOP_M, LEG_M, BOARD_M = 0.03, 0.04, 0.018

_BODY = {"contype": str(GENERAL), "conaffinity": str(GENERAL | RIM)}
_GROUND = {"contype": str(GENERAL), "conaffinity": str(GENERAL | TYRE)}
_SEEN_ONLY = {"contype": "0", "conaffinity": "0", "group": str(DECORATION_GROUP)}
_TOP_FRICTION = "0.6 0.005 0.0001"


def world_mjcf(scene: Scene, config: RobotConfig, urdf: str, prefixes: Sequence[str] = ("",)) -> str:
    """The whole world as MJCF text: scene, objects (at their origin until placed) and the robot on its dock.

    For each prefix there is a robot whose names begin with it: the first on the dock, the others where the scene parks
    them. Raises `SceneError` when it has no place for so many.
    """
    root = ET.Element("mujoco", model=scene.name)
    ET.SubElement(root, "compiler", angle="radian", autolimits="true")
    sim = config.simulation
    solver = {"integrator": sim.integrator, "cone": sim.cone, "impratio": str(sim.impratio)}
    ET.SubElement(root, "option", {"timestep": str(sim.timestep_s), **solver})
    _looks(root)
    world = ET.SubElement(root, "worldbody")
    _lights(world, scene)
    _floor(world, scene)
    for index, wall in enumerate(scene.walls.segments):
        _wall(world, scene, wall, f"wall_{index}")
    for piece in scene.furniture:
        _block(world, piece.name, piece.start, piece.end, piece.colour, shape=piece.shape)
    for surface in scene.surfaces:
        {"table": _table, "shelf": _shelf, "tray": _tray}[surface.kind](world, surface)
    _person(world, scene)
    _dock(world, scene, config)
    _objects(world, scene)
    for index, name in enumerate(OBSTACLES):
        box = ET.SubElement(world, "body", name=name, mocap="true", pos=_t(OBSTACLE_STORE_M[index]))
        _solid(box, name, "box", "0.64 0.58 0.51 1", size=_t(OBSTACLE_HALF_M))
    sections = {"worldbody": world, **{name: ET.SubElement(root, name) for name in ("actuator", "sensor", "contact")}}
    for index, (prefix, pose) in enumerate(zip(prefixes, scene.starts(len(prefixes)), strict=True)):
        for section, elements in robot_mjcf(urdf, config, pose, index, prefix).items():
            sections[section].extend(elements)
    return ET.tostring(root, encoding="unicode")


def _looks(root: ET.Element) -> None:
    visual = ET.SubElement(root, "visual")
    ET.SubElement(visual, "global", offwidth="1280", offheight="960")
    ET.SubElement(visual, "quality", shadowsize="2048", offsamples="0")
    ET.SubElement(visual, "map", znear="0.004", zfar="6", shadowclip="1.3")
    ET.SubElement(visual, "headlight", ambient="0.46 0.46 0.46", diffuse="0.20 0.20 0.20", specular="0 0 0")
    ET.SubElement(root, "statistic", extent="5", center="4 3 0.4")
    assets = ET.SubElement(root, "asset")
    sky = {"rgb1": "0.93 0.94 0.95", "rgb2": "0.80 0.82 0.84", "width": "64", "height": "384"}
    ET.SubElement(assets, "texture", {"type": "skybox", "builtin": "gradient", **sky})


def _lights(world: ET.Element, scene: Scene) -> None:
    xs = [p[0] for r in scene.rooms for p in r.polygon]
    ys = [p[1] for r in scene.rooms for p in r.polygon]
    x, y = (min(xs) + max(xs)) / 2, (min(ys) + max(ys)) / 2
    # Far off against its direction: near its own plane a directional light casts specks.
    place = f"{x - 2.5} {y - 4.5} 10"
    sun = {"directional": "true", "pos": place, "diffuse": "0.36 0.36 0.36", "specular": "0.05 0.05 0.05"}
    ET.SubElement(world, "light", {**sun, "name": "sun", "dir": "0.25 0.45 -1", "castshadow": "true"})
    fill = {"directional": "true", "pos": f"{x} {y} 6", "diffuse": "0.10 0.10 0.10", "specular": "0 0 0"}
    ET.SubElement(world, "light", {**fill, "name": "fill", "dir": "-0.5 -0.3 -1", "castshadow": "false"})
    high = max(max(xs) - min(xs), (max(ys) - min(ys)) * 4 / 3) * 0.75 + 0.5
    ET.SubElement(
        world, "camera", name="overview", projection="orthographic", fovy=f"{high:.3f}", pos=f"{x} {y} 5", euler="0 0 0"
    )


def _floor(world: ET.Element, scene: Scene) -> None:
    floor = scene.floor
    friction = f"{floor.friction} 0.005 0.0001"
    for index, slab in enumerate(floor.slabs):
        low, high = (*slab.start, -floor.thickness_m), (*slab.end, 0.0)
        _block(world, f"floor_{index}", low, high, floor.colour, bits=_GROUND, friction=friction)
        for room in scene.rooms:
            xs, ys = [p[0] for p in room.polygon], [p[1] for p in room.polygon]
            x0, x1 = max(slab.start[0], min(xs)), min(slab.end[0], max(xs))
            y0, y1 = max(slab.start[1], min(ys)), min(slab.end[1], max(ys))
            if x0 < x1 and y0 < y1:
                name = f"{room.name}_floor_{index}"
                _block(world, name, (x0, y0, 0.0), (x1, y1, 0.0006), room.colour, bits=_SEEN_ONLY)
    for rug in scene.rugs:
        grip = f"{rug.friction} 0.005 0.0001"
        top = (*rug.end, rug.thickness_m)
        _block(world, rug.name, (*rug.start, -0.002), top, rug.colour, bits=_GROUND, friction=grip)
    _stairs(world, scene.stairs)


def _stairs(world: ET.Element, stairs: Stairs) -> None:
    out = OUTWARD[stairs.descends]
    axis = 0 if out[0] else 1
    depth = stairs.size[axis] / stairs.steps
    bottom = -stairs.step_drop_m * (stairs.steps + 1)
    for step in range(stairs.steps):
        low, high = [*stairs.start, bottom], [*stairs.end, -stairs.step_drop_m * (step + 1)]
        if out[axis] > 0:
            low[axis], high[axis] = stairs.start[axis] + step * depth, stairs.start[axis] + (step + 1) * depth
        else:
            low[axis], high[axis] = stairs.end[axis] - (step + 1) * depth, stairs.end[axis] - step * depth
        shade = 1.0 - 0.12 * step
        colour = (stairs.colour[0] * shade, stairs.colour[1] * shade, stairs.colour[2] * shade)
        _block(world, f"{stairs.name}_{step}", low, high, colour, bits=_GROUND)


def _wall(world: ET.Element, scene: Scene, wall: Wall, name: str) -> None:
    half = scene.walls.thickness_m / 2
    for index, (start, end) in enumerate(wall.pieces()):
        # Corners close: a piece that reaches the wall's end goes on by half a thickness.
        a = wall.at(start - (half if start == 0.0 else 0.0))
        b = wall.at(end + (half if end >= wall.length_m - 1e-9 else 0.0))
        low, high = [min(a[0], b[0]), min(a[1], b[1]), -0.7], [max(a[0], b[0]), max(a[1], b[1]), scene.walls.height_m]
        across = 1 if wall.start[1] == wall.end[1] else 0
        high[2] += 0.002 * across  # where walls cross, two tops at one height would be lit twice
        low[across] -= half
        high[across] += half
        _block(world, f"{name}_{index}", low, high, scene.walls.colour)


def _table(world: ET.Element, table: Surface) -> None:
    low, high = _top(table)
    under = table.height_m - TABLE_TOP_M
    _block(world, table.name, (*low, under), (*high, table.height_m), table.colour, friction=_TOP_FRICTION)
    dark = _shade(table.colour, 0.8)
    for index, (sx, sy) in enumerate(((0, 0), (0, 1), (1, 0), (1, 1))):
        x = high[0] - LEG_M - 0.01 if sx else low[0] + 0.01
        y = high[1] - LEG_M - 0.01 if sy else low[1] + 0.01
        _block(world, f"{table.name}_leg_{index}", (x, y, 0.0), (x + LEG_M, y + LEG_M, under), dark)


def _shelf(world: ET.Element, shelf: Surface) -> None:
    """Two boards between two sides and a back, open where it is approached."""
    low, high = _top(shelf)
    top = shelf.height_m - BOARD_M
    dark = _shade(shelf.colour, 0.85)
    _block(world, shelf.name, (*low, top), (*high, shelf.height_m), shelf.colour, friction=_TOP_FRICTION)
    out = OUTWARD[shelf.approach_sides[0]]
    along = 1 if out[0] else 0
    back = 1 - along
    inner_low, inner_high = list(low), list(high)
    panel_low, panel_high = list(low), list(high)
    if out[back] > 0:
        panel_high[back] = low[back] + BOARD_M
        inner_high[back] -= 0.02
    else:
        panel_low[back] = high[back] - BOARD_M
        inner_low[back] += 0.02
    _block(world, f"{shelf.name}_back", (*panel_low, 0.0), (*panel_high, top), dark)
    _block(world, f"{shelf.name}_board", (*inner_low, 0.06), (*inner_high, 0.06 + BOARD_M), shelf.colour)
    for index, start in enumerate((low[along], high[along] - BOARD_M)):
        side_low, side_high = list(inner_low), list(inner_high)
        side_low[along], side_high[along] = start, start + BOARD_M
        _block(world, f"{shelf.name}_side_{index}", (*side_low, 0.0), (*side_high, top), dark)


def _tray(world: ET.Element, tray: Surface) -> None:
    low, high = _top(tray)
    _block(world, tray.name, (*low, tray.height_m - 0.015), (*high, tray.height_m), tray.colour, friction=_TOP_FRICTION)


def _person(world: ET.Element, scene: Scene) -> None:
    x, y, yaw = pose_rad(scene.person.seat)
    body = ET.SubElement(world, "body", name=scene.person.name, pos=f"{x} {y} 0", euler=f"0 0 {yaw}")
    skin, shirt, trousers, dark = "0.78 0.70 0.65 1", "0.56 0.61 0.63 1", "0.31 0.33 0.37 1", "0.20 0.19 0.18 1"

    def limb(part: str, a: Sequence[float], b: Sequence[float], radius: float, rgba: str) -> None:
        ends = _t([*a, *b])
        name = f"{scene.person.name}_{part}"
        _solid(body, name, "capsule", rgba, fromto=ends, size=str(radius))

    def ball(part: str, at: Sequence[float], radii: Sequence[float], rgba: str) -> None:
        name = f"{scene.person.name}_{part}"
        _solid(body, name, "ellipsoid", rgba, pos=_t(at), size=_t(radii))

    limb("hips", (0.0, -0.07, 0.37), (0.0, 0.07, 0.37), 0.105, trousers)
    ball("chest", (-0.03, 0.0, 0.62), (0.12, 0.19, 0.25), shirt)
    limb("neck", (-0.02, 0.0, 0.86), (0.0, 0.0, 0.93), 0.045, skin)
    ball("head", (0.02, 0.0, 1.04), (0.095, 0.082, 0.115), skin)
    ball("hair", (-0.005, 0.0, 1.075), (0.095, 0.088, 0.098), dark)
    for side, s in (("left", 1), ("right", -1)):
        limb(f"{side}_thigh", (0.03, s * 0.10, 0.322), (0.44, s * 0.10, 0.322), 0.056, trousers)
        limb(f"{side}_shin", (0.45, s * 0.10, 0.30), (0.43, s * 0.10, 0.08), 0.047, trousers)
        limb(f"{side}_foot", (0.42, s * 0.10, 0.038), (0.56, s * 0.11, 0.032), 0.036, dark)
        limb(f"{side}_upper_arm", (-0.02, s * 0.21, 0.78), (0.06, s * 0.25, 0.52), 0.042, shirt)
        limb(f"{side}_forearm", (0.06, s * 0.25, 0.52), (0.38, s * 0.175, 0.43), 0.034, shirt)
        ball(f"{side}_hand", (0.42, s * 0.165, 0.425), (0.045, 0.028, 0.024), skin)


def _dock(world: ET.Element, scene: Scene, config: RobotConfig) -> None:
    x, y, yaw = pose_rad(scene.dock.docked)
    rear = config.base.footprint_m.rear
    body = ET.SubElement(world, "body", name=scene.dock.name, pos=f"{x} {y} 0", euler=f"0 0 {yaw}")
    rgba = _rgba(scene.dock.colour)
    half = (DOCK_DEPTH_M / 2, DOCK_WIDTH_M / 2, DOCK_HEIGHT_M / 2)
    at = (-rear - half[0], 0.0, half[2])
    _solid(body, scene.dock.name, "box", rgba, pos=_t(at), size=_t(half))
    strip = {"type": "box", "size": "0.002 0.025 0.008", "rgba": "0.80 0.79 0.75 1", **_SEEN_ONLY}
    for s in (1, -1):
        ET.SubElement(body, "geom", {"pos": f"{-rear} {s * 0.05} 0.07", **strip})
    back = f"{-rear - DOCK_DEPTH_M + 0.01} 0 0.19"
    _solid(body, f"{scene.dock.name}_back", "box", rgba, pos=back, size="0.01 0.15 0.10")


def _objects(world: ET.Element, scene: Scene) -> None:
    for thing in scene.objects:
        body = ET.SubElement(world, "body", name=thing.name)
        ET.SubElement(body, "freejoint", name=thing.name)
        half = [v / 2 for v in thing.size_m]
        kind = {"box": "box", "cylinder": "cylinder", "ball": "sphere"}[thing.shape]
        size = {"box": half, "cylinder": [half[0], half[2]], "ball": half[:1]}[thing.shape]
        # A ball needs rolling friction, or it never comes to rest.
        rolls = thing.shape == "ball"
        touch = {"condim": "6" if rolls else "4", "friction": "1 0.02 0.004" if rolls else "1 0.005 0.0001"}
        _solid(body, thing.name, kind, _rgba(thing.colour), size=_t(size), mass=str(scene.object_mass_kg), **touch)


def _block(
    world: ET.Element,
    name: str,
    low: Sequence[float],
    high: Sequence[float],
    colour: Colour,
    *,
    shape: str = "box",
    bits: dict[str, str] = _BODY,
    friction: str | None = None,
) -> None:
    centre = [(a + b) / 2 for a, b in zip(low, high, strict=True)]
    half = [(b - a) / 2 for a, b in zip(low, high, strict=True)]
    size = half if shape == "box" else [min(half[:2]), half[2]]
    geom = {"name": name, "type": shape, "pos": _t(centre), "size": _t(size), "rgba": _rgba(colour), **bits}
    if friction:
        geom["friction"] = friction
    ET.SubElement(world, "geom", geom)


def _solid(body: ET.Element, name: str, kind: str, rgba: str, **rest: str) -> None:
    ET.SubElement(body, "geom", {"name": name, "type": kind, "rgba": rgba, **rest, **_BODY})


def _top(surface: Surface) -> tuple[tuple[float, float], tuple[float, float]]:
    (x, y), (w, d) = surface.centre, surface.size_m
    return (x - w / 2, y - d / 2), (x + w / 2, y + d / 2)


def _shade(colour: Colour, factor: float) -> Colour:
    return colour[0] * factor, colour[1] * factor, colour[2] * factor


def _rgba(colour: Colour) -> str:
    return _t([*colour, 1.0])


def _t(values: Iterable[float]) -> str:
    return " ".join(f"{v:.6g}" for v in values)
