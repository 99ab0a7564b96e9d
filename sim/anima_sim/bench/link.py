"""The serial link: how fast it answers, what it carries, what the driver costs, what faults on the line do."""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.progress import track
from rich.table import Table

from anima.body.link.codec import Decoder, encode
from anima.body.link.driver import SerialBody
from anima.body.link.messages import Ping, Pong
from anima.body.link.serial_port import SerialPort
from anima.config import LinkSettings, Settings
from anima.runtime.component import Inbox
from anima_sim.bench.options import BenchParser
from anima_sim.board.avr import AvrBoard
from anima_sim.board.mega import Surroundings, Wiring
from anima_sim.board.rig import BoardRig
from anima_sim.board.wire import Noise, Socket

BAUD = 500_000
FAULT_RATES = (0.0, 0.01, 0.02, 0.05, 0.10)
ROUND_TRIP_LIMIT_MS, CPU_LIMIT_PERCENT, ACCEPTED_LIMIT_PERCENT = 10.0, 15.0, 85.0
_DRIVER_HZ = 100.0
_SLICE_S = 0.001


def _board_in_real_time(device: str, seconds: float) -> None:
    """A process of its own: the board, as fast as the clock."""
    board, wiring, socket = AvrBoard(), Wiring(), Socket(Path(device))
    began = time.monotonic()
    while (wall := time.monotonic() - began) < seconds:
        ahead = board.time_s - wall
        if ahead > 0.0:
            time.sleep(ahead)
            continue
        # A machine that is too slow for the board's time drops time, not bytes.
        began += max(0.0, -ahead - 0.05)
        step = board.step(_SLICE_S, wiring.changes(Surroundings(), _SLICE_S), socket.read())
        socket.write(step.sent)
    socket.pull()
    board.close()


@contextlib.contextmanager
def _running_board(seconds: float) -> Any:
    with tempfile.TemporaryDirectory() as folder:
        device = str(Path(folder) / "brainstem")
        process = multiprocessing.get_context("spawn").Process(
            target=_board_in_real_time, args=(device, seconds), daemon=True
        )
        process.start()
        while not os.path.exists(device):
            time.sleep(0.01)
        time.sleep(0.3)
        try:
            yield device
        finally:
            process.kill()
            process.join()


def _round_trips(line: SerialPort, count: int) -> list[float]:
    decoder, found = Decoder(), []
    for number in range(count):
        began = time.perf_counter()
        line.write(encode(Ping(number), number))
        while time.perf_counter() - began < 0.5:
            frames = decoder.feed(line.read())
            if any(isinstance(f.message, Pong) and f.message.nonce == number for f in frames):
                found.append(time.perf_counter() - began)
                break
            time.sleep(0.0002)
        time.sleep(0.003)
    return found


def _throughput(line: SerialPort, seconds: float) -> tuple[float, float]:
    """Answered pings a second with eight under way, and bytes a second from the board."""
    decoder, sent, answered, received = Decoder(), 0, 0, 0
    began = time.perf_counter()
    while (spent := time.perf_counter() - began) < seconds:
        while sent - answered < 8:
            line.write(encode(Ping(sent), sent))
            sent += 1
        data = line.read()
        received += len(data)
        answered += sum(isinstance(f.message, Pong) for f in decoder.feed(data))
        if not data:
            time.sleep(0.0005)
            if spent > 1.0 and sent - answered >= 8:
                answered = max(answered, sent - 7)  # one was lost; go on
    return answered / spent, received / spent


def _driver_cost(device: str, seconds: float) -> float:
    """Share of a core that the driver takes at 100 Hz."""
    body, inbox = SerialBody(Settings(sim="none", link=LinkSettings(device=device))), Inbox()
    began, cpu = time.monotonic(), time.process_time()
    for number in range(round(seconds * _DRIVER_HZ)):
        body.step(number / _DRIVER_HZ, inbox)
        time.sleep(max(0.0, began + (number + 1) / _DRIVER_HZ - time.monotonic()))
    return (time.process_time() - cpu) / (time.monotonic() - began)


