"""`semsearch evaluate retrieval`: measure how well each mode answers the queries of test collections (BEIR)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated, Literal, cast

import typer

from semsearch.errors import UsageError
from semsearch.rerankers import DEFAULT, DEFAULT_MODEL
from semsearch.results.options import Mode
from semsearch_research.command_line import (
    AOption,
    ComponentsOption,
    JsonOption,
    VectorsOption,
    chosen,
    measuring,
    print_blocks,
    show,
)
from semsearch_research.evaluate.rankers import peer_names, reranked_name
from semsearch_research.evaluate.retrieval import MODES, Figure, RetrievalRow, evaluate_retrieval
from semsearch_research.evaluate.table import Table

_OTHERS = {"MRR@10": "mrr@10", "R@10": "recall@10", "R@100": "recall@100", "MAP": "map"}
MEAN = "mean"
OURS = ("hybrid", "dense", "lexical")


def tables(rows: Sequence[RetrievalRow], *, reference: str | None = None) -> Iterator[Table]:
    """The table of figures, a row for each collection and mode; nDCG@10 with its interval, and that of its difference.

    One collection needs no mean. The reference is by default the first peer, or lexical, or the first mode.
    """
    modes = list(dict.fromkeys(row.mode for row in rows))
    compared = reference or next((mode for mode in modes if mode.partition("+")[0] not in OURS), None)
    compared = compared or ("lexical" if "lexical" in modes else modes[0])
    single = len({row.collection for row in rows}) == 2
    head = ("collection", "mode", "nDCG@10", "95 %", f"to {compared}", "95 %")
    cells = []
    for row in (row for row in rows if not (single and row.collection == MEAN)):
        difference = row.differences.get(compared)
        shown = ("", "") if difference is None else (f"{difference.value:+.3f}", interval(difference, "+.3f"))
        others = (f"{row.figures[name].value:.3f}" for name in _OTHERS.values())
        speed = (f"{row.queries:,}", f"{row.queries_per_second:,.0f}", f"{row.index_seconds:.1f}")
        cells.append([row.collection, row.mode, *with_interval(row.figures["ndcg@10"]), *shown, *others, *speed])
    yield Table([*head, *_OTHERS, "queries", "queries/s", "index s"], cells, labels=2)


def mean_of_several(rows: Sequence[RetrievalRow]) -> list[RetrievalRow]:
    """The rows of the mean, which come after those of all collections; none if there is one collection."""
    means = [row for row in rows if row.collection == MEAN]
    return means if len({row.collection for row in rows}) > 2 else []


def with_interval(figure: Figure) -> tuple[str, str]:
    """Format a figure, and its interval."""
    return f"{figure.value:.3f}", interval(figure, ".3f")


def interval(figure: Figure, form: str) -> str:
    """Format an interval: `0.612 to 0.684`."""
    return f"{figure.low:{form}} to {figure.high:{form}}"


def retrieval(
    folders: Annotated[
        list[Path], typer.Argument(metavar="FOLDER...", help="corpus.jsonl, queries.jsonl and qrels/test.tsv in each.")
    ],
    modes: Annotated[
        list[str] | None,
        typer.Option("--mode", "-m", metavar="hybrid|dense|lexical", help="By default all three. Repeatable."),
    ] = None,
    vectors: VectorsOption = "english",
    method: Annotated[
        Literal["mean", "tfidf", "sif", "usif"], typer.Option(help="How sentences are embedded.", show_choices=True)
    ] = "sif",
    a: AOption = None,
    components: ComponentsOption = None,
    peers: Annotated[
        list[str] | None,
        typer.Option(
            "--peer",
            metavar="NAME",
            help="bm25s, minilm, minilm:PATH, model2vec:PATH. minilm and bm25s are also fused. Repeatable.",
        ),
    ] = None,
    rerank: Annotated[
        str | None,
        typer.Option(metavar="MODEL", help="Rerank the first hits of the first mode by a model, as query --rerank."),
    ] = None,
    reference: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="The mode or peer to compare with; by default the first peer, or lexical."),
    ] = None,
    json: JsonOption = False,
) -> None:
    """Find how well each mode answers the queries of test collections in BEIR's layout.

    nDCG@10, MRR@10, recall and MAP with 95 % intervals (paired bootstrap over queries), of
    each collection as soon as it is done.
    """
    _check_reference(reference, cast("Sequence[Mode]", modes or MODES), peers or (), rerank)
    printed: list[RetrievalRow] = []

    def print_part(rows: list[RetrievalRow]) -> None:
        """Print the table of a collection as soon as it is there."""
        if printed and rows:
            print()
        printed.extend(rows)
        print_blocks(tables(rows, reference=reference) if rows else ())

    with measuring() as progress:
        rows = evaluate_retrieval(
            folders,
            vectors=vectors,
            method=method,
            progress=progress,
            each=None if json else print_part,
            **chosen(modes=modes, a=a, components=components, peers=peers, rerank=rerank),
        )
    if json:
        show(rows, (), json=True)
    else:
        print_part(mean_of_several(rows))


def _check_reference(reference: str | None, modes: Sequence[Mode], peers: Sequence[str], rerank: str | None) -> None:
    """Raises UsageError if the reference is no row of the table."""
    names = [*modes, *peer_names(peers)]
    if rerank:
        model = DEFAULT_MODEL if rerank == DEFAULT else rerank
        names.append(reranked_name(modes, Path(model).name))
    if reference not in (None, *names):
        raise UsageError(f"there is no row {reference}; --reference must be one of {', '.join(names)}")
