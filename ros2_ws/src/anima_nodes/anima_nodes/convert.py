"""The one converter between the mind's values and ROS messages, driven by the fields of both."""

from __future__ import annotations

import array
import importlib
import re
from collections.abc import Callable
from functools import cache
from typing import Any, TypeVar, get_args, get_origin, get_type_hints

import numpy as np

from anima.types.base import Msg

M = TypeVar("M", bound=Msg)
Convert = Callable[[Any], Any]

# The array type codes that rosidl's setters take as they are, without a check per element.
_TYPECODES = {
    "float": "f", "double": "d", "int8": "b", "uint8": "B", "octet": "B", "int16": "h", "uint16": "H",
    "int32": "i", "uint32": "I", "int64": "q", "uint64": "Q",
}
_SEQUENCE = re.compile(r"sequence<([a-z0-9]+)(?:, \d+)?>\Z")
_FIXED = re.compile(r"([a-z0-9]+)\[(\d+)\]\Z")


class TwinError(TypeError):
    """A value class and its ROS message differ."""


def ros_class(interface: str) -> Any:
    """The generated Python class of an interface such as ``sensor_msgs/msg/Imu``."""
    package, kind, name = interface.split("/")
    return getattr(importlib.import_module(f"{package}.{kind}"), name)


def _is_msg(hint: Any) -> bool:
    return isinstance(hint, type) and issubclass(hint, Msg)


@cache
def _plan(cls: type[Msg]) -> tuple[Any, list[tuple[str, Convert, Convert]]]:
    """The message class of `cls`, and per field its name, how to convert to ROS and how to convert back."""
    message = ros_class(cls.ros)
    fields: dict[str, str] = message.get_fields_and_field_types()
    hints = get_type_hints(cls)
    if set(fields) != set(cls.model_fields):
        only = set(fields) ^ set(cls.model_fields)
        raise TwinError(f"{cls.__name__} and {cls.ros} differ in {', '.join(sorted(only))}")
    return message, [(name, *_converters(cls, name, hints[name], fields[name])) for name in cls.model_fields]


def _converters(cls: type[Msg], name: str, hint: Any, ros_type: str) -> tuple[Convert, Convert]:
    if _is_msg(hint):
        return to_ros, lambda value: from_ros(hint, value)
    if get_origin(hint) is list:
        (item,) = get_args(hint)
        if _is_msg(item):
            return (
                lambda values: [to_ros(value) for value in values],
                lambda values: [from_ros(item, value) for value in values],
            )
        return list, list
    if get_origin(hint) is np.ndarray:
        dtype = np.dtype(get_args(get_args(hint)[1])[0])
        if fixed := _FIXED.match(ros_type):
            return lambda value: np.asarray(value, dtype), lambda value: np.asarray(value, dtype)
        sequence = _SEQUENCE.match(ros_type)
        code = _TYPECODES.get(sequence[1]) if sequence else None
        if code is None or np.dtype(code) != dtype:
            raise TwinError(f"{cls.__name__}.{name} is an array of {dtype}, {cls.ros} has {fixed or ros_type}")
        return (
            lambda value: array.array(code, np.ascontiguousarray(value, dtype).tobytes()),
            lambda value: np.frombuffer(value, dtype) if len(value) else np.empty(0, dtype),
        )
    if hint is int and ros_type == "octet":
        return lambda value: bytes([value]), lambda value: int(value[0])
    if hint in (str, bool, int, float):
        return hint, hint
    raise TwinError(f"{cls.__name__}.{name}: no conversion between {hint} and {ros_type}")


def to_ros(value: Msg) -> Any:
    """The ROS message that says the same as `value`."""
    message, fields = _plan(type(value))
    result = message()
    for name, convert, _ in fields:
        setattr(result, name, convert(getattr(value, name)))
    return result


def from_ros(cls: type[M], message: Any) -> M:
    """The value that says the same as `message`. Its types were checked by ROS, so they are not checked again."""
    return cls.model_construct(**{name: convert(getattr(message, name)) for name, _, convert in _plan(cls)[1]})
