#!/usr/bin/env python3
"""Proves the core's properties with CBMC, and shows that the proofs fail on seeded defects.

    prove.py                      every proof
    prove.py --mutants            every proof, then every mutant of mutants.yaml against the proof that must catch it
    prove.py reflex base          these proofs only (with --mutants: and their mutants only)
    prove.py --list               what is proved

Exit status 1 when a proof fails or a mutant isn't caught.
"""

from __future__ import annotations

import argparse
import json
import re
import shutil
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path

import yaml

FOLDER = Path(__file__).resolve().parent
CORE = FOLDER.parent / "core"
CBMC = FOLDER.parent / "tools" / "cbmc"
CHECKS = [
    "--bounds-check",
    "--pointer-check",
    "--signed-overflow-check",
    "--div-by-zero-check",
    "--undefined-shift-check",
    "--unwinding-assertions",
    "--unwind",
    "42",
]
TIMEOUT_S = 600


@dataclass(frozen=True)
class Proof:
    """One function of a file in this folder, checked together with files of the core."""

    says: str
    file: str
    function: str
    sources: tuple[str, ...]


PROOFS = {
    "decoder": Proof(
        "the decoder is memory-safe for any byte in any state; only whole frames with a right CRC pass",
        "frame.c",
        "decoding_is_safe",
        ("frame.c",),
    ),
    "encoder": Proof("the encoder stays in its buffer for any payload", "frame.c", "encoding_is_safe", ("frame.c",)),
    "refusal": Proof("a payload too long is refused", "frame.c", "a_long_payload_is_refused", ("frame.c",)),
    "senses": Proof(
        "stop, bumper, cliff and tilt are live in the tick in which they are sensed; no reading overflows anything",
        "sense.c",
        "one_tick",
        ("sense.c",),
    ),
    "boot": Proof("the state machine starts disarmed", "reflex.c", "boots_disarmed", ("reflex.c",)),
    "reflex": Proof(
        "faults cut in the same tick and latch; only the right challenge clears or arms; silence ends it",
        "reflex.c",
        "one_tick",
        ("reflex.c",),
    ),
    "damage": Proof("damaged memory cuts and latches", "reflex.c", "a_damaged_state_cuts", ("reflex.c",)),
    "base": Proof(
        "limits of speed and acceleration hold; ramping down ends at zero; full speed to zero within 300 ms of silence",
        "motion.c",
        "base_keeps_its_limits",
        ("motion.c",),
    ),
    "targets": Proof("what the host asks for is clamped", "motion.c", "targets_are_clamped", ("motion.c",)),
    "arm": Proof(
        "joints keep their limits of position and speed; a frozen arm forgets where it was going",
        "motion.c",
        "arm_keeps_its_limits",
        ("motion.c",),
    ),
    "start": Proof(
        "the whole starts with everything off, whatever is sensed",
        "brainstem.c",
        "boots_disarmed",
        ("brainstem.c", "telemetry.c", "reflex.c", "motion.c"),
    ),
    "byte": Proof(
        "no received byte moves anything; commands need the session and a newer number, requests the last challenge",
        "brainstem.c",
        "one_byte",
        ("brainstem.c", "telemetry.c", "reflex.c", "motion.c"),
    ),
    "millisecond": Proof(
        "one tick of the whole: zero in the same tick, limits, no motion after a gap, a session starts from standstill",
        "brainstem.c",
        "one_millisecond",
        ("brainstem.c", "telemetry.c", "reflex.c", "motion.c"),
    ),
}


@dataclass(frozen=True)
class Verdict:
    """What CBMC said."""

    proof: str
    holds: bool
    checks: int
    failed: list[str]
    seconds: float


class ProofError(RuntimeError):
    """CBMC couldn't decide; the message holds its own words."""


