"""The query pipeline: a query to hits, in one read transaction.

query ─ embed ─ scan passages ┐
                              ├─ score each by both ─ fuse ─ deduplicate ─ the best k ─ rows ─ hits
query ─ BM25 ─────────────────┘

Instead of a query, passages of the index may be given: their vectors stand for the query's, and their most telling
words for its words.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, TypeVar
from weakref import ref

import numpy as np

from semsearch import tuning
from semsearch.arrays.types import Float32
from semsearch.errors import IndexDamaged, UsageError, quoted, rebuild_command
from semsearch.results.hits import Hit, above_threshold
from semsearch.results.options import Mode, Origin, SearchOptions
from semsearch.search.index_reader import IndexReader
from semsearch.search.make_hits import make_hits
from semsearch.search.query import make_queries
from semsearch.search.ranking import RankedPassages, rank_passages
from semsearch.search.scoring import score
from semsearch.storage.catalogue import PassageRow, get_passages
from semsearch.storage.database import IndexDatabase
from semsearch.storage.meta import get_count, get_stamp
from semsearch.text.tokens import words
from semsearch.word_vectors.table import WordVectors

if TYPE_CHECKING:
    import sqlite3

    from semsearch.rerankers.reranker import Reranker
    from semsearch.results.explanation import Explanation
    from semsearch.results.hits import Context
    from semsearch.search.explain import Explainer
    from semsearch.search.query import Query
    from semsearch.search.similar import ExampleTexts

Result = TypeVar("Result")

_AT_ONCE = 1024  # queries; more of them share little more, and take more memory
_ATTEMPTS = 3


class Searcher:
    """Answers queries on one index, and keeps its newest generation open between them.

    Threads may share a searcher, and are answered at the same time: each has a read transaction of its own, and all of
    them share the files of a generation, which are opened once. A `reranker` scores the first hits of each answer
    again.
    """

    def __init__(
        self, database: IndexDatabase, vectors: Callable[[], WordVectors], *, reranker: Reranker | None = None
    ) -> None:
        self._database = database
        self._vectors = vectors
        self._reranker = reranker
        self._opening = threading.Lock()
        self._reader: IndexReader | None = None
        self._explainer: Explainer | None = None  # of the last query, of which several hits may be explained
        self._finder = ref(self)  # what hits remember as their finder

    def search(self, queries: Sequence[str], options: SearchOptions, *, reranked: bool = True) -> list[list[Hit]]:
        """Find the hits of each query, best first, `reranked` if there is a reranker.

        Raises UsageError for a query without words.
        """
        _check(queries)
        blocks = [queries[first : first + _AT_ONCE] for first in range(0, len(queries), _AT_ONCE)]
        wide = self._candidates(options) if reranked else options
        answers = self._reading(lambda db: [hits for block in blocks for hits in self._search(db, block, wide)])
        answers = self._reranked(queries, answers, options) if reranked else answers
        return [above_threshold(hits, options.floor) for hits in answers] if options.floor else answers

    def similar(self, like: Hit | str, line: int | None, options: SearchOptions) -> list[Hit]:
        """Find passages similar to a hit's, to the one at a line of a document, or to a whole document, best first."""
        from semsearch.search.similar import (
            find_subject,
            query_of_passages,  # start-up time: a search needs none of it
        )

        def find(db: sqlite3.Connection) -> list[Hit]:
            reader = self._current(db)
            query = query_of_passages(find_subject(db, like, line), reader, options.mode)
            return self._like(db, reader, query, options)

        return self._reading(find)

    def example(self, like: Hit | str, line: int | None) -> ExampleTexts:
        """The texts of a passage or document, as `similar` finds it, to be compared with those of another index."""
        from semsearch.search.similar import find_subject  # start-up time: a search needs none of it

        return self._reading(lambda db: find_subject(db, like, line).as_texts)

    def similar_to_texts(self, example: ExampleTexts, options: SearchOptions) -> list[Hit]:
        """Find passages similar to texts that are not of this index, best first."""
        from semsearch.search.similar import query_of_texts  # start-up time: a search needs none of it

        def find(db: sqlite3.Connection) -> list[Hit]:
            reader = self._current(db)
            query = query_of_texts(db, example, reader, options.mode)
            return self._like(db, reader, query, options)

        return self._reading(find)

    def context(self, query: str, options: SearchOptions, *, max_words: int) -> Context:
        """Assemble the best passages within so many words, with the neighbouring sentences that they depend on."""
        from semsearch.search.assemble_context import (  # start-up time: a search needs none of it
            assemble,
            candidates_for,
        )

        hits, passages = self.with_passages(query, candidates_for(options, max_words))
        return assemble(hits, passages, max_words=max_words, floor=options.floor)

    def with_passages(
        self, query: str, options: SearchOptions, *, reranked: bool = True
    ) -> tuple[list[Hit], dict[int, PassageRow]]:
        """Find the hits of a query, whatever their relevance, with their passages and those beside them, by id."""
        _check([query])

        def gather(db: sqlite3.Connection) -> tuple[list[Hit], dict[int, PassageRow]]:
            (hits,) = self._search(db, [query], self._candidates(options) if reranked else options)
            near = {hit.passage_id + step for hit in hits for step in (-1, 0, 1)}
            return hits, get_passages(db, near)

        found, passages = self._reading(gather)
        if not reranked:
            return found, passages
        (hits,) = self._reranked([query], [found], options)  # outside: a reranker may take its time
        return hits, passages

    def explain(self, query: str, hit: Hit, mode: Mode | None) -> Explanation:
        """Explain the score of a hit's passage for a query: the hit's own score, if it was found by this query.

        Otherwise, or if the index has changed since, the score that the passage has now, without filters.
        """
        _check([query])
        own = hit.origin if hit.origin is not None and hit.origin.query == query else None
        if mode is None:
            mode = "hybrid" if own is None else own.mode
        SearchOptions(mode=mode)  # raises UsageError for an unknown mode

        def explain(db: sqlite3.Connection) -> Explanation:
            passage = _passage_of(db, hit)
            if passage is None:
                raise UsageError(f"the passage of that hit in {hit.path} is no longer in the index; search again")
            reader = self._current(db)
            if own is not None and (own.mode, own.generation) == (mode, reader.generation):
                return self._explained(db, own, hit)
            (as_query,) = make_queries(db, reader, [query], SearchOptions(mode=mode), self._vectors)
            as_query = replace(as_query, syntax=None)  # it need not have the phrases
            alone = score(
                db,
                reader,
                [np.array([passage.id], dtype=np.int64)],
                [as_query.vector],
                [as_query.words],
                as_query.titles,
            )
            (answer,) = rank_passages(db, reader, [as_query], SearchOptions(mode=mode, duplicates=True))
            assert answer.origin is not None  # a query that was asked has one
            (support,) = answer.support.parts(np.array([passage.id]), alone.owners)
            across = next((each.across for each in answer.ranked if each.passage_id == passage.id), None)
            origin = replace(answer.origin, exact=answer.exact.get(passage.id), support=support)
            origin = origin if across is None else replace(origin, weights=across)
            return self._explained(db, origin, hit)

        return self._reading(explain)

    def explain_hit(self, hit: Hit) -> Explanation:
        """Explain a hit's own score. Raises UsageError if the index has changed since the hit was found."""
        origin = hit.origin
        assert origin is not None  # `Hit.explain` asks only for hits that have one

        def explain(db: sqlite3.Connection) -> Explanation:
            if get_count(db, "generation") != origin.generation or _passage_of(db, hit) is None:
                raise UsageError(f"the index has changed since it found that hit in {hit.path}; search again")
            return self._explained(db, origin, hit)

        return self._reading(explain)

    def embed(self, texts: Sequence[str]) -> Float32:
        """Embed texts as the index embeds sentences. (n) -> (n, d). Raises UsageError while nothing is indexed."""

        def embed(db: sqlite3.Connection) -> Float32:
            embedder = self._current(db).embedder(db)
            if embedder is None:
                raise UsageError(
                    f"the index {self._database.folder} has no text yet, so it cannot embed; add documents first"
                )
            return embedder.transform(texts)

        return self._reading(embed)

    def in_one_generation(self, ask: Callable[[sqlite3.Connection, IndexReader], Result]) -> Result:
        """Ask something of the newest generation, in one transaction and with its opened files."""
        return self._reading(lambda db: ask(db, self._current(db)))

    def close(self) -> None:
        """Close the files. They are opened again when they are needed."""
        with self._opening:
            self._reader, self._explainer = None, None

    def _explained(self, db: sqlite3.Connection, origin: Origin, hit: Hit) -> Explanation:
        compared = origin.query if origin.text is None else origin.text
        return self._explainer_of(db, compared, origin.mode, origin.language).explain(db, hit, origin)

    def _explainer_of(self, db: sqlite3.Connection, query: str, mode: Mode, language: str | None) -> Explainer:
        from semsearch.search.explain import Explainer  # start-up time: a search needs none of it

        reader, last = self._current(db), self._explainer
        if last is None or (last.reader, last.query, last.mode, last.language) != (reader, query, mode, language):
            embedder = None if mode == "lexical" else reader.embedder(db)
            last = self._explainer = Explainer(reader, embedder, query, mode, language)
        return last

    def _reading(self, ask: Callable[[sqlite3.Connection], Result]) -> Result:
        """Ask in one transaction. If its generation is swept while it is being opened, ask again."""
        for _ in range(_ATTEMPTS):
            try:
                with self._database.reading() as db:
                    return ask(db)
            except FileNotFoundError as error:
                missing = error
                self.close()
                self._database.close()  # a connection to what SQLite took for a read-only medium sees nothing new
        cure = rebuild_command(self._database.folder)
        raise IndexDamaged(f"{missing.filename} is missing; run: {cure}") from missing

    def _search(self, db: sqlite3.Connection, queries: Sequence[str], options: SearchOptions) -> list[list[Hit]]:
        reader = self._current(db)
        asked = make_queries(db, reader, queries, options, self._vectors)
        found = rank_passages(db, reader, asked, options)
        answers = self._hits(db, reader, asked, found, options)
        if options.boosts:
            from semsearch.search.boosts import with_boosts  # start-up time: few searches have any

            answers = [with_boosts(hits, own.ranked, options.boosts) for hits, own in zip(answers, found, strict=True)]
        if any(own.exact for own in found):
            from semsearch.search.exact_words import with_exact_words  # start-up time: few queries have any

            answers = [with_exact_words(hits, own.exact) for hits, own in zip(answers, found, strict=True)]
        for hits in answers:
            for hit in hits:
                hit.found_by(self._finder)
        return answers

    def _like(self, db: sqlite3.Connection, reader: IndexReader, query: Query, options: SearchOptions) -> list[Hit]:
        """The hits of a query that stands for passages; they have no origin, since it has no text to ask again."""
        (hits,) = self._hits(db, reader, [query], rank_passages(db, reader, [query], options), options)
        return hits

    def _hits(
        self,
        db: sqlite3.Connection,
        reader: IndexReader,
        queries: Sequence[Query],
        answers: Sequence[RankedPassages],
        options: SearchOptions,
    ) -> list[list[Hit]]:
        return make_hits(
            db,
            reader,
            queries,
            [answer.ranked for answer in answers],
            context=options.context,
            origins=[answer.origin for answer in answers],
            may_read_files=reader.may_read_files,
        )

    def _candidates(self, options: SearchOptions) -> SearchOptions:
        """The options, with k raised so that a reranker has enough hits to choose from."""
        if self._reranker is None:
            return options
        return replace(options, k=max(options.k, tuning.TUNING.reranked), min_score=None)

    def _reranked(self, queries: Sequence[str], answers: list[list[Hit]], options: SearchOptions) -> list[list[Hit]]:
        if self._reranker is None:
            return answers
        from semsearch.search.reranking import rerank  # start-up time: most searches have none

        pairs = zip(queries, answers, strict=True)
        better = [rerank(self._reranker, query, hits, options) for query, hits in pairs]
        for hits in better:
            for hit in hits:
                hit.found_by(self._finder)
        return better

    def _current(self, db: sqlite3.Connection) -> IndexReader:
        """The reader of the generation that a transaction sees; only the newest one is kept for other threads."""
        stamp = get_stamp(db)
        with self._opening:
            newest = self._reader
            if newest is not None and newest.stamp == stamp:
                return newest
            opened = IndexReader(db, self._database, self._vectors, previous=newest)
            if newest is None or newest.order < opened.order:
                self._reader = opened
            return opened


def _passage_of(db: sqlite3.Connection, hit: Hit) -> PassageRow | None:
    """The passage of a hit; None if it has gone or changed, or if another index is in the place of the hit's."""
    passage = get_passages(db, [hit.passage_id]).get(hit.passage_id)
    return passage if passage is not None and passage.text == hit.passage else None


def _check(queries: Sequence[str]) -> None:
    for query in queries:
        if not isinstance(query, str) or not words(query):
            raise UsageError(f"the query {quoted(query)} has no words; ask with at least one")
