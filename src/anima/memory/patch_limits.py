"""How large a patch, and the item that it makes, may be; and reading a patch without being hurt by it."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from anima.memory.patch_refusals import PatchMalformed, PatchTooLarge


@dataclass(frozen=True)
class Size:
    """How much JSON may be: bytes as text, nesting (a list of texts is 2 deep), values in all."""

    bytes: int
    depth: int
    values: int


@dataclass(frozen=True)
class Limits:
    """How many operations a patch may have, how large it may be, and how large what it makes of an item."""

    operations: int
    patch: Size
    item: Size


LIMITS = Limits(
    operations=32,
    patch=Size(bytes=64 * 1024, depth=8, values=2_000),
    item=Size(bytes=512 * 1024, depth=10, values=20_000),
)


def parsed(patch: object, limits: Limits) -> Sequence[Mapping[str, Any]]:
    """The operations of a patch, given as such or as JSON text, within the limits. Raises `PatchRefused`."""
    if isinstance(patch, str):
        if len(patch) > limits.patch.bytes:
            raise PatchTooLarge(f"it has {len(patch)} characters, at most {limits.patch.bytes} are read")
        patch = strictly(patch)
    if not isinstance(patch, Sequence) or isinstance(patch, bytes | bytearray):
        raise PatchMalformed(f"a patch is a list of operations, this is {type(patch).__name__}")
    if not patch:
        raise PatchMalformed("it has no operations")
    if len(patch) > limits.operations:
        raise PatchTooLarge(f"it has {len(patch)} operations, at most {limits.operations} are taken")
    measured(patch, limits.patch)
    return patch


def strictly(text: str) -> object:
    """What a JSON text says. Raises `PatchRefused`, also for a key that is there twice, NaN and bottomless depth."""
    try:
        return json.loads(text, object_pairs_hook=_once, parse_constant=_no_number)
    except PatchMalformed:
        raise
    except RecursionError as error:
        raise PatchTooLarge("it is nested deeper than anything that is read") from error
    except ValueError as error:
        raise PatchMalformed(f"it is no JSON: {error}") from error


def measured(value: object, size: Size) -> None:
    """Raises `PatchTooLarge` for what is larger than `size`, `PatchMalformed` for what is no JSON."""
    total = values = 0
    level: list[object] = [value]
    depth = 0
    while level:
        depth += 1
        if depth > size.depth:
            raise PatchTooLarge(f"it is nested deeper than {size.depth}")
        below: list[object] = []
        for thing in level:
            values += 1
            if isinstance(thing, str):
                total += _bytes(thing) + 2
            elif isinstance(thing, Mapping):
                for key, inner in thing.items():
                    if not isinstance(key, str):
                        raise PatchMalformed(f"JSON has no keys like {str(key)[:40]!r}")
                    total += _bytes(key) + 4
                    below.append(inner)
            elif isinstance(thing, list | tuple):
                below.extend(thing)
            elif isinstance(thing, float) and not math.isfinite(thing):
                raise PatchMalformed(f"JSON has no number {thing}")
            elif isinstance(thing, int) and not isinstance(thing, bool) and abs(thing) >= 1 << 63:
                raise PatchTooLarge("a number has more than 63 bits")
            elif not isinstance(thing, str | bool | int | float | None):
                raise PatchMalformed(f"JSON has no values of type {type(thing).__name__}")
            total += 8
            if total > size.bytes or values + len(below) > size.values:
                raise PatchTooLarge(f"it is larger than {size.bytes} bytes or has more than {size.values} values")
        level = below


def _bytes(text: str) -> int:
    try:
        return len(text.encode())
    except UnicodeEncodeError:
        raise PatchMalformed("a text holds half a character (a lone surrogate)") from None


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        keys = [key for key, _ in pairs]
        raise PatchMalformed(f"an object says {next(k for k in keys if keys.count(k) > 1)[:40]!r} twice")
    return found


def _no_number(text: str) -> Any:
    raise PatchMalformed(f"JSON has no number {text}")
