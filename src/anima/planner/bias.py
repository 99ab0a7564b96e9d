"""What the rest of the mind says for and against calls, before the model chooses among them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

TRIES = 3  # of one call without success within an objective, then it is no longer offered


@dataclass(frozen=True)
class Bias:
    """Calls in short form, each with the reason in a few words.

    `barred` calls lead nowhere and are not offered for this objective. `prefer` calls are offered first, and until one
    has been done no `avoid` call is offered; with nothing to prefer, `avoid` calls are offered last: what came to mind
    biases the choice, it does not forbid. After `tries` failures in a row a call is no longer offered.
    """

    barred: Mapping[str, str] = field(default_factory=dict)
    avoid: Mapping[str, str] = field(default_factory=dict)
    prefer: Mapping[str, str] = field(default_factory=dict)
    tries: int = TRIES


NO_BIAS = Bias()
