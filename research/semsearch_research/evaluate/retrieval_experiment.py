"""`semsearch evaluate retrieval`: measure how well each mode answers the queries of test collections (BEIR)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from semsearch.embedding.methods import MethodName
from semsearch.errors import UsageError
from semsearch_research.evaluate import options
from semsearch_research.evaluate.experiment import Experiment
from semsearch_research.evaluate.options import Argument, Option, Repeated
from semsearch_research.evaluate.retrieval import evaluate_retrieval
from semsearch_research.evaluate.table import Table

if TYPE_CHECKING:
    from semsearch_research.evaluate.retrieval import Figure, RetrievalRow

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


def _check(given: Any) -> None:
    """Check the reference: raises UsageError if it is not run."""
    from semsearch.rerankers.load_reranker import DEFAULT
    from semsearch.rerankers.transformer_models import DEFAULT_MODEL
    from semsearch_research.evaluate.rankers import peer_names, reranked_name
    from semsearch_research.evaluate.retrieval import MODES  # start-up time

    modes = given["modes"] or MODES
    names = [*modes, *peer_names(given["peers"] or ())]
    if given["rerank"]:
        model = DEFAULT_MODEL if given["rerank"] == DEFAULT else given["rerank"]
        names.append(reranked_name(modes, Path(model).name))
    if given["reference"] not in (None, *names):
        raise UsageError(f"there is no row {given['reference']}; --reference must be one of {', '.join(names)}")


RETRIEVAL = Experiment(
    name="retrieval",
    summary="Collections in BEIR's layout: nDCG, MRR, recall, MAP.",
    help="""Find how well each mode answers the queries of test collections in BEIR's layout.

    nDCG@10, MRR@10, recall and MAP with 95 % intervals (paired bootstrap over queries), of
    each collection as soon as it is done.
    """,
    options=(
        Argument("folders", Path, "FOLDER...", "corpus.jsonl, queries.jsonl and qrels/test.tsv in each."),
        Repeated("modes", str, "hybrid|dense|lexical", "By default all three.", "--mode -m"),
        options.VECTORS,
        Option("method", MethodName, "", "How sentences are embedded.", default="sif"),
        options.A,
        options.COMPONENTS,
        Repeated(
            "peers",
            str,
            "NAME",
            "bm25s, minilm, minilm:PATH, model2vec:PATH. minilm and bm25s are also fused.",
            "--peer",
        ),
        Option("rerank", str, "MODEL", "Rerank the first hits of the first mode by a model, as query --rerank."),
        Option(
            "reference",
            str,
            "NAME",
            "The mode or peer to compare with; by default the first peer, or lexical.",
            shown=True,
        ),
    ),
    run=evaluate_retrieval,
    tables=tables,
    check=_check,
    last=mean_of_several,
)
