"""Parts for measurements: as many as wanted, different, from a seed, about what a household robot lives through."""

from __future__ import annotations

import random
from collections.abc import Sequence

from anima.parts.schema import OriginatingEvent, Part, Suggestion, timestamp

_WHO = ["Ana", "Ben", "the toddler", "a visitor", "Mira", "the cat", "the neighbour's dog", "Taylor", "the old man"]
_WHERE = ["kitchen", "hallway", "bedroom", "office", "balcony", "bathroom", "living room", "cellar", "garden door"]
_WHAT = [
    "red cube", "rug", "cable on the floor", "glass door", "chair that was moved", "charging dock", "shelf",
    "low table", "homework sheet", "weekly report", "shopping list", "music box", "plant pot", "vacuum cleaner",
    "wet floor", "curtain", "toy train", "umbrella", "cardboard box", "lamp", "fruit bowl", "pile of books",
    "door step", "mirror",
]
_WHEN = ["in the morning", "late at night", "when it rains", "while somebody sleeps", "before dinner", "on weekends"]
_HAPPENS = [
    "{who} calls from the {where}", "the {what} is in my way {when}", "{who} moves the {what} into the {where}",
    "I bump into the {what} in the {where}", "{who} asks about the {what} {when}", "my wheel slips near the {what}",
    "the {what} falls down in the {where}", "{who} laughs at how I carry the {what}", "it is dark in the {where}",
    "{who} says the {what} belongs in the {where}", "the battery is low in the {where} {when}",
    "{who} is angry about the {what}", "I can't find the {what} {when}", "{who} leaves the {where} {when}",
]
_STANCES = [
    ("Guarding", "I keep {who} safe from the {what} in the {where}. I would rather be late than sorry."),
    ("Curious about", "I want to know why the {what} is in the {where} {when}. What is new pulls me."),
    ("Pleasing", "I care that {who} likes how I handle the {what}. I watch what is praised and what is not."),
    ("Wary of", "I don't trust the {what} in the {where}: it has stopped me before. I go round it {when}."),
    ("Finishing", "I want the matter of the {what} done {when}, and I remind {who} of it."),
]
_FEELINGS = ["Fear", "Curiosity", "Care", "Frustration", "Pride", "Tenderness", "Boredom", "Delight"]


def happening(luck: random.Random) -> str:
    """Something that occurs to a robot at home, in a few words."""
    return _filled(luck.choice(_HAPPENS), luck)


def _filled(text: str, luck: random.Random) -> str:
    return text.format(
        who=luck.choice(_WHO), where=luck.choice(_WHERE), what=luck.choice(_WHAT), when=luck.choice(_WHEN)
    )


class MadeParts:
    """Makes parts out of a pool of texts, so that 100,000 of them need only some thousand texts embedded."""

    def __init__(self, seed: int, texts: int = 4000) -> None:
        self._luck = random.Random(seed)
        self.triggers = sorted({happening(self._luck) for _ in range(texts)})
        stances = {(name, _filled(text, self._luck)) for _ in range(texts) for name, text in _STANCES}
        chosen = self._luck.sample(sorted(stances), min(texts, len(stances)))
        self.stances = [(f"{name} what matters", text) for name, text in chosen]

    def one(self, moment_utc_s: float = 1_800_000_000.0) -> Part:
        """Another part, with one prediction that is open."""
        luck = self._luck
        name, description = luck.choice(self.stances)
        when = timestamp(moment_utc_s, luck.choice([-28800.0, 0.0, 3600.0]))
        return Part(
            name=name, description=description, core_part=False, needs_evaluation=False,
            suggestions_and_results=[
                Suggestion(
                    predicted_result=luck.choice(self.triggers), predicted_result_confidence="likely",
                    predicted_result_timeframe_in_seconds=str(luck.randrange(60, 86_400)),
                    your_suggestion=luck.choice(["wait and look", "go round it", "ask first"]), timestamp=when,
                    result="",
                )
            ],
            originating_event=OriginatingEvent(timestamp=when, result=luck.choice(self.triggers)),
            conclude_when="When it has not mattered for a month.", emotion=luck.choice(_FEELINGS), intensity="Medium",
            personality="I speak in short sentences.", triggers=luck.sample(self.triggers, luck.randrange(2, 5)),
            phrases=["Let me think."], responses=["I slow down"], wants=["To be useful"],
        )

    def shuffle(self, seed: int) -> None:
        """From here on make other parts, out of the same texts."""
        self._luck.seed(seed)

    def texts(self) -> Sequence[str]:
        """Every text that the parts are found by."""
        return [*(f"{name}. {description}" for name, description in self.stances), *self.triggers]