def prove(name: str, core: Path = CORE) -> Verdict:
    """Runs one proof on the core in `core`. Raises `ProofError` when there is no verdict."""
    proof = PROOFS[name]
    started = time.monotonic()
    command = [str(CBMC), str(FOLDER / proof.file), *(str(core / source) for source in proof.sources)]
    command += ["-I", str(core), "--function", proof.function, *CHECKS]
    done = subprocess.run(command, capture_output=True, text=True, timeout=TIMEOUT_S, check=False)
    successful = "VERIFICATION SUCCESSFUL" in done.stdout
    if successful == ("VERIFICATION FAILED" in done.stdout):
        said = done.stdout[-1500:] + done.stderr
        raise ProofError(f"{name}: no verdict from CBMC (exit status {done.returncode}):\n{said}")
    failed = re.findall(r"^\[.*?\] (.*): FAILURE$", done.stdout, re.MULTILINE)
    total = re.search(r"\*\* \d+ of (\d+) failed", done.stdout)
    return Verdict(name, successful, int(total[1]) if total else 0, failed, time.monotonic() - started)


def seeded(mutant: dict[str, str], core: Path = CORE) -> str:
    """The mutant's file with the defect in it. Raises `ProofError` when its place isn't found exactly once."""
    text = (core / mutant["file"]).read_text(encoding="utf-8")
    places = text.count(mutant["old"])
    if places != 1:
        raise ProofError(f"mutants.yaml: {mutant['says']}: {places} places in {mutant['file']}, want 1")
    return text.replace(mutant["old"], mutant["new"])


def prove_mutant(mutant: dict[str, str]) -> Verdict:
    """The proof that must catch `mutant`, on a copy of the core with it. Raises `ProofError`."""
    with tempfile.TemporaryDirectory(prefix="mutant-") as folder:
        core = Path(folder) / "core"
        shutil.copytree(CORE, core)
        (core / mutant["file"]).write_text(seeded(mutant), encoding="utf-8")
        return prove(mutant["proof"], core)


def main() -> int:
    """Exit status."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("proof", nargs="*", help="names of proofs; none means all")
    parser.add_argument("--mutants", action="store_true", help="also show that the seeded defects are caught")
    parser.add_argument("--list", action="store_true", help="say what is proved, and stop")
    parser.add_argument("--jobs", type=int, default=2, help="how many at a time (default 2)")
    parser.add_argument("--json", type=Path, help="write the verdicts to this file")
    arguments = parser.parse_args()
    if unknown := [name for name in arguments.proof if name not in PROOFS]:
        parser.error(f"no proof named {', '.join(unknown)}; there are {', '.join(PROOFS)}")
    if arguments.list:
        for name, proof in PROOFS.items():
            print(f"{name:12} {proof.says}")
        return 0
    names = arguments.proof or list(PROOFS)
    mutants = yaml.safe_load((FOLDER / "mutants.yaml").read_text(encoding="utf-8")) if arguments.mutants else []
    mutants = [mutant for mutant in mutants if mutant["proof"] in names]
    for mutant in mutants:
        seeded(mutant)  # before anything takes minutes
    subprocess.run([str(CBMC), "--fetch"], check=True)
    bad = 0
    record: dict[str, list[dict[str, object]]] = {"proofs": [], "mutants": []}
    with ThreadPoolExecutor(arguments.jobs) as pool:
        proofs, caught = pool.map(prove, names), pool.map(prove_mutant, mutants)
        for verdict in proofs:
            word = "SUCCESSFUL" if verdict.holds else "FAILED"
            print(
                f"{word:10} {verdict.proof:12} {verdict.checks:4} checks {verdict.seconds:6.1f} s  "
                f"{PROOFS[verdict.proof].says}",
                flush=True,
            )
            for line in verdict.failed:
                print(f"           {line}")
            bad += not verdict.holds
            record["proofs"].append(asdict(verdict))
        for mutant, verdict in zip(mutants, caught, strict=True):
            word = "MISSED" if verdict.holds else "caught"
            print(
                f"{word:10} {verdict.proof:12} {len(verdict.failed):4} failed {verdict.seconds:6.1f} s  "
                f"{mutant['says']}",
                flush=True,
            )
            bad += verdict.holds
            record["mutants"].append({"says": mutant["says"], **asdict(verdict)})
    held = sum(1 for row in record["proofs"] if row["holds"])
    missed = sum(1 for row in record["mutants"] if row["holds"])
    text = f"{held} of {len(names)} proofs successful"
    print(text + (f", {len(mutants) - missed} of {len(mutants)} seeded defects caught" if mutants else ""))
    if arguments.json:
        arguments.json.write_text(json.dumps(record, indent=1), encoding="utf-8")
    return 1 if bad else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except (ProofError, subprocess.SubprocessError) as error:
        sys.exit(f"prove.py: {error}")
