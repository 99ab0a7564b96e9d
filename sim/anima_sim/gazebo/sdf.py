"""Turns the world that MuJoCo is given into Gazebo's format, so that both simulators stand in the same flat.

The scene and the robot's description are turned into shapes, joints and masses once (`mjcf_scene`, `mjcf_robot`);
this reads those and writes the same as SDF. It knows the elements that those two write, and no others.
"""

from __future__ import annotations

import math
import xml.etree.ElementTree as ET
from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from anima_sim.config import CameraConfig, RobotConfig
from anima_sim.errors import SimulationError
from anima_sim.gazebo import frames
from anima_sim.gazebo.frames import Matrix
from anima_sim.gazebo.tuning import GazeboTuning
from anima_sim.mjcf_robot import TOUCHED_GROUP

ROBOT, PLACE = "robot", "place"
# What draws the place from above, by size: for a picture, and for a film, which costs a quarter.
OVERVIEWS = {(960, 720): "overview", (480, 360): "overview_film"}
OVERVIEW_PX = (960, 720)
_OVERVIEW_FOV_RAD = 0.6


@dataclass
class _Link:
    """A rigid part: an MJCF body that moves, with everything that is fixed to it."""

    name: str
    at: Matrix
    shapes: list[tuple[Matrix, ET.Element]] = field(default_factory=list)
    masses: list[tuple[Matrix, ET.Element]] = field(default_factory=list)
    cameras: list[tuple[Matrix, str]] = field(default_factory=list)


def world_sdf(
    mjcf: str, config: RobotConfig, tuning: GazeboTuning, cameras: bool = True, plugin: str | None = None
) -> str:
    """The world in `mjcf` (from `mjcf_scene.world_mjcf`) as SDF text. `plugin` is the file of a world plugin.

    Raises `SimulationError` for an element that can't be said in SDF.
    """
    source = ET.fromstring(mjcf)
    root = ET.Element("sdf", version="1.6")
    world = ET.SubElement(root, "world", name="default")
    _surroundings(world, tuning)
    content = source.find("worldbody")
    assert content is not None
    ground = _Link(PLACE, np.eye(4), [(np.eye(4), geom) for geom in content.findall("geom")])
    for body in content.findall("body"):
        name = body.attrib["name"]
        if name == "base_link":
            _robot(world, source, body, config, tuning, cameras)
        elif body.find("freejoint") is None and "mocap" not in body.attrib:
            # One model: Gazebo would test shapes of different ones against each other, though none can move.
            ground.shapes += [(frames.placed(body), geom) for geom in body.findall("geom")]
        else:
            link = _Link(name, frames.placed(body), [(np.eye(4), geom) for geom in body.findall("geom")])
            _model(world, name, [link], tuning, static="mocap" in body.attrib)
    _model(world, PLACE, [ground], tuning, static=True)
    if cameras:
        _overview(world, content)
    if plugin:
        ET.SubElement(world, "plugin", name="lockstep", filename=plugin)
    ET.indent(root)
    return ET.tostring(root, encoding="unicode")


def links_of(mjcf: str) -> dict[str, tuple[str, Matrix]]:
    """Where each body of the robot went: the name of the link that carries it, and its place (4 x 4) in that link."""
    base = ET.fromstring(mjcf).find("worldbody/body[@name='base_link']")
    assert base is not None
    found: dict[str, tuple[str, Matrix]] = {}

    def visit(body: ET.Element, link: str, at: Matrix) -> None:
        name = body.attrib["name"]
        if body.find("joint") is not None:
            link, at = name, np.eye(4)
        found[name] = (link, at)
        for child in body.findall("body"):
            visit(child, link, at @ frames.placed(child))

    visit(base, "base_link", np.eye(4))
    return found


