"""Message definitions without ROS: our own from the workspace, the common ones from the library; values as CDR."""

from __future__ import annotations

from functools import cache
from typing import Any, TypeVar, cast, get_args, get_origin, get_type_hints

import numpy as np
from rosbags.typesys import Stores, get_types_from_msg, get_typestore

from anima.config import ROOT
from anima.types.base import Msg

M = TypeVar("M", bound=Msg)
MESSAGES = ROOT / "ros2_ws" / "src" / "anima_msgs" / "msg"


@cache
def typestore() -> Any:
    """Every interface of the graph."""
    store = get_typestore(Stores.ROS2_KILTED)
    ours: dict[str, Any] = {}
    for file in sorted(MESSAGES.glob("*.msg")):
        ours |= get_types_from_msg(file.read_text(encoding="utf-8"), f"anima_msgs/msg/{file.stem}")
    store.register(ours)
    return store


@cache
def definition(interface: str) -> tuple[str, str]:
    """The text of an interface with all that it is made of, and its type hash (RIHS01)."""
    store = typestore()
    text, _ = store.generate_msgdef(interface, ros_version=2)
    return text, store.hash_rihs01(interface)


def _plain(hint: Any, value: Any) -> Any:
    if isinstance(hint, type) and issubclass(hint, Msg):
        return _message(hint, value)
    if get_origin(hint) is list:
        (item,) = get_args(hint)
        return [_plain(item, one) for one in value]
    return value


@cache
def _fields(cls: type[Msg]) -> tuple[Any, dict[str, Any]]:
    hints = get_type_hints(cls)
    return typestore().types[cls.ros], {name: hints[name] for name in cls.model_fields}


def _message(cls: type[Msg], value: Msg) -> Any:
    message, fields = _fields(cls)
    return message(**{name: _plain(hint, getattr(value, name)) for name, hint in fields.items()})


def to_cdr(value: Msg) -> bytes:
    """`value` as the bytes that ROS 2 would put on the wire."""
    return bytes(typestore().serialize_cdr(_message(type(value), value), value.ros))


def from_cdr(interface: str, data: bytes) -> Any:
    """The message in `data`, as an object with the fields of the interface."""
    return typestore().deserialize_cdr(data, interface)


def value_in(cls: type[M], data: bytes) -> M:
    """The value of type `cls` in `data`: what `to_cdr` had turned into bytes."""
    return cast(M, _value(cls, from_cdr(cls.ros, data)))


def _value(hint: Any, raw: Any) -> Any:
    if isinstance(hint, type) and issubclass(hint, Msg):
        fields = _fields(hint)[1]
        return hint(**{name: _value(inner, getattr(raw, name)) for name, inner in fields.items()})
    if get_origin(hint) is list:
        (item,) = get_args(hint)
        return raw.tolist() if isinstance(raw, np.ndarray) else [_value(item, one) for one in raw]
    return raw
