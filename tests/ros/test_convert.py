"""The mind's values and the ROS messages say the same, field by field, bit by bit."""

from __future__ import annotations

import math
import time
from pathlib import Path
from typing import Any, get_args, get_origin, get_type_hints

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rclpy.serialization import deserialize_message, serialize_message

from anima.types import audit, base, costs, glue, health, learning, link, mind, operator, parts, std, view
from anima.types.base import Header, Msg
from anima.types.std import Image, LaserScan
from anima_nodes.convert import TwinError, from_ros, ros_class, to_ros

pytestmark = pytest.mark.ros

INTERFACES = Path(__file__).resolve().parents[2] / "ros2_ws" / "src" / "anima_msgs" / "msg"


def twins() -> list[type[Msg]]:
    modules = (base, std, mind, glue, costs, audit, parts, learning, link, operator, health, view)
    found = [value for module in modules for value in vars(module).values() if isinstance(value, type)]
    return sorted({cls for cls in found if issubclass(cls, Msg) and cls is not Msg}, key=lambda cls: cls.__name__)


TWINS = pytest.mark.parametrize("cls", twins(), ids=lambda cls: cls.__name__)

LARGEST_SINGLE = 3.402823e38
INTEGERS = {f"{sign}int{bits}": (sign, bits) for sign in ("", "u") for bits in (8, 16, 32, 64)}


def integers(ros_type: str) -> st.SearchStrategy[int]:
    sign, bits = INTEGERS["uint8" if ros_type in ("octet", "byte") else ros_type]
    return st.integers(0, 2**bits - 1) if sign else st.integers(-(2 ** (bits - 1)), 2 ** (bits - 1) - 1)


def arrays(dtype: np.dtype[Any], ros_type: str) -> st.SearchStrategy[np.ndarray[Any, Any]]:
    if dtype.kind == "f":
        items: st.SearchStrategy[Any] = st.floats(width=dtype.itemsize * 8)
    else:
        bounds = np.iinfo(dtype)
        items = st.integers(int(bounds.min), int(bounds.max))
    length = {"min_size": 0, "max_size": 6}
    if ros_type.endswith("]"):
        size = int(ros_type[ros_type.index("[") + 1 : -1])
        length = {"min_size": size, "max_size": size}
    return st.lists(items, **length).map(lambda values: np.array(values, dtype))


def single() -> st.SearchStrategy[float]:
    # The generated setters round the largest number of single precision down, and refuse the very largest.
    return st.floats(width=32).filter(lambda value: not math.isfinite(value) or abs(value) <= LARGEST_SINGLE)


def scalars(hint: Any, ros_type: str) -> st.SearchStrategy[Any]:
    if hint is bool:
        return st.booleans()
    if hint is int:
        return integers(ros_type)
    if hint is float:
        return single() if ros_type == "float" else st.floats()
    assert hint is str
    # ROS strings end at a zero byte, and half a surrogate pair has no UTF-8.
    return st.text(st.characters(exclude_characters="\0", codec="utf-8"), max_size=12)


def values(cls: type[Msg]) -> st.SearchStrategy[Msg]:
    """Any value of `cls` that its interface can carry."""
    ros_types = ros_class(cls.ros).get_fields_and_field_types()
    hints = get_type_hints(cls)
    fields: dict[str, st.SearchStrategy[Any]] = {}
    for name in cls.model_fields:
        hint, ros_type = hints[name], ros_types[name]
        if get_origin(hint) is np.ndarray:
            fields[name] = arrays(np.dtype(get_args(get_args(hint)[1])[0]), ros_type)
        elif get_origin(hint) is list:
            (item,) = get_args(hint)
            inner = values(item) if issubclass(item, Msg) else scalars(item, ros_type)
            fields[name] = st.lists(inner, max_size=2)
        elif issubclass(hint, Msg):
            fields[name] = values(hint)
        else:
            fields[name] = scalars(hint, ros_type)
    return st.fixed_dictionaries(fields).map(lambda given: cls(**given))