def _under_faults(rate: float, seed: int, seconds: float) -> dict[str, float]:
    """Drives for a while on simulated time with this share of the bytes flipped, both ways."""
    rig = BoardRig(seed)
    try:
        rig.drive(0.2)
        before, sent, bad = rig.heard_frames(), rig.session.quality.sent, rig.session.quality.bad
        rig.to_board.noise = rig.to_host.noise = Noise(flipped=rate)
        began, moving, steps = rig.now, 0, 0
        while rig.now < began + seconds:
            rig.run(0.05)
            steps += 1
            moving += rig.session.armed
            if not rig.session.armed:
                rig.wish = type(rig.wish)(permitted=not rig.wish.permitted, linear_mps=0.2)
        rig.to_board.noise = rig.to_host.noise = Noise()
        noisy, spoiled = rig.session.quality.sent - sent, rig.session.quality.bad - bad
        heard = rig.heard_frames() - before - (rig.session.quality.sent - sent - noisy)
        return {
            "accepted_percent": 100 * heard / max(noisy, 1),
            "armed_percent": 100 * moving / steps,
            "sessions_lost": float(len(rig.lost)),
            "wrong_states": float(len([s for s in rig.speeds if not 0 <= s[1] <= 200])),
            "telemetry_spoiled": float(spoiled),
        }
    finally:
        rig.close()


def bench_link(seed: int, arguments: list[str], console: Console) -> tuple[dict[str, Any], bool]:
    """Round trip, jitter, throughput and cost in real time; behaviour under faults on simulated time."""
    parser = BenchParser("link", bench_link.__doc__)
    parser.add_argument("--pings", type=int, default=300, help="round trips to measure (default 300)")
    parser.add_argument("--seconds", type=float, default=20.0, help="simulated, for each fault rate (default 20)")
    options = parser.parse_args(arguments)
    with _running_board(120.0) as device:
        line = SerialPort(device, BAUD)
        line.open()
        trips = 1000 * np.array(_round_trips(line, options.pings))
        answered, carried = _throughput(line, 3.0)
        line.close()
        cpu = _driver_cost(device, 5.0)
    figures: dict[str, Any] = {
        "round_trip_p50_ms": float(np.percentile(trips, 50)),
        "round_trip_p99_ms": float(np.percentile(trips, 99)),
        "round_trip_jitter_ms": float(np.std(trips)),
        "pings_lost": options.pings - len(trips),
        "pings_answered_hz": answered,
        "telemetry_bytes_hz": carried,
        "driver_cpu_percent_at_100_hz": 100 * cpu,
    }
    table = Table("bytes flipped", "commands accepted", "armed", "sessions lost", "telemetry frames spoiled")
    faults = {}
    for rate in track(FAULT_RATES, "faults on the line", console=console, transient=True):
        row = faults[f"{rate:.2f}"] = _under_faults(rate, seed, options.seconds)
        table.add_row(
            f"{rate:.0%}", f"{row['accepted_percent']:.1f} %", f"{row['armed_percent']:.0f} %",
            f"{row['sessions_lost']:.0f}", f"{row['telemetry_spoiled']:.0f}",
        )
    console.print(table)
    figures["faults"] = faults
    met = (
        figures["round_trip_p50_ms"] <= ROUND_TRIP_LIMIT_MS
        and figures["driver_cpu_percent_at_100_hz"] <= CPU_LIMIT_PERCENT
        and faults["0.01"]["accepted_percent"] >= ACCEPTED_LIMIT_PERCENT
        and not any(row["wrong_states"] for row in faults.values())
    )
    console.print(
        f"limits: round trip p50 <= {ROUND_TRIP_LIMIT_MS:g} ms, driver <= {CPU_LIMIT_PERCENT:g} % of a core, at 1 % "
        f">= {ACCEPTED_LIMIT_PERCENT:g} % accepted, never a speed that nobody asked for"
    )
    return figures, met
