"""What a recording tells of the model's turns: who asked when, who gave way, and whether the background held one up."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from anima.audit.journal import WitnessedModel
from anima.audit.recording import Chunk, NoRecording
from anima.audit.turns import meetings, turns_of
from anima.console import turns as command
from anima.planner.llm.base import Message, Request, Slot, wait
from anima.planner.llm.turns import Turns


def request(role: str, background: bool) -> Request:
    return Request(role, (Message("user", "?"),), 0, 'root ::= "x"', 4, 1.0, 1.0, background=background)


def told(role: str, background: bool, *marks: tuple[int, str, float, int], error: str = "") -> dict[str, object]:
    fields = [dict(zip(("order", "what", "at_s", "tokens"), mark, strict=True)) for mark in marks]
    return {"asked": "ab", "role": role, "background": background, "text": "x", "error": error, "marks": fields}


def life(act_begun_at: int = 5, tokens: int = 120) -> list[Chunk]:
    """The planner asks while a part bids; in the good case that is set aside before."""
    aside = (4, "set aside", 1.2, tokens) if act_begun_at == 5 else (9, "set aside", 1.9, tokens)
    bid = told("parts.bid", True, (1, "queued", 1.0, 100), (2, "begun", 1.0, 100), aside, (10, "begun", 2.0, 400),
               (11, "ended", 2.5, 450))
    act = told("act", False, (3, "queued", 1.1, 110), (act_begun_at, "begun", 1.3, tokens), (8, "ended", 1.8, 400))
    lines = [
        {"s": "prefrontal_planner", "at": 20.0, "in": [], "out": [], "turns": [act]},
        {"s": "parts_self", "at": 21.0, "in": [], "out": [], "turns": [bid]},
    ]
    return [Chunk("planner", json.loads(json.dumps(lines)), False)]


def test_a_recording_tells_of_each_turn_who_asked_and_that_the_background_gave_way() -> None:
    bid, act = turns_of(life())
    assert (bid.node, bid.role, bid.set_aside) == ("parts_self", "parts.bid", 1)
    assert (act.node, act.background, act.taken_at) == ("prefrontal_planner", False, 20.0)
    (met,) = meetings([bid, act])
    assert (met.turn.role, met.ran.role, met.gave_way, met.tokens) == ("act", "parts.bid", True, 10)
    assert met.wait_s == pytest.approx(0.1)


@pytest.mark.parametrize(
    ("chunks", "code", "says"),
    [
        (life(), 0, "no background turn held up another"),
        (life(act_begun_at=7), 1, "act of prefrontal_planner was held up by parts.bid of parts_self"),
        (life(tokens=300), 1, "190 tokens"),
        ([Chunk("planner", [{"s": "learner", "turns": [{"text": "x"}]}], False)], 2, "before turns were marked"),
    ],
)
def test_the_command_says_whether_a_background_turn_held_one_up(
    chunks: list[Chunk], code: int, says: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(command, "read_journals", lambda path: iter(chunks))
    with pytest.raises(command.typer.Exit) as left:
        command.turns(Path("a_recording"))
    assert left.value.exit_code == code
    assert says in " ".join(capsys.readouterr().out.split())


def test_for_programs_every_mark_is_printed(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(command, "read_journals", lambda path: iter(life()))
    with pytest.raises(command.typer.Exit):
        command.turns(Path("a_recording"), as_json=True)
    data = json.loads(capsys.readouterr().out)
    assert data["came_while_background_ran"] == 1 and data["held_up"] == 0 and data["most_tokens_until_it_let_go"] == 10
    assert [mark["what"] for mark in data["turns"][1]["marks"]] == ["queued", "begun", "ended"]


def test_a_file_that_is_no_recording_is_an_error_that_says_so(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def nothing(path: Path) -> None:
        raise NoRecording(f"{path}: there is no step journal in it")

    monkeypatch.setattr(command, "read_journals", nothing)
    with pytest.raises(command.typer.Exit) as left:
        command.turns(Path("a_recording"))
    assert left.value.exit_code == 2 and "no step journal" in capsys.readouterr().out


def test_the_journal_takes_down_role_and_marks_with_the_answer() -> None:
    class Stub:
        """Fails every turn at once, as a closed model does."""

        def __init__(self) -> None:
            self.turns = Turns()
            self.turns.close()

        def start(self, request: Request) -> Slot:  # type: ignore[type-arg]
            slot: Slot = Slot(request)  # type: ignore[type-arg]
            self.turns.put(slot)
            return slot

    noted: list[dict[str, object]] = []
    wait(WitnessedModel(Stub(), noted.append).start(request("parts.bid", True)))  # type: ignore[arg-type]
    (line,) = noted
    assert (line["role"], line["background"]) == ("parts.bid", True)
    assert [mark["what"] for mark in json.loads(json.dumps(line["marks"]))] == ["queued", "failed"]
