"""What `semsearch evaluate` found, as lines of aligned columns."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from semsearch.cli.formats import one_line
from semsearch.cli.inspecting import aligned
from semsearch.cli.sts_tables import average_lines

if TYPE_CHECKING:
    from semsearch.evaluate import Figure, RetrievalRow, VectorsReport

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


def vectors_lines(report: VectorsReport) -> Iterator[str]:
    """What the vectors are; similarity; retrieval; with each, how many of its words are known."""
    yield f"{report.vectors}: {report.words:,} words, {report.dimension} dimensions ({report.digest[:8]})"
    if report.sts:
        yield ""
        yield from average_lines(report.sts)
        yield f"{report.coverage['sts']:.1%} of the words are known"
    if report.retrieval:
        yield ""
        table: list[Sequence[str]] = [("dense", "nDCG@10", "95 %", "R@100", "known words")]
        for row in report.retrieval:
            figure, known = row.figures["ndcg@10"], report.coverage.get(row.collection)
            shown = (f"{figure.value:.3f}", _interval(figure, ".3f"), f"{row.figures['recall@100'].value:.3f}")
            table.append((one_line(row.collection), *shown, "" if known is None else f"{known:.1%}"))
        yield from aligned(table, left=(0,))


def _interval(figure: Figure, form: str) -> str:
    return f"{figure.low:{form}} to {figure.high:{form}}"
