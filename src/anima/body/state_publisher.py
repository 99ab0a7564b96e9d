"""Tells everybody where the robot's links are: description and fixed transforms once, the moving ones as they move."""

from __future__ import annotations

import math

from anima.body.robot_model import Joint, Matrix, RobotModel, load_robot_model
from anima.config import Settings
from anima.runtime.component import Inbox
from anima.topics import JOINT_STATES, ODOM, ROBOT_DESCRIPTION, TF, TF_STATIC, Sent
from anima.types.base import Header
from anima.types.std import Quaternion, String, TFMessage, Transform, TransformStamped, Vector3


def quaternion(matrix: Matrix) -> Quaternion:
    """The rotation of a rigid transform (Shepperd's method: the largest component is found first)."""
    r = matrix[:3, :3]
    trace = float(r[0, 0] + r[1, 1] + r[2, 2])
    squares = [trace, *(float(r[i, i]) for i in range(3))]
    largest = squares.index(max(squares))
    if largest == 0:
        w = math.sqrt(max(0.0, 1.0 + trace)) / 2
        x, y, z = ((r[2, 1] - r[1, 2]) / (4 * w), (r[0, 2] - r[2, 0]) / (4 * w), (r[1, 0] - r[0, 1]) / (4 * w))
        return Quaternion(x=float(x), y=float(y), z=float(z), w=w)
    i = largest - 1
    j, k = (i + 1) % 3, (i + 2) % 3
    own = math.sqrt(max(0.0, 1.0 + r[i, i] - r[j, j] - r[k, k])) / 2
    parts = {i: own, j: (r[i, j] + r[j, i]) / (4 * own), k: (r[i, k] + r[k, i]) / (4 * own)}
    return Quaternion(
        x=float(parts[0]), y=float(parts[1]), z=float(parts[2]), w=float((r[k, j] - r[j, k]) / (4 * own))
    )


def stamped(matrix: Matrix, header: Header, child: str) -> TransformStamped:
    """A rigid transform as a message: `child` in the header's frame."""
    x, y, z = (float(v) for v in matrix[:3, 3])
    transform = Transform(translation=Vector3(x=x, y=y, z=z), rotation=quaternion(matrix))
    return TransformStamped(header=header, child_frame_id=child, transform=transform)


class StatePublisher:
    """Publishes the robot's description and transforms. The wheels and the arm move, everything else is fixed."""

    def __init__(self, settings: Settings) -> None:
        self._model: RobotModel = load_robot_model(settings)
        self._moving: dict[str, Joint] = {joint.name: joint for joint in self._model.moving()}
        self._described = False

    def step(self, now: float, inbox: Inbox) -> list[Sent]:
        """Transforms of what has come in; stamps are those of the measurements."""
        sent: list[Sent] = []
        if not self._described:
            self._described = True
            header = Header.at(now)
            fixed = [
                stamped(joint.origin, header.model_copy(update={"frame_id": joint.parent}), joint.child)
                for joint in self._model.joints.values()
                if joint.fixed
            ]
            sent += [ROBOT_DESCRIPTION.of(String(data=self._model.urdf)), TF_STATIC.of(TFMessage(transforms=fixed))]
        moved = self._base(inbox) + self._links(inbox)
        if moved:
            sent.append(TF.of(TFMessage(transforms=moved)))
        return sent

    def why(self) -> str:
        """One sentence: what it does at this moment."""
        return f"It publishes the transforms of {len(self._moving)} joints and of the odometry."

    def _base(self, inbox: Inbox) -> list[TransformStamped]:
        news = inbox.new(ODOM)
        if not news:
            return []
        odometry = news[-1]
        at = odometry.pose.pose
        transform = Transform(
            translation=Vector3(x=at.position.x, y=at.position.y, z=at.position.z), rotation=at.orientation
        )
        child = odometry.child_frame_id
        return [TransformStamped(header=odometry.header, child_frame_id=child, transform=transform)]

    def _links(self, inbox: Inbox) -> list[TransformStamped]:
        news = inbox.new(JOINT_STATES)
        if not news:
            return []
        state = news[-1]
        out = []
        for name, position in zip(state.name, state.position, strict=True):
            joint = self._moving.get(name)
            if joint is not None and math.isfinite(position):
                header = Header(stamp=state.header.stamp, frame_id=joint.parent)
                out.append(stamped(joint.transform(float(position)), header, joint.child))
        return out
