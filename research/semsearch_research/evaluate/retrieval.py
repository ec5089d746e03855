"""Measure retrieval on test collections: each mode and peer, with confidence intervals.

Intervals are those of the paired bootstrap (Efron; Sakai 2006 for retrieval): the queries are resampled, with
replacement, as many as there are; every system is measured on the same draws, so that the easiness of a query for all
of them cancels out of their differences. An interval has the middle 95 % of the draws.
"""

from __future__ import annotations

import logging
import math
import time
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from semsearch.arrays.types import Float64
from semsearch.errors import UsageError
from semsearch.rerankers import load_reranker
from semsearch.results.codec import Record
from semsearch.results.options import RANKING, Mode
from semsearch.text.tokens import words
from semsearch.word_vectors.table import WordVectorsLike
from semsearch_research.evaluate.beir import Collection, collection_folders, read_collection
from semsearch_research.evaluate.inputs import import_extra
from semsearch_research.evaluate.rankers import Peer, Ranker, fused, mode_rankers, open_peers
from semsearch_research.word_tables.conversion import open_vectors

RESAMPLES = 10_000
_LEVEL = (2.5, 97.5)  # percentiles
_AT_ONCE = 4_000_000  # numbers of a block of draws


@dataclass(frozen=True, slots=True)
class Figure:
    """A mean with its 95 % interval."""

    value: float
    low: float
    high: float

    @classmethod
    def of(cls, value: Any, draws: Float64) -> Figure:
        """Make a figure of a mean and the means of its resamples, `draws` (B,)."""
        low, high = np.percentile(draws, _LEVEL)
        return cls(float(value), float(low), float(high))


