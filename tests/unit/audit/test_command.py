"""`anima replay` and `anima why` on a recorded errand, as a person uses them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from rosbags.rosbag2 import Reader
from support.recorded import record
from typer.testing import CliRunner

from anima import topics as t
from anima.audit.command import change_config
from anima.audit.recording import read_journals
from anima.audit.timeline import Timeline
from anima.audit.why import UnknownCall, calls_of, why
from anima.cli import app
from anima.config import ConfigError
from anima_sim.pure_mind import PureMind
from anima_sim.symbolic import Trouble

runner = CliRunner()


def errand(mind: PureMind) -> None:
    mind.graph.run_for(1.0)
    mind.say("bring me the red cube")
    mind.graph.run_for(60.0)


@pytest.fixture(scope="module")
def recording(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("recordings") / "errand"
    record(folder, errand, trouble=Trouble(grasp_fails=0.5, search_fails=0.0, drive_fails=0.0))
    return folder


@pytest.fixture(scope="module")
def timeline(recording: Path) -> Timeline:
    return Timeline.of_chunks(read_journals(recording))


def test_a_recorded_errand_is_reproduced(recording: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert runner.invoke(app, ["replay", str(recording)]).exit_code == 0
    said = capfd.readouterr().out
    assert "identical" in said
    assert "basal_ganglia_gate" in said


def test_a_changed_number_shows_where_it_diverges_what_was_decided_then_and_now_and_why(
    recording: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    assert runner.invoke(app, ["replay", str(recording), "--set", "gate.stable_s=1.5"]).exit_code == 1
    said = capfd.readouterr().out
    assert "changed: gate.stable_s 0.5 -> 1.5" in said
    told = said.partition("basal_ganglia_gate decides otherwise")[2].splitlines()
    then = next(line for line in told if line.startswith("  then"))
    now = next(line for line in told if line.startswith("  now "))
    assert "at(red_cube, person) done" in then and "nothing" in now
    assert any(line.startswith("  now says") for line in told)


def test_a_change_that_mattered_to_nothing_is_said_to_be_one(
    recording: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    assert runner.invoke(app, ["replay", str(recording), "--set", "gate.rests=3"]).exit_code == 0
    assert "made no difference" in capfd.readouterr().out


def test_the_same_said_less_often_is_no_other_decision(
    recording: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    assert runner.invoke(app, ["replay", str(recording), "--set", "gate.repeat_s=5.0"]).exit_code == 1
    said = capfd.readouterr().out
    assert "basal_ganglia_gate reckons otherwise" in said
    assert "decides otherwise" not in said


def test_programs_get_every_first_difference(recording: Path, capfd: pytest.CaptureFixture[str]) -> None:
    answer = runner.invoke(app, ["replay", str(recording), "--set", "insula.weights.slip=0.5", "--json"])
    assert answer.exit_code == 1
    report = json.loads(capfd.readouterr().out)
    assert report["changes"] == ["insula.weights.slip 0.08 -> 0.5"]
    assert not report["identical"]
    first = report["regions"]["insula_condition"]["first"]
    assert first["took"] and first["then"] and first["now"] and first["then"] != first["now"]
    assert report["regions"]["amygdala_salience"]["first"] is None


def test_a_number_that_does_not_exist_is_refused(recording: Path) -> None:
    answer = runner.invoke(app, ["replay", str(recording), "--set", "gate.no_such_number=1"])
    assert answer.exit_code == 2
    assert "no key no_such_number" in " ".join(answer.output.split())


def test_a_number_that_is_not_allowed_is_refused_with_the_range(
    recording: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    assert runner.invoke(app, ["replay", str(recording), "--set", "gate.stable_s=-3"]).exit_code == 2
    assert capfd.readouterr().out.startswith("gate.yaml:\n  stable_s: ")


def test_a_file_that_is_no_recording_is_refused(tmp_path: Path) -> None:
    answer = runner.invoke(app, ["replay", str(tmp_path / "nothing.mcap")])
    assert answer.exit_code == 2
    assert "nothing.mcap" in answer.output.replace("\n", "")


def test_a_decision_is_explained_from_the_words_to_the_outcome(timeline: Timeline) -> None:
    pick = next(id for id, (_, call) in calls_of(timeline).items() if call.skill == "pick")
    told = dict(why(timeline, pick))
    assert "bring me the red cube" in told["heard"]
    assert told["objective"].startswith("at(red_cube, person)")
    assert "at(red_cube, person)" in told["focus"]
    assert "pick(red_cube)" in told["model's word"]
    assert "accepted" in told["validator"]
    assert "until" in told["lease"]
    assert "s, after" in told["outcome"]
    assert told["condition"] and told["resources"]


def test_what_the_gate_does_of_itself_after_a_failure_is_explained_by_that_failure(timeline: Timeline) -> None:
    own = [id for id, (_, call) in calls_of(timeline).items() if call.source == "playbook"]
    assert own
    told = dict(why(timeline, own[0]))
    assert told["playbook"].startswith("after grasp_failed")
    because = told["because"].splitlines()
    assert "the objective at(red_cube, person)" in because[0]
    assert "pick(red_cube) failed, grasp_failed" in because[1] and "by planner" in because[1]


def test_every_decision_is_explained_in_a_screenful(timeline: Timeline) -> None:
    calls = calls_of(timeline)
    assert len(calls) > 4
    for id in calls:
        lines = "\n".join(text for _, text in why(timeline, id)).splitlines()
        assert len(lines) <= 45, id
        assert max(map(len, lines)) <= 150, id


def test_what_a_decision_was_made_from_can_all_be_found_in_the_record(timeline: Timeline) -> None:
    there = {objective.id for _, new in timeline.of(t.OBJECTIVES) for objective in new.objectives}
    there |= {objective.id for _, backlog in timeline.of(t.BACKLOG) for objective in backlog.objectives}
    there |= {thought.id for _, thought in timeline.of(t.THOUGHT)}
    there |= {event.id for _, event in timeline.of(t.EVENTS)}
    there |= {conflict.id for _, conflict in timeline.of(t.CONFLICT)}
    there |= {episode.id for _, episode in timeline.of(t.EPISODES)}
    there |= {outcome.call.id for _, outcome in timeline.of(t.OUTCOME)}
    calls = [call for _, call in calls_of(timeline).values()]
    assert all(call.because for call in calls if call.source != "operator")
    assert {id for call in calls for id in call.because} <= there


def test_a_call_that_is_not_in_the_record_is_named_with_some_that_are(recording: Path, timeline: Timeline) -> None:
    with pytest.raises(UnknownCall, match="there are"):
        why(timeline, "no-such-call")
    answer = runner.invoke(app, ["why", "no-such-call", "--file", str(recording)])
    assert answer.exit_code == 2
    first = next(iter(calls_of(timeline)))
    answer = runner.invoke(app, ["why", first, "--file", str(recording)])
    assert answer.exit_code == 0
    assert "red cube" in answer.output


def test_the_recording_of_a_mind_opens_as_a_bag_with_all_its_topics(recording: Path) -> None:
    with Reader(recording) as reader:
        topics = {connection.topic for connection in reader.connections}
    assert {"/utterance", "/lease", "/outcome", "/backlog", "/resources", "/journal/brain"} <= topics


def test_a_change_needs_a_file_and_a_key(tmp_path: Path) -> None:
    (tmp_path / "gate.yaml").write_text("a: {b: 1}\n", encoding="utf-8")
    change_config(tmp_path, "gate.a.b=2")
    assert "b: 2" in (tmp_path / "gate.yaml").read_text(encoding="utf-8")
    for change in ("gate=1", "gate.a.b", "gate.a.c=1", "nothing.a=1"):
        with pytest.raises(ConfigError, match="--set"):
            change_config(tmp_path, change)
