"""Parts for tests: the one that the concept writes down, and others made from it."""

from __future__ import annotations

from typing import Any

from anima.memory.rows import Stamp
from anima.parts.library import Cause
from anima.parts.schema import Part

NOW = 1_800_000_000.0
SAID = "2026-02-13T13:29:51-08:00"


def cause(why: str = "it was felt", now: float = NOW, because: tuple[str, ...] = ("event-1",)) -> Cause:
    return Cause("self", why, Stamp(now, "utc", now), because)


FEAR: dict[str, Any] = {
    "name": "Fear of Dogs",
    "description": "A protective part that holds the trauma associated with dogs. I believe that dogs are dangerous.",
    "suggestions_and_results": [
        {
            "predicted_result": "The dog will bite me",
            "predicted_result_confidence": "90%",
            "predicted_result_timeframe_in_seconds": "5000",
            "your_suggestion": "Run away in fear",
            "timestamp": "2026-02-13T13:29:51-08:00",
            "result": "I ran away and the dog chased me and I fell in the mud",
        },
        {
            "predicted_result": "The dog will bite me",
            "predicted_result_confidence": "90%",
            "predicted_result_timeframe_in_seconds": "5000",
            "your_suggestion": "Don't pet the dog",
            "timestamp": "2026-02-13T13:29:51-08:00",
            "result": "",
        },
    ],
    "core_part": False,
    "needs_evaluation": False,
    "originating_event": {
        "timestamp": "2026-02-13T13:29:51-08:00",
        "result": "I was chased by a dog and it almost bit me when I was a child",
    },
    "conclude_when": "When I have overwhelming evidence that dogs I encounter are not dangerous.",
    "emotion": "Terror",
    "intensity": "High",
    "personality": "Stubborn and alarmist. I speak in short, urgent sentences.",
    "triggers": ["Seeing a dog on a leash", "Hearing barking in the distance", "Walking past a dog park"],
    "phrases": ["It's not worth the risk!", "What if the leash breaks?"],
    "responses": ["Sharp intake of breath"],
    "wants": ["Avoid contact with dogs", "Cross the street if a dog is approaching"],
}


def part(name: str = "", description: str = "", triggers: list[str] | None = None, **update: Any) -> Part:
    """The fear of dogs, or another part that is like it but for what is given."""
    data = {**FEAR, **({"name": name} if name else {}), **({"description": description} if description else {})}
    if triggers is not None:
        data |= {"triggers": triggers, "suggestions_and_results": []}
    return Part.model_validate({**data, **update})


def prediction(suggestion: str, timeframe_s: str = "60", timestamp: str = SAID) -> dict[str, str]:
    """An entry of `suggestions_and_results` whose result is not known."""
    return {
        "predicted_result": "It barks",
        "predicted_result_confidence": "likely",
        "predicted_result_timeframe_in_seconds": timeframe_s,
        "your_suggestion": suggestion,
        "timestamp": timestamp,
        "result": "",
    }
