"""Answers queries on one index: each in one read transaction, by the pipeline (semsearch.search.pipeline)."""

from __future__ import annotations

import math
import threading
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from semsearch import tuning
from semsearch.arrays.types import Float32
from semsearch.errors import IndexDamaged, UsageError, rebuild_command
from semsearch.lexical.bm25 import WordSearch
from semsearch.rerankers import Readings, Reranker
from semsearch.results.explanation import Explanation, Rerank
from semsearch.results.hits import Hit, Hits
from semsearch.results.options import Mode, SearchOptions
from semsearch.search.index_reader import IndexReader, IndexView
from semsearch.search.pipeline import answer, search
from semsearch.search.prepare_query import Example, find_example, passage_of, query_of_example
from semsearch.storage.database import IndexDatabase
from semsearch.storage.passage_rows import PassageRow, get_passages
from semsearch.storage.schema import get_stamp
from semsearch.system.parallel import while_wanted
from semsearch.word_vectors.table import WordVectors

if TYPE_CHECKING:
    import sqlite3

Result = TypeVar("Result")

_ATTEMPTS = 3


class Searcher:
    """Answers queries on one index, and keeps its newest generation open between them.

    Threads may share a searcher, and are answered at the same time: each has a read transaction of its own, and all of
    them share the files of a generation, which are opened once.
    """

    def __init__(self, database: IndexDatabase, vectors: Callable[[], WordVectors]) -> None:
        self._database = database
        self._vectors = vectors
        self._opening = threading.Lock()
        self._reader: IndexReader | None = None

    def search(
        self, queries: Sequence[str], options: SearchOptions, *, beside: Sequence[WordSearch] = ()
    ) -> list[Hits]:
        """The ranked hits of each query, of any score and relevance.

        All see one generation. `beside`: the words of other indexes, by which those here are weighed, too. Raises
        UsageError for a query without words.
        """
        return self.in_one_generation(
            lambda index: [search(query, options, index) for query in while_wanted(queries)], beside
        )

    def similar(
        self, like: Hit | str, line: int | None, options: SearchOptions, *, same_document: bool = False
    ) -> Hits:
        """Find passages similar to a hit's, to the one at a line of a document, or to a whole document, best first."""

        def ask(index: IndexView) -> Hits:
            example = find_example(index.db, like, line, same_document=same_document)
            return answer(query_of_example(example, options, index), index)

        return self.in_one_generation(ask)

    def example(self, like: Hit | str, line: int | None) -> Example:
        """The texts of a passage or document, as `similar` finds it, to be compared with those of another index."""
        example = self.in_one_generation(lambda index: find_example(index.db, like, line))
        return Example(example.name, example.headings, example.texts)

    def similar_to(self, example: Example, options: SearchOptions) -> Hits:
        """Find passages similar to those of another index, best first."""
        return self.in_one_generation(lambda index: answer(query_of_example(example, options, index), index))

    def with_passages(
        self, query: str, options: SearchOptions, *, beside: Sequence[WordSearch] = ()
    ) -> tuple[Hits, dict[int, PassageRow]]:
        """The ranked hits of a query, as `search` gives them, with their passages and those beside them, by id."""

        def gather(index: IndexView) -> tuple[Hits, dict[int, PassageRow]]:
            hits = search(query, options, index)
            return hits, get_passages(index.db, {hit.passage_id + step for hit in hits for step in (-1, 0, 1)})

        return self.in_one_generation(gather, beside)

    def explain(self, query: str, hit: Hit, mode: Mode | None, *, beside: Sequence[WordSearch] = ()) -> Explanation:
        """Explain the score of a hit's passage for a query: the hit's own score, if it was found by this query.

        Otherwise, or if the index has changed since, the score that the passage has now, without filters.
        """
        from semsearch.search.explain import explain, origin_now  # heavy, and few hits are explained

        recorded = hit.origin if hit.origin is not None and hit.origin.query == query else None
        chosen: Mode = mode if mode is not None else "hybrid" if recorded is None else recorded.mode
        options = SearchOptions(mode=chosen, duplicates=True)  # raises UsageError for an unknown mode

        def explain_now(index: IndexView) -> Explanation:
            passage_of(index.db, hit)  # raises UsageError
            if recorded is not None and (recorded.mode, recorded.generation) == (chosen, index.reader.generation):
                return explain(hit, recorded, index)
            return explain(hit, origin_now(query, hit.passage_id, options, index), index)

        return self.in_one_generation(explain_now, beside)

    def embed(self, texts: Sequence[str]) -> Float32:
        """Embed texts as the index embeds sentences. (n) -> (n, d). Raises UsageError while nothing is indexed."""

        def embed(index: IndexView) -> Float32:
            embedder = index.embedder
            if embedder is None:
                raise UsageError(
                    f"the index {self._database.folder} has no text yet, so it cannot embed; add documents first"
                )
            return embedder.transform(texts)

        return self.in_one_generation(embed)

    def close(self) -> None:
        """Close the files. They are opened again when they are needed."""
        with self._opening:
            self._reader = None

    def words(self) -> WordSearch:
        """The words of the newest generation, for searches of other indexes together with this one."""
        return self.in_one_generation(lambda index: index.reader.lexical)

    def in_one_generation(self, ask: Callable[[IndexView], Result], beside: Sequence[WordSearch] = ()) -> Result:
        """Ask the newest generation in one transaction. If it is swept while it is being opened, ask again."""
        for _ in range(_ATTEMPTS):
            try:
                with self._database.reading() as db:
                    return ask(IndexView(db, self._current(db), beside))
            except FileNotFoundError as error:
                missing = error
                self.close()
                self._database.close()  # a connection to what SQLite took for a read-only medium sees nothing new
        cure = rebuild_command(self._database.folder)
        raise IndexDamaged(f"{missing.filename} is missing; run: {cure}") from missing

    def _current(self, db: sqlite3.Connection) -> IndexReader:
        """The reader of the generation that a transaction sees; only the newest one is kept for other threads."""
        stamp = get_stamp(db)
        with self._opening:
            newest = self._reader
            if newest is not None and newest.stamp == stamp:
                newest.check_files()
                return newest
            opened = IndexReader(db, self._database, self._vectors, previous=newest)
            if newest is None or newest.order < opened.order:
                self._reader = opened
            return opened


