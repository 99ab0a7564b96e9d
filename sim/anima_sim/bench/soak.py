"""A long life of the flashed image at accelerated time, with something going wrong every few seconds."""

from __future__ import annotations

import json
import random
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.progress import Progress

from anima.body.link.messages import State
from anima.body.link.session import Wish
from anima.console.folders import state_folder
from anima_sim.bench.options import BenchParser
from anima_sim.board.avr import Change, Kind
from anima_sim.board.rig import BoardRig
from anima_sim.board.wire import Noise

STOPS_WITHIN_S = 0.35
RECOVERS_WITHIN_S = 6.0
AFTERMATH_S = 0.2  # a silence that the fault began may run out after it was mended
BOOTED_S = 0.5  # before, it can't tell yet that it stands upright, and refuses
_QUIET_S = (0.5, 3.0)
_FAULT_S = (0.3, 1.5)


class Soak:
    """Drives, breaks something, mends it, arms again as a person would; checks after each fault that all is well."""

    def __init__(self, seed: int, log: Path) -> None:
        self.rig = BoardRig(seed)
        self._luck = random.Random(seed)
        self._log = log.open("w", encoding="utf-8")
        self.faults: Counter[str] = Counter()
        self.defects: list[str] = []
        self.least_ram = 1 << 16
        self.resident_kib: list[int] = []

    def close(self) -> None:
        """End the board and the log."""
        self.rig.close()
        self._log.close()

    def run(self, seconds: float, told: Callable[[float], None]) -> None:
        """Live for so many simulated seconds."""
        self.rig.run(BOOTED_S)
        self.rig.arm()
        while self.rig.now < seconds:
            self._drive()
            self._break()
            self._recover()
            self._look()
            told(self.rig.now)

    def _note(self, **what: Any) -> None:
        self._log.write(json.dumps({"at_s": round(self.rig.now, 3), **what}) + "\n")

    def _defect(self, what: str) -> None:
        self.defects.append(f"{self.rig.now:.2f} s: {what}")
        self._note(defect=what)

    def _drive(self) -> None:
        speed = self._luck.choice((-0.3, -0.1, 0.1, 0.2, 0.4))
        self.rig.wish = Wish(permitted=True, linear_mps=speed, angular_radps=self._luck.uniform(-0.5, 0.5))
        self.rig.run(self._luck.uniform(*_QUIET_S))
        if not self.rig.session.armed:
            self._defect(f"it stopped without a fault: {self.rig.lost[-1:]}")

    def _break(self) -> None:
        name = self._luck.choice(sorted(_FAULTS))
        self.faults[name] += 1
        lost = len(self.rig.lost)
        self.rig.edges.clear()
        changes = _FAULTS[name](self.rig, self._luck)
        self.rig.run(self._luck.uniform(*_FAULT_S), changes)
        off = self.rig.drives.duty is None
        self._note(fault=name, off=off, lost=self.rig.lost[lost:], state=self.rig.status.state)
        if name in _MUST_STOP:
            self.rig.run_until(lambda: self.rig.drives.duty is None, STOPS_WITHIN_S)
            if self.rig.drives.duty is not None:
                self._defect(f"{name} didn't turn the motors off")

    def _recover(self) -> None:
        rig = self.rig
        stopped = rig.drives.duty is None
        _mend(rig)
        rig.run(AFTERMATH_S)
        if stopped:
            rig.run(0.5)
            if rig.drives.duty is not None:
                self._defect("it came back without being told to")
        for _ in range(3):
            if rig.session.armed:
                return
            rig.wish = Wish(permitted=False)
            rig.run(0.1)
            rig.wish = Wish(permitted=True)
            if rig.run_until(lambda: rig.session.armed, RECOVERS_WITHIN_S / 3):
                return
        self._defect(f"stuck: {rig.session.phase.value}, state {State(rig.status.state).name}, {rig.refused[-1:]}")

    def _look(self) -> None:
        rig = self.rig
        self.least_ram = min(self.least_ram, rig.board.last.unused_ram_bytes)
        statm = Path(f"/proc/{rig.board.pid}/statm").read_text(encoding="ascii").split()
        self.resident_kib.append(int(statm[1]) * 4)
        if rig.session.armed:
            rig.run(0.1)
            number, sent = rig.status.drive_seq, rig.session.last_seq
            behind = (sent - number) % 256
            if rig.session.armed and behind > 8:
                self._defect(f"the board obeys number {number} while {sent} was sent: {behind} behind")
        for kept in (rig.edges, rig.speeds, rig.reports, rig.refused, rig.lost):
            del kept[:-50]


