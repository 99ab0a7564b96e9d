"""Words that need no thinking: "stop" and its kin, and "go on" after a stop. Whole utterances only, no model asked."""

from __future__ import annotations

import re

_NOT_WORDS = re.compile(r"[^a-z0-9' ]+")
_APOSTROPHES = str.maketrans({"’": "'", "‘": "'", "`": "'", "´": "'"})

# What may stand around the word without changing it.
_CALLING = frozenset({"hey", "hi", "ok", "okay", "oh", "no", "robot", "please", "now", "immediately", "wait", "right"})
_STOPS = frozenset(
    {
        "stop", "stop it", "stop that", "stop this", "stop there", "stop here", "stop moving", "stop everything",
        "stop at once", "stop driving", "stop right there", "just stop", "halt", "freeze", "hold still",
        "stand still", "stay still", "don't move", "do not move", "dont move", "emergency stop", "e stop", "abort",
        "whoa", "you stop", "stop what you are doing", "stop what you're doing", "quit moving",
    }
)
_RESUMES = frozenset(
    {
        "go on", "go ahead", "carry on", "continue", "resume", "keep going", "you can go on", "you may go on",
        "you can continue", "you may continue", "proceed", "continue with it", "carry on with it", "go on with it",
        "continue your task", "resume your task",
    }
)


def _words(text: str) -> list[str]:
    return _NOT_WORDS.sub(" ", text.lower().translate(_APOSTROPHES)).split()


def _means(text: str, phrases: frozenset[str], name: str) -> bool:
    """Whether the utterance is nothing but the phrases, said once or more, with words of calling around them."""
    calling = _CALLING | frozenset(_words(name))
    words = _words(text)
    longest = max(len(phrase.split()) for phrase in phrases)
    said, at = False, 0
    while at < len(words):
        for length in range(min(longest, len(words) - at), 0, -1):
            if " ".join(words[at : at + length]) in phrases:
                said, at = True, at + length
                break
        else:
            if words[at] not in calling:
                return False
            at += 1
    return said


def is_stop(text: str, name: str = "") -> bool:
    """Whether the utterance tells the robot called `name` to stop: "Stop!", "Anima, please stop now", "wait, stop".

    "Stop by the kitchen", "don't stop" and "bring the stop sign" don't.
    """
    return _means(text, _STOPS, name)


def is_resume(text: str, name: str = "") -> bool:
    """Whether the utterance tells the robot called `name` to go on with what was stopped."""
    return _means(text, _RESUMES, name)
