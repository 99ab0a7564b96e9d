"""What a person's devices say, as ROS has it."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from .base import Float32s, Header, Msg

Int32s = NDArray[np.int32]


class Joy(Msg):
    """A gamepad: `axes` -1..1 (left and up are positive), `buttons` 0 or 1, in the order of its driver."""

    ros: ClassVar[str] = "sensor_msgs/msg/Joy"
    header: Header
    axes: Float32s
    buttons: Int32s
