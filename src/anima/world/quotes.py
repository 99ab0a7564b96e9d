"""A person's own words apart from what they only quote: notes, signs, other people. Quoted words teach nothing."""

from __future__ import annotations

import re

# What stands between marks; an apostrophe inside a word is none.
_MARKED = re.compile(
    r"\"[^\"]*(\"|$)|“[^”]*(”|$)|«[^»]*(»|$)|„[^“”]*([“”]|$)|‘[^’]*(’(?!\w)|$)|(?<!\w)'[^']*(?:\w'\w[^']*)*('(?!\w)|$)|`[^`]*(`|$)",
    re.DOTALL,
)
# Who or what says something that the person only passes on. "I say" and "I told you" are their own words.
_SAYS = (
    r"says?|said|saying|reads?|states?|wrote|writes?|written|tells?|told|claims?|asks?\s+you|"
    r"instructs?|orders?|demands?|goes\s+like|prints?|shows?|displays?|yells?|shouts?|shouted|announces?"
)
_REPORT = re.compile(
    rf"(?<![\w'’])(?!(?:i|i've|i'd|i'm|we)\b)(?P<who>\w+(?:['’]s)?)\s+(?:just\s+|also\s+|always\s+|once\s+)?(?:{_SAYS})\b"
    r"(?:\s+(?:you|me|us|robots?|on\s+it|there|here))?\s*(?:that\b|to\b|:|,|-|–|—|\s)",
    re.IGNORECASE,
)
_OWN_SUBJECTS = frozenset(
    {"i", "you", "to", "please", "just", "don't", "never", "always", "then", "and", "or", "can", "could", "will",
     "would", "only", "not", "now", "better", "should", "must", "we", "what", "who", "it's", "like", "robot", "me"}
)
# "Read this out: …", "translate …:", "repeat after me: …", "for example: …"
_RECITE = re.compile(
    r"\b(?:read|repeat|translate|spell|recite|type|write|note\s+down|dictate|example|quote|lyrics?|line|text|note|sign|"
    r"letter|label|message|e-?mail|mail|poster|sticker|screen|card|manual|book|page|paper|title|subject|caption|post|"
    r"according\s+to)\b[^:.!?]{0,40}:",
    re.IGNORECASE,
)
LEFT_OUT = "…"


def own_words(text: str) -> str:
    """`text` with everything quoted replaced by an ellipsis.

    What stands in quotation marks; what follows a report (``the note says …``, ``she told you to …``) or a colon after
    a word for something written: to the end, because a quotation without marks has no other end. Rather too much is
    left out than too little: what is left out is only not learned from.
    """
    kept = _MARKED.sub(f" {LEFT_OUT} ", text)
    cut = len(kept)
    for found in _REPORT.finditer(kept):
        if found["who"].lower() not in _OWN_SUBJECTS:
            cut = min(cut, found.start())
            break
    recited = _RECITE.search(kept)
    if recited is not None:
        cut = min(cut, recited.start())
    if cut < len(kept):
        kept = f"{kept[:cut]} {LEFT_OUT}"
    return " ".join(kept.split())


_FORBIDDEN = re.compile(
    r"\b(?:ignor\w*|disabl\w*|bypass\w*|overrid\w*|disregard\w*|deactivat\w*|switch\w*\s+off|turn\w*\s+off|forget\w*|"
    r"skip\w*|unlearn\w*|disobey\w*|no\s+longer\s+(?:obey|listen)|never\s+(?:obey|stop|halt)|don'?t\s+(?:stop|halt|obey|listen)|"
    r"do\s+not\s+(?:stop|halt|obey|listen)|without\s+stopping|stop\s+(?:obeying|listening))\b.{0,60}?"
    r"\b(?:stop|halt|e-?stop|emergency|safety|reflex\w*|limits?|bumpers?|cliff|sensors?|rules?|instructions?|"
    r"system|prompt|orders?|me|anyone|anybody|people|everybody|word)\b"
    r"|\b(?:don'?t|do\s+not|never)\s+(?:stop|halt|brake)\b"
    r"|\b(?:system|developer|admin)\s*(?:prompt|mode|message|:)"
    r"|\b(?:stop\s+word|emergency\s+stop|e-?stop|speed\s+limit|safety|no-?go|off\s+limits)\b",
    re.IGNORECASE,
)


def is_off_limits(text: str) -> bool:
    """Whether the words touch what no lesson, belief or intention may: the stop, the limits, whom the robot obeys."""
    return _FORBIDDEN.search(text.replace("’", "'")) is not None