# -- Reranking ---------------------------------------------------------------------------------------------------------
#
# The scores that a reranker gives become a component of the hits' own:
#
#     score + σ · (said - μ') / σ'
#
# μ' and σ' are mean and standard deviation of the reranker's scores, σ that of the hits' own. So hits are ordered by
# the sum of both z-scores, whatever the reranker's scale. The other components stay, and exact words do not count in σ.
# A reranker that reads only the first hits (`Readings`) is compared over these; the others get the least component of
# all, and come after them.


def options_for(reranker: Reranker | None, options: SearchOptions) -> SearchOptions:
    """The options, with k raised so that a reranker, if there is one, has enough hits to choose from."""
    if reranker is None or options.mode == "exact":
        return options
    return replace(options, k=max(options.k, tuning.TUNING.reranked))


def rerank(reranker: Reranker | None, query: str, hits: Hits) -> Hits:
    """Order hits by both scores, outside of a transaction: a reranker may take its time. Without one, and of mode
    exact, they stay as they are. The reranker gets the query without its syntax.

    Raises UsageError for a reranker that does not give a finite number for each hit.
    """
    if reranker is None or hits.total is not None:
        return hits
    origin = hits[0].origin if hits else None
    compared = query if origin is None or origin.text is None else origin.text  # without its syntax
    readings = _readings(reranker, compared, hits)
    points = _points_of(readings, [*map(_without_exact, hits)])
    notices = (*hits.notices, readings.notice) if readings.notice else hits.notices
    reranked = [_with(hit, of_hit) for hit, of_hit in zip(hits, points, strict=True)]
    return hits.instead(sorted(reranked, key=lambda hit: -hit.score), notices=notices)


def _without_exact(hit: Hit) -> float:
    """The score of a hit without the points for exact words."""
    return hit.score - (hit.origin.points.get("exact", 0.0) if hit.origin is not None else 0.0)


def _points_of(readings: Readings, scores: Sequence[float]) -> list[Rerank | None]:
    """The points that a reranker's scores add to the hits' own; None for each if all its scores are the same.

    If the hits' own scores are all the same, the reranker's z-scores are added as they are.
    """
    said = readings.said
    deviation = float(np.std(said)) if said else 0.0
    if not deviation:
        return [None] * len(scores)
    weight, mean = float(np.std(scores[: len(said)])) or 1.0, float(np.mean(said))
    alone = [None] * len(said) if readings.alone is None else readings.alone

    def part(score: float, alone: float | None, *, unread: bool | None = None) -> Rerank | None:
        points = weight * (score - mean) / deviation
        return Rerank(points, weight, score, mean, deviation, model=readings.model, alone=alone, unread=unread)

    unread = [part(min(said), None, unread=True)] * (len(scores) - len(said))
    return [*map(part, said, alone), *unread]


def _with(hit: Hit, rerank: Rerank | None) -> Hit:
    if rerank is None or hit.origin is None:
        return hit
    origin = replace(hit.origin.with_points(rerank=rerank.points), rerank=rerank)
    return replace(hit, score=hit.score + rerank.points, origin=origin)


def _readings(reranker: Reranker, query: str, hits: Sequence[Hit]) -> Readings:
    """The reranker's score of each hit, or of the first ones if it says so."""
    answer = reranker(query, hits) if hits else []
    readings = answer if isinstance(answer, Readings) else Readings(answer)
    try:
        said = [float(score) for score in readings.said]
    except (TypeError, ValueError) as error:
        raise UsageError(f"the reranker must give a number for each hit, not {answer!r}") from error
    if len(said) > len(hits) or (readings is not answer and len(said) < len(hits)):
        raise UsageError(f"the reranker gave {len(said)} numbers for {len(hits)} hits; it must give one for each")
    if not all(map(math.isfinite, said)):
        raise UsageError("the reranker gave a number that is not finite; it must give one that can be compared")
    return readings._replace(said=said)
