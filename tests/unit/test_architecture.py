"""House rules, as tests: the mind is pure, files are short, nothing tells where it was written."""

from __future__ import annotations

import ast
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
MIND = ROOT / "src" / "anima"

LINES = 400

# What would make a step depend on anything but its inputs.
CLOCKS = {
    "time.time", "time.time_ns", "time.monotonic", "time.monotonic_ns", "time.perf_counter", "time.perf_counter_ns",
    "time.process_time", "time.sleep", "datetime.datetime.now", "datetime.datetime.utcnow", "datetime.datetime.today",
    "datetime.date.today", "asyncio.sleep", "threading.Timer", "os.urandom", "uuid.uuid1", "uuid.uuid4",
}
SEEDED = {"numpy.random.default_rng", "random.Random"}
RANDOM_TYPES = {"numpy.random.Generator", "numpy.random.BitGenerator", "numpy.random.SeedSequence"}


def tracked(*patterns: str) -> list[Path]:
    said = subprocess.run(["git", "ls-files", "-z", *patterns], cwd=ROOT, capture_output=True, text=True, check=True)
    return [path for name in said.stdout.split("\0") if name and (path := ROOT / name).is_file()]


def sources(*folders: Path) -> list[Path]:
    return sorted(path for folder in folders for path in folder.rglob("*.py"))


def name_of(path: Path) -> str:
    return str(path.relative_to(ROOT))


def imported_names(tree: ast.AST) -> dict[str, str]:
    """What each name of a module stands for, e.g. ``np`` -> ``numpy`` and ``sleep`` -> ``time.sleep``."""
    names: dict[str, str] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                names[alias.asname or alias.name.partition(".")[0]] = alias.name if alias.asname else (
                    alias.name.partition(".")[0]
                )
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            for alias in node.names:
                names[alias.asname or alias.name] = f"{node.module}.{alias.name}"
    return names


def dotted(node: ast.expr, names: dict[str, str]) -> str:
    """The full name that an expression reaches, e.g. ``numpy.random.rand``, or nothing."""
    if isinstance(node, ast.Name):
        return names.get(node.id, "")
    if isinstance(node, ast.Attribute):
        base = dotted(node.value, names)
        return f"{base}.{node.attr}" if base else ""
    return ""


def impurities(source: str) -> Iterator[str]:
    """The names by which a module reads a clock, sleeps or draws unseeded random numbers."""
    tree = ast.parse(source)
    names = imported_names(tree)
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and (called := dotted(node.func, names)) in SEEDED:
            if not node.args and not node.keywords:
                yield f"{called} without a seed"
        elif isinstance(node, ast.Attribute | ast.Name) and isinstance(node.ctx, ast.Load):
            reached = dotted(node, names)
            random = reached.startswith(("random.", "numpy.random.", "secrets."))
            if reached in CLOCKS or (random and reached not in SEEDED | RANDOM_TYPES):
                yield reached


@pytest.mark.parametrize(
    "source",
    [
        "import time\nnow = time.time()",
        "import time as clock\nnow = clock.monotonic()",
        "from time import perf_counter as tick\ntick()",
        "from datetime import datetime\ndatetime.now()",
        "import datetime as dt\ndt.datetime.now()",
        "import random\nrandom.random()",
        "from random import choice\nchoice([1])",
        "import numpy as np\nnp.random.rand(3)",
        "import numpy as np\nrng = np.random.default_rng()",
        "from time import sleep\nsleep(1)",
        "from dataclasses import field\nimport time\nx = field(default_factory=time.time)",
    ],
)
def test_the_rule_finds_clocks_and_chance(source: str) -> None:
    assert list(impurities(source))


@pytest.mark.parametrize(
    "source",
    [
        "import numpy as np\nrng = np.random.default_rng(3)\ndef f(rng: np.random.Generator): return rng.random()",
        "import random\nrng = random.Random(1)",
        "def step(now, time): return time.time()",
        "from datetime import timedelta\ntimedelta(seconds=1)",
    ],
)
def test_the_rule_lets_time_and_seeds_that_are_passed_in_pass(source: str) -> None:
    assert not list(impurities(source))


PURE = [MIND / folder for folder in ("regions", "body", "skills", "world", "planner")]


def may_see_a_clock(path: Path) -> bool:
    """A language model costs real time, so what talks to it looks at a clock; and benches measure."""
    return path.is_relative_to(MIND / "planner" / "llm") or path.name == "bench.py"


@pytest.mark.parametrize("path", [path for path in sources(*PURE) if not may_see_a_clock(path)], ids=name_of)
def test_components_read_no_clock_and_draw_no_unseeded_numbers(path: Path) -> None:
    assert list(impurities(path.read_text(encoding="utf-8"))) == []


@pytest.mark.parametrize("path", sources(MIND), ids=name_of)
def test_the_mind_does_not_import_ros(path: Path) -> None:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            found.add(node.module.partition(".")[0])
    assert not {name for name in found if name in {"rclpy", "launch", "ament_index_python"} or name.endswith("_msgs")}


@pytest.mark.parametrize("path", sources(MIND / "regions"), ids=name_of)
def test_regions_know_neither_the_ros_side_nor_the_simulator(path: Path) -> None:
    reached = imported_names(ast.parse(path.read_text(encoding="utf-8"))).values()
    assert not [name for name in reached if name.partition(".")[0] in {"anima_nodes", "anima_sim"}]


def test_files_are_short_enough_to_read() -> None:
    files = tracked("*.py", "*.c", "*.h", "*.cc", "*.xacro", "*.sh")
    assert files
    long = {name_of(path): n for path in files if (n := len(path.read_bytes().splitlines())) > LINES}
    assert long == {}


@pytest.mark.parametrize("path", [p for p in tracked("*/__init__.py") if "tests" not in p.parts], ids=name_of)
def test_a_package_says_in_a_sentence_what_it_is_for(path: Path) -> None:
    doc = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8")))
    assert doc
    assert doc.split("\n\n")[0].rstrip().endswith(".")


# Put together here, so that this file does not find itself.
PLACES = [
    rf"{'/'}root/",
    rf"{'/'}home/(?!runner\b)[a-z]+/",
    rf"{'/'}work/",
    rf"{'/'}tmp/[A-Za-z]",
    rf"{'pypi'}\.org|{'pythonhosted'}\.org|{'npmjs'}\.(?:org|com)|{'crates'}\.io|{'deb'}\.debian\.org|files\.{'pyth'}on",
]


def test_no_file_tells_where_it_was_written_or_names_a_package_registry() -> None:
    found = []
    for path in tracked():
        try:
            text = path.read_text(encoding="utf-8")
        except UnicodeDecodeError:
            continue
        for number, line in enumerate(text.splitlines(), 1):
            found += [f"{name_of(path)}:{number}: {line.strip()[:80]}" for place in PLACES if re.search(place, line)]
    assert found == []
