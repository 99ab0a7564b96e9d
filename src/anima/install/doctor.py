"""`anima doctor`: what is present on this machine, what is missing, and how to get it."""

from __future__ import annotations

import json
import os
import platform
import shutil
import subprocess
import sys
from dataclasses import asdict, dataclass
from enum import Enum
from importlib.util import find_spec
from pathlib import Path

from rich.console import Console
from rich.table import Table

from anima.config import ROOT
from anima.install.errors import ModelError
from anima.install.manifest import Manifest
from anima.install.store import ModelStore, State

_PROBE_TIMEOUT_S = 60.0
_MIN_DISK_GB = 3.0
_MIN_MEMORY_GB = 5.0
_MIN_SHM_MB = 64.0


class Verdict(Enum):
    """How a finding counts: only `missing` makes the doctor fail."""

    OK = "ok"
    NOTE = "note"
    MISSING = "missing"


@dataclass(frozen=True)
class Finding:
    """One row: what was looked at, how it stands, what was seen, and what to do when it is not ok."""

    what: str
    verdict: Verdict
    seen: str
    remedy: str = ""


def examine() -> list[Finding]:
    """Look at everything; about two seconds, as rendering and the language-model runtime are really tried."""
    return [
        _python(),
        _ros(),
        _workspace(),
        _rendering(),
        _language_model_runtime(),
        *_models(),
        *_machine(),
        _shared_memory(),
        _programs("Firmware", ("avr-gcc", "avr-objcopy"), "make demo SIM=firmware", "make firmware"),
        _programs("Tests", ("pytest", "clang", "cppcheck", "qemu-system-arm"), "make test", "make setup-tests"),
    ]


def print_findings(findings: list[Finding], as_json: bool = False) -> int:
    """Print them as a table or as JSON; returns 1 when something required is missing, else 0."""
    missing = [finding for finding in findings if finding.verdict is Verdict.MISSING]
    if as_json:
        rows = [{**asdict(finding), "verdict": finding.verdict.value} for finding in findings]
        print(json.dumps({"ok": not missing, "findings": rows}, indent=2))
        return int(bool(missing))
    colours = {Verdict.OK: "green", Verdict.NOTE: "yellow", Verdict.MISSING: "red"}
    table = Table("", "", "seen", "what to do")
    for finding in findings:
        verdict = f"[{colours[finding.verdict]}]{finding.verdict.value}[/]"
        table.add_row(finding.what, verdict, finding.seen, finding.remedy)
    console = Console()
    console.print(table)
    console.print(f"{len(missing)} required thing(s) missing" if missing else "Everything that is required is here.")
    return int(bool(missing))


def _python() -> Finding:
    seen = f"{platform.python_version()} in {sys.prefix}"
    if (3, 11) <= sys.version_info[:2] <= (3, 14):
        return Finding("Python", Verdict.OK, seen)
    return Finding("Python", Verdict.MISSING, seen, "make setup PYTHON=python3.11")


def _ros() -> Finding:
    if find_spec("rclpy") is None:
        return Finding("ROS 2", Verdict.MISSING, "rclpy is not importable", "make setup")
    code = "import rclpy, os; c = rclpy.Context(); c.init(); c.shutdown(); print(rclpy.__file__)"
    ok, said = _probe(code)
    kind = f"installed {os.environ['ROS_DISTRO']}" if os.environ.get("ROS_DISTRO") else "wheels"
    if ok:
        return Finding("ROS 2", Verdict.OK, f"{kind}, {os.environ.get('RMW_IMPLEMENTATION', 'default middleware')}")
    return Finding("ROS 2", Verdict.MISSING, f"{kind}, but it does not start: {said}", "rm -rf .venv; make setup")


def _workspace() -> Finding:
    install = ROOT / "ros2_ws" / "install"
    if not (install / "local_setup.bash").is_file():
        return Finding("ROS 2 workspace", Verdict.MISSING, "not built", "make setup")
    wanted = sorted(path.parent.name for path in (ROOT / "ros2_ws" / "src").glob("*/package.xml"))
    prefixes = [Path(word) for word in os.environ.get("AMENT_PREFIX_PATH", "").split(":") if word]
    absent = [name for name in wanted if not any((p / "share" / name / "package.xml").is_file() for p in prefixes)]
    if absent:
        return Finding("ROS 2 workspace", Verdict.MISSING, f"not found: {', '.join(absent)}", "make build")
    return Finding("ROS 2 workspace", Verdict.OK, f"{len(wanted)} packages built")


