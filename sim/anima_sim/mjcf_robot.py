"""Turns the robot's URDF into MuJoCo's own format, and adds what only a simulator needs."""

from __future__ import annotations

import math
import xml.etree.ElementTree as ET
from dataclasses import dataclass

from anima_sim.config import RobotConfig
from anima_sim.errors import RobotError

SEEN_GROUP = 1
"""Geom group of the robot's visible shapes; the world is in 0, floor decoration in 2."""
TOUCHED_GROUP = 3
"""Geom group of the robot's collision shapes: never rendered, but beams meet them."""

# Contact bits. Rims meet everything but the floor; tyres (spheres: one clean contact point) meet the floor alone.
GENERAL, TYRE, RIM = 1, 2, 4


@dataclass(frozen=True)
class _Joint:
    name: str
    kind: str
    parent: str
    element: ET.Element


MOST_ROBOTS = 3
"""How many can be in one world: MuJoCo has six groups of geoms, and each robot's collision shapes have one."""


def touched_group(index: int) -> int:
    """The group of a robot's collision shapes, so that its own beams can pass through them and the others' don't."""
    return TOUCHED_GROUP + index


def robot_mjcf(
    urdf: str, config: RobotConfig, pose: tuple[float, float, float], index: int = 0, prefix: str = ""
) -> dict[str, list[ET.Element]]:
    """MuJoCo elements of the robot, by the section they belong in: `worldbody`, `actuator`, `sensor`, `contact`.

    `pose` is where the base stands at first: x, y (m) and heading (rad) in the map frame. Of several robots in one
    world each has an `index` and a `prefix`, which every one of its names begins with, and posts at its corners: flat
    lidars on the decks of low robots would look over each other.
    Raises `RobotError` when URDF and configuration name different parts.
    """
    root = ET.fromstring(urdf)
    links = {e.attrib["name"]: e for e in root.findall("link")}
    colours = {
        m.attrib["name"]: c.attrib["rgba"] for m in root.findall("material") if (c := m.find("color")) is not None
    }
    joints = [_joint(e) for e in root.findall("joint")]
    children = {e.find("child").attrib["link"] for e in root.findall("joint")}  # type: ignore[union-attr]
    tops = [name for name in links if name not in children]
    if tops != ["base_link"]:
        raise RobotError(f"the URDF must have the one root base_link, it has {tops}")
    _check_names(config, set(links), {j.name for j in joints})

    body = ET.Element("body", name="base_link", pos=f"{pose[0]} {pose[1]} 0.001", euler=f"0 0 {pose[2]}")
    ET.SubElement(body, "freejoint", name="base")
    _fill(body, "base_link", links, joints, colours, config)
    if prefix:
        body.extend(_posts(config))
    exclude = [ET.Element("exclude", body1=a, body2=b) for a, b in config.simulation.ignore_contact]
    sensors = [ET.Element(kind, name=kind, site="imu") for kind in ("gyro", "accelerometer")]
    parts = {"worldbody": [body], "actuator": _actuators(joints, config), "sensor": sensors, "contact": exclude}
    for elements in parts.values():
        for element in (e for top in elements for e in top.iter()):
            _own(element, index, prefix)
    return parts


def _posts(config: RobotConfig) -> list[ET.Element]:
    extent, out = config.base.footprint_m, []
    for end, x in (("front", extent.front - 0.03), ("rear", 0.03 - extent.rear)):
        for side, y in (("left", extent.half_width - 0.02), ("right", 0.02 - extent.half_width)):
            shape = {"type": "cylinder", "pos": f"{x} {y} 0.25", "size": "0.010 0.05", "mass": "0"}
            bits = {"contype": str(GENERAL), "conaffinity": str(GENERAL), "group": str(TOUCHED_GROUP)}
            out.append(ET.Element("geom", {"name": f"post_{end}_{side}", **shape, **bits}))
            out.append(ET.Element("geom", {**shape, **_SEEN, "rgba": "0.95 0.60 0.10 1"}))
    return out


def _own(element: ET.Element, index: int, prefix: str) -> None:
    for key in ("name", "joint", "site", "body1", "body2"):
        if key in element.attrib:
            element.set(key, prefix + element.attrib[key])
    if element.get("group") == str(TOUCHED_GROUP):
        element.set("group", str(touched_group(index)))