def same(a: Any, b: Any) -> bool:
    """Equal, where NaN equals NaN and the sign of zero counts."""
    if isinstance(a, Msg):
        return type(a) is type(b) and all(same(getattr(a, name), getattr(b, name)) for name in type(a).model_fields)
    if isinstance(a, np.ndarray):
        return a.dtype == b.dtype and a.shape == b.shape and np.array_equal(a, b, equal_nan=a.dtype.kind == "f")
    if isinstance(a, list):
        return len(a) == len(b) and all(map(same, a, b))
    if isinstance(a, float):
        return type(b) is float and (math.isnan(a) == math.isnan(b)) and (
            math.isnan(a) or (a == b and math.copysign(1.0, a) == math.copysign(1.0, b))
        )
    return type(a) is type(b) and bool(a == b)


@TWINS
def test_a_value_class_has_exactly_the_fields_of_its_interface(cls: type[Msg]) -> None:
    assert list(cls.model_fields) == list(ros_class(cls.ros).get_fields_and_field_types())


@pytest.mark.parametrize("path", sorted(INTERFACES.glob("*.msg")), ids=lambda path: path.stem)
def test_every_message_of_ours_has_a_twin(path: Path) -> None:
    assert f"anima_msgs/msg/{path.stem}" in {cls.ros for cls in twins()}


def test_no_interface_has_two_twins() -> None:
    interfaces = [cls.ros for cls in twins()]
    assert len(interfaces) == len(set(interfaces))


@TWINS
@settings(max_examples=15, deadline=None)
@given(data=st.data())
def test_what_goes_over_the_wire_comes_back_the_same(cls: type[Msg], data: st.DataObject) -> None:
    value = data.draw(values(cls))
    message = to_ros(value)
    assert isinstance(message, ros_class(cls.ros))
    received = deserialize_message(serialize_message(message), type(message))
    assert same(from_ros(cls, received), value)


def test_ranges_keep_what_rep_117_says_of_them() -> None:
    ranges = np.array([-math.inf, math.inf, math.nan, 1.5], np.float32)
    scan = LaserScan(
        header=Header.at(1.0, "laser_link"), angle_min=0.0, angle_max=1.0, angle_increment=0.25, time_increment=0.0,
        scan_time=0.1, range_min=0.1, range_max=10.0, ranges=ranges, intensities=np.empty(0, np.float32),
    )
    received = from_ros(LaserScan, deserialize_message(serialize_message(to_ros(scan)), ros_class(LaserScan.ros)))
    assert received.ranges.tolist()[:2] == [-math.inf, math.inf]
    assert math.isnan(received.ranges[2])
    assert received.ranges[3] == 1.5


@TWINS
def test_defaults_of_a_message_are_values_too(cls: type[Msg]) -> None:
    message = ros_class(cls.ros)()
    assert same(from_ros(cls, to_ros(from_ros(cls, message))), from_ros(cls, message))


class Reordered(Msg):
    """A twin that lost a field."""

    ros = "geometry_msgs/msg/Vector3"
    x: float
    y: float


class Narrow(Msg):
    """A twin whose array has another width than its message."""

    ros = "sensor_msgs/msg/ChannelFloat32"
    name: str
    values: base.Float64s


@pytest.mark.parametrize(
    ("value", "fault"),
    [(Reordered(x=1.0, y=2.0), "differ in z"), (Narrow(name="a", values=np.zeros(1)), "array of float64")],
)
def test_a_twin_that_differs_is_an_error_that_names_the_field(value: Msg, fault: str) -> None:
    with pytest.raises(TwinError, match=fault):
        to_ros(value)


def test_an_image_costs_copies_not_a_loop_over_its_bytes() -> None:
    image = Image(
        header=Header.at(0.0), height=480, width=640, encoding="rgb8", is_bigendian=0, step=1920,
        data=np.zeros(480 * 640 * 3, np.uint8),
    )

    def cost_s(act: Any) -> float:
        best = math.inf
        for _ in range(7):
            started = time.perf_counter()
            act()
            best = min(best, time.perf_counter() - started)
        return best

    copy_s = cost_s(lambda: image.data.tobytes())
    message = to_ros(image)
    # A loop over the bytes costs thousands of copies.
    assert cost_s(lambda: to_ros(image)) < 60 * copy_s
    assert cost_s(lambda: from_ros(Image, message)) < 60 * copy_s
