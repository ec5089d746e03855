"""`semsearch evaluate answers`: do the sentences that hits quote have the answers, and are the verdicts right?"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import nullcontext
from pathlib import Path
from typing import Annotated, cast, get_args

from typer import Argument, Option

from semsearch.commands import IndexesOption, IndexOption, open_index
from semsearch.results.hits import Verdict
from semsearch.results.options import Mode
from semsearch_research.command_line import JsonOption, measuring, show
from semsearch_research.evaluate.answers import AnswersReport, evaluate_answers, read_questions
from semsearch_research.evaluate.table import NONE, Block, Table


def answers(
    file: Annotated[
        Path, Argument(metavar="FILE", help='Lines of JSON: {"query": "...", "answers": ["every 90 days"]}.')
    ],
    modes: Annotated[
        list[str] | None, Option("--modes", "--mode", "-m", metavar="MODE", help="Default: hybrid. Repeatable.")
    ] = None,
    misses: Annotated[
        bool, Option("--misses", help="List right first hits that quote a sentence without the answer.")
    ] = False,
    index: IndexOption = None,
    indexes: IndexesOption = None,
    json: JsonOption = False,
) -> None:
    """Check whether the sentences that hits quote have the answers, by the texts of these, and the verdicts.

    For each mode: the share of questions whose first hit is right ('first'), and whose quoted sentence also has the
    answer ('quoted'; of the right ones, 'quoted_of_first'); and the share of sentences with the answer if only the
    right document is searched ('given'). A line may name it: "document": "notes/keys.md". Lines with texts of their own
    need no index: {"paragraph": 7, "text": "...", "questions": [{"question": "...", "answer": "..."}]}. A second table
    has the verdicts on questions whose first hit is right, or wrong, and on those without an answer ("answers": []).

    Facts have parts of the paths of right documents and a kind: {"question": "...", "answer": ["..."], "paths":
    ["keys.md"], "kind": "list"}. A table has for each kind the shares of questions with a right document 'first' and
    'in_five', and of the latter the share whose fact is 'stated' in the sentence that its first hit there shows.
    """
    has_texts = bool(read_questions(file)[1]) and index is None
    with nullcontext() if has_texts else open_index(index, indexes) as opened, measuring() as progress:
        report = evaluate_answers(file, opened, modes=cast("list[Mode]", modes or ["hybrid"]), progress=progress)
    show(report, _blocks(report, misses=misses), json=json)


def _blocks(report: AnswersReport, *, misses: bool) -> Iterator[Block]:
    rows = [[mode.mode, f"{len(mode.questions):,}", *_shares(mode.figures.values())] for mode in report.modes]
    yield Table(["mode", "questions", *report.modes[0].figures], rows)
    for mode in report.modes:
        if kinds := mode.kinds:
            rows = [[kind, f"{n:,.0f}", *_shares(shares)] for kind, (n, *shares) in _values(kinds)]
            yield Table([f"facts, {mode.mode}", *next(iter(kinds.values()))], rows)
        rows = [[row, *(f"{count:,}" for count in counts.values())] for row, counts in mode.verdicts.items()]
        yield Table([f"first hit, {mode.mode}", *get_args(Verdict)], rows)
    for mode in report.modes if misses else ():
        for miss in mode.misses:
            yield f"{mode.mode}, line {miss.question.line}, {miss.question.query} → {miss.quote}"


def _values(kinds: dict[str, dict[str, float | None]]) -> Iterator[tuple[str, tuple[float, ...]]]:
    for kind, figures in kinds.items():
        yield kind, cast("tuple[float, ...]", tuple(figures.values()))


def _shares(values: Iterable[float | None]) -> list[str]:
    return [NONE if value is None else f"{value:.3f}" for value in values]
