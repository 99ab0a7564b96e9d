"""The robot as its URDF and its configuration describe it: link poses, joint limits, camera, hand."""

from __future__ import annotations

import functools
import math
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import xacro
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict, Field, ValidationError
from urdf_parser_py import urdf as urdf_parser

from anima.body.equipment import Equipment, load_equipment
from anima.body.pose import Pose2D
from anima.config import ROOT, ConfigError, Settings, read_yaml

Matrix = NDArray[np.float64]
"""A rigid transform, shape (4, 4): points of the child frame, in the parent frame."""

TOOL_LINK = "tool_link"


class RobotModelError(ValueError):
    """The robot's description can't be used; the message names the file and the fault."""


class _Section(BaseModel):
    # The file also holds what only a simulator or a driver reads.
    model_config = ConfigDict(frozen=True, extra="ignore")


class Camera(_Section):
    """A pinhole RGB-D camera without distortion."""

    frame: str
    width: int = Field(ge=16)
    height: int = Field(ge=16)
    vertical_fov_deg: float = Field(gt=1.0, lt=170.0)
    depth_min_m: float = Field(gt=0.0)
    depth_max_m: float = Field(gt=0.0)


class Arm(_Section):
    """Names of the arm's joints, in order from the shoulder, and of the gripper's."""

    joints: list[str] = Field(min_length=1)
    gripper: str


class _Sensors(_Section):
    mast_camera: Camera


class RobotFile(_Section):
    """What the mind's perception needs of `config/robots/*.yaml`."""

    arm: Arm | None = None
    sensors: _Sensors


def load_robot_file(path: Path) -> RobotFile:
    """The robot's configuration; raises `ConfigError` that names the file, the key and the fault."""
    try:
        return RobotFile.model_validate(read_yaml(path))
    except ValidationError as error:
        faults = "\n".join(f"  {'.'.join(map(str, e['loc']))}: {e['msg']}" for e in error.errors())
        raise ConfigError(f"{path}:\n{faults}") from error


def transform(xyz: tuple[float, float, float], rpy: tuple[float, float, float]) -> Matrix:
    """The rigid transform of a URDF origin: fixed-axis roll, pitch, yaw (radians), then the translation (metres)."""
    (cr, cp, cy), (sr, sp, sy) = np.cos(rpy), np.sin(rpy)
    out = np.eye(4)
    out[:3, :3] = [
        [cy * cp, cy * sp * sr - sy * cr, cy * sp * cr + sy * sr],
        [sy * cp, sy * sp * sr + cy * cr, sy * sp * cr - cy * sr],
        [-sp, cp * sr, cp * cr],
    ]
    out[:3, 3] = xyz
    return out


def about(axis: tuple[float, float, float], angle: float) -> Matrix:
    """The rotation by `angle` radians about a unit axis (Rodrigues)."""
    x, y, z = axis
    cross = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    out = np.eye(4)
    out[:3, :3] += math.sin(angle) * cross + (1 - math.cos(angle)) * (cross @ cross)
    return out


@dataclass(frozen=True)
class Joint:
    """A joint of the robot. `lower` and `upper` are its limits in radians, infinite for a wheel, 0 for a fixed one."""

    name: str
    parent: str
    child: str
    origin: Matrix
    axis: tuple[float, float, float]
    fixed: bool
    lower: float
    upper: float

    def transform(self, position: float) -> Matrix:
        """The child link in the parent link, with the joint at `position` radians."""
        return self.origin if self.fixed else self.origin @ about(self.axis, position)


class RobotModel:
    """Links and joints of one robot, from its URDF text. Joints are fixed, revolute or continuous."""

    def __init__(self, urdf: str) -> None:
        """Raises `RobotModelError` when the text isn't a URDF or has a kind of joint that isn't known here."""
        self.urdf = urdf
        try:
            parsed = urdf_parser.URDF.from_xml_string(urdf)
        except Exception as error:  # the parser raises whatever lxml, its own checks or float() raise
            raise RobotModelError(f"the robot description is not a URDF: {error}") from error
        self.root = str(parsed.get_root())
        self.joints: dict[str, Joint] = {joint.name: joint for joint in map(_joint, parsed.joints)}
        self._above = {joint.child: joint for joint in self.joints.values()}

    def pose(self, link: str, joints: Mapping[str, float] | None = None) -> Matrix:
        """`link` in the root link (base_link), with the joints at the given radians and all others at 0.

        Raises `RobotModelError` for a link that the robot doesn't have.
        """
        at = joints or {}
        out = np.eye(4)
        while link != self.root:
            joint = self._above.get(link)
            if joint is None:
                raise RobotModelError(f"the robot has no link {link!r}; it has {', '.join(sorted(self._above))}")
            out = joint.transform(at.get(joint.name, 0.0)) @ out
            link = joint.parent
        return out

    def moving(self) -> Iterator[Joint]:
        """The joints that move."""
        return (joint for joint in self.joints.values() if not joint.fixed)


