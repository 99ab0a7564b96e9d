"""Values as JSON text and back without losing a bit: floats by their shortest exact form, arrays as their bytes."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable
from functools import cache
from typing import Any, get_args, get_origin, get_type_hints

import numpy as np

from anima import topics
from anima.topics import Topic
from anima.types.base import Msg


class UnknownTopic(LookupError):
    """A record names a topic that this version of the mind does not have."""


@cache
def known_topics() -> dict[str, Topic[Any]]:
    """Every topic of the graph by its name."""
    found: dict[str, Topic[Any]] = {}
    for value in vars(topics).values():
        for topic in value.values() if isinstance(value, dict) else (value,):
            if isinstance(topic, Topic):
                found[topic.name] = topic
    return found


def topic_of(name: str) -> Topic[Any]:
    """The topic of that name; raises `UnknownTopic`."""
    try:
        return known_topics()[name]
    except KeyError:
        raise UnknownTopic(
            f"the record speaks of the topic {name!r}, which this version does not have; replay it with the version "
            "that recorded it"
        ) from None


def _plain(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        data = base64.b64encode(value.tobytes()).decode()
        return {"dtype": value.dtype.str, "shape": list(value.shape), "base64": data}
    if isinstance(value, np.generic):
        return value.item()
    raise TypeError(f"{type(value).__name__} has no place in a value that crosses a topic")


_encoder = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), default=_plain)


def encode(value: Msg) -> str:
    """`value` as JSON text; equal texts mean equal values, to the last bit."""
    return _encoder.encode(value.model_dump(warnings=False))


def _array(data: dict[str, Any]) -> Any:
    flat = np.frombuffer(base64.b64decode(data["base64"]), np.dtype(data["dtype"]))
    return flat.reshape(data["shape"])


def _same(value: Any) -> Any:
    return value


def _reader(hint: Any) -> Callable[[Any], Any]:
    if isinstance(hint, type) and issubclass(hint, Msg):
        return lambda data: _build(hint, data)
    if get_origin(hint) is list:
        item = _reader(get_args(hint)[0])
        return _same if item is _same else lambda data: [item(one) for one in data]
    if get_origin(hint) is np.ndarray:
        return lambda data: _array(data) if isinstance(data, dict) else data
    return _same


@cache
def _readers(cls: type[Msg]) -> dict[str, Callable[[Any], Any]]:
    hints = get_type_hints(cls)
    return {name: _reader(hints[name]) for name in cls.model_fields}


def _build(cls: type[Msg], data: dict[str, Any]) -> Msg:
    readers = _readers(cls)
    return cls.model_construct(**{name: readers[name](value) for name, value in data.items()})


def decode(topic: Topic[Any], data: dict[str, Any]) -> Msg:
    """The value of `topic` that was written as `data` (the parsed JSON); nothing is checked or rounded again.

    Raises KeyError for a field that the type does not have.
    """
    return _build(topic.type, data)
