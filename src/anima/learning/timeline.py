"""The portrait over time as a picture: what each belief weighed in each version, and the events that moved it."""

from __future__ import annotations

import datetime as dt
from pathlib import Path
from typing import Any

from anima.learning import items
from anima.learning.items import Portrait
from anima.memory.errors import NotThere
from anima.memory.store import Store

_SHOWN = 8
_FORMATS = {".png", ".svg"}


def draw(store: Store, file: Path) -> Path:
    """Draw into `file` (PNG or SVG). Raises `ValueError` when there is nothing to draw, or for another format."""
    if file.suffix.lower() not in _FORMATS:
        raise ValueError(f"{file}: write a picture as .png or .svg")
    versions = store.history(items.PORTRAIT, items.SELF)
    if not versions:
        raise ValueError("there is no portrait yet: it is drawn when an encounter ends")
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib.figure import Figure

    portraits = [Portrait.model_validate(item.data) for item in versions]
    weights: dict[str, list[tuple[int, float]]] = {}
    texts: dict[str, str] = {}
    for number, portrait in enumerate(portraits):
        for one in portrait.beliefs:
            weights.setdefault(one.belief, []).append((number, one.weight))
            texts[one.belief] = one.text
    strongest = sorted(weights, key=lambda id: -max(w for _, w in weights[id]))[:_SHOWN]
    figure = Figure(figsize=(11, 6.5), layout="constrained")
    axes = figure.add_subplot()
    for id in strongest:
        x, y = zip(*weights[id], strict=True)
        axes.plot(x, y, marker="o", linewidth=2, label=_short(texts[id], 60))
    _events(axes, store, portraits, weights, strongest)
    labels = [f"version {item.version}\n{dt.datetime.fromtimestamp(item.at.utc_s):%Y-%m-%d %H:%M}" for item in versions]
    axes.set_xticks(range(len(versions)), labels)
    axes.set_xlim(-0.4, len(versions) - 0.6 + 0.4)
    axes.set_ylim(0.0, 1.05)
    axes.set_ylabel("weight")
    axes.set_title("What it believes of itself, and what moved that")
    axes.grid(axis="y", alpha=0.3)
    if strongest:
        figure.legend(loc="outside lower center", ncols=1, fontsize=8, frameon=False)
    file.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(file, dpi=130)
    return file


def _events(
    axes: Any, store: Store, portraits: list[Portrait], weights: dict[str, list[tuple[int, float]]], shown: list[str]
) -> None:
    """Beside each point the newest event that is behind it and was not behind the version before."""
    for rank, id in enumerate(shown):
        known: set[str] = set()
        for number, weight in weights[id]:
            (one,) = [b for b in portraits[number].beliefs if b.belief == id]
            fresh = [event for event in one.events if event not in known]
            known.update(fresh)
            if fresh:
                up = 10 if rank % 2 == 0 else -16
                axes.annotate(
                    _short(_said(store, fresh[-1]), 38),
                    (number, weight),
                    xytext=(6, up),
                    textcoords="offset points",
                    fontsize=7,
                )


def _said(store: Store, event: str) -> str:
    try:
        seen = store.get(items.OBSERVATION, event).data
    except NotThere:
        return event
    return f"“{seen['said']}”" if seen["said"] else str(seen["what"])


def _short(text: str, limit: int) -> str:
    return text if len(text) <= limit else f"{text[: limit - 1].rstrip()}…"