def _joint(element: ET.Element) -> _Joint:
    parent = element.find("parent")
    if parent is None:
        raise RobotError(f"joint '{element.get('name')}' has no parent")
    return _Joint(element.attrib["name"], element.attrib["type"], parent.attrib["link"], element)


def _check_names(config: RobotConfig, links: set[str], joints: set[str]) -> None:
    sensors = config.sensors
    frames = [
        sensors.lidar.frame, sensors.mast_camera.frame, sensors.wrist_camera.frame, sensors.imu.frame,
        *sensors.bumpers.links, *sensors.cliffs.frames, *config.simulation.pads.links.values(),
        *(name for pair in config.simulation.ignore_contact for name in pair),
    ]
    missing = sorted({f for f in frames if f not in links} | {j for j in config.joints if j not in joints})
    if missing:
        raise RobotError(f"the configuration of '{config.name}' names parts that its URDF hasn't: {', '.join(missing)}")


def _fill(
    body: ET.Element,
    link: str,
    links: dict[str, ET.Element],
    joints: list[_Joint],
    colours: dict[str, str],
    config: RobotConfig,
) -> None:
    _inertia(body, links[link])
    for visual in links[link].findall("visual"):
        material = visual.find("material")
        rgba = colours.get(material.attrib["name"], "0.6 0.6 0.6 1") if material is not None else "0.6 0.6 0.6 1"
        ET.SubElement(body, "geom", {**_shape(visual), **_SEEN, "rgba": rgba})
    for collision in links[link].findall("collision"):
        body.extend(_collision(collision, link, config))
    _sensors(body, link, config)
    for joint in joints:
        if joint.parent != link:
            continue
        child = joint.element.find("child")
        assert child is not None
        name = child.attrib["link"]
        below = ET.SubElement(body, "body", {"name": name, **_origin(joint.element)})
        if joint.kind != "fixed":
            below.append(_hinge(joint, config))
        _fill(below, name, links, joints, colours, config)


_SEEN = {"contype": "0", "conaffinity": "0", "mass": "0", "group": str(SEEN_GROUP)}


def _collision(collision: ET.Element, link: str, config: RobotConfig) -> list[ET.Element]:
    name = collision.get("name") or f"{link}_collision"
    shape = _shape(collision)
    bits = {"contype": str(GENERAL), "conaffinity": str(GENERAL)}
    extra: dict[str, str] = {}
    out = []
    pads = config.simulation.pads
    if link in ("left_wheel_link", "right_wheel_link"):
        bits = {"contype": str(RIM), "conaffinity": "0"}
        grip = config.simulation.wheel.sliding_friction
        tyre = {
            "name": name.replace("rim", "tyre"), "type": "sphere", "size": str(config.base.wheel_radius_m),
            "contype": str(TYRE), "conaffinity": "0", "mass": "0", "group": str(TOUCHED_GROUP),
            "friction": f"{grip} 0.005 0.0001",
        }
        out.append(ET.Element("geom", tyre))
    elif "caster" in link:
        extra = {"condim": "1", "friction": "0 0 0", "priority": "2"}
    elif name in pads.links:
        extra = {
            "condim": str(pads.condim), "priority": str(pads.priority), "friction": _text(pads.friction),
            "solref": _text(pads.solref), "solimp": _text(pads.solimp),
        }
    elif shape["type"] == "cylinder":
        # Rounded ends touch more smoothly and cost less; the axis keeps its ends.
        shape["type"] = "capsule"
    out.append(ET.Element("geom", {"name": name, **shape, **bits, **extra, "mass": "0", "group": str(TOUCHED_GROUP)}))
    return out


def _inertia(body: ET.Element, link: ET.Element) -> None:
    inertial = link.find("inertial")
    if inertial is None:
        return
    mass, tensor = inertial.find("mass"), inertial.find("inertia")
    if mass is None or tensor is None:
        raise RobotError(f"link '{link.get('name')}' has an <inertial> without mass or inertia")
    full = " ".join(tensor.attrib[k] for k in ("ixx", "iyy", "izz", "ixy", "ixz", "iyz"))
    place = {"pos": _origin(inertial)["pos"]}
    ET.SubElement(body, "inertial", {**place, "mass": mass.attrib["value"], "fullinertia": full})


