"""What `semsearch evaluate` found, as lines of aligned columns."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from semsearch.cli.formats import one_line
from semsearch.cli.inspecting import aligned

if TYPE_CHECKING:
    from semsearch.evaluate import Figure, RetrievalRow, StsAverage, StsReport, VectorsReport

NONE = "–"
_OTHERS = {"MRR@10": "mrr@10", "R@10": "recall@10", "R@100": "recall@100", "MAP": "map"}


def retrieval_lines(rows: Sequence[RetrievalRow], reference: str) -> list[str]:
    """A line a row; nDCG@10 with its interval, and its difference to the reference. One collection needs no mean."""
    single = len({row.collection for row in rows}) == 2
    compared = ("collection", "mode", "nDCG@10", "95 %", f"to {reference}", "95 %")
    table: list[Sequence[str]] = [(*compared, *_OTHERS, "queries", "queries/s", "index s")]
    for row in rows:
        if single and row.collection == "mean":
            continue
        figure, difference = row.figures["ndcg@10"], row.differences.get(reference)
        table.append(
            (
                one_line(row.collection),
                one_line(row.mode),
                f"{figure.value:.3f}",
                _interval(figure, ".3f"),
                *(("", "") if difference is None else (f"{difference.value:+.3f}", _interval(difference, "+.3f"))),
                *(f"{row.figures[name].value:.3f}" for name in _OTHERS.values()),
                f"{row.queries:,}",
                f"{row.queries_per_second:,.0f}",
                f"{row.index_seconds:.1f}",
            )
        )
    return aligned(table, left=(0, 1))


def sts_lines(report: StsReport) -> Iterator[str]:
    """A line a task, r and ρ of each method; then the averages."""
    methods = list(dict.fromkeys(score.method for score in report.scores))
    lines: dict[tuple[str, str], list[str]] = {}
    for score in report.scores:
        name = f"{score.task} {score.split}" if score.split not in ("", "test") else score.task
        cells = lines.setdefault((one_line(name), f"{score.pairs:,}"), [])
        cells += [f"{score.pearson:.1f}", f"{score.spearman:.1f}"]
    header = ("task", "pairs", *(f"{name} {sign}" for name in methods for sign in ("r", "ρ")))
    yield from aligned([header, *((*head, *cells) for head, cells in lines.items())], left=(0,))
    yield ""
    yield from _average_lines(report.averages)
    yield from _incomplete(report.averages)


def vectors_lines(report: VectorsReport) -> Iterator[str]:
    """What the vectors are; similarity; retrieval; with each, how many of its words are known."""
    yield f"{report.vectors}: {report.words:,} words, {report.dimension} dimensions ({report.digest[:8]})"
    if report.sts:
        yield ""
        yield from _average_lines(report.sts)
        yield f"{report.coverage['sts']:.1%} of the words are known"
    if report.retrieval:
        yield ""
        table: list[Sequence[str]] = [("dense", "nDCG@10", "95 %", "R@100", "known words")]
        for row in report.retrieval:
            figure, known = row.figures["ndcg@10"], report.coverage.get(row.collection)
            shown = (f"{figure.value:.3f}", _interval(figure, ".3f"), f"{row.figures['recall@100'].value:.3f}")
            table.append((one_line(row.collection), *shown, "" if known is None else f"{known:.1%}"))
        yield from aligned(table, left=(0,))


def _average_lines(averages: Sequence[StsAverage]) -> list[str]:
    """A line a method, a column a group, Pearson's r; below, what was published for the same groups."""
    groups = list(dict.fromkeys(average.group for average in averages))
    lines: dict[str, dict[str, float]] = {}
    for average in averages:
        lines.setdefault(average.method, {})[average.group] = average.pearson
    for average in averages:
        for name, figure in average.published.items():
            lines.setdefault(f"{name} (published)", {})[average.group] = figure
    header = ("Pearson's r", *map(one_line, groups))
    return aligned([header, *(_line(name, groups, cells) for name, cells in lines.items())], left=(0,))


def _line(name: str, groups: Sequence[str], cells: Mapping[str, float]) -> tuple[str, ...]:
    return (name, *(f"{cells[group]:.1f}" if group in cells else NONE for group in groups))


def _incomplete(averages: Iterable[StsAverage]) -> Iterator[str]:
    """Which years lack tasks, and so stand alone."""
    from semsearch.evaluate.published import YEAR_TASKS  # start-up time

    for group, tasks in dict.fromkeys((average.group, average.tasks) for average in averages if not average.whole):
        if group in YEAR_TASKS:
            of = len(YEAR_TASKS[group])
            yield f"{group}: the mean of {tasks} of the year's {of} tasks, and so without published figures"


def _interval(figure: Figure, form: str) -> str:
    return f"{figure.low:{form}} to {figure.high:{form}}"
