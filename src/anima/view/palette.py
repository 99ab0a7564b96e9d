"""The colours that words of colour are drawn in."""

from __future__ import annotations

from anima.types.view import ColorRGBA

PALETTE = {
    "red": "#d62728", "green": "#2ca02c", "blue": "#1f4fd6", "yellow": "#e6c700", "orange": "#ff7f0e",
    "purple": "#8e44ad", "cyan": "#17becf", "pink": "#e377c2",
}
UNKNOWN = "#777777"


def rgba(colour: str, alpha: float = 1.0) -> ColorRGBA:
    """The colour of a word or of ``#rrggbb``; grey when the word is not known."""
    text = PALETTE.get(colour, colour if colour.startswith("#") else UNKNOWN)
    r, g, b = (int(text[i : i + 2], 16) / 255 for i in (1, 3, 5))
    return ColorRGBA(r=r, g=g, b=b, a=alpha)
