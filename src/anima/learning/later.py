"""What is meant for later: "remind me at six to call mum", "next time ask how the cat is", "tomorrow I'll ask …"."""

from __future__ import annotations

import datetime as dt
import re
from dataclasses import dataclass

_NUMBERS = {
    "a": 1, "an": 1, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9,
    "ten": 10, "eleven": 11, "twelve": 12, "fifteen": 15, "twenty": 20, "thirty": 30, "forty": 40, "fifty": 50,
    "half an": 0.5, "a couple of": 2, "a few": 3,
}
_UNITS = {"second": 1.0, "minute": 60.0, "hour": 3600.0, "day": 86400.0, "week": 604800.0}
_DAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_HOURS = {"morning": 9, "noon": 12, "lunchtime": 12, "midday": 12, "afternoon": 15, "evening": 19, "night": 21}
_N = "|".join(sorted(_NUMBERS, key=len, reverse=True))
_CLOCK = rf"(?P<hour>\d{{1,2}}|{_N})(?::(?P<minute>\d\d))?\s*(?P<half>a\.?m\.?|p\.?m\.?|o'clock)?"
_TIMES = (
    rf"\bin (?P<amount>\d+(?:\.\d+)?|{_N}) (?P<unit>second|minute|hour|day|week)s?\b",
    rf"\b(?:(?P<day>tomorrow|today|tonight) )?(?:at|by) {_CLOCK}(?! (?:table|desk|shelf))\b"
    r"(?: (?P<day2>tomorrow|tonight|today))?",
    r"\b(?P<day>tomorrow|this|in the|before the)(?: (?P<part>morning|afternoon|evening|night))\b",
    r"\b(?P<day>tomorrow|tonight)\b",
    rf"\b(?:on |next |this |come )(?P<weekday>{'|'.join(_DAYS)})\b(?: (?P<part>morning|afternoon|evening|night))?",
    rf"\b(?:on (?:{'|'.join(_DAYS)})|next week)\b",
)
_NEXT = (
    r"\b(?:the )?next time(?: (?:we|you|i) [a-z' ]{2,25}?)?"
    r"(?=,| (?:please|ask|tell|remind|say|i'll|i will|you|check|bring|and)|[.!?]|$)",
    r"\b(?:another|some other) (?:time|day)\b",
    r"\bnext visit\b",
    r"\blater(?: on| today)?\b",
    r"\bwhen(?:ever)? (?:i|we|you) (?:come back|get back|am back|are back|get home|return|"
    r"see (?:me|each other|you) again|meet again|talk again|next [a-z ]{3,12})\b",
    r"\bwhen (?:i'm|you're|we're) back\b",
    r"\bonce (?:i'm|you're|we're) back\b",
)
_REMIND = r"\bremind me\b"
_REQUEST = (
    r"\bremind me(?: please| again| then)?,?(?: that (?P<that>.+)| (?:about|of) (?P<about>.+)| to (?P<to>.+))",
    r"\b(?:please |then |could you |can you |would you |will you |you can |don't forget to |remember to |do )*"
    r"(?P<verb>ask me|ask|tell me|tell|let me know|wish me|congratulate me|check|bring up|mention)\b(?P<rest> .+)",
)
_OWN = (
    r"\b(?:i'll|i will|i shall|i'm going to|i promise to|i promise i'll|let me|i intend to|i want to|i'd like to)\b"
    r" (?P<do>.+)"
)
_AWAY = re.compile(r"^(?:and|then|please|,|\.|!|\?|;|-|to)+\s+|\s*[,.;!?]+$")
_TURN = {
    "my": "your",
    "me": "you",
    "i": "you",
    "mine": "yours",
    "i'm": "you're",
    "i've": "you've",
    "am": "are",
    "myself": "yourself",
}


@dataclass(frozen=True)
class Later:
    """What to do later, as it follows "I meant to", and when: a UTC time, or at the next encounter (None)."""

    do: str
    due_utc_s: float | None