def _surroundings(world: ET.Element, tuning: GazeboTuning) -> None:
    physics = ET.SubElement(world, "physics", type="ode")
    _put(physics, "max_step_size", f"{tuning.timestep_s:g}")
    _put(physics, "real_time_update_rate", "1000")
    ode = _put(physics, "ode")
    solver = _put(ode, "solver")
    _put(solver, "type", "quick")
    _put(solver, "iters", str(tuning.iterations))
    limits = _put(ode, "constraints")
    _put(limits, "contact_surface_layer", "0.0001")
    scene = _put(world, "scene")
    _put(scene, "ambient", "0.62 0.62 0.62 1")
    _put(scene, "background", "0.86 0.88 0.89 1")
    _put(scene, "shadows", "false")
    _put(scene, "grid", "false")
    for name, diffuse, direction in (("sun", 0.36, "0.25 0.45 -1"), ("fill", 0.14, "-0.5 -0.3 -1")):
        light = ET.SubElement(world, "light", name=name, type="directional")
        _put(light, "cast_shadows", "false")
        _put(light, "pose", "4 3 6 0 0 0")
        _put(light, "diffuse", f"{diffuse} {diffuse} {diffuse} 1")
        _put(light, "specular", "0 0 0 1")
        _put(light, "direction", direction)


def _robot(
    world: ET.Element, source: ET.Element, base: ET.Element, config: RobotConfig, tuning: GazeboTuning, cameras: bool
) -> None:
    links: list[_Link] = []
    joints: list[tuple[ET.Element, str, str]] = []

    def visit(body: ET.Element, at: Matrix, parent: _Link | None) -> None:
        hinge = body.find("joint")
        link = parent
        if link is None or hinge is not None:
            link = _Link(body.attrib["name"], at)
            links.append(link)
            if hinge is not None and parent is not None:
                joints.append((hinge, parent.name, link.name))
        here = np.linalg.inv(link.at) @ at
        link.shapes += [(here, geom) for geom in body.findall("geom")]
        link.masses += [(here, mass) for mass in body.findall("inertial")]
        link.cameras += [(here @ frames.placed(c) @ frames.LOOKING, c.attrib["name"]) for c in body.findall("camera")]
        for child in body.findall("body"):
            visit(child, at @ frames.placed(child), link)

    visit(base, np.eye(4), None)
    model = _model(world, ROBOT, links, tuning, static=False, at=frames.placed(base))
    forces = {m.attrib["joint"]: m.attrib["forcerange"].split()[1] for m in source.findall("actuator/*")}
    for hinge, parent, child in joints:
        joint = ET.SubElement(model, "joint", name=hinge.attrib["name"], type="revolute")
        _put(joint, "parent", parent)
        _put(joint, "child", child)
        axis = _put(joint, "axis")
        _put(axis, "xyz", hinge.attrib["axis"])
        low, high = hinge.get("range", "-1e16 1e16").split()
        limit = _put(axis, "limit")
        _put(limit, "lower", low)
        _put(limit, "upper", high)
        _put(limit, "effort", forces[hinge.attrib["name"]])
    if cameras:
        sizes = {"mast": config.sensors.mast_camera, "wrist": config.sensors.wrist_camera}
        for link in links:
            element = model.find(f"link[@name='{link.name}']")
            assert element is not None
            for at, name in link.cameras:
                _camera(element, name, "camera", at, sizes[name])
                _camera(element, f"{name}_depth", "depth", at, sizes[name])


def _model(
    world: ET.Element, name: str, links: list[_Link], tuning: GazeboTuning, static: bool, at: Matrix | None = None
) -> ET.Element:
    model = ET.SubElement(world, "model", name=name)
    if static:
        _put(model, "static", "true")
    _put(model, "pose", frames.pose(at if at is not None else links[0].at if len(links) == 1 else np.eye(4)))
    _put(model, "allow_auto_disable", "false")
    for link in links:
        element = ET.SubElement(model, "link", name=link.name)
        if len(links) > 1:
            _put(element, "pose", frames.pose(link.at))
        if not static:
            _inertial(element, link, tuning)
        for index, (place, geom) in enumerate(link.shapes):
            for part, (shape, here) in enumerate(_shapes(geom)):
                label = geom.get("name") or f"seen_{index}"
                label += f"_{part}" if part else ""
                spot = frames.pose(place @ here)
                if geom.get("group") != str(TOUCHED_GROUP):
                    _visual(element, label, spot, shape, geom.attrib["rgba"])
                if geom.get("contype", "1") != "0" or geom.get("conaffinity", "1") != "0":
                    _collision(element, label, spot, shape, geom, tuning)
    return model


