"""The options of a benchmark: its own and those of all, told by `--help`, and by the error about one that is none."""

from __future__ import annotations

import argparse
from typing import NoReturn

MODEL_HELP = "a name in models/manifest.yaml, or the path of a GGUF file; empty: the configured one"


class BadOption(ValueError):
    """An option that the benchmark does not have, or a value that it can't use; the message lists the right ones."""


class BenchParser(argparse.ArgumentParser):
    """Reads the options of one benchmark. `about` says what is measured and what the limits are.

    What all benchmarks take is read by `anima bench` itself and stands here to be told.
    """

    def __init__(self, name: str, about: str | None) -> None:
        super().__init__(prog=f"anima bench {name}", description=about, allow_abbrev=False, add_help=False)
        everywhere = self.add_argument_group("every benchmark")
        everywhere.add_argument("--seed", type=int, default=1, metavar="N", help="world and luck (default 1)")
        everywhere.add_argument("--json", metavar="FILE", help="write the figures to this file too")
        everywhere.add_argument("--help", action="help", help="tell this and leave")

    def model(self) -> None:
        """Add `--model`."""
        self.add_argument("--model", default="", help=MODEL_HELP)

    def error(self, message: str) -> NoReturn:
        """Raise `BadOption`: what was wrong, and what there is."""
        raise BadOption(f"{self.prog}: {message}\n{self.format_help()}")