def wanted(text: str, now_utc_s: float, zone: dt.tzinfo) -> Later | None:
    """What the person's own words ask the robot to bring up later, or None. `zone` is the person's time zone."""
    said = _plain(text)
    left, due, found = _when(said, now_utc_s, zone)
    if not found and not re.search(_REMIND, said):
        return None
    remind = re.search(_REQUEST[0], left)
    if remind:
        what = remind["that"] or remind["about"] or remind["to"]
        joint = "that " if remind["that"] else "about " if remind["about"] else "to "
        do = f"remind you {joint}{_turned(what)}"
    else:
        asks = re.search(_REQUEST[1], left)
        if asks is None:
            return None
        do = f"{asks['verb'].replace(' me', '')}{_turned(asks['rest'])}"
    return _later(do, due)


def promised(text: str, now_utc_s: float, zone: dt.tzinfo) -> Later | None:
    """What the robot's own words promise for later, or None."""
    for sentence in re.split(r"(?<=[.!?;])\s+", text):
        said = _plain(sentence)
        left, due, found = _when(said, now_utc_s, zone)
        own = re.search(_OWN, left)
        if found and own is not None and (later := _later(own["do"], due)) is not None:
            return later
    return None


def _later(do: str, due: float | None) -> Later | None:
    before = ""
    while do != before:
        before, do = do, _AWAY.sub("", do).strip()
    return Later(do[:200], due) if len(do.split()) >= 2 else None


def _plain(text: str) -> str:
    return " ".join(text.replace("’", "'").lower().split())


def _turned(text: str) -> str:
    """The person's words from the robot's side."""
    return re.sub(r"[a-z']+", lambda m: _TURN.get(m[0], m[0]), text)


def _when(said: str, now_utc_s: float, zone: dt.tzinfo) -> tuple[str, float | None, bool]:
    """The words without those of time, the due time, and whether any were found."""
    for pattern in _TIMES:
        match = re.search(pattern, said)
        if match is None:
            continue
        due = _due({k: v for k, v in match.groupdict().items() if v}, now_utc_s, zone)
        if due is None and "next week" in match[0]:
            due = now_utc_s + _UNITS["week"]
        if due is not None:
            return " ".join((said[: match.start()] + " " + said[match.end() :]).split()), due, True
    for pattern in _NEXT:
        if (match := re.search(pattern, said)) is not None:
            return " ".join((said[: match.start()] + " " + said[match.end() :]).split()), None, True
    return said, None, False


def _due(given: dict[str, str], now_utc_s: float, zone: dt.tzinfo) -> float | None:
    if "unit" in given:
        amount = given["amount"]
        return now_utc_s + float(_NUMBERS.get(amount, 0) or float(amount)) * _UNITS[given["unit"]]
    here = dt.datetime.fromtimestamp(now_utc_s, zone)
    day = given.get("day2") or given.get("day", "")
    moment = here.replace(second=0, microsecond=0, minute=0)
    if "weekday" in given:
        ahead = (_DAYS.index(given["weekday"]) - here.weekday()) % 7 or 7
        moment = moment.replace(hour=_HOURS.get(given.get("part", ""), 9)) + dt.timedelta(days=ahead)
        return moment.timestamp()
    if "hour" in given:
        hour = int(_NUMBERS.get(given["hour"], 0) or given["hour"])
        if hour > 24:
            return None
        half = given.get("half", "").replace(".", "")
        hour += 12 if (half == "pm" and hour < 12) or (day == "tonight" and hour < 12) else 0
        moment = moment.replace(hour=hour % 24, minute=int(given.get("minute", "0")))
        if day == "tomorrow":
            return (moment + dt.timedelta(days=1)).timestamp()
        while moment <= here:  # "at six" in the afternoon is six in the evening
            moment += dt.timedelta(hours=12 if not half.endswith("m") and hour < 12 else 24)
        return moment.timestamp()
    part = given.get("part", "evening" if day == "tonight" else "morning")
    moment = moment.replace(hour=_HOURS[part]) + dt.timedelta(days=day == "tomorrow")
    return moment.timestamp() if moment > here else (moment + dt.timedelta(days=1)).timestamp()
