"""A process of the graph: time drives its nodes, and its heart tells how far they are."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import pytest
import rclpy
from support.ros_rig import PROBE, Bench, Probe, start_ros

from anima import topics as t
from anima.config import ConfigError, Settings
from anima.types.base import Time
from anima.types.mind import Heartbeat
from anima.types.std import Clock
from anima_nodes.heart import HEARTBEAT_S, ProcessNode
from anima_nodes.process import main, overrides, parse, settings_of
from anima_nodes.region_node import RegionNode

pytestmark = pytest.mark.ros

BRAIN_BEAT = t.HEARTBEATS["brain"]


class Running:
    """A process with one probe in it, on a bench."""

    def __init__(self, bench: Bench) -> None:
        self.bench = bench
        self.node = RegionNode(PROBE, Settings())
        assert isinstance(self.node.component, Probe)
        self.probe = self.node.component
        self.heart = ProcessNode("brain", [self.node])
        bench.add(self.node)
        bench.add(self.heart)
        self.beats: list[Heartbeat] = bench.listen(BRAIN_BEAT)
        assert bench.until(lambda: self.heart.count_subscribers(BRAIN_BEAT.name) == 1)
        bench.pass_time(0.1)
        self.heart.follow_clock()

    def stamps(self) -> list[float]:
        return [beat.header.stamp.seconds for beat in self.beats]


@pytest.fixture(params=["true", "false"])
def running(domain: int, request: pytest.FixtureRequest) -> Iterator[Running]:
    start_ros(domain, "-p", f"use_sim_time:={request.param}")
    bench = Bench()
    yield Running(bench)
    bench.close()
    rclpy.try_shutdown()


simulated = pytest.mark.parametrize("running", ["true"], indirect=True)
real = pytest.mark.parametrize("running", ["false"], indirect=True)


@simulated
def test_on_simulated_time_each_tick_of_the_clock_steps_what_is_due(running: Running) -> None:
    tick = running.bench.publisher(t.CLOCK)
    for i in range(1, 51):
        tick(Clock(clock=Time.at(i * 0.02)))
        assert running.bench.until(lambda i=i: running.node.now >= i * 0.02 - 1e-9)
    assert len(running.probe.steps) == pytest.approx(PROBE.rate_hz, abs=2)
    assert running.bench.until(lambda: len(running.beats) >= 0.7 / HEARTBEAT_S)
    stamps = running.stamps()
    assert stamps == sorted(stamps)
    assert len(stamps) <= 1.0 / HEARTBEAT_S + 1


@simulated
def test_without_a_clock_nothing_steps_and_no_heart_beats(running: Running) -> None:
    running.bench.pass_time(0.3)
    assert running.probe.steps == []
    assert running.beats == []


@simulated
def test_when_simulated_time_starts_over_the_heart_beats_on(running: Running) -> None:
    tick = running.bench.publisher(t.CLOCK)
    for seconds in (500.0, 500.1, 500.2):
        tick(Clock(clock=Time.at(seconds)))
        assert running.bench.until(lambda s=seconds: s in running.stamps())
    tick(Clock(clock=Time.at(1.0)))
    assert running.bench.until(lambda: 1.0 in running.stamps())
    assert running.probe.steps[-1][0] == 1.0


@real
def test_on_the_wall_clock_a_timer_steps_the_nodes(running: Running) -> None:
    started = time.time()
    assert running.bench.until(lambda: len(running.beats) >= 5)
    assert all(abs(stamp - started) < 60 for stamp in running.stamps())
    assert all(abs(now - started) < 60 for now, _ in running.probe.steps)
    assert len(running.probe.steps) >= 2


@real
def test_a_heartbeat_says_what_every_node_does_and_why(running: Running) -> None:
    assert running.bench.until(lambda: running.beats)
    assert running.beats[0].process == "brain"
    assert running.node.status().why == "listens for a test"


def test_settings_on_the_command_line_are_json_or_text() -> None:
    pairs = parse(["--process", "brain", "--set", "seed=3", "--set", "robot=anima", "--set", "cameras=false"]).set
    assert overrides(pairs) == {"seed": 3, "robot": "anima", "cameras": False}
    assert overrides(["a=", 'b=""', "c=x=y"]) == {"b": "", "c": "x=y"}


@pytest.mark.parametrize("pair", ["seed", "=3"])
def test_a_setting_without_a_key_or_a_value_is_refused_with_how_to_write_it(pair: str) -> None:
    with pytest.raises(ConfigError, match="KEY=VALUE"):
        overrides([pair])


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (["--set", "speed=-1"], "speed"),
        (["--set", "nonsense=1"], "nonsense"),
        (["--settings", "no-such-file.yaml"], "no-such-file.yaml: no such file"),
        (["--set", "map=atlantis"], "atlantis"),
    ],
)
def test_a_process_with_bad_settings_ends_at_once_and_names_them(
    words: list[str], complaint: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["process", "--process", "brain", *words]) == 2
    assert complaint in capsys.readouterr().err


def test_a_settings_file_takes_the_place_of_the_usual_one(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "mine.yaml"
    file.write_text("speed: 1000", encoding="utf-8")
    assert main(["process", "--process", "brain", "--settings", str(file)]) == 2
    assert str(file) in capsys.readouterr().err


@pytest.mark.parametrize(("words", "board"), [([], ""), (["-r", "__ns:=/ada"], "/ada"), (["-r", "__ns:=/"], "/")])
def test_the_emulated_board_of_a_process_is_that_of_its_namespace(words: list[str], board: str) -> None:
    arguments = parse(["--process", "body", "--set", "sim=firmware"])
    assert settings_of(arguments, ["process", "--ros-args", *words]).link.board == board
