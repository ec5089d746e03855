"""The read path: a question to hits, in one read transaction.

question ─ embed ─ scan passages ┐
                                 ├─ score each by both ─ fuse ─ fold what says the same ─ the best k ─ rows ─ hits
question ─ BM25 ─────────────────┘

Instead of a question, passages of the index may be given: then their own vectors stand for the embedded question, and
the words that say most about them for its words.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, TypeVar
from weakref import ref

import numpy as np
import numpy.typing as npt

from semsearch import tuning
from semsearch.errors import IndexDamaged, UsageError, rebuild_command
from semsearch.lexical.search import Beside
from semsearch.results.context import Context
from semsearch.results.hits import Hit, Mode
from semsearch.results.options import SearchOptions
from semsearch.results.origin import Origin
from semsearch.search.hits import make_hits
from semsearch.search.pool import Pool
from semsearch.search.query import Query
from semsearch.search.ranking import pages
from semsearch.search.scoring import score
from semsearch.search.snapshot import Snapshot
from semsearch.storage.catalogue import PassageRow, get_passages, get_spans
from semsearch.storage.database import Store
from semsearch.storage.meta import get_count
from semsearch.text.terms import of_questions
from semsearch.text.tokens import UInt64, words
from semsearch.topics.joined import join
from semsearch.word_vectors.table import WordVectors

if TYPE_CHECKING:
    import sqlite3

    from semsearch.results.explanation import Explanation
    from semsearch.results.reranker import Reranker
    from semsearch.search.explain import Explainer
    from semsearch.search.similar import Subject

logger = logging.getLogger(__name__)
Float32 = npt.NDArray[np.float32]
Float64 = npt.NDArray[np.float64]
Int64 = npt.NDArray[np.int64]
Result = TypeVar("Result")

_AT_ONCE = 1024  # questions; more of them share little more, and take more memory
_ATTEMPTS = 3


class Searcher:
    """Answers questions about one index. Keeps the newest generation open between them.

    Threads may share one, and are answered at the same time: each has a read transaction of its own, and all of them
    share the files of a generation, which are opened once. A `reranker` reads the first hits of each answer again.
    """

    def __init__(self, store: Store, vectors: Callable[[], WordVectors], *, reranker: Reranker | None = None) -> None:
        self._store = store
        self._vectors = vectors
        self._reranker = reranker
        self._opening = threading.Lock()
        self._snapshot: Snapshot | None = None
        self._explainer: Explainer | None = None  # of the last question: what is explained are several of its hits
        self._finder = ref(self)  # what hits remember

    def search(self, queries: Sequence[str], options: SearchOptions) -> list[list[Hit]]:
        """Hits for each query, best first. Raises UsageError for a query without words."""
        _check(queries)
        blocks = [queries[first : first + _AT_ONCE] for first in range(0, len(queries), _AT_ONCE)]
        wide = self._candidates(options)
        answers = self._reading(lambda db: [hits for block in blocks for hits in self._search(db, block, wide)])
        return self._reranked(queries, answers, options)

    def similar(self, like: Hit | str, line: int | None, options: SearchOptions) -> list[Hit]:
        """Passages like that of a hit, like the one at a line of a document, or like a whole document, best first."""
        from semsearch.search.similar import find_subject  # start-up time: a search needs none of it

        def find(db: sqlite3.Connection) -> list[Hit]:
            snapshot = self._current(db)
            asked = _ask_like(find_subject(db, like, line), snapshot, options.mode)
            (page,) = pages(db, snapshot, [asked], options)
            (hits,) = make_hits(db, [asked.text], [page.ranked], context=options.context)
            return hits

        return self._reading(find)

    def context(self, query: str, options: SearchOptions, *, max_words: int) -> Context:
        """The best passages within so many words, with the sentences before and after that they lean on."""
        from semsearch.search.context import assemble  # start-up time: a search needs none of it

        _check([query])

        def gather(db: sqlite3.Connection) -> tuple[list[Hit], dict[int, PassageRow]]:
            (hits,) = self._search(db, [query], self._candidates(options))
            near = {hit.passage_id + step for hit in hits for step in (-1, 0, 1)}
            return hits, get_passages(db, near)

        found, passages = self._reading(gather)
        (hits,) = self._reranked([query], [found], options)  # outside: a reranker may take its time
        return assemble(hits, passages, max_words=max_words)

    def explain(self, query: str, hit: Hit, mode: Mode | None) -> Explanation:
        """Why the passage of a hit has its score for a question: the hit's own score, where it answers this question.

        Otherwise, or where the index has changed since, the score that it has now when all passages are asked.
        """
        _check([query])
        own = hit.origin if hit.origin is not None and hit.origin.query == query else None
        if mode is None:
            mode = "hybrid" if own is None else own.mode
        SearchOptions(mode=mode)  # says now what makes no sense

        def explain(db: sqlite3.Connection) -> Explanation:
            passage = get_passages(db, [hit.passage_id]).get(hit.passage_id)
            if passage is None or passage.text != hit.passage:
                raise UsageError(f"the passage of that hit in {hit.path} is no longer in the index; search again")
            snapshot = self._current(db)
            if own is not None and (own.mode, own.generation) == (mode, snapshot.generation):
                return self._explained(db, own, hit)
            (asked,) = self._asked(db, snapshot, [query], mode)
            pool = Pool.of([np.array([passage.id], dtype=np.int64)])
            found = score(db, snapshot, pool, [asked.vector], [None])
            shown, best = hit, int(found.best[0])
            if best >= 0:
                shown = replace(hit, sentence=passage.sentence(best), sentence_id=passage.first_sentence + best)
            (page,) = pages(db, snapshot, [asked], SearchOptions(mode=mode, duplicates=True))
            return self._explained(db, page.origin(query, mode, snapshot.generation), shown)

        return self._reading(explain)

    def explain_hit(self, hit: Hit) -> Explanation:
        """Why a hit has the score that it has. Raises UsageError where the index has changed since it was found."""
        origin = hit.origin
        assert origin is not None  # a hit without one asks nobody

        def explain(db: sqlite3.Connection) -> Explanation:
            if get_count(db, "generation") != origin.generation:
                raise UsageError(f"the index has changed since it found that hit in {hit.path}; search again")
            return self._explained(db, origin, hit)

        return self._reading(explain)

    def close(self) -> None:
        """Let go of the files. They are opened again when they are needed."""
        with self._opening:
            self._snapshot, self._explainer = None, None

    def _explained(self, db: sqlite3.Connection, origin: Origin, hit: Hit) -> Explanation:
        return self._explaining(db, origin.query, origin.mode).explain(hit, origin, _beside(db, hit))

    def _explaining(self, db: sqlite3.Connection, query: str, mode: Mode) -> Explainer:
        from semsearch.search.explain import Explainer  # start-up time: a search needs none of it

        snapshot, last = self._current(db), self._explainer
        if last is None or (last.snapshot, last.query, last.mode) != (snapshot, query, mode):
            embedder = None if mode == "lexical" else snapshot.embedder(db, self._vectors)
            last = self._explainer = Explainer(snapshot, embedder, query, mode)
        return last

    def _reading(self, ask: Callable[[sqlite3.Connection], Result]) -> Result:
        """Ask in one transaction. A generation swept while it was being opened is left for the next one."""
        for _ in range(_ATTEMPTS):
            try:
                with self._store.reading() as db:
                    return ask(db)
            except FileNotFoundError as error:
                missing = error
                self.close()
        cure = rebuild_command(self._store.folder)
        raise IndexDamaged(f"{missing.filename} is missing; run: {cure}") from missing

    def _search(self, db: sqlite3.Connection, queries: Sequence[str], options: SearchOptions) -> list[list[Hit]]:
        snapshot = self._current(db)
        found = pages(db, snapshot, self._asked(db, snapshot, queries, options.mode), options)
        origins = [
            page.origin(query, options.mode, snapshot.generation) for query, page in zip(queries, found, strict=True)
        ]
        answers = make_hits(db, queries, [page.ranked for page in found], context=options.context, origins=origins)
        for hits in answers:
            for hit in hits:
                hit.found_by(self._finder)
        return answers

    def _candidates(self, options: SearchOptions) -> SearchOptions:
        """The options with a k that gives a reranker enough hits to choose from."""
        if self._reranker is None:
            return options
        return replace(options, k=max(options.k, tuning.TUNING.reranked), min_score=None)

    def _reranked(self, queries: Sequence[str], answers: list[list[Hit]], options: SearchOptions) -> list[list[Hit]]:
        if self._reranker is None:
            return answers
        from semsearch.search.reranking import rerank  # start-up time: most searches have none

        better = [rerank(self._reranker, query, hits, options) for query, hits in zip(queries, answers, strict=True)]
        for hits in better:
            for hit in hits:
                hit.found_by(self._finder)
        return better

    def _current(self, db: sqlite3.Connection) -> Snapshot:
        """The generation that a transaction sees; where it is an old one, this thread's alone."""
        generation = get_count(db, "generation")
        with self._opening:
            newest = self._snapshot
            if newest is not None and newest.generation == generation:
                return newest
            opened = Snapshot(db, self._store.folder, newest)
            if newest is None or newest.generation < generation:
                self._snapshot = opened
            return opened

    def _asked(self, db: sqlite3.Connection, snapshot: Snapshot, queries: Sequence[str], mode: Mode) -> list[Query]:
        terms = of_questions(queries)
        vectors = None if mode == "lexical" else self._embed(db, snapshot, queries, terms, mode)
        return [
            Query(
                query,
                None if vectors is None or not vectors[number].any() else vectors[number],
                None if mode == "dense" else terms[number],
            )
            for number, query in enumerate(queries)
        ]

    def _embed(
        self, db: sqlite3.Connection, snapshot: Snapshot, queries: Sequence[str], terms: Sequence[UInt64], mode: Mode
    ) -> Float32 | None:
        """The queries' vectors (q, d + k), of their texts and their terms; None where nothing is indexed."""
        embedder = snapshot.embedder(db, self._vectors)
        if embedder is None:
            return None
        vectors = embedder.transform(queries)
        if snapshot.topics is not None and len(queries):
            vectors = join(vectors, snapshot.topics.of_each(terms))
        for query, vector in zip(queries, vectors, strict=True):
            if not vector.any():
                instead = "only its words were looked for" if mode == "hybrid" else "nothing can be found"
                logger.warning("no word of %r is among the word vectors: %s", query, instead)
        return vectors


def _beside(db: sqlite3.Connection, hit: Hit) -> Beside:
    spans = get_spans(db, np.array([hit.passage_id], dtype=np.int64))
    return Beside(spans.before, spans.after)


def _check(queries: Sequence[str]) -> None:
    for query in queries:
        if not isinstance(query, str) or not words(query):
            raise UsageError(f"the query {query!r} has no words; ask with at least one")


def _ask_like(subject: Subject, snapshot: Snapshot, mode: Mode) -> Query:
    """Passages as a question: the direction of the sum of their unit vectors, and the words that say most of them."""
    vector = None
    if mode != "lexical":
        vector = snapshot.halves.direction(snapshot.vectors("passage", subject.ids))
        if not vector.any():
            vector = None
            logger.warning("no word of %s is among the word vectors: its meaning was not looked for", subject.name)
    telling = None
    if mode != "dense":
        telling = snapshot.words.telling(subject.headings, subject.texts, tuning.TUNING.telling_terms)
    return Query("\n".join(subject.texts), vector, telling, subject.hidden, near=0.0)
