"""`semsearch evaluate`: your own questions, and the ranks of their answers. semsearch-research adds measurements."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, cast

from typer import Argument, Option

from semsearch.cli import options
from semsearch.cli.plugged_in import group, paragraphs
from semsearch.cli.printing import aligned, one_line, print_warnings, progress, to_json, warn
from semsearch.cli.searched_indexes import open_searched
from semsearch.evaluate import GoldenReport, evaluate_golden
from semsearch.results.options import Mode

_NOT_FOUND = "–"
# options of a search that an evaluation decides by itself
_UNSUPPORTED = "mode filters refresh show_all min_score per_document duplicates boosts syntax".split()
ModesOption = Annotated[
    list[str] | None,  # typer takes no list of literals
    Option("--modes", "--mode", "-m", metavar="MODE", help="Search mode; default: hybrid. Repeatable."),
]


@options.with_options("search", options.SearchArguments, without=_UNSUPPORTED)
def golden(
    file: Annotated[
        Path, Argument(metavar="FILE", help='Lines of JSON: {"query": "...", "answers": ["notes/a.md", ...]}.')
    ],
    *,
    modes: ModesOption = None,
    misses: Annotated[bool, Option("--misses", help="List questions without an answer in the first ten hits.")] = False,
    json: options.JsonOption = False,
    search: options.SearchArguments,
) -> None:
    """Run your own questions, and check whether their answers are found.

    For each mode: the share of questions with an answer among the first 1, 3, 5 and 10 hits, the mean reciprocal rank,
    and which questions rank better or worse than in the last run. An answer is a document
    or a part of it: 'notes/a.md', 'a.md#Heading', 'a.md:12', 'b.pdf page 3', 'c.pptx slide 3'.
    """
    print_warnings()
    with open_searched(search) as searched, progress() as show:
        report = evaluate_golden(file, searched, modes=cast("list[Mode]", modes or ["hybrid"]), progress=show)
    for warning in report.warnings:
        warn(f"{file}, {warning}")
    if json:
        print(to_json(report.to_dict()))
    else:
        _print(report, misses=misses)


def _print(report: GoldenReport, *, misses: bool) -> None:
    """Print a line of figures for each mode, then the questions that changed since the last run."""
    rows = [["mode", "questions", *report.modes[0].figures]]
    for mode in report.modes:
        shares = (f"{value:.3f}" for value in mode.figures.values())
        rows.append([mode.mode, f"{len(mode.questions):,}", *shares])
    print(*aligned(rows, left=[0]), sep="\n")
    for mode in report.modes:
        for title, questions in (("better", mode.better), ("worse", mode.worse)):
            changed = [
                f"{one.was or _NOT_FOUND} → {one.rank or _NOT_FOUND}  {one_line(one.query)}" for one in questions
            ]
            _print_list(f"{mode.mode}, {title} than in the last run", changed)
        missed = [question for question in mode.questions if misses and question.rank is None]
        lines = [f"line {question.line}: {one_line(question.query)}" for question in missed]
        _print_list(f"{mode.mode}, without an answer in the first ten hits", lines)


def _print_list(title: str, lines: Sequence[str]) -> None:
    if lines:
        print(f"\n{title}:")
    for line in lines:
        print(f"  {line}")


evaluate_group = group("Measure how well your own questions are answered.")
evaluate_group.command(
    help=paragraphs(golden), short_help="Your own questions: are their answers found, and better or worse than before?"
)(golden)