def _rendering() -> Finding:
    code = (
        "import mujoco;"
        'm = mujoco.MjModel.from_xml_string(\'<mujoco><worldbody><light pos="0 0 3"/>'
        '<geom size="1" rgba="1 0 0 1"/></worldbody></mujoco>\');'
        "d = mujoco.MjData(m); mujoco.mj_forward(m, d); r = mujoco.Renderer(m, 32, 32); r.update_scene(d);"
        "assert r.render().any(), 'the picture is black'; print(mujoco.__version__)"
    )
    first = os.environ.get("MUJOCO_GL", "egl")
    words: list[str] = []
    for backend in dict.fromkeys([first, "osmesa"]):
        ok, said = _probe(code, MUJOCO_GL=backend)
        if ok and backend == first:
            return Finding("Rendering", Verdict.OK, f"MuJoCo {said} by {backend}")
        if ok:
            seen = f"works by {backend}, not by {first}"
            return Finding("Rendering", Verdict.MISSING, seen, f"export MUJOCO_GL={backend}")
        words.append(f"{backend}: {said}")
    remedy = "install libegl1 and libgl1-mesa-dri: make setup"
    return Finding("Rendering", Verdict.MISSING, "; ".join(words), remedy)


def _language_model_runtime() -> Finding:
    ok, said = _probe("import llama_cpp; llama_cpp.llama_backend_init(); print(llama_cpp.__version__)")
    if ok:
        return Finding("llama.cpp", Verdict.OK, said)
    return Finding("llama.cpp", Verdict.MISSING, said, "rm .venv/anima-llama; make setup")


def _models() -> list[Finding]:
    store = ModelStore()
    try:
        models = Manifest.load().models
    except ModelError as error:
        return [Finding("Models", Verdict.MISSING, str(error), "git checkout models/manifest.yaml")]
    findings = []
    for model in models:
        state = store.state(model)
        if state is State.UNVERIFIED:
            try:
                store.verify(model)
                state = State.VERIFIED
            except ModelError as error:
                findings.append(_model(model.name, model.required, str(error)))
                continue
        if state is State.VERIFIED:
            findings.append(Finding(f"Model {model.name}", Verdict.OK, f"sha256 {model.sha256[:12]}…, {model.use}"))
        else:
            findings.append(_model(model.name, model.required, f"{state.value}, {model.use}"))
    return findings


def _model(name: str, required: bool, seen: str) -> Finding:
    verdict = Verdict.MISSING if required else Verdict.NOTE
    words = seen if required else f"{seen} (optional)"
    return Finding(f"Model {name}", verdict, words, f"./anima models fetch {name}")


def _machine() -> list[Finding]:
    cores = len(os.sched_getaffinity(0))
    other_model = "choose a smaller model: anima up --model …"
    memory_gb = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 1e9
    disk_gb = shutil.disk_usage(ROOT).free / 1e9
    return [
        _amount("Cores", cores, 2, f"{cores}, {platform.machine()}", "with one core the planner starves the rest"),
        _amount("Memory", memory_gb, _MIN_MEMORY_GB, f"{memory_gb:.1f} GB", other_model),
        _amount("Disk", disk_gb, _MIN_DISK_GB, f"{disk_gb:.0f} GB free", "make room: all of Anima takes 3 GB"),
    ]


def _amount(what: str, have: float, enough: float, seen: str, remedy: str) -> Finding:
    """A shortage slows things down; it does not make them impossible."""
    return Finding(what, Verdict.OK, seen) if have >= enough else Finding(what, Verdict.NOTE, seen, remedy)


def _shared_memory() -> Finding:
    folder = Path("/dev/shm")
    remedy = "containers: docker run --shm-size=512m; until then DDS falls back to UDP, slower for images"
    if not folder.is_dir() or not os.access(folder, os.W_OK):
        return Finding("Shared memory", Verdict.NOTE, f"{folder} can't be written", remedy)
    free_mb = shutil.disk_usage(folder).free / 1e6
    return _amount("Shared memory", free_mb, _MIN_SHM_MB, f"{free_mb:.0f} MB free in {folder}", remedy)


def _programs(what: str, names: tuple[str, ...], use: str, remedy: str) -> Finding:
    """Programs that only one use of the project needs."""
    absent = [name for name in names if shutil.which(name) is None]
    if absent:
        return Finding(what, Verdict.NOTE, f"no {', '.join(absent)} (only for {use})", remedy)
    return Finding(what, Verdict.OK, ", ".join(names))


def _probe(code: str, **variables: str) -> tuple[bool, str]:
    """Run code in a process of its own, since a broken library may take its process down; its last line of output."""
    try:
        answer = subprocess.run(
            [sys.executable, "-c", code],
            capture_output=True,
            text=True,
            check=False,
            timeout=_PROBE_TIMEOUT_S,
            env={**os.environ, **variables},
        )
    except subprocess.TimeoutExpired:
        return False, f"no answer within {_PROBE_TIMEOUT_S:.0f} s"
    lines = [line for line in (answer.stdout + answer.stderr).strip().splitlines() if line.strip()]
    if answer.returncode == 0:
        return True, answer.stdout.strip().splitlines()[-1] if answer.stdout.strip() else ""
    return False, lines[-1][:200] if lines else f"ended with code {answer.returncode}"
