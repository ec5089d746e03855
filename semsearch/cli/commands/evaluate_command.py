"""`semsearch evaluate`: your own questions, the ranks of their answers and what hits quote."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal, cast

import typer

from semsearch.cli.answer_formats import one_line, to_json
from semsearch.cli.answering import open_asked
from semsearch.cli.command_options import (
    AskedIndexOption,
    IndexesOption,
    JsonOption,
    RerankOption,
    RerankSecondsOption,
    ServerOption,
    VectorsOption,
)
from semsearch.cli.extensible_group import ExtensibleGroup
from semsearch.cli.find_index import INDEXES
from semsearch.cli.help_panels import PanelledCommand
from semsearch.cli.messages import NONE_FOUND, complain, tell_warnings, use_one_thread, warn
from semsearch.cli.progress import progress
from semsearch.cli.tables import aligned
from semsearch.errors import SourceError, UsageError

if TYPE_CHECKING:
    from semsearch.evaluate.golden import AnsweredQuestion, GoldenMode, GoldenReport
    from semsearch.results.options import Mode

_NOT_FOUND = "–"
ModesOption = Annotated[
    list[str] | None,
    typer.Option("--modes", "--mode", "-m", metavar="MODE", help="Search mode; default: hybrid. Repeatable."),
]


def golden(
    file: Annotated[
        Path, typer.Argument(metavar="FILE", help='Lines of JSON: {"query": "...", "answers": ["notes/a.md", ...]}.')
    ],
    index: AskedIndexOption = None,
    indexes: IndexesOption = INDEXES,
    modes: ModesOption = None,
    least: Annotated[
        list[str] | None,
        typer.Option("--least", metavar="FIGURE=X", help="Fail below this figure: 'hit@5=0.9'. Repeatable."),
    ] = None,
    record: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="File of the last run; default: beside the index."),
    ] = None,
    keep: Annotated[bool, typer.Option("--keep/--no-keep", help="Save this run as the last run.")] = True,
    misses: Annotated[
        bool, typer.Option("--misses", help="List questions without an answer in the first ten hits.")
    ] = False,
    rerank: RerankOption = None,
    rerank_seconds: RerankSecondsOption = None,
    server: ServerOption = None,
    vectors: VectorsOption = None,
    format_: Annotated[Literal["table", "json"], typer.Option("--format", "-o", show_choices=True)] = "table",
    json: JsonOption = False,
) -> None:
    """Run your own questions, and check whether their answers are found.

    For each mode: the share of questions with an answer among the first 1, 3, 5 and 10 hits, the mean reciprocal rank,
    nDCG if answers have grades, and which questions rank better or worse than in the last run. An answer is a document
    or a part of it: 'notes/a.md', 'a.md#Heading', 'a.md:12', 'b.pdf page 3', 'c.pptx slide 3'. semsearch query --mark N
    --golden FILE writes such lines.

    Exit status: 0, 1 if a figure is below its --least, 2 on an error.
    """
    use_one_thread()
    tell_warnings()
    from semsearch.evaluate.golden import (
        GoldenFile,
        evaluate_golden,  # start-up time
    )

    limits = dict(map(_limit, least or ()))
    if problems := GoldenFile.read(file).problems:
        for problem in problems[:-1]:
            complain(problem)
        raise SourceError(problems[-1])
    asked = open_asked(index, indexes, server=server, vectors=vectors, rerank=rerank, rerank_seconds=rerank_seconds)
    with asked as opened, progress() as show:
        found = evaluate_golden(
            file, opened, modes=cast("list[Mode]", modes or ["hybrid"]), record=record, keep=keep, progress=show
        )
    for warning in found.warnings:
        warn(f"{file}, {warning}")
    if json or format_ == "json":
        print(to_json(found.to_dict()))
    else:
        _print(found, misses=misses)
    if _is_below(found, limits):
        sys.stdout.flush()
        raise typer.Exit(NONE_FOUND)


def answers(
    file: Annotated[
        Path, typer.Argument(metavar="FILE", help='Lines of JSON: {"query": "...", "answers": ["every 90 days"]}.')
    ],
    index: AskedIndexOption = None,
    indexes: IndexesOption = INDEXES,
    modes: ModesOption = None,
    misses: Annotated[
        bool, typer.Option("--misses", help="List right first hits that quote a sentence without the answer.")
    ] = False,
    server: ServerOption = None,
    vectors: VectorsOption = None,
    format_: Annotated[Literal["table", "json"], typer.Option("--format", "-o", show_choices=True)] = "table",
    json: JsonOption = False,
) -> None:
    """Check whether the sentences that hits quote have the answers, by the texts of these.

    For each mode: the share of questions whose first hit is right ('first'), and whose quoted sentence also has the
    answer ('quoted'; of the right ones, 'quoted_of_first'); and the share of sentences with the answer if only the
    right document is searched ('given'). A line may name it: "document": "notes/keys.md". Lines with texts of their own
    need no index: {"paragraph": 7, "text": "...", "questions": [{"question": "...", "answer": "..."}]}.
    """
    use_one_thread()
    tell_warnings()
    from contextlib import nullcontext

    from semsearch.evaluate.answers import AnswerFile, evaluate_answers  # start-up time

    has_texts = bool(AnswerFile.read(file).texts) and index is None and server is None
    asked = nullcontext() if has_texts else open_asked(index, indexes, server=server, vectors=vectors)
    with asked as opened, progress() as show:
        found = evaluate_answers(file, opened, modes=cast("list[Mode]", modes or ["hybrid"]), progress=show)
    if json or format_ == "json":
        print(to_json(found.to_dict()))
        return
    names = [*found.modes[0].figures]
    shown = [
        [_NOT_FOUND if value is None else f"{value:.3f}" for value in mode.figures.values()] for mode in found.modes
    ]
    rows = [[mode.mode, f"{len(mode.questions):,}", *own] for mode, own in zip(found.modes, shown, strict=True)]
    print(*aligned([["mode", "questions", *names], *rows], left=[0]), sep="\n")
    for mode in found.modes if misses else ():
        if mode.misses:
            print(f"\n{mode.mode}, the right document, but another sentence:")
        for each in mode.misses:
            print(f"  line {each.line}: {one_line(each.query)} → {one_line(each.quote)}")


def _limit(text: str) -> tuple[str, float]:
    """The figure and the least of an option. Raises UsageError."""
    from semsearch.evaluate.golden import MEASURES  # start-up time

    name, _, number = text.partition("=")
    try:
        least = float(number)
    except ValueError:
        least = -1.0
    if name not in MEASURES or not 0 <= least <= 1:
        figures = ", ".join(MEASURES)
        raise UsageError(
            f"--least must be FIGURE=X, with a figure of {figures} and X from 0 to 1 (hit@5=0.9), not {text!r}"
        )
    return name, least


def _is_below(found: GoldenReport, limits: dict[str, float]) -> bool:
    """Print the figures below their limits; returns whether there are any. Raises UsageError for a missing figure."""
    are_below = False
    for mode in found.modes:
        for name, least in limits.items():
            if name not in mode.figures:
                raise UsageError(f"{name} needs answers with grades; add grades, or use another figure in --least")
            if mode.figures[name] < least:
                complain(f"{mode.mode}: {name} is {mode.figures[name]:.3f}, below {least:g}")
                are_below = True
    return are_below


def _print(found: GoldenReport, *, misses: bool) -> None:
    """Print a line of figures for each mode, then the questions that changed, then the misses."""
    heads = ["mode", "questions", *found.modes[0].figures]
    rows = [heads, *([mode.mode, f"{len(mode.questions):,}", *_figures(mode)] for mode in found.modes)]
    print(*aligned(rows, left=[0]), sep="\n")
    for mode in found.modes:
        better = [each for each in mode.changed if each.is_better]
        worse = [each for each in mode.changed if not each.is_better]
        for title, changed in (("better", better), ("worse", worse)):
            if changed:
                print(f"\n{mode.mode}, {title} than in the last run:")
            for each in changed:
                print(f"  {_rank(each.was)} → {_rank(each.rank)}  {one_line(each.query)}")
        if misses:
            _print_misses(mode.mode, [each for each in mode.questions if each.rank is None])


def _print_misses(mode: str, missed: Sequence[AnsweredQuestion]) -> None:
    if missed:
        print(f"\n{mode}, without an answer in the first ten hits:")
    for each in missed:
        print(f"  line {each.line}: {one_line(each.query)}")


def _figures(mode: GoldenMode) -> list[str]:
    """Each figure, with its change over the questions that the last run had too."""
    if mode.gained is None or not mode.changed:
        return [f"{value:.3f}" for value in mode.figures.values()]
    gained = mode.gained
    return [f"{value:.3f} ({gained[name]:+.3f})" for name, value in mode.figures.items()]


def _rank(rank: int | None) -> str:
    return _NOT_FOUND if rank is None else str(rank)


app = typer.Typer(
    cls=ExtensibleGroup,
    rich_markup_mode=None,
    no_args_is_help=True,
    help="Measure how well your own questions are answered.",
)
_GOLDEN = "Your own questions: are their answers found, and better or worse than before?"
app.command("golden", cls=PanelledCommand, short_help=_GOLDEN)(golden)
_ANSWERS = "Your own questions with answer texts: do the quoted sentences have them?"
app.command("answers", cls=PanelledCommand, short_help=_ANSWERS)(answers)
