"""Numbered steps with elapsed time; what a command says goes to a log, and its last lines are shown when it fails."""

from __future__ import annotations

import hashlib
import shlex
import shutil
import subprocess
import sys
import time
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

TAIL_LINES = 15


class SetupError(Exception):
    """The set-up cannot go on; `what_to_do` says how to get past it."""

    def __init__(self, message: str, what_to_do: str) -> None:
        super().__init__(message)
        self.what_to_do = what_to_do


class CommandFailed(SetupError):
    """A command ended with an error; `log` holds all that it said, `tail` the last lines."""

    def __init__(self, command: Sequence[str], code: int, log: Path, what_to_do: str) -> None:
        super().__init__(f"`{shlex.join(command)[:200]}` ended with exit code {code}", what_to_do)
        self.log = log
        self.tail = last_lines(log, TAIL_LINES)


def last_lines(path: Path, count: int) -> str:
    """The last `count` lines of a text file, without its blank lines at the end; empty when it cannot be read."""
    try:
        lines = path.read_text(encoding="utf-8", errors="replace").rstrip().splitlines()
    except OSError:
        return ""
    return "\n".join(lines[-count:])


def fingerprint(parts: Iterable[str | Path]) -> str:
    """One hash over words and the contents of files: what a step's stamp is compared with."""
    digest = hashlib.sha256()
    for part in parts:
        data = part.read_bytes() if isinstance(part, Path) else part.encode()
        digest.update(hashlib.sha256(data).digest())
    return digest.hexdigest()


class Stamp:
    """A file that says from which inputs a step was last done. It lives beside what the step made, and dies with it."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def matches(self, value: str) -> bool:
        """Whether the step was last done from exactly these inputs."""
        try:
            return self.path.read_text(encoding="ascii") == value
        except (OSError, UnicodeDecodeError):
            return False

    def write(self, value: str) -> None:
        """Remember that the step is done; called last, so that an interrupted step counts as not done."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self.path.write_text(value, encoding="ascii")

    def clear(self) -> None:
        """Forget it, before the step starts to change things."""
        self.path.unlink(missing_ok=True)


class Progress:
    """Prints the steps and runs their commands, with the output of each step in `logs/<step>.log`."""

    def __init__(self, logs: Path, total: int) -> None:
        self._logs = logs
        self._total = total
        self._number = 0
        self._title = ""
        self._log = logs / "setup.log"
        self._started_s = 0.0
        self._advice = ""
        self._live = sys.stdout.isatty()

    def begin(self, title: str, log_name: str, advice: str) -> None:
        """Start the next step. `advice` is what a person should try when one of its commands fails."""
        self._number += 1
        self._title = title
        self._advice = advice
        self._started_s = time.monotonic()
        self._logs.mkdir(parents=True, exist_ok=True)
        self._log = self._logs / f"{log_name}.log"
        self._log.write_bytes(b"")

    def say(self, note: str) -> None:
        """Announce that this step takes a while, and why."""
        print(f"{self._clear()}{self._head()} … {note}", flush=True)

    def end(self, note: str) -> None:
        """Close the step with a few words on what came out."""
        print(f"{self._clear()}{self._head()} {note} ({time.monotonic() - self._started_s:.1f} s)", flush=True)

    def run(
        self,
        command: Sequence[str | Path],
        *,
        env: Mapping[str, str] | None = None,
        cwd: Path | None = None,
    ) -> None:
        """Run a command to its end with its output in the step's log.

        Raises CommandFailed when it ends with an error, SetupError when it is not there.
        """
        words = [str(word) for word in command]
        with self._log.open("ab") as log:
            log.write(f"$ {shlex.join(words)}\n".encode())
            log.flush()
            try:
                process = subprocess.Popen(
                    words, stdin=subprocess.DEVNULL, stdout=log, stderr=subprocess.STDOUT, env=env, cwd=cwd
                )
            except OSError as error:
                raise SetupError(f"cannot run {words[0]}: {error.strerror}", self._advice) from error
            try:
                while True:
                    try:
                        code = process.wait(timeout=1.0 if self._live else None)
                        break
                    except subprocess.TimeoutExpired:
                        self._tick()
            except BaseException:
                process.terminate()
                process.wait()
                raise
        if code != 0:
            raise CommandFailed(words, code, self._log, self._advice)

    def show(self, command: Sequence[str | Path], *, env: Mapping[str, str] | None = None) -> None:
        """Run a command that has its own progress display: its output goes to the terminal."""
        words = [str(word) for word in command]
        code = subprocess.run(words, env=env, check=False).returncode
        if code != 0:
            self._log.write_text(f"$ {shlex.join(words)}\n(its output went to the terminal)\n", encoding="utf-8")
            raise CommandFailed(words, code, self._log, self._advice)

    def _head(self) -> str:
        return f"[{self._number}/{self._total}] {self._title:<17}"

    def _clear(self) -> str:
        return "\r\033[K" if self._live else ""

    def _tick(self) -> None:
        elapsed_s = int(time.monotonic() - self._started_s)
        head = f"{self._head()} {elapsed_s // 60}:{elapsed_s % 60:02d} "
        room = shutil.get_terminal_size().columns - len(head) - 1
        said = last_lines(self._log, 1)[: max(room, 0)]
        print(f"\r\033[K{head}{said}", end="", flush=True)