def _inertial(element: ET.Element, link: _Link, tuning: GazeboTuning) -> None:
    if link.masses:
        mass, centre, tensor = _joined(link.masses)
    else:
        geom = link.shapes[0][1]
        mass, centre = float(geom.attrib["mass"]), np.zeros(3)
        tensor = np.diag(_solid_inertia(geom, mass))
    if link.masses and link.name != "base_link":
        tensor = tensor + np.eye(3) * tuning.rotor_inertia_kgm2
    inertial = _put(element, "inertial")
    _put(inertial, "pose", frames.text([*centre, 0.0, 0.0, 0.0]))
    _put(inertial, "mass", f"{mass:.9g}")
    inertia = _put(inertial, "inertia")
    for key, row, column in (("ixx", 0, 0), ("iyy", 1, 1), ("izz", 2, 2), ("ixy", 0, 1), ("ixz", 0, 2), ("iyz", 1, 2)):
        _put(inertia, key, f"{tensor[row, column]:.9g}")


def _joined(masses: list[tuple[Matrix, ET.Element]]) -> tuple[float, Matrix, Matrix]:
    """Mass, centre and inertia about that centre of several bodies that are fixed together."""
    parts = []
    for place, element in masses:
        xx, yy, zz, xy, xz, yz = frames.numbers(element.attrib["fullinertia"])
        turn = place[:3, :3]
        tensor = turn @ np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]) @ turn.T
        parts.append((float(element.attrib["mass"]), (place @ frames.placed(element))[:3, 3], tensor))
    total = sum(mass for mass, _, _ in parts)
    centre = sum((mass * at for mass, at, _ in parts), np.zeros(3)) / total
    whole = np.zeros((3, 3))
    for mass, at, tensor in parts:
        arm = at - centre
        whole += tensor + mass * (float(arm @ arm) * np.eye(3) - np.outer(arm, arm))
    return total, centre, whole


def _solid_inertia(geom: ET.Element, mass: float) -> list[float]:
    size = frames.numbers(geom.attrib["size"])
    if geom.attrib["type"] == "box":
        a, b, c = (4 * v * v for v in size)
        return [mass * (b + c) / 12, mass * (a + c) / 12, mass * (a + b) / 12]
    if geom.attrib["type"] == "cylinder":
        r2, h2 = size[0] ** 2, (2 * size[1]) ** 2
        return [mass * (3 * r2 + h2) / 12, mass * (3 * r2 + h2) / 12, mass * r2 / 2]
    return [0.4 * mass * size[0] ** 2] * 3


def _shapes(geom: ET.Element) -> Iterator[tuple[ET.Element, Matrix]]:
    """The SDF geometries that stand for an MJCF geom, and where."""
    kind, at = geom.get("type", "sphere"), frames.placed(geom)
    size = frames.numbers(geom.attrib["size"])
    if kind == "box":
        yield _geometry("box", size=frames.text([2 * v for v in size])), at
    elif kind == "sphere":
        yield _geometry("sphere", radius=f"{size[0]:.9g}"), at
    elif kind == "cylinder" or (kind == "capsule" and geom.get("group") == str(TOUCHED_GROUP)):
        yield _geometry("cylinder", radius=f"{size[0]:.9g}", length=f"{2 * size[1]:.9g}"), at
    elif kind == "capsule":
        ends = frames.numbers(geom.attrib["fromto"])
        at, length = frames.along(ends[:3], ends[3:])
        yield _geometry("cylinder", radius=f"{size[0]:.9g}", length=f"{length:.9g}"), at
        for end in (ends[:3], ends[3:]):
            there = np.eye(4)
            there[:3, 3] = end
            yield _geometry("sphere", radius=f"{size[0]:.9g}"), there
    elif kind == "ellipsoid":
        # Gazebo 11 has none: the round ones become spheres, the others upright cylinders of the same volume.
        round_m = math.prod(size) ** (1 / 3)
        if max(size) < 1.45 * min(size):
            yield _geometry("sphere", radius=f"{round_m:.9g}"), at
        else:
            across = math.sqrt(size[0] * size[1])
            yield _geometry("cylinder", radius=f"{across:.9g}", length=f"{4 / 3 * size[2]:.9g}"), at
    else:
        raise SimulationError(f"Gazebo's format has no '{kind}'; build '{geom.get('name')}' of other shapes")


