"""The read path: a question to hits, in one read transaction.

question ─ embed ─ scan passages ┐
                                 ├─ score each by both ─ fuse ─ fold what says the same ─ the best k ─ rows ─ hits
question ─ BM25 ─────────────────┘

Instead of a question, passages of the index may be given: then their own vectors stand for the embedded question, and
the words that say most about them for its words.
"""

from __future__ import annotations

import logging
import sqlite3
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, SupportsFloat, SupportsIndex, TypeVar, get_args

import numpy as np
import numpy.typing as npt

from semsearch.answers import Ranked, folded, make_hits
from semsearch.candidates import Candidates, nearness, score
from semsearch.errors import IndexDamaged, UsageError, rebuild_command
from semsearch.fusion import MODELS, NEAR_WEIGHT, Weights, fuse, weights_of
from semsearch.hits import Context, Hit, Mode
from semsearch.joint import join
from semsearch.rows import get_count, get_passages, get_spans
from semsearch.runs import Runs, distinct
from semsearch.snapshot import Snapshot
from semsearch.store import Store
from semsearch.terms import of_questions
from semsearch.tokens import UInt64, words
from semsearch.vectors.table import WordVectors
from semsearch.words import Beside

if TYPE_CHECKING:
    from semsearch.explaining import Explainer
    from semsearch.explanation import Explanation
    from semsearch.filters import Filter
    from semsearch.similar import Subject

logger = logging.getLogger(__name__)
Float32 = npt.NDArray[np.float32]
Float64 = npt.NDArray[np.float64]
Int64 = npt.NDArray[np.int64]
Result = TypeVar("Result")

DEPTH = 50  # passages that each half hands on to be scored by both; 300 gave the same ranking
_DEPTH_PER_HIT = 5  # and for each hit asked for
_DEEPER = 8  # times as many, where so many say the same that the page is not full
_DEEPEST = 3000  # from here on a short page is better than a slow one
_FEW = 2000  # allowed passages that are all scored, without a scan
_TELLING = 20  # terms that stand for a passage, or a document, where words like its own are looked for
_ATTEMPTS = 3
_ALONE: dict[Mode, Weights] = {"dense": Weights(1.0, 0.0), "lexical": Weights(0.0, 1.0)}


@dataclass(frozen=True, slots=True)
class Wish:
    """What kind of answer is wanted, checked. Raises UsageError where it cannot be meant."""

    k: int = 10
    mode: Mode = "hybrid"
    min_score: float | None = None
    filters: tuple[Filter, ...] = ()
    context: int = 0
    duplicates: bool = False  # show also what says the same as a better one

    def __post_init__(self) -> None:
        for name, number in (("k", self.k), ("context", self.context)):
            if not isinstance(number, SupportsIndex):
                raise UsageError(f"{name} must be a whole number, not {number!r}")
        if self.k < 1:
            raise UsageError(f"k must be at least 1, not {self.k}")
        if self.context < 0:
            raise UsageError(f"context must not be negative, not {self.context}")
        if self.min_score is not None and not (
            isinstance(self.min_score, SupportsFloat) and self.min_score == self.min_score
        ):
            raise UsageError(f"min_score must be a number, not {self.min_score!r}")
        if self.mode not in get_args(Mode):
            raise UsageError(f"there is no mode {self.mode!r}; expected one of {', '.join(get_args(Mode))}")


@dataclass(frozen=True, slots=True)
class Asked:
    """One question as both halves take it; None for a half that is not asked, or that knows no word of it."""

    text: str
    vector: Float32 | None  # (d,), or (d + k,) where the index has topics
    terms: UInt64 | None  # what BM25 looks for, repetitions included
    hidden: Int64 = field(default_factory=lambda: np.zeros(0, np.int64))  # passages that must not answer
    near: float = NEAR_WEIGHT  # how much it counts to be near what answers best


@dataclass(frozen=True, slots=True)
class Page:
    """The passages of an answer, best first, and how their scores became one."""

    ranked: list[Ranked]
    weights: Weights
    models: Int64  # the passages that others are near to, if that counts


@dataclass(frozen=True, slots=True)
class Origin:
    """The answer that a hit is from: its question, the generation that was asked, and how scores were weighed."""

    query: str
    mode: Mode
    generation: int
    weights: Weights
    models: Int64


