"""One gzserver as a child of this process, and the line to the lock-step plugin in it."""

from __future__ import annotations

import atexit
import contextlib
import ctypes
import json
import os
import select
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from pathlib import Path
from typing import Any

from anima_sim.errors import SimulationError
from anima_sim.gazebo.prefix import GazeboMissing, Prefix

_PR_SET_PDEATHSIG = 1
_START_LIMIT_S = 120.0
_ANSWER_LIMIT_S = 60.0


class GazeboDied(SimulationError):
    """gzserver ended or gives no answer."""


def _die_with_parent() -> None:
    """In the child: no simulator runs on when the process that steps it was killed."""
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    os.setsid()  # Ctrl-C is for the body, which ends this child in order


class Server:
    """A gzserver with one world, alone on a port of its own. `close` ends it.

    Nothing moves until `ask("step N")`. Words without an answer (see sim/gazebo/lockstep.cc) go by `tell` and are
    carried out before the next question is.
    """

    def __init__(self, prefix: Prefix, world: str, seed: int, cameras: bool, gui: bool = False) -> None:
        """`world` is SDF text that loads the plugin. Raises `GazeboMissing` or `GazeboDied`."""
        self._children: list[subprocess.Popen[bytes]] = []
        self._folder = Path(tempfile.mkdtemp(prefix="anima-gazebo-"))
        self._pending: list[str] = []
        self._received = b""
        self._line: socket.socket | None = None
        self._log = self._folder / "gzserver.log"
        atexit.register(self.close)  # whoever is interrupted leaves no server and no files behind
        try:
            self._start(prefix, world, seed, cameras, gui)
        except BaseException:
            self.close()
            raise

    def _start(self, prefix: Prefix, world: str, seed: int, cameras: bool, gui: bool) -> None:
        file = self._folder / "flat.world"
        file.write_text(world, encoding="utf-8")
        door = self._folder / "lockstep"
        env = prefix.environment(f"http://127.0.0.1:{_free_port()}")
        env |= {"ANIMA_LOCKSTEP_SOCKET": str(door), "ANIMA_LOCKSTEP_SEED": str(seed), "HOME": str(self._folder)}
        if not gui:
            env["LIBGL_ALWAYS_SOFTWARE"] = "1"
            env.pop("DISPLAY", None)
            if cameras:
                env["DISPLAY"] = self._screen()
        elif not env.get("DISPLAY"):
            raise GazeboMissing("gui:=true needs a display, and DISPLAY is not set")
        self._spawn([prefix.program("gzserver"), "--verbose", file], env, self._log)
        self._connect(door)
        if gui:
            self._spawn([prefix.program("gzclient")], env, self._folder / "gzclient.log")

    def _spawn(self, command: list[Path | str], env: dict[str, str], log: Path, keep: tuple[int, ...] = ()) -> None:
        with log.open("wb") as output:
            child = subprocess.Popen(
                [str(word) for word in command], stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT,
                env=env, preexec_fn=_die_with_parent, pass_fds=keep,
            )
        self._children.append(child)

    def _screen(self) -> str:
        """A display that nobody sees, for the cameras."""
        if shutil.which("Xvfb") is None:
            raise GazeboMissing("cameras in Gazebo need Xvfb: apt-get install xvfb, or run make setup-gazebo")
        read, write = os.pipe()
        words: list[Path | str] = ["Xvfb", "-displayfd", str(write), "-screen", "0", "640x480x24", "-nolisten", "tcp"]
        self._spawn(words, dict(os.environ), self._folder / "xvfb.log", keep=(write,))
        os.close(write)
        number = b""
        until = time.monotonic() + 30.0
        while not number.endswith(b"\n") and time.monotonic() < until:
            if select.select([read], [], [], 0.5)[0]:
                chunk = os.read(read, 32)
                if not chunk:
                    break
                number += chunk
        os.close(read)
        if not number.endswith(b"\n"):
            raise GazeboDied(f"Xvfb opened no display: {_tail(self._folder / 'xvfb.log')}")
        return f":{number.decode().strip()}"

    def _connect(self, door: Path) -> None:
        until = time.monotonic() + _START_LIMIT_S
        line = socket.socket(socket.AF_UNIX)
        while True:
            with contextlib.suppress(OSError):
                line.connect(str(door))
                break
            self._check_alive()
            if time.monotonic() > until:
                raise GazeboDied(f"gzserver opened no socket within {_START_LIMIT_S:.0f} s: {_tail(self._log)}")
            time.sleep(0.02)
        line.settimeout(_ANSWER_LIMIT_S)
        self._line = line
        self.ask("state")

    def tell(self, words: str) -> None:
        """Words without an answer."""
        self._pending.append(words)

    def ask(self, words: str) -> dict[str, Any]:
        """A question and its answer. Raises `SimulationError` when it refuses, `GazeboDied` when it is gone."""
        self._send([*self._pending, words])
        self._pending = []
        answer: dict[str, Any] = json.loads(self._read_line())
        if "error" in answer:
            raise SimulationError(f"Gazebo refused '{words[:80]}': {answer['error']}")
        return answer

    def see(self, camera: str) -> tuple[bytes, int, int]:
        """A picture's bytes, width and height."""
        head = self.ask(f"see {camera}")
        return self._read(int(head["bytes"])), int(head["width"]), int(head["height"])

    def close(self) -> None:
        """Ends the server and what was started for it."""
        if self._line is not None:
            self._line.close()
            self._line = None
        for child in reversed(self._children):
            if child.poll() is None:
                child.kill()
            child.wait()
        self._children = []
        shutil.rmtree(self._folder, ignore_errors=True)
        atexit.unregister(self.close)

    def _send(self, lines: list[str]) -> None:
        if self._line is None:
            raise GazeboDied("this Gazebo was closed")
        try:
            self._line.sendall(("\n".join(lines) + "\n").encode())
        except OSError as error:
            raise self._lost(error) from error

    def _read_line(self) -> bytes:
        while b"\n" not in self._received:
            self._receive()
        line, _, self._received = self._received.partition(b"\n")
        return line

    def _read(self, count: int) -> bytes:
        while len(self._received) < count:
            self._receive()
        data, self._received = self._received[:count], self._received[count:]
        return data

    def _receive(self) -> None:
        assert self._line is not None
        try:
            chunk = self._line.recv(1 << 20)
        except OSError as error:
            raise self._lost(error) from error
        if not chunk:
            raise self._lost(EOFError("it hung up"))
        self._received += chunk

    def _check_alive(self) -> None:
        for child in self._children:
            if child.poll() is not None:
                raise GazeboDied(f"{Path(str(child.args[0])).name} exited with {child.returncode}: {_tail(self._log)}")  # type: ignore[index]

    def _lost(self, error: Exception) -> SimulationError:
        return GazeboDied(f"gzserver gives no answer ({error}): {_tail(self._log)}")


def _tail(log: Path, lines: int = 8) -> str:
    try:
        said = log.read_text(encoding="utf-8", errors="replace").strip().splitlines()
    except OSError:
        return "no log"
    return " | ".join(said[-lines:]) or "it printed nothing"


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