def _geometry(kind: str, **parts: str) -> ET.Element:
    geometry = ET.Element("geometry")
    shape = ET.SubElement(geometry, kind)
    for key, value in parts.items():
        _put(shape, key, value)
    return geometry


def _visual(link: ET.Element, name: str, spot: str, geometry: ET.Element, rgba: str) -> None:
    visual = ET.SubElement(link, "visual", name=name)
    _put(visual, "cast_shadows", "false")
    _put(visual, "pose", spot)
    visual.append(geometry)
    material = _put(visual, "material")
    for key, value in (("ambient", rgba), ("diffuse", rgba), ("specular", "0.02 0.02 0.02 1")):
        _put(material, key, value)


def _collision(
    link: ET.Element, name: str, spot: str, geometry: ET.Element, geom: ET.Element, tuning: GazeboTuning
) -> None:
    collision = ET.SubElement(link, "collision", name=name)
    _put(collision, "pose", spot)
    collision.append(geometry)
    _put(collision, "max_contacts", "4")
    surface = _put(collision, "surface")
    contact = _put(surface, "contact")
    # Gazebo lets two shapes touch whose masks share a bit. Here that comes to the same as MuJoCo's two masks: what
    # only tyres and rims have is in the mask of nothing else that could meet it.
    _put(contact, "collide_bitmask", str(int(geom.get("contype", "1")) | int(geom.get("conaffinity", "1"))))
    touch = tuning.touch(name, geom)
    ode = _put(contact, "ode")
    for key, value in (("kp", touch.stiffness), ("kd", touch.damping), ("max_vel", touch.fastest_mps),
                       ("min_depth", touch.depth_m)):
        _put(ode, key, f"{value:g}")
    friction = _put(_put(surface, "friction"), "ode")
    _put(friction, "mu", f"{touch.friction:g}")
    _put(friction, "mu2", f"{touch.friction:g}")


def _camera(link: ET.Element, name: str, kind: str, at: Matrix, config: CameraConfig) -> None:
    sensor = _sensor(link, name, kind, at)
    lens = _put(sensor, "camera")
    up = math.tan(math.radians(config.vertical_fov_deg) / 2)
    _put(lens, "horizontal_fov", f"{2 * math.atan(up * config.width / config.height):.9g}")
    _image(lens, config.width, config.height, near_m=0.02, far_m=10.0)
    if kind == "depth":
        _put(_put(lens, "depth_camera"), "output", "depths")


def _overview(world: ET.Element, content: ET.Element) -> None:
    """The whole place from above. Gazebo's cameras are perspective, so it stands where the same extent fits in."""
    view = content.find("camera[@name='overview']")
    assert view is not None
    at = frames.placed(view) @ frames.LOOKING
    up = math.tan(_OVERVIEW_FOV_RAD / 2) * OVERVIEW_PX[1] / OVERVIEW_PX[0]
    at[2, 3] = float(view.attrib["fovy"]) / 2 / up + 0.6
    model = ET.SubElement(world, "model", name="overview")
    _put(model, "static", "true")
    link = ET.SubElement(model, "link", name="overview")
    for size, name in OVERVIEWS.items():
        lens = _put(_sensor(link, name, "camera", at), "camera")
        _put(lens, "horizontal_fov", f"{_OVERVIEW_FOV_RAD:g}")
        _image(lens, *size, near_m=1.0, far_m=40.0)


def _sensor(link: ET.Element, name: str, kind: str, at: Matrix) -> ET.Element:
    sensor = ET.SubElement(link, "sensor", name=name, type=kind)
    _put(sensor, "pose", frames.pose(at))
    # Pictures are taken when they are asked for, never by the sensor's own clock.
    _put(sensor, "always_on", "false")
    _put(sensor, "update_rate", "0.001")
    return sensor


def _image(lens: ET.Element, width: int, height: int, near_m: float, far_m: float) -> None:
    image = _put(lens, "image")
    _put(image, "width", str(width))
    _put(image, "height", str(height))
    _put(image, "format", "R8G8B8")
    clip = _put(lens, "clip")
    _put(clip, "near", f"{near_m:g}")
    _put(clip, "far", f"{far_m:g}")


def _put(parent: ET.Element, tag: str, content: str | None = None) -> ET.Element:
    element = ET.SubElement(parent, tag)
    element.text = content
    return element