class Searcher:
    """Answers questions about one index. Keeps the newest generation open between them."""

    def __init__(self, store: Store, vectors: Callable[[], WordVectors]) -> None:
        self._store = store
        self._vectors = vectors
        self._snapshot: Snapshot | None = None
        self._explainer: Explainer | None = None  # of the last question: what is explained are several of its hits

    def search(self, queries: Sequence[str], wish: Wish) -> list[list[Hit]]:
        """Hits for each query, best first. Raises UsageError for a query without words."""
        _check(queries)
        return self._reading(lambda db: self._search(db, queries, wish))

    def similar(self, like: Hit | str, line: int | None, wish: Wish) -> list[Hit]:
        """Passages like that of a hit, like the one at a line of a document, or like a whole document, best first."""
        from semsearch.similar import find_subject  # start-up time: a search needs none of it

        def find(db: sqlite3.Connection) -> list[Hit]:
            snapshot = self._current(db)
            asked = _ask_like(find_subject(db, like, line), snapshot, wish.mode)
            (page,) = _pages(db, snapshot, [asked], wish)
            return make_hits(db, asked.text, page.ranked, context=wish.context)

        return self._reading(find)

    def context(self, query: str, wish: Wish, *, max_words: int) -> Context:
        """The best passages within so many words, with the sentences before and after that they lean on."""
        from semsearch.context import assemble  # start-up time: a search needs none of it

        _check([query])

        def gather(db: sqlite3.Connection) -> Context:
            (hits,) = self._search(db, [query], wish)
            near = {hit.passage_id + step for hit in hits for step in (-1, 0, 1)}
            return assemble(hits, get_passages(db, near), max_words=max_words)

        return self._reading(gather)

    def explain(self, query: str, hit: Hit, mode: Mode) -> Explanation:
        """Why the passage of a hit has the score that it has when all passages are asked this question."""
        _check([query])
        Wish(mode=mode)

        def explain(db: sqlite3.Connection) -> Explanation:
            passage = get_passages(db, [hit.passage_id]).get(hit.passage_id)
            if passage is None or passage.text != hit.passage:
                raise UsageError(f"the passage of that hit in {hit.path} is no longer in the index; search again")
            snapshot = self._current(db)
            (asked,) = self._asked(db, snapshot, [query], mode)
            lexical = None if asked.terms is None else snapshot.words.scores(asked.terms)
            found = score(db, snapshot, np.array([passage.id], dtype=np.int64), asked.vector, lexical)
            shown, best = hit, int(found.best[0])
            if best >= 0:
                shown = replace(hit, sentence=passage.sentence(best), sentence_id=passage.first_sentence + best)
            (page,) = _pages(db, snapshot, [asked], Wish(mode=mode, duplicates=True))
            return self._explaining(db, query, mode).explain(shown, page.weights, page.models, _beside(db, shown))

        return self._reading(explain)

    def _explain(self, origin: Origin, hit: Hit) -> Explanation:
        """Why a hit has the score that it has."""

        def explain(db: sqlite3.Connection) -> Explanation:
            if get_count(db, "generation") != origin.generation:
                raise UsageError(f"the index has changed since it found that hit in {hit.path}; search again")
            explainer = self._explaining(db, origin.query, origin.mode)
            return explainer.explain(hit, origin.weights, origin.models, _beside(db, hit))

        return self._reading(explain)

    def _explaining(self, db: sqlite3.Connection, query: str, mode: Mode) -> Explainer:
        from semsearch.explaining import Explainer  # start-up time: a search needs none of it

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
                self._snapshot, self._explainer, missing = None, None, error
        cure = rebuild_command(self._store.folder)
        raise IndexDamaged(f"{missing.filename} is missing; run: {cure}") from missing

    def _search(self, db: sqlite3.Connection, queries: Sequence[str], wish: Wish) -> list[list[Hit]]:
        snapshot = self._current(db)
        pages = _pages(db, snapshot, self._asked(db, snapshot, queries, wish.mode), wish)
        answers = [
            make_hits(db, query, page.ranked, context=wish.context) for query, page in zip(queries, pages, strict=True)
        ]
        for query, page, hits in zip(queries, pages, answers, strict=True):
            origin = Origin(query, wish.mode, snapshot.generation, page.weights, page.models)
            for hit in hits:
                hit.bind(partial(self._explain, origin))
        return answers

    def _current(self, db: sqlite3.Connection) -> Snapshot:
        if self._snapshot is None or self._snapshot.generation != get_count(db, "generation"):
            self._snapshot = Snapshot(db, self._store.folder, self._snapshot)
        return self._snapshot

    def _asked(self, db: sqlite3.Connection, snapshot: Snapshot, queries: Sequence[str], mode: Mode) -> list[Asked]:
        terms = of_questions(queries)
        vectors = None if mode == "lexical" else self._embed(db, snapshot, queries, terms, mode)
        return [
            Asked(
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
            vectors = join(vectors, np.stack([snapshot.topics.of_terms(each) for each in terms]))
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


def _ask_like(subject: Subject, snapshot: Snapshot, mode: Mode) -> Asked:
    """Passages as a question: the direction of the sum of their unit vectors, and the words that say most of them."""
    vector = None
    if mode != "lexical":
        vector = snapshot.halves.direction(snapshot.vectors("passage", subject.ids))
        if not vector.any():
            vector = None
            logger.warning("no word of %s is among the word vectors: its meaning was not looked for", subject.name)
    telling = None
    if mode != "dense":
        telling = snapshot.words.telling(subject.headings, subject.texts, _TELLING)
    return Asked("\n".join(subject.texts), vector, telling, subject.hidden, near=0.0)


def _pages(db: sqlite3.Connection, snapshot: Snapshot, asked: Sequence[Asked], wish: Wish) -> list[Page]:
    allowed = _allowed(db, wish.filters) if wish.filters else None
    depth = max(DEPTH, _DEPTH_PER_HIT * wish.k)
    found = _scan(snapshot, asked, depth, allowed)
    return [_page(db, snapshot, each, wish, allowed, ids) for each, ids in zip(asked, found, strict=True)]


def _page(
    db: sqlite3.Connection, snapshot: Snapshot, asked: Asked, wish: Wish, allowed: Runs | None, found: Int64
) -> Page:
    """The best k, those that say the same as one. `found` is what meaning finds at the usual depth; (n,)

    Where so many say the same that there are fewer than k, it looks deeper, until it is enough or there is no more.
    """
    depth, before = max(DEPTH, _DEPTH_PER_HIT * wish.k), 0
    lexical = None if asked.terms is None else snapshot.words.scores(asked.terms)
    while True:
        if lexical is not None:
            found = np.concatenate((found, lexical.best(depth + len(asked.hidden), allowed=allowed)))
        candidates = score(db, snapshot, _without(found, asked.hidden), asked.vector, lexical)
        weights = _ALONE.get(wish.mode) or weights_of(candidates.dense, candidates.lexical, near=asked.near)
        scores = fuse(candidates.dense, candidates.lexical, weights)
        models = candidates.ids[_order(scores, None)[: MODELS if weights.near else 0]]
        if len(models):
            scores = scores + weights.near * nearness(candidates.stored, snapshot.stored("passage", models))
        order = _order(scores, wish.min_score)
        if wish.duplicates:
            return Page([_ranked(candidates, scores, [place]) for place in order[: wish.k].tolist()], weights, models)
        groups = folded(db, candidates.ids[order].tolist(), wish.k)
        if len(groups) >= wish.k or len(order) < wish.k or depth >= _DEEPEST or len(candidates.ids) == before:
            ranked = [_ranked(candidates, scores, order[group].tolist()) for group in groups[: wish.k]]
            return Page(ranked, weights, models)
        depth, before = depth * _DEEPER, len(candidates.ids)
        (found,) = _scan(snapshot, [asked], depth, allowed)


def _scan(snapshot: Snapshot, asked: Sequence[Asked], depth: int, allowed: Runs | None) -> list[Int64]:
    """The passages that meaning finds for each question; where few are allowed, simply these. q arrays (n,)"""
    found: list[Int64] = [np.zeros(0, np.int64)] * len(asked)
    having = [number for number, each in enumerate(asked) if each.vector is not None]
    if not having:
        return found
    if allowed is not None and len(allowed) <= _FEW:
        rows = [allowed.all_ids()] * len(having)
    else:
        queries = np.stack([each.vector for each in asked if each.vector is not None])
        depth += max(len(each.hidden) for each in asked)
        rows = [ids[ids >= 0] for ids in snapshot.scan(queries, depth, allowed=allowed).ids]
    for number, ids in zip(having, rows, strict=True):
        found[number] = ids
    return found


def _without(found: Int64, hidden: Int64) -> Int64:
    """The different passages that were found, rising, but for those that must not answer."""
    ids = distinct(found)
    return ids[~np.isin(ids, hidden)] if len(hidden) else ids


def _order(scores: Float64, min_score: float | None) -> Int64:
    """The places of what answers, best first, equal ones in the order of the index. (n,) -> (≤ n,)"""
    least = -np.inf if min_score is None else min_score
    order = np.argsort(-np.nan_to_num(scores, nan=-np.inf), kind="stable")
    return order[scores[order] >= least]  # never true of NaN


def _ranked(candidates: Candidates, scores: Float64, places: Sequence[int]) -> Ranked:
    """The passage at the first place, with those at the others as its duplicates."""
    place = places[0]
    return Ranked(
        int(candidates.ids[place]),
        float(scores[place]),
        _number(candidates.dense[place]),
        _number(candidates.lexical[place]),
        int(candidates.best[place]),
        tuple(candidates.ids[list(places[1:])].tolist()) if places[1:] else (),
    )


def _number(value: float) -> float | None:
    return None if np.isnan(value) else float(value)


def _allowed(db: sqlite3.Connection, filters: Sequence[Filter]) -> Runs:
    """The ids of the passages whose documents pass all filters."""
    from semsearch.filters import FUNCTIONS, condition  # start-up time: most searches have none

    for name, (arguments, function) in FUNCTIONS.items():
        db.create_function(name, arguments, function, deterministic=True)
    where = condition(filters, here=Path.cwd().as_posix())
    ranges = "SELECT first_passage, passages FROM documents LEFT JOIN roots ON roots.id = documents.root_id WHERE "
    return Runs.of(db.execute(ranges + where.sql, where.parameters))  # the SQL is ours, what was typed is in parameters