def _joint(parsed: urdf_parser.Joint) -> Joint:
    if parsed.type not in ("fixed", "revolute", "continuous"):
        raise RobotModelError(f"joint {parsed.name!r} is {parsed.type}: only fixed, revolute and continuous are known")
    origin = parsed.origin
    axis = np.asarray(parsed.axis or (1.0, 0.0, 0.0), dtype=float)
    axis = axis / np.linalg.norm(axis)
    fixed = parsed.type == "fixed"
    bounded = parsed.type == "revolute" and parsed.limit is not None
    unbounded = 0.0 if fixed else math.inf
    return Joint(
        name=str(parsed.name),
        parent=str(parsed.parent),
        child=str(parsed.child),
        origin=transform(tuple(origin.xyz), tuple(origin.rpy)) if origin is not None else np.eye(4),
        axis=(float(axis[0]), float(axis[1]), float(axis[2])),
        fixed=fixed,
        lower=float(parsed.limit.lower) if bounded else -unbounded,
        upper=float(parsed.limit.upper) if bounded else unbounded,
    )


def expand(robot: str, prefix: str = "") -> str:
    """URDF text of the robot, from the xacro of that name in `anima_description`; links are called `prefix` + link.

    Raises `RobotModelError` when the description isn't found or doesn't expand.
    """
    file = _description_folder() / "urdf" / f"{robot}.urdf.xacro"
    try:
        return str(xacro.process_file(str(file), mappings={"prefix": prefix}).toprettyxml(indent="  "))
    except (xacro.XacroException, OSError) as error:
        raise RobotModelError(f"{file}: doesn't expand: {error}") from error


@functools.lru_cache(maxsize=8)
def load_robot_model(settings: Settings) -> RobotModel:
    """The model of the configured robot: from the xacro of its name, or else from what its file says of its lidar.

    Raises `RobotModelError` when its description can't be used, `ConfigError` when its file can't.
    """
    equipment = load_equipment(settings)
    if equipment.drivers is not None:
        return RobotModel(_bare(settings.robot, equipment))
    return RobotModel(expand(settings.robot))


def lidar_pose(settings: Settings) -> Pose2D:
    """The lidar in base_link, on the floor plane. Raises as `load_robot_model` does."""
    mount = load_robot_model(settings).pose(load_equipment(settings).lidar.frame)
    return Pose2D(float(mount[0, 3]), float(mount[1, 3]), math.atan2(mount[1, 0], mount[0, 0]))


def _bare(name: str, equipment: Equipment) -> str:
    """A base with its lidar, as URDF: all that the mind needs of a robot that describes itself."""
    robot = ElementTree.Element("robot", name=name)
    for link in ("base_link", "base_footprint", equipment.lidar.frame):
        ElementTree.SubElement(robot, "link", name=link)
    lidar = equipment.lidar
    origins = {"base_footprint": "0 0 0", lidar.frame: f"{lidar.x_m} {lidar.y_m} {lidar.z_m}"}
    for child, xyz in origins.items():
        joint = ElementTree.SubElement(robot, "joint", name=f"{child}_joint", type="fixed")
        ElementTree.SubElement(joint, "parent", link="base_link")
        ElementTree.SubElement(joint, "child", link=child)
        yaw = lidar.yaw_rad if child == lidar.frame else 0.0
        ElementTree.SubElement(joint, "origin", xyz=xyz, rpy=f"0 0 {yaw}")
    return ElementTree.tostring(robot, encoding="unicode")


def _description_folder() -> Path:
    source = ROOT / "ros2_ws" / "src" / "anima_description"
    if source.is_dir():
        return source
    for prefix in filter(None, os.environ.get("AMENT_PREFIX_PATH", "").split(os.pathsep)):
        share = Path(prefix) / "share" / "anima_description"
        if share.is_dir():
            return share
    raise RobotModelError(
        f"package anima_description is neither at {source} nor on AMENT_PREFIX_PATH: "
        "build the workspace and source its local_setup.bash"
    )
