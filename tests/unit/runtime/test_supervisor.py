"""The supervisor starts the processes of a graph, tells who died, and leaves nothing running."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from anima.brain import table
from anima.runtime import supervisor
from anima.runtime.processes import Process
from anima.runtime.supervisor import Supervisor, commands, started_again

WAIT = "import time\nprint('up', flush=True)\ntime.sleep(60)"
POLITE = (
    "import signal, sys, time\n"
    "def bye(*_):\n    open(sys.argv[1], 'a').write(sys.argv[2] + '\\n')\n    sys.exit(0)\n"
    "signal.signal(signal.SIGINT, bye)\nprint('up', flush=True)\ntime.sleep(60)"
)
STUBBORN = (
    "import signal, time\nsignal.signal(signal.SIGINT, signal.SIG_IGN)\n"
    "signal.signal(signal.SIGTERM, signal.SIG_IGN)\nprint('up', flush=True)\ntime.sleep(60)"
)


def python(code: str, *arguments: str) -> list[str]:
    return [sys.executable, "-c", code, *arguments]


def until(true: Callable[[], bool], patience_s: float = 20.0) -> bool:
    """Whether it becomes true before patience ends."""
    end = time.monotonic() + patience_s
    while time.monotonic() < end:
        if true():
            return True
        time.sleep(0.01)
    return true()


def wait_up(running: Supervisor, *names: str) -> None:
    for name in names:
        assert until(lambda name=name: "up" in running.log(name).read_text()), running.log(name).read_text()


def runs(pid: int) -> bool:
    try:
        return "Z" not in Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False


def test_leaving_stops_every_process(tmp_path: Path) -> None:
    with Supervisor({"a": python(WAIT), "b": python(WAIT)}, tmp_path) as running:
        wait_up(running, "a", "b")
        pids = [running.pid("a"), running.pid("b")]
        assert all(map(runs, pids))
        assert running.deaths() == []
    assert not any(map(runs, pids))


def test_what_a_process_prints_is_in_its_log(tmp_path: Path) -> None:
    code = "import sys\nprint('to out')\nprint('to err', file=sys.stderr)"
    with Supervisor({"a": python(code)}, tmp_path / "deep" / "logs") as running:
        assert until(lambda: bool(running.deaths()))
        assert set(running.log("a").read_text().splitlines()) == {"to out", "to err"}


def test_a_killed_process_is_reported_once_with_its_name_and_log(tmp_path: Path) -> None:
    with Supervisor({"brain": python(WAIT), "planner": python(WAIT)}, tmp_path) as running:
        os.kill(running.pid("brain"), signal.SIGKILL)
        reports = []
        assert until(lambda: bool(reports.extend(running.deaths()) or reports))
        assert running.deaths() == []
    (death,) = reports
    assert death.process == "brain"
    assert "brain" in str(death)
    assert "SIGKILL" in str(death)
    assert str(running.log("brain")) in str(death)


def test_a_process_that_ends_by_itself_is_reported_with_its_exit_code_and_last_words(tmp_path: Path) -> None:
    code = "import sys\nprint('starting')\nprint('config/robot.yaml: no such file')\nsys.exit(3)"
    with Supervisor({"body": python(code)}, tmp_path) as running:
        reports = []
        assert until(lambda: bool(reports.extend(running.deaths()) or reports))
    assert "the body process exited with 3 (config/robot.yaml: no such file)" in str(reports[0])


@pytest.mark.parametrize(
    ("process", "held"),
    [("planner", "reflexes hold the robot still"), ("reflex", "body stops when no command comes")],
)
def test_a_death_says_what_holds_the_robot_still_now(process: str, held: str) -> None:
    assert held in str(supervisor.Death(process, -signal.SIGKILL, Path("a.log")))


@pytest.mark.parametrize(
    ("node", "held"),
    [
        ("memory", "the robot goes on without it"), ("perception", "the robot goes on without it"),
        ("motor_cortex", "reflexes hold the robot still"), ("reflex_kernel", "body stops when no command comes"),
    ],
)
def test_the_death_of_a_node_with_a_process_of_its_own_says_whether_the_robot_goes_on(node: str, held: str) -> None:
    assert held in str(supervisor.Death(node, -signal.SIGKILL, Path("a.log"), composed=False))


def test_processes_stop_in_reverse_order_each_after_the_other_is_gone(tmp_path: Path) -> None:
    order = tmp_path / "order"
    names = ["body", "reflex", "brain", "planner"]
    with Supervisor({name: python(POLITE, str(order), name) for name in names}, tmp_path) as running:
        wait_up(running, *names)
        assert running.stop() == dict.fromkeys(names, 0)
    assert order.read_text().split() == names[::-1]


def test_stopping_is_no_death(tmp_path: Path) -> None:
    with Supervisor({"a": python(WAIT)}, tmp_path) as running:
        wait_up(running, "a")
        running.stop()
        assert running.deaths() == []


def test_a_process_that_ignores_interrupt_and_terminate_is_killed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    quick = tuple((number, 0.2) for number, _ in supervisor._ESCALATION)
    monkeypatch.setattr(supervisor, "_ESCALATION", quick)
    with Supervisor({"stubborn": python(STUBBORN), "good": python(WAIT)}, tmp_path) as running:
        wait_up(running, "stubborn", "good")
        codes = running.stop()
    assert codes["stubborn"] == -signal.SIGKILL


def test_the_exit_code_of_a_process_that_died_before_is_kept(tmp_path: Path) -> None:
    with Supervisor({"a": python("import sys; sys.exit(5)")}, tmp_path) as running:
        assert until(lambda: bool(running.deaths()))
        assert running.stop() == {"a": 5}


def test_when_one_process_cannot_start_the_others_are_stopped(tmp_path: Path) -> None:
    pid_file = tmp_path / "pid"
    code = f"import os, time\nopen({str(pid_file)!r}, 'w').write(str(os.getpid()))\ntime.sleep(60)"
    graph = Supervisor({"a": python(code), "b": [str(tmp_path / "no-such-program")]}, tmp_path)
    with pytest.raises(FileNotFoundError, match="no-such-program"), graph:
        pass
    assert not runs(graph.pid("a"))


def test_processes_die_when_their_supervisor_is_killed(tmp_path: Path) -> None:
    code = (
        "import sys, time\nfrom pathlib import Path\nfrom anima.runtime.supervisor import Supervisor\n"
        "child = [sys.executable, '-c', 'import time; time.sleep(60)']\n"
        "with Supervisor({'a': child, 'b': child}, Path(sys.argv[1])) as running:\n"
        "    print(running.pid('a'), running.pid('b'), flush=True)\n    time.sleep(60)"
    )
    with subprocess.Popen(python(code, str(tmp_path)), stdout=subprocess.PIPE, text=True) as owner:
        assert owner.stdout is not None
        pids = [int(word) for word in owner.stdout.readline().split()]
        assert len(pids) == 2
        assert all(map(runs, pids))
        owner.kill()
    assert until(lambda: not any(map(runs, pids)))


def test_each_process_of_the_brain_has_one_command_with_the_same_settings() -> None:
    found = commands({"seed": "3", "llm.threads": "1"}, settings_file="mine.yaml")
    assert list(found) == [process.value for process in Process]
    for name, command in found.items():
        assert command[command.index("--process") + 1] == name
        assert command[command.index("--settings") + 1] == "mine.yaml"
        assert [command[i + 1] for i, word in enumerate(command) if word == "--set"] == ["seed=3", "llm.threads=1"]
        assert command[-3:] == ["--ros-args", "-p", "use_sim_time:=true"]


@pytest.mark.parametrize("sim", ["mujoco", "none"])
def test_with_one_process_per_node_each_row_of_the_table_has_a_command(sim: str) -> None:
    found = commands({"sim": sim, "composed": "false"})
    assert list(found) == [row.node for row in table(sim, composed=False)]
    assert all(command[command.index("--process") + 1] == name for name, command in found.items())
    again = started_again(found, sim)
    assert set(found) - set(again) == ({"body"} if sim == "mujoco" else set())
    assert [name for name, command in again.items() if "--stopped" in command] == ["reflex_kernel"]


def test_a_process_that_died_is_started_again_and_keeps_its_log(tmp_path: Path) -> None:
    words = {"brain": python(WAIT)}
    with Supervisor(words, tmp_path, again=words) as running:
        wait_up(running, "brain")
        first = running.pid("brain")
        os.kill(first, signal.SIGKILL)
        assert until(lambda: bool(running.deaths()))
        assert running.revive(0.0) == []
        assert running.revive(0.4) == [], "not at once"
        assert running.revive(0.6) == ["brain"]
        assert until(lambda: running.log("brain").read_text().count("up") == 2)
        assert running.pid("brain") != first
        os.kill(running.pid("brain"), signal.SIGKILL)
        assert until(lambda: bool(running.deaths())), "its second death is told too"


def test_each_time_it_waits_longer_until_the_process_has_lived_for_a_while(tmp_path: Path) -> None:
    words = {"brain": python("import sys; sys.exit(1)")}
    waits, now = [], 0.0
    with Supervisor(words, tmp_path, again=words) as running:
        for lives_s in (0.0, 0.0, 0.0, 100.0):
            assert until(lambda: bool(running.deaths()))
            now += lives_s
            died = now
            while not running.revive(now):
                now += 0.05
            waits.append(now - died)
        running.stop()
    assert waits == pytest.approx([0.5, 1.0, 2.0, 0.5], abs=0.11)


def test_bad_settings_are_not_tried_again(tmp_path: Path) -> None:
    words = {"brain": python("import sys; print('no such file'); sys.exit(2)")}
    with Supervisor(words, tmp_path, again=words) as running:
        assert until(lambda: bool(running.deaths()))
        assert [running.revive(float(now)) for now in range(100)] == [[]] * 100


def test_a_simulated_world_stays_gone_and_reflexes_come_back_with_the_stop_latched() -> None:
    again = started_again(commands({}), "mujoco")
    assert set(again) == {"reflex", "perception", "brain", "planner"}
    assert "--stopped" in again["reflex"]
    assert again["brain"] == commands({})["brain"]
    assert "body" in started_again(commands({"sim": "none"}), "none")


def test_a_real_body_lives_in_real_time() -> None:
    for words in commands({"sim": "none"}).values():
        assert "use_sim_time:=false" in words


def test_a_namespace_holds_for_every_process(monkeypatch: pytest.MonkeyPatch) -> None:
    assert not any("__ns" in word for words in commands({}).values() for word in words)
    monkeypatch.setenv("ANIMA_NAMESPACE", "/ada")
    for words in commands({"record.on": "true", "sim": "firmware"}).values():
        assert words[words.index("--ros-args") :].count("__ns:=/ada") == 1
