"""Measure retrieval on test collections: each of our modes and each peer, on the same queries, with intervals.

A query's own document (the same id) is no answer, as in BEIR. Every judged query counts: one without hits scores 0.
"""

from __future__ import annotations

import logging
import math
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import get_args

from semsearch.errors import UsageError
from semsearch.evaluate.arguments import check_several
from semsearch.evaluate.retrieval.beir import Collection, collection_folders, read_collection
from semsearch.evaluate.retrieval.comparison import MEAN, Comparison, RetrievalRow, Run
from semsearch.evaluate.retrieval.measures import DEPTH, check_scorer, measure
from semsearch.evaluate.retrieval.peer_rankers import Peer, fused, open_peers
from semsearch.evaluate.retrieval.rankers import Ranker, mode_rankers
from semsearch.rerankers.loading import load_reranker
from semsearch.results.hits import Mode
from semsearch.text.tokens import words
from semsearch.word_vectors.loading import WordVectorsLike, open_vectors

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

    `peers` are named as in semsearch.evaluate.retrieval.peer_rankers; `rerank` is a model that reads the first hits of
    the first mode again, in whatever time it takes; `vectors` to `components` are arguments of
    `Index.create`.
    `progress(what, done, total)` hears of queries answered, `each` of the rows of a collection as soon as it is done.
    Raises SourceError for a broken collection, UsageError, MissingExtra, VectorsError; all before the long work.
    """
    check_scorer()
    _check(folders, modes)
    collections = [read_collection(folder) for folder in collection_folders(map(Path, folders))]
    _check_names(collections)
    opened = open_vectors(vectors)
    loaded = open_peers(peers)
    reranker = None if rerank is None else load_reranker(rerank, seconds=math.inf)
    results: list[Comparison] = []
    report = progress or _silent
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
            _unknown_words_untold(),
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


def _check(folders: Sequence[str | Path], modes: Sequence[Mode]) -> None:
    check_several(folders=folders, modes=modes)
    for mode in modes:
        if mode not in get_args(Mode):
            raise UsageError(f"there is no mode {mode!r}; expected {', '.join(get_args(Mode))}")
    if len(set(modes)) != len(modes):
        raise UsageError(f"modes are named once each, not {', '.join(modes)}")


def _check_names(collections: Sequence[Collection]) -> None:
    names = [collection.name for collection in collections]
    for name in names:
        if names.count(name) > 1 or name == MEAN:
            raise UsageError(f"a collection cannot be called {name!r} here: another row is; rename its folder")


@contextmanager
def _unknown_words_untold() -> Iterator[None]:
    """Suppress warnings of queries with unknown words: one for each, in each mode, would bury the table."""
    logger = logging.getLogger("semsearch.search.queries.embedding")
    nothing: Callable[[logging.LogRecord], bool] = lambda _: False  # noqa: E731
    logger.addFilter(nothing)
    try:
        yield
    finally:
        logger.removeFilter(nothing)


def _silent(_: str, __: int, ___: int) -> None:
    """Ignore progress."""