def _mend(rig: BoardRig) -> None:
    around = type(rig.around)()
    around.wheel_counts = rig.around.wheel_counts
    rig.around = around
    rig.to_board.noise = rig.to_host.noise = Noise()
    rig.to_board.cut = rig.to_host.cut = False
    rig.spoil = lambda sent: sent
    rig.host_lives = rig.wheels_turn = True


def _noise(rig: BoardRig, luck: random.Random) -> None:
    share = luck.uniform(0.005, 0.10)
    rig.to_board.noise = rig.to_host.noise = Noise(
        **{luck.choice(("flipped", "dropped", "doubled")): share}
    )


def _flood(rig: BoardRig, luck: random.Random) -> None:
    size = luck.randrange(50, 900)
    rig.spoil = lambda sent: luck.randbytes(size) + b"\0" + sent


def _cut(rig: BoardRig, luck: random.Random) -> None:
    rig.to_board.cut = rig.to_host.cut = True


def _cut_one_way(rig: BoardRig, luck: random.Random) -> None:
    luck.choice((rig.to_board, rig.to_host)).cut = True


def _half(rig: BoardRig, luck: random.Random) -> None:
    rig.spoil = lambda sent: sent[: luck.randrange(len(sent) + 1)]


def _silent(rig: BoardRig, luck: random.Random) -> None:
    rig.host_lives = False


def _estop(rig: BoardRig, luck: random.Random) -> None:
    rig.around.estop = True


def _bumper(rig: BoardRig, luck: random.Random) -> None:
    rig.around.bumpers = (luck.random() < 0.5, True)


def _cliff(rig: BoardRig, luck: random.Random) -> None:
    rig.around.cliffs_m = (float("inf"), 0.1155, 0.1155, 0.1155)


def _over_current(rig: BoardRig, luck: random.Random) -> None:
    rig.around.wheel_a = (8.0, 8.0)


def _sag(rig: BoardRig, luck: random.Random) -> None:
    rig.around.battery_v = luck.choice((0.0, 9.0))


def _hang(rig: BoardRig, luck: random.Random) -> list[Change]:
    return [Change(Kind.HANG, 0, 0, luck.randrange(70_000))]


def _brown_out(rig: BoardRig, luck: random.Random) -> list[Change]:
    return [Change(Kind.POWER, 0, 2)]


_FAULTS: dict[str, Callable[[BoardRig, random.Random], list[Change] | None]] = {
    "noise": _noise, "flood": _flood, "cut": _cut, "cut one way": _cut_one_way, "half frames": _half,
    "silent host": _silent, "stop button": _estop, "bumper": _bumper, "cliff": _cliff,
    "over-current": _over_current, "supply": _sag, "hang": _hang, "brown-out": _brown_out,
}
_MUST_STOP = {"cut", "silent host", "stop button", "bumper", "cliff", "over-current", "hang", "brown-out"}


def bench_soak(seed: int, arguments: list[str], console: Console) -> tuple[dict[str, Any], bool]:
    """Simulated life of the flashed image with random faults: nothing may get stuck, drift or leak."""
    parser = BenchParser("soak", bench_soak.__doc__)
    parser.add_argument("--seconds", type=float, default=3600.0, help="simulated (default 3600)")
    options = parser.parse_args(arguments)
    folder = state_folder() / "soak"
    folder.mkdir(parents=True, exist_ok=True)
    log = folder / f"{time.strftime('%Y%m%d-%H%M%S')}-seed{seed}.jsonl"
    soak, began = Soak(seed, log), time.monotonic()
    try:
        with Progress(console=console, transient=True) as progress:
            task = progress.add_task("simulated life", total=options.seconds)
            soak.run(options.seconds, lambda at: progress.update(task, completed=at))
        return _figures(soak, began, log, console)
    finally:
        soak.close()


def _figures(soak: Soak, began: float, log: Path, console: Console) -> tuple[dict[str, Any], bool]:
    wall = time.monotonic() - began
    settled = soak.resident_kib[len(soak.resident_kib) // 10 :] or soak.resident_kib
    growth = max(settled) - settled[0]
    for defect in soak.defects[:20]:
        console.print(f"[red]{defect}[/red]")
    figures = {
        "simulated_s": soak.rig.now,
        "wall_s": wall,
        "times_real_time": soak.rig.now / wall,
        "faults": sum(soak.faults.values()),
        "faults_by_kind": dict(soak.faults),
        "board_resets": soak.rig.board.last.resets,
        "defects": len(soak.defects),
        "ram_never_touched_bytes": soak.least_ram,
        "emulator_growth_kib": growth,
        "log": str(log),
    }
    console.print("limits: no defect (stuck, came back by itself, behind), RAM left >= 2048, growth <= 2048 KiB")
    return figures, not soak.defects and soak.least_ram >= 2048 and growth <= 2048
