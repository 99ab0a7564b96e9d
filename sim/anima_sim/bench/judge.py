"""How well closed judgements are made: accuracy, honesty of their probabilities, and time."""

from __future__ import annotations

from typing import Any

from rich.console import Console
from rich.table import Table

from anima.config import load_settings
from anima.planner.judge import load_judge
from anima.planner.judging.commands import bar_for, cases_of
from anima.planner.judging.examine import HELD_OUT_SETS, Exam, examine
from anima.planner.judging.head import HeadError
from anima.planner.judging.question import load_question, names
from anima.planner.session import open_model
from anima_sim.bench.options import BenchParser

LEAST_ACCURACY = {"reaction": 0.85, "commitment": 0.88}
MOST_CALIBRATION_ERROR = 0.08


def bench_judge(seed: int, arguments: list[str], console: Console) -> tuple[dict[str, Any], bool]:
    """Ask the model about every labelled case. With --heldout: cases by another hand, used for nothing else."""
    parser = BenchParser("judge", bench_judge.__doc__)
    parser.add_argument("names", nargs="*", help="judgements; all without a name")
    parser.add_argument(
        "--heldout", nargs="?", const="first", choices=list(HELD_OUT_SETS), metavar="SET",
        help="the cases by another hand, after the names: first (tests/llm/heldout; also without a word) "
        "or second (tests/llm/heldout2: eight judgements, kept for the final word)",
    )
    parser.add_argument("--weigh", action="store_true", help="compare the answers' words instead of using the heads")
    parser.model()
    options = parser.parse_args(arguments)
    settings = load_settings({"llm.model": options.model} if options.model else None)
    model = open_model(settings.llm)
    folder = HELD_OUT_SETS[options.heldout] if options.heldout else None
    exams: list[Exam] = []
    skipped: list[str] = []
    try:
        for name in options.names or names():
            if folder and not (folder / f"{name}.yaml").is_file():
                skipped.append(f"{name}: no cases in the {options.heldout} held-out sets")
                continue
            try:
                judge = load_judge(name, "weigh" if options.weigh else "head")
            except HeadError as error:
                skipped.append(str(error))
                continue
            cases = cases_of(name, load_question(name), folder)
            with bar_for(f"{name}: {len(cases)} cases") as progress:
                exams.append(examine(judge, cases, model, progress))
            _show(exams[-1], console)
    finally:
        model.close()
    for line in skipped:
        console.print(f"left out: {line}", markup=False)
    figures: dict[str, Any] = {"judgements": len(exams), "left_out": skipped}
    for exam in exams:
        figures[exam.name] = exam.record()
        figures[f"{exam.name}_accuracy"] = exam.figures.accuracy
    return figures, bool(exams) and all(_meets(exam) for exam in exams)


def _meets(exam: Exam) -> bool:
    least = LEAST_ACCURACY.get(exam.name)
    if least is None:
        return True
    return exam.figures.accuracy >= least and exam.figures.calibration_error <= MOST_CALIBRATION_ERROR


def _show(exam: Exam, console: Console) -> None:
    found = exam.figures
    limit = f" (limit {LEAST_ACCURACY[exam.name]:.0%})" if exam.name in LEAST_ACCURACY else ""
    console.print(
        f"[bold]{exam.name}[/bold]: {found.accuracy:.1%} of {found.count} right{limit}, {found.unsure:.0%} unsure, "
        f"{found.sure_accuracy:.1%} right if sure, calibration error {found.calibration_error:.3f}, "
        f"{exam.seconds:.2f} s a call"
    )
    table = Table("is \\ judged", *exam.labels)
    for label, row in zip(exam.labels, found.confusion, strict=True):
        table.add_row(label, *(str(count) if count else "·" for count in row))
    console.print(table)
