"""Twins of visualization_msgs: what rviz and Foxglove draw."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from pydantic import Field

from .base import Bytes, Duration, Header, Msg
from .std import Point, Pose, Vector3

ARROW, CUBE, SPHERE, CYLINDER, LINE_STRIP, TEXT = 0, 1, 2, 3, 4, 9
ADD, DELETE_ALL = 0, 3


class ColorRGBA(Msg):
    """A colour, each part 0..1."""

    ros: ClassVar[str] = "std_msgs/msg/ColorRGBA"
    r: float = 0.0
    g: float = 0.0
    b: float = 0.0
    a: float = 1.0


class CompressedImage(Msg):
    """A packed image; empty in every marker of ours."""

    ros: ClassVar[str] = "sensor_msgs/msg/CompressedImage"
    header: Header = Header.at(0.0)
    format: str = ""
    data: Bytes = np.zeros(0, np.uint8)


class UVCoordinate(Msg):
    """A point of a texture, 0..1."""

    ros: ClassVar[str] = "visualization_msgs/msg/UVCoordinate"
    u: float
    v: float


class MeshFile(Msg):
    """A mesh that travels with its marker; empty in every marker of ours."""

    ros: ClassVar[str] = "visualization_msgs/msg/MeshFile"
    filename: str = ""
    data: Bytes = np.zeros(0, np.uint8)


class Marker(Msg):
    """Something to draw in the header's frame: metres, radians. `ns` and `id` name it; `type` is its form.

    `frame_locked`: it stays with its frame as that moves. `scale` of a text is its height in `z`, of a line its
    width in `x`. A `lifetime` of zero lasts.
    """

    ros: ClassVar[str] = "visualization_msgs/msg/Marker"
    header: Header
    ns: str
    id: int
    type: int
    action: int = ADD
    pose: Pose = Pose()
    scale: Vector3 = Vector3()
    color: ColorRGBA = ColorRGBA()
    lifetime: Duration = Duration(sec=0, nanosec=0)
    frame_locked: bool = False
    points: list[Point] = Field(default_factory=list)
    colors: list[ColorRGBA] = Field(default_factory=list)
    texture_resource: str = ""
    texture: CompressedImage = CompressedImage()
    uv_coordinates: list[UVCoordinate] = Field(default_factory=list)
    text: str = ""
    mesh_resource: str = ""
    mesh_file: MeshFile = MeshFile()
    mesh_use_embedded_materials: bool = False


class MarkerArray(Msg):
    """Markers that appear together."""

    ros: ClassVar[str] = "visualization_msgs/msg/MarkerArray"
    markers: list[Marker]
