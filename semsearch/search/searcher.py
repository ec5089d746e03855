"""Answers queries on one index: each in one read transaction, by the pipeline (semsearch.search.pipeline)."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, TypeVar

from semsearch.arrays.types import Float32
from semsearch.errors import IndexDamaged, UsageError, rebuild_command
from semsearch.lexical.bm25 import WordSearch
from semsearch.results.hits import Hit, Hits
from semsearch.results.options import Mode, SearchOptions
from semsearch.search.index_reader import IndexReader, IndexView
from semsearch.search.pipeline import answer, search
from semsearch.search.prepare_query import passage_of, query_of_example
from semsearch.storage.database import IndexDatabase
from semsearch.storage.passage_rows import PassageRow, get_passages
from semsearch.storage.schema import get_stamp
from semsearch.system.parallel import while_wanted
from semsearch.word_vectors.table import WordVectors

if TYPE_CHECKING:
    import sqlite3

    from semsearch.results.explanation import Explanation

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
        self, queries: Sequence[str], options: SearchOptions, *, federated: Sequence[WordSearch] = ()
    ) -> list[Hits]:
        """The ranked hits of each query, of any score and relevance.

        All see one generation. `federated`: the words of other indexes, whose idfs count too. Raises
        UsageError for a query without words.
        """
        return self.in_one_generation(
            lambda index: [search(query, options, index) for query in while_wanted(queries)], federated
        )

    def similar(
        self, example: Hit | str, line: int | None, options: SearchOptions, *, same_document: bool = False
    ) -> Hits:
        """Find passages similar to a hit's, to the one at a line of a document, or to a whole document, best first."""

        def find(index: IndexView) -> Hits:
            return answer(query_of_example(example, line, options, index, same_document=same_document), index)

        return self.in_one_generation(find)

    def with_passages(
        self, query: str, options: SearchOptions, *, federated: Sequence[WordSearch] = ()
    ) -> tuple[Hits, dict[int, PassageRow]]:
        """The ranked hits of a query, as `search` gives them, with their passages and those beside them, by id."""

        def gather(index: IndexView) -> tuple[Hits, dict[int, PassageRow]]:
            hits = search(query, options, index)
            return hits, get_passages(index.db, {hit.passage_id + step for hit in hits for step in (-1, 0, 1)})

        return self.in_one_generation(gather, federated)

    def explain(self, query: str, hit: Hit, mode: Mode | None, *, federated: Sequence[WordSearch] = ()) -> Explanation:
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

        return self.in_one_generation(explain_now, federated)

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

    def lexical(self) -> WordSearch:
        """The lexical retriever of the newest generation, for searches of other indexes together with this one."""
        return self.in_one_generation(lambda index: index.reader.lexical)

    def in_one_generation(self, read: Callable[[IndexView], Result], federated: Sequence[WordSearch] = ()) -> Result:
        """Read the newest generation in one transaction; again, if a writer drops its files before they are opened."""
        for _ in range(_ATTEMPTS):
            try:
                with self._database.reading() as db:
                    return read(IndexView(db, self._current(db), federated))
            except FileNotFoundError as error:
                missing = error
                self.close()
                self._database.close()  # a connection that SQLite opened as immutable sees nothing new
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