def _hinge(joint: _Joint, config: RobotConfig) -> ET.Element:
    axis, limit, dynamics = (joint.element.find(tag) for tag in ("axis", "limit", "dynamics"))
    tuning = config.simulation
    if joint.kind == "continuous":
        armature = tuning.wheel.armature
    else:
        armature = tuning.gripper.armature if joint.name == config.arm.gripper else tuning.servo.armature
    hinge = ET.Element("joint", name=joint.name, type="hinge", armature=str(armature))
    hinge.set("axis", axis.attrib["xyz"] if axis is not None else "1 0 0")
    if dynamics is not None:
        hinge.set("damping", dynamics.get("damping", "0"))
        hinge.set("frictionloss", dynamics.get("friction", "0"))
    if joint.kind == "revolute" and limit is not None:
        hinge.set("range", f"{limit.attrib['lower']} {limit.attrib['upper']}")
    return hinge


def _actuators(joints: list[_Joint], config: RobotConfig) -> list[ET.Element]:
    out, tuning = [], config.simulation
    for joint in joints:
        limit = joint.element.find("limit")
        if joint.kind == "fixed" or limit is None:
            continue
        effort = float(limit.attrib["effort"])
        if joint.kind == "continuous":
            out.append(ET.Element("velocity", name=joint.name, joint=joint.name, kv=str(tuning.wheel.kv)))
        else:
            gains = tuning.gripper if joint.name == config.arm.gripper else tuning.servo
            if joint.name == config.arm.gripper:
                effort = min(effort, tuning.gripper.force_limit_nm)
            servo = {"name": joint.name, "joint": joint.name, "kp": str(gains.kp), "kv": str(gains.kv)}
            servo["ctrlrange"] = f"{limit.attrib['lower']} {limit.attrib['upper']}"
            out.append(ET.Element("position", servo))
        out[-1].set("forcerange", f"{-effort} {effort}")
    return out


def _sensors(body: ET.Element, link: str, config: RobotConfig) -> None:
    if link == config.sensors.imu.frame:
        ET.SubElement(body, "site", name="imu", size="0.005", rgba="0 0 0 0")
    for name, camera in (("mast", config.sensors.mast_camera), ("wrist", config.sensors.wrist_camera)):
        if link == camera.frame:
            # An optical frame looks along +z with y down; MuJoCo's cameras look along -z with y up.
            ET.SubElement(body, "camera", name=name, quat="0 1 0 0", fovy=str(camera.vertical_fov_deg))


def _shape(element: ET.Element) -> dict[str, str]:
    place = _origin(element)
    box, cylinder, sphere = (element.find(f"geometry/{tag}") for tag in ("box", "cylinder", "sphere"))
    if box is not None:
        half = [float(v) / 2 for v in box.attrib["size"].split()]
        return {"type": "box", "size": _text(half), **place}
    if cylinder is not None:
        size = (float(cylinder.attrib["radius"]), float(cylinder.attrib["length"]) / 2)
        return {"type": "cylinder", "size": _text(size), **place}
    if sphere is not None:
        return {"type": "sphere", "size": sphere.attrib["radius"], **place}
    raise RobotError("the simulator takes boxes, cylinders and spheres; the URDF has another geometry")


def _origin(element: ET.Element) -> dict[str, str]:
    origin = element.find("origin")
    xyz = origin.get("xyz", "0 0 0") if origin is not None else "0 0 0"
    rpy = origin.get("rpy", "0 0 0") if origin is not None else "0 0 0"
    return {"pos": xyz, "quat": _text(_quaternion(*(float(v) for v in rpy.split())))}


def _quaternion(roll: float, pitch: float, yaw: float) -> tuple[float, float, float, float]:
    """w, x, y, z of URDF's fixed-axis roll, pitch, yaw."""
    cr, sr = math.cos(roll / 2), math.sin(roll / 2)
    cp, sp = math.cos(pitch / 2), math.sin(pitch / 2)
    cy, sy = math.cos(yaw / 2), math.sin(yaw / 2)
    return (
        cr * cp * cy + sr * sp * sy,
        sr * cp * cy - cr * sp * sy,
        cr * sp * cy + sr * cp * sy,
        cr * cp * sy - sr * sp * cy,
    )


def _text(values: tuple[float, ...] | list[float]) -> str:
    return " ".join(f"{v:.9g}" for v in values)
