"""`semsearch evaluate answers`: do the sentences that hits quote have the answers, and are the verdicts right?"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, cast, get_args

from typer import Argument, Option

from semsearch.commands import IndexesOption, IndexOption, open_index
from semsearch.results.hits import Verdict
from semsearch.results.options import Mode
from semsearch_research.command_line import JsonOption, PlotOption, measuring, show
from semsearch_research.evaluate.answers import AnswersReport, evaluate_answers, read_questions
from semsearch_research.evaluate.plots import COLOURS, new_figure, style
from semsearch_research.evaluate.table import NONE, Block, Table

if TYPE_CHECKING:
    from matplotlib.figure import Figure


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
    plot: PlotOption = None,
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
    with nullcontext() if has_texts else open_index(index, indexes) as opened, measuring(plot) as progress:
        report = evaluate_answers(file, opened, modes=cast("list[Mode]", modes or ["hybrid"]), progress=progress)
    show(report, _blocks(report, misses=misses), json=json, plot=plot, figures={"": lambda: draw(report)})


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


def draw(report: AnswersReport) -> Figure:
    """Draw for each mode the share of facts stated by kind, and the verdicts, shaded by the shares of a row."""
    figure, first = new_figure(9, 2.8 * len(report.modes))
    first.remove()
    for (facts, table), mode in zip(figure.subplots(len(report.modes), 2, squeeze=False), report.modes, strict=True):
        style(facts)
        facts.grid(visible=False, axis="y")
        kinds = {**mode.kinds, "all": mode.all_facts}
        labels = [f"{kind} ({figures['questions']})" for kind, figures in kinds.items()]
        stated = [figures["stated"] for figures in kinds.values()]  # None: no right document is among the first hits
        bars = facts.barh(labels, [share or 0.0 for share in stated], height=0.6, color=COLOURS[4])
        facts.bar_label(bars, [NONE if share is None else f"{share:.2f}" for share in stated], padding=3)
        facts.set(xlim=(0, 1.1), ylim=(len(kinds) - 0.4, -0.6))
        facts.set_title(f"{mode.mode}: facts stated in the sentence shown", loc="left", fontsize=10)

        counts = [[*row.values()] for row in mode.verdicts.values()]
        shares = [[count / max(sum(row), 1) for count in row] for row in counts]
        table.imshow(shares, cmap="Blues", vmin=0, vmax=1, aspect="auto")
        for y, row in enumerate(counts):
            for x, count in enumerate(row):
                colour = "white" if shares[y][x] > 0.5 else "black"
                table.text(x, y, f"{count:,}", ha="center", va="center", color=colour)
        rows = ("right first hit", "wrong first hit", "without an answer")
        table.set_xticks(range(3), get_args(Verdict))
        table.set_yticks(range(3), [f"{row} ({sum(values):,})" for row, values in zip(rows, counts, strict=True)])
        table.set_title(f"{mode.mode}: verdicts on the questions", loc="left", fontsize=10)
    return figure
