"""Runs the processes of the graph where `ros2 launch` is absent: start, watch, start again, ordered stop."""

from __future__ import annotations

import ctypes
import os
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from anima.brain import steering
from anima.runtime.processes import BEHIND_A_BOARD, BODIES, NODES, REFLEXES, Process
from anima.runtime.processes import processes as names_of

_PR_SET_PDEATHSIG = 1
_ESCALATION = ((signal.SIGINT, 5.0), (signal.SIGTERM, 3.0), (signal.SIGKILL, 3.0))

# A process that dies is started again after the first, then after twice as long, and so on; the wait is back at the
# first once it has lived for the last.
_FIRST_WAIT_S, _LONGEST_WAIT_S, _LIVED_S = 0.5, 30.0, 60.0
_BAD_SETTINGS = 2  # exits with this code come again however often it is started

RECORDER = "recorder"
WORLD = "world"

NAMESPACE_VARIABLE = "ANIMA_NAMESPACE"

# What holds the wheels still when a process is gone; of those that are not named the brain table knows.
_HELD_BY = {
    **dict.fromkeys(REFLEXES, "the body stops when no command comes"),
    **dict.fromkeys(BODIES, "nothing moves without it"),
    RECORDER: "the robot runs on, unrecorded",
    WORLD: "time stands still without it",
}

AGAIN = {
    **dict.fromkeys(REFLEXES, ", with the stop latched: anima reset"),
    **dict.fromkeys(BODIES, "; a board arms by anima reset"),
}
"""What a person has to do after the restart of a process."""


@dataclass(frozen=True)
class Death:
    """A process that ended though nobody asked it to; `last_words` is the last line that it printed."""

    process: str
    code: int
    log: Path
    last_words: str = ""
    composed: bool = True

    def __str__(self) -> str:
        how = f"was killed by {signal.Signals(-self.code).name}" if self.code < 0 else f"exited with {self.code}"
        why = f" ({self.last_words})" if self.code > 0 and self.last_words else ""
        return f"the {self.process} process {how}{why}; {self._held_by()}. Its log: {self.log}"

    def _held_by(self) -> str:
        if self.process in _HELD_BY:
            return _HELD_BY[self.process]
        steers = self.process in steering(composed=self.composed)
        return "the reflexes hold the robot still" if steers else "the robot goes on without it"


def _last_line(path: Path) -> str:
    lines = path.read_text(encoding="utf-8", errors="replace").rstrip().splitlines()
    return lines[-1].strip() if lines else ""


def own_namespace() -> str:
    """The namespace of the robot that this program belongs to, without slashes around it; empty: none."""
    return os.environ.get(NAMESPACE_VARIABLE, "").strip("/")


def commands(
    overrides: Mapping[str, str],
    processes: Sequence[Process] = tuple(Process),
    settings_file: str = "",
    namespace: str | None = None,
) -> dict[str, list[str]]:
    """The command of each process, in order of start.

    `overrides` are settings as ``{"seed": "3"}``, put on top of those in `settings_file` (empty: `config/anima.yaml`).
    With ``{"composed": "false"}`` it is one command per node that lives in `processes`. Time is the simulator's, unless
    `sim` is set to none. All of the robot's nodes and topics are in `namespace`, or else in
    `own_namespace()`.
    """
    space = own_namespace() if namespace is None else namespace
    place = ["-r", f"__ns:=/{space}"] if space else []
    settings = ["--settings", settings_file] if settings_file else []
    settings += [word for key, value in overrides.items() for word in ("--set", f"{key}={value}")]
    simulated, composed = overrides.get("sim") != "none", overrides.get("composed") != "false"
    ros = ["--ros-args", *place, "-p", f"use_sim_time:={'true' if simulated else 'false'}"]
    # First up and last down, so that nothing is missed; nobody waits for it.
    recorder = {RECORDER: [sys.executable, "-m", "anima_nodes.recorder", *settings, "--ros-args", *place]}
    # The board and the world around it, which go on whatever becomes of the robot's own processes.
    world = {WORLD: [sys.executable, "-m", "anima_nodes.world", *settings, "--ros-args", *place]}
    return (recorder if overrides.get("record.on") == "true" else {}) | (
        world if overrides.get("sim") == "firmware" else {}
    ) | {
        name: [sys.executable, "-m", "anima_nodes.process", "--process", name, *settings, *ros]
        for name in names_of(composed, overrides.get("sim", "mujoco"))
        if (Process(name) if composed else NODES[name]) in processes
    }


