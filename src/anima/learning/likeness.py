"""Whether two short texts say the same, by their words: what decides where no model has judged."""

from __future__ import annotations

import re

_STOP = frozenset(
    {
        "a", "an", "the", "to", "of", "in", "on", "at", "for", "with", "and", "or", "but", "is", "are", "was",
        "were", "be", "been", "am", "do", "does", "did", "i", "i'm", "i'll", "you", "your", "my", "me", "it",
        "its", "that", "this", "these", "those", "he", "she", "they", "we", "us", "our", "their", "as", "so",
        "very", "more", "most", "much", "not", "no", "don't", "never", "always", "should", "shall", "will",
        "would", "can", "could", "may", "might", "must", "when", "if", "then", "than", "how", "what", "which",
        "who", "whom", "by", "from", "about", "into", "over", "under", "up", "down", "out", "just", "only",
        "please", "keep", "try", "people", "person",
    }
)
_NO = frozenset({"not", "no", "don't", "never", "without", "stop", "avoid", "less", "fewer"})


def stems(text: str) -> frozenset[str]:
    """The words that carry meaning, roughly stemmed."""
    words = re.findall(r"[a-z']+", text.lower().replace("’", "'"))
    return frozenset(_stem(word) for word in words if word not in _STOP and len(word) > 2)


def likeness(a: str, b: str) -> float:
    """0..1: shared stems over the smaller set of the two; 1 for the same text."""
    if a == b:
        return 1.0
    x, y = stems(a), stems(b)
    if min(len(x), len(y)) < 2:
        return 1.0 if x and x == y else 0.0
    return len(x & y) / min(len(x), len(y))


def is_negated(a: str, b: str) -> bool:
    """Whether one of two alike texts denies what the other says."""
    return bool(_NO & set(re.findall(r"[a-z']+", a.lower()))) != bool(_NO & set(re.findall(r"[a-z']+", b.lower())))


def _stem(word: str) -> str:
    for ending in ("ingly", "edly", "ness", "ing", "ies", "ied", "ers", "est", "ed", "ly", "es", "er", "s", "e"):
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            return word[: -len(ending)]
    return word
