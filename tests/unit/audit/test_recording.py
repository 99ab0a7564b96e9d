"""Recordings open in rosbag2's own readers, stay within their size, and survive being cut off."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest
from rosbags.rosbag2 import Reader

from anima import topics as t
from anima.audit.interfaces import typestore
from anima.audit.recording import NoRecording, Recording, files_of, newest, read_journals
from anima.topics import Sent
from anima.types.audit import JournalChunk
from anima.types.base import Header
from anima.types.mind import SkillCall, Utterance, Verdict


def said(number: int, text: str = "hello") -> Sent:
    return t.UTTERANCE.of(Utterance(header=Header.at(float(number)), id=f"u{number}", speaker="ana", text=text))


def chunk(sequence: int, lines: str = '{"v":1}\n') -> Sent:
    return t.JOURNALS["brain"].of(
        JournalChunk(header=Header.at(1.0), process="brain", sequence=sequence, lines=lines)
    )


def test_a_recording_opens_as_a_bag_with_the_values_that_were_sent(tmp_path: Path) -> None:
    call = SkillCall(
        header=Header.at(1.5), id="c1", skill="go_to", arguments='{"place": "kitchen"}', objective="o1",
        source="planner", because=["o1", "u1"],
    )
    verdict = Verdict(header=Header.at(1.5), call=call, accepted=True, correction="", failure=0, reason="", repair="")
    with Recording(tmp_path / "run") as recording:
        recording.put(said(1), 1.0)
        recording.put(t.VERDICT.of(verdict), 1.5)

    with Reader(tmp_path / "run") as reader:
        messages = {
            connection.topic: (at, typestore().deserialize_cdr(data, connection.msgtype))
            for connection, at, data in reader.messages()
        }
    assert messages["/utterance"][0] == 1_000_000_000
    assert messages["/utterance"][1].text == "hello"
    assert messages["/verdict"][1].call.because == ["o1", "u1"]


def test_a_long_recording_turns_its_files_over_and_keeps_the_newest(tmp_path: Path) -> None:
    luck = random.Random(1)
    with Recording(tmp_path / "run", file_bytes=1 << 20, total_bytes=4 << 20) as recording:
        for number in range(1, 400):
            recording.put(said(number, luck.randbytes(20_000).hex()), float(number))

    files = files_of(tmp_path / "run")
    assert len(files) > 1
    assert sum(file.stat().st_size for file in files) <= 5 << 20
    with Reader(tmp_path / "run") as reader:
        times = [at for _, at, _ in reader.messages()]
    assert times[-1] == 399_000_000_000
    assert times[0] > 1_000_000_000


def test_a_journal_that_was_cut_off_is_read_as_far_as_it_goes(tmp_path: Path) -> None:
    with Recording(tmp_path / "run") as recording:
        for sequence in range(3000):
            recording.put(chunk(sequence, json.dumps({"v": sequence, "t": "x" * 1000}) + "\n"), float(sequence))
    (file,) = files_of(tmp_path / "run")
    data = file.read_bytes()
    file.write_bytes(data[: len(data) // 2])

    read = list(read_journals(file))
    assert 0 < len(read) < 3000
    assert [line["v"] for part in read for line in part.lines] == list(range(len(read)))


def test_a_missing_part_of_a_journal_is_noticed(tmp_path: Path) -> None:
    with Recording(tmp_path / "run") as recording:
        for sequence in (0, 1, 3):
            recording.put(chunk(sequence), float(sequence))
    assert [part.gap for part in read_journals(tmp_path / "run")] == [False, False, True]


def test_what_is_no_recording_is_refused_with_its_name(tmp_path: Path) -> None:
    text = tmp_path / "notes.mcap"
    text.write_text("no bag at all", encoding="utf-8")
    for path in (tmp_path / "absent", tmp_path / "notes.mcap", tmp_path):
        with pytest.raises(NoRecording, match=path.name):
            list(read_journals(path))
    with pytest.raises(NoRecording, match="--record"):
        newest(tmp_path / "nothing")


def test_a_recording_without_a_journal_says_that_nothing_can_be_replayed(tmp_path: Path) -> None:
    with Recording(tmp_path / "run") as recording:
        recording.put(said(1), 1.0)
    with pytest.raises(NoRecording, match="journal"):
        list(read_journals(tmp_path / "run"))


def test_every_topic_of_the_graph_can_be_recorded() -> None:
    from anima.audit.codec import known_topics
    from anima.audit.interfaces import definition

    for topic in known_topics().values():
        text, digest = definition(topic.type.ros)
        assert text and digest.startswith("RIHS01_"), topic.name