def started_again(words: Mapping[str, Sequence[str]], sim: str) -> dict[str, list[str]]:
    """How each of the processes of `commands` is started after its death; those that are not named stay dead.

    Reflexes begin with the stop latched, as whether it was is not known. A simulated world is gone with its process.
    """
    gone = {WORLD, *(() if sim in BEHIND_A_BOARD else BODIES)}
    again = {name: list(command) for name, command in words.items() if name not in gone}
    for name in REFLEXES:
        if name in again:
            again[name].insert(again[name].index("--ros-args"), "--stopped")
    return again


@dataclass
class _Life:
    """When a process was started, after which wait the next start comes, and when that is (None: not due)."""

    began_s: float
    wait_s: float = _FIRST_WAIT_S
    due_s: float | None = None


def _die_with_parent() -> None:
    """In the child: no robot moves on after its supervisor was killed."""
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)
    signal.signal(signal.SIGINT, signal.default_int_handler)


class Supervisor:
    """Owns the processes of one graph. Use as a context manager: leaving it stops them all, last started first."""

    def __init__(
        self,
        commands: Mapping[str, Sequence[str]],
        log_folder: Path,
        again: Mapping[str, Sequence[str]] | None = None,
    ) -> None:
        """`again` holds the commands by which `revive` starts dead processes anew (see `started_again`)."""
        self._commands = commands
        self._composed = Process.BRAIN.value in commands
        self._again = again or {}
        self._lives: dict[str, _Life] = {}
        self._folder = log_folder
        self._children: dict[str, subprocess.Popen[bytes]] = {}
        self._reported: set[str] = set()

    def __enter__(self) -> Supervisor:
        self._folder.mkdir(parents=True, exist_ok=True)
        try:
            for name, command in self._commands.items():
                self._start(name, command)
        except OSError:
            self.stop()
            raise
        return self

    def _start(self, name: str, command: Sequence[str], anew: bool = False) -> None:
        with self.log(name).open("ab" if anew else "wb") as log:
            self._children[name] = subprocess.Popen(
                command, stdin=subprocess.DEVNULL, stdout=log, stderr=subprocess.STDOUT,
                start_new_session=True, preexec_fn=_die_with_parent,
                env={**os.environ, "PYTHONUNBUFFERED": "1"},
            )

    def __exit__(self, *_: object) -> None:
        self.stop()

    @property
    def processes(self) -> tuple[str, ...]:
        """The names of the processes, in order of start."""
        return tuple(self._commands)

    def log(self, process: str) -> Path:
        """Where the process writes what it prints."""
        return self._folder / f"{process}.log"

    def pid(self, process: str) -> int:
        """The process id."""
        return self._children[process].pid

    def deaths(self) -> list[Death]:
        """The processes that ended since the last call."""
        ended = []
        for name, child in self._children.items():
            code = child.poll()
            if code is not None and name not in self._reported:
                self._reported.add(name)
                ended.append(Death(name, code, self.log(name), _last_line(self.log(name)), self._composed))
        return ended

    def revive(self, now_s: float) -> list[str]:
        """Start again what died and whose time has come; returns its names. Call it now and then.

        `now_s` is the time of any steady clock. Bad settings (exit code 2) are not tried again.
        """
        started = []
        for name, command in self._again.items():
            child, life = self._children.get(name), self._lives.setdefault(name, _Life(now_s))
            if child is None or child.poll() in (None, _BAD_SETTINGS):
                continue
            if life.due_s is None:
                lived = now_s - life.began_s >= _LIVED_S
                wait_s = _FIRST_WAIT_S if lived else life.wait_s
                life.due_s, life.wait_s = now_s + wait_s, min(2 * wait_s, _LONGEST_WAIT_S)
            elif now_s >= life.due_s and name in self._reported:
                self._start(name, command, anew=True)
                self._reported.discard(name)
                life.began_s, life.due_s = now_s, None
                started.append(name)
        return started

    def stop(self) -> dict[str, int]:
        """Stop every process, the last started first, so that the reflexes outlive what commands them.

        Each is asked, then told, then killed. Returns the exit codes.
        """
        for name, child in reversed(self._children.items()):
            if child.poll() is None:
                self._reported.add(name)
                self._end(child)
        return {name: child.wait() for name, child in self._children.items()}

    @staticmethod
    def _end(child: subprocess.Popen[bytes]) -> None:
        for number, patience_s in _ESCALATION:
            child.send_signal(number)
            try:
                child.wait(patience_s)
                return
            except subprocess.TimeoutExpired:
                continue