def resampled_means(values: Float64, *, resamples: int = RESAMPLES, seed: int | Sequence[int] = 0) -> Float64:
    """Compute the means over the first axis of `values` (q, ...), resampled `resamples` times. (q, ...) -> (B, ...)

    A draw is a row of counts of each query, so that all draws are one product of matrices.
    """
    queries = len(values)
    columns = values.reshape(queries, -1)
    means = np.empty((resamples, columns.shape[1]))
    generator = np.random.default_rng(seed)
    block = max(1, _AT_ONCE // queries)
    for first in range(0, resamples, block):
        rows = min(block, resamples - first)
        drawn = generator.integers(0, queries, size=(rows, queries))
        indices = drawn + queries * np.arange(rows)[:, None]
        counts = np.bincount(indices.ravel(), minlength=rows * queries).reshape(rows, queries)
        means[first : first + rows] = counts.astype(np.float64) @ columns / queries
    return means.reshape(resamples, *values.shape[1:])


DEPTH = 100  # documents of a ranking that are scored
_NAMES = {
    "ndcg@10": "ndcg_cut_10",
    "mrr@10": "recip_rank",
    "recall@10": "recall_10",
    "recall@100": "recall_100",
    "map": "map_cut_100",
}
MEASURES = tuple(_NAMES)


def check_scorer() -> Any:
    """Import the scorer. Raises MissingExtra if it is not installed, which is worth knowing before the work."""
    return import_extra("pytrec_eval", package="pytrec-eval-terrier")


def measure(relevant: Mapping[str, Mapping[str, int]], rankings: Mapping[str, Sequence[str]]) -> Float64:
    """Measure the ranking of each judged query, in the order of `relevant`. One without a ranking scores 0. (q, 5)"""
    evaluator = check_scorer().RelevanceEvaluator({query: dict(relevant[query]) for query in relevant}, _NAMES.values())
    # the scorer sorts by score and breaks ties by its own rule: ranks, which are all different, leave it none
    run = {
        query: {document: -float(rank) for rank, document in enumerate(ranking[:DEPTH])}
        for query, ranking in rankings.items()
        if ranking
    }
    scored = evaluator.evaluate(run)
    nothing = dict.fromkeys(_NAMES.values(), 0.0)
    rows = [[scored.get(query, nothing)[name] for name in _NAMES.values()] for query in relevant]
    figures = np.array(rows, dtype=np.float64).reshape(len(relevant), len(_NAMES))
    reciprocal = figures[:, MEASURES.index("mrr@10")]
    reciprocal[reciprocal < 1 / 10] = 0  # trec_eval's has no depth
    return figures


MEAN = "mean"  # the collection that stands for all of them


@dataclass(frozen=True, slots=True)
class RetrievalRow(Record):
    """The figures of a mode or a peer on one collection: means over queries; for "mean", those over collections.

    `differences` are those of nDCG@10 to each other mode and peer, on the same queries. `queries_per_second` is one
    query after the other, ten hits each, in a process that is warm.
    """

    collection: str
    mode: str  # or the peer's name
    figures: Mapping[str, Figure]  # by the names in MEASURES
    differences: Mapping[str, Figure]
    queries: int
    query_seconds: float
    index_seconds: float

    @property
    def queries_per_second(self) -> float:
        """The number of queries answered a second; 0 if none was timed."""
        return self.queries / self.query_seconds if self.query_seconds else 0.0

    def to_dict(self) -> dict[str, Any]:
        """Convert to a plain dict, as for JSON."""
        return {
            "collection": self.collection,
            "mode": self.mode,
            **{name: round(figure.value, 6) for name, figure in self.figures.items()},
            "intervals": {name: _interval(figure) for name, figure in self.figures.items()},
            "differences": {
                other: {"ndcg@10": round(figure.value, 6), "interval": _interval(figure)}
                for other, figure in self.differences.items()
            },
            "queries": self.queries,
            "queries/s": round(self.queries_per_second, 2),
            "index_seconds": round(self.index_seconds, 3),
        }


@dataclass(frozen=True, slots=True)
class Run:
    """The figures and times of one system on a collection's q queries."""

    name: str
    figures: Float64  # (q, measures)
    query_seconds: float
    index_seconds: float


@dataclass(frozen=True, slots=True)
class Comparison:
    """The comparison of s systems on one collection: means (s, measures), and those of B resamples (B, s, measures)."""

    collection: str
    names: Sequence[str]
    means: Float64
    draws: Float64
    queries: int
    query_seconds: Sequence[float]
    index_seconds: Sequence[float]

    @classmethod
    def of(cls, collection: str, runs: Sequence[Run], *, seed: int) -> Comparison:
        """Compare runs on a collection. The draws depend on the seed and the collection's name, not on other runs."""
        values = np.stack([run.figures for run in runs], axis=1)
        return cls(
            collection,
            [run.name for run in runs],
            values.mean(axis=0),
            resampled_means(values, seed=(seed, zlib.crc32(collection.encode()))),
            len(values),
            [run.query_seconds for run in runs],
            [run.index_seconds for run in runs],
        )

    @classmethod
    def mean(cls, results: Sequence[Comparison]) -> Comparison:
        """Average comparisons over collections, each of them resampled by itself; queries and seconds are summed."""
        return cls(
            MEAN,
            results[0].names,
            np.mean([result.means for result in results], axis=0),
            np.mean([result.draws for result in results], axis=0),
            sum(result.queries for result in results),
            np.sum([result.query_seconds for result in results], axis=0).tolist(),
            np.sum([result.index_seconds for result in results], axis=0).tolist(),
        )

    def rows(self) -> list[RetrievalRow]:
        """The rows of the table, one for each system."""
        ndcg = MEASURES.index("ndcg@10")
        return [
            RetrievalRow(
                self.collection,
                name,
                {
                    measure: Figure.of(self.means[row, column], self.draws[:, row, column])
                    for column, measure in enumerate(MEASURES)
                },
                {
                    other: Figure.of(
                        self.means[row, ndcg] - self.means[other_row, ndcg],
                        self.draws[:, row, ndcg] - self.draws[:, other_row, ndcg],
                    )
                    for other_row, other in enumerate(self.names)
                    if other_row != row
                },
                self.queries,
                self.query_seconds[row],
                self.index_seconds[row],
            )
            for row, name in enumerate(self.names)
        ]


def _interval(figure: Figure) -> list[float]:
    return [round(figure.low, 6), round(figure.high, 6)]


Report = Callable[[str, int, int], None]
MODES: tuple[Mode, ...] = ("hybrid", "dense", "lexical")


def evaluate_retrieval(
    folders: Sequence[str | Path],
    *,
    modes: Sequence[Mode] = MODES,
    peers: Sequence[str] = (),
    rerank: str | None = None,
    vectors: WordVectorsLike = "english",
    method: str = "sif",
    a: float | None = None,
    components: int | None = None,
    seed: int = 0,
    progress: Report | None = None,
    each: Callable[[list[RetrievalRow]], None] | None = None,
) -> list[RetrievalRow]:
    """Measure each mode and peer on each collection in BEIR's layout; a row for each, then those of their means.

    `peers` are named as in semsearch_research.evaluate.rankers; `rerank` is a model that reranks the first hits of the
    first mode, without a time limit; `vectors` to `components` are arguments of `Index.create`.
    `progress(what, done, total)` is called as queries are answered, `each` with the rows of each finished collection.
    Raises SourceError for a broken collection, UsageError, MissingExtra, VectorsError; all before the long work.
    """
    check_scorer()
    _check(modes)
    collections = [read_collection(folder) for folder in collection_folders(map(Path, folders))]
    _check_names(collections)
    opened = open_vectors(vectors)
    loaded = open_peers(peers)
    reranker = None if rerank is None else load_reranker(rerank, seconds=math.inf)
    results: list[Comparison] = []
    report: Report = progress or (lambda *_: None)
    for collection in collections:
        report(f"{collection.name}: indexing {len(collection.documents):,} documents", 0, 0)
        with (
            mode_rankers(
                collection.documents,
                modes,
                vectors=opened,
                method=method,
                a=a,
                components=components,
                reranker=reranker,
            ) as ours,
            _without_oov_warnings(),
        ):
            rankers: list[Ranker] = [*ours, *_with_documents(loaded, collection, report)]
            runs = [_run(ranker, collection, report) for ranker in rankers]
        results.append(Comparison.of(collection.name, runs, seed=seed))
        if each is not None:
            each(results[-1].rows())
    return [row for result in [*results, Comparison.mean(results)] for row in result.rows()]


def _with_documents(peers: Sequence[Peer], collection: Collection, progress: Report) -> list[Ranker]:
    rankers = []
    for peer in peers:
        progress(f"{collection.name}: {peer.name} reads {len(collection.documents):,} documents", 0, 0)
        rankers.append(peer.on(collection.documents))
    return [*rankers, *fused(rankers)]


def _run(ranker: Ranker, collection: Collection, progress: Report) -> Run:
    """Ask all queries twice: for the time, and for deep rankings."""
    askable = [query for query in collection.queries.values() if words(query)]
    progress(f"{collection.name}: {ranker.name}, timed", 0, 0)
    for query in askable[:1]:
        ranker.ask(query)  # what is loaded at first use
    started = time.perf_counter()
    for query in askable:
        ranker.ask(query)
    seconds = time.perf_counter() - started
    rankings: dict[str, list[str]] = {}
    for done, (key, query) in enumerate(collection.queries.items()):
        progress(f"{collection.name}: {ranker.name}", done, len(collection.queries))
        rankings[key] = [document for document in ranker.rank(query, DEPTH + 1) if document != key][:DEPTH]
    return Run(ranker.name, measure(collection.relevant, rankings), seconds, ranker.index_seconds)


def _check(modes: Sequence[Mode]) -> None:
    for mode in modes:
        if mode not in RANKING:
            raise UsageError(f"there is no mode {mode!r}; expected {', '.join(RANKING)}")
    if len(set(modes)) != len(modes):
        raise UsageError(f"modes must be different, got {', '.join(modes)}")


def _check_names(collections: Sequence[Collection]) -> None:
    names = [collection.name for collection in collections]
    for name in names:
        if names.count(name) > 1 or name == MEAN:
            raise UsageError(f"the collection name {name!r} is taken by another row; rename its folder")


@contextmanager
def _without_oov_warnings() -> Iterator[None]:
    """Suppress warnings of queries with OOV words: one for each, in each mode, would bury the table."""
    logger = logging.getLogger("semsearch.searchable")
    nothing: Callable[[logging.LogRecord], bool] = lambda _: False  # noqa: E731
    logger.addFilter(nothing)
    try:
        yield
    finally:
        logger.removeFilter(nothing)
