"""`anima bench NAME --help` tells what it can be asked for, and a wrong option is answered with the right ones."""

from __future__ import annotations

import pytest
from typer.testing import CliRunner

from anima.cli import app
from anima_sim.bench.run import BENCHES

runner = CliRunner()


@pytest.mark.parametrize("name", sorted(BENCHES))
def test_every_benchmark_tells_its_options_and_names_them_when_asked_for_another(name: str) -> None:
    told = runner.invoke(app, ["bench", name, "--help"])
    assert told.exit_code == 0
    assert told.output.startswith(f"usage: anima bench {name}")
    assert "every benchmark" in told.output
    options = {word for word in told.output.replace("]", " ").split() if word.startswith("--")}
    assert {"--seed", "--json"} <= options
    answer = runner.invoke(app, ["bench", name, "--no-such-option"])
    assert answer.exit_code == 2
    assert "unrecognized arguments: --no-such-option" in answer.output
    assert all(option in answer.output for option in options)


def test_a_value_that_an_option_cannot_take_is_refused_before_anything_runs() -> None:
    answer = runner.invoke(app, ["bench", "errands", "--seeds", "many"])
    assert answer.exit_code == 2
    assert "--seeds" in answer.output and "'many'" in answer.output


def test_without_a_name_and_for_a_wrong_one_the_benchmarks_are_listed() -> None:
    for arguments, code in (([], 0), (["--help"], 0), (["no_such_bench"], 2)):
        answer = runner.invoke(app, ["bench", *arguments])
        assert answer.exit_code == code
        assert all(name in answer.output for name in BENCHES)
