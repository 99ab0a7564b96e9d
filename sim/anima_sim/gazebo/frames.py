"""Places and turns as MuJoCo's and Gazebo's files write them, as 4 x 4 matrices."""

from __future__ import annotations

import math
import xml.etree.ElementTree as ET

import numpy as np
import numpy.typing as npt

Matrix = npt.NDArray[np.float64]

# MuJoCo's cameras look along -z with y up, Gazebo's along x with z up.
LOOKING = np.array([[0.0, -1.0, 0.0, 0.0], [0.0, 0.0, 1.0, 0.0], [-1.0, 0.0, 0.0, 0.0], [0.0, 0.0, 0.0, 1.0]])


def numbers(text: str) -> list[float]:
    """The numbers in an attribute."""
    return [float(word) for word in text.split()]


def text(values: list[float] | tuple[float, ...] | Matrix) -> str:
    """Numbers as an attribute or an element's text."""
    return " ".join(f"{float(v):.9g}" for v in values)


def placed(element: ET.Element) -> Matrix:
    """Where an element of an MJCF file stands in its parent: `pos` with `quat` (w x y z) or `euler` (only about z)."""
    matrix = np.eye(4)
    matrix[:3, 3] = numbers(element.get("pos", "0 0 0"))
    if "quat" in element.attrib:
        matrix[:3, :3] = turn_of(*numbers(element.attrib["quat"]))
    elif "euler" in element.attrib:
        _, _, yaw = numbers(element.attrib["euler"])
        matrix[:2, :2] = [[math.cos(yaw), -math.sin(yaw)], [math.sin(yaw), math.cos(yaw)]]
    return matrix


def turn_of(w: float, x: float, y: float, z: float) -> Matrix:
    """The rotation matrix (3, 3) of a quaternion."""
    n = math.sqrt(w * w + x * x + y * y + z * z)
    w, x, y, z = w / n, x / n, y / n, z / n
    return np.array([
        [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
        [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
        [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
    ])


def along(start: list[float], end: list[float]) -> tuple[Matrix, float]:
    """The frame in the middle of a line with z along it, and the line's length."""
    a, b = np.array(start), np.array(end)
    length = float(np.linalg.norm(b - a))
    z = (b - a) / length
    helper = np.array([1.0, 0.0, 0.0]) if abs(z[0]) < 0.9 else np.array([0.0, 1.0, 0.0])
    y = np.cross(z, helper)
    y /= np.linalg.norm(y)
    matrix = np.eye(4)
    matrix[:3, 0], matrix[:3, 1], matrix[:3, 2], matrix[:3, 3] = np.cross(y, z), y, z, (a + b) / 2
    return matrix, length


def pose(matrix: Matrix) -> str:
    """x y z roll pitch yaw (fixed axes), as SDF writes a pose."""
    turn = matrix[:3, :3]
    flat = math.hypot(turn[0, 0], turn[1, 0])
    pitch = math.atan2(-turn[2, 0], flat)
    if flat > 1e-9:
        roll, yaw = math.atan2(turn[2, 1], turn[2, 2]), math.atan2(turn[1, 0], turn[0, 0])
    else:  # looking straight up or down: roll and yaw are one turn
        roll, yaw = math.atan2(turn[0, 1] * math.copysign(1.0, pitch), turn[1, 1]), 0.0
    return text([*matrix[:3, 3], roll, pitch, yaw])
