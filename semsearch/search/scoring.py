"""Score candidates by both retrievers: a passage that one found is scored by the other too.

dense     finds the best passages by cosine; score: weighted mean of the cosines of the passage, its best sentence,
          its document's title and, where the index has them, its topics (semsearch.topics.topic_model)
lexical   finds the best passages by BM25, words in title and headings counting double; score: BM25 with the passages
          before and after, whose words count half

The candidates of all queries are in one pool, visited in the order of the passages: those of a thousand queries are a
few thousand passages, each of which is read and decoded once.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt

from semsearch.arrays.id_ranges import are_new, distinct
from semsearch.arrays.types import Bool, Float32, Float64, Int64
from semsearch.frozen import dataclass
from semsearch.lexical.bm25 import NeighbourFlags, WordScores
from semsearch.search.document_support import Owners
from semsearch.search.index_reader import IndexReader
from semsearch.storage.catalogue import SentenceSpans
from semsearch.text.languages import ENGLISH
from semsearch.topics.topic_model import combined

if TYPE_CHECKING:
    import sqlite3

    from semsearch.dense.stored_vectors import StoredVectors
    from semsearch.search.on_demand_vectors import TitleVectors
    from semsearch.search.query import FindNames

# -- The pool of candidates --------------------------------------------------------------------------------------------

Number = TypeVar("Number", np.int64, np.float64)


@dataclass(frozen=True, slots=True)
class Pool:
    """Pairs of a query and a passage: those of one query stand together, with rising ids of passages."""

    ids: Int64  # (p,) of the passages
    owners: Int64  # (p,) index of the query
    bounds: Int64  # (q + 1,) query i has the pairs bounds[i] to bounds[i + 1]

    @classmethod
    def of(cls, found: Sequence[Int64]) -> Pool:
        """Build from the ids found for each query; an id counts once for a query."""
        ids = np.concatenate([np.zeros(0, dtype=np.int64), *found])
        span = int(ids.max(initial=0)) + 1
        keys = distinct(np.repeat(np.arange(len(found)) * span, [len(each) for each in found]) + ids)
        owners = keys // span
        return cls(keys - owners * span, owners, np.searchsorted(owners, np.arange(len(found) + 1)))

    @property
    def slices(self) -> Iterator[slice]:
        """The slice of each query's pairs."""
        edges = self.bounds.tolist()
        return map(slice, edges[:-1], edges[1:])

    def largest(self, values: Float64, *, least: float) -> Float64:
        """The largest value of each query, ignoring NaN; `least` if none is larger. (p,) -> (q,)"""
        result = np.full(len(self.bounds) - 1, least)
        having = np.flatnonzero(self.bounds[1:] > self.bounds[:-1])
        if len(having):
            result[having] = np.fmax(np.fmax.reduceat(values, self.bounds[having]), least)
        return result

    def by_passage(self) -> PairGroups:
        """Group the pairs by their passages."""
        order = np.argsort(self.ids, kind="stable")
        rising = self.ids[order]
        is_new = are_new(rising)
        return PairGroups(rising[is_new], order, np.cumsum(is_new) - 1)


@dataclass(frozen=True, slots=True)
class PairGroups:
    """The pairs of a pool, grouped by their passages."""

    ids: Int64  # (u,) different ones, rising
    order: Int64  # (p,) positions in the pool
    which: Int64  # (p,) for each pair in that order, the index of its passage among the ids

    def parts(self, sizes: Int64, most: int) -> Iterator[tuple[slice, slice]]:
        """Divide the passages into parts whose sizes (u,) sum to about `most`: slices of the ids, and of the order."""
        groups = np.cumsum(sizes) // most
        starts = np.flatnonzero(are_new(groups))
        pairs = np.searchsorted(self.which, starts).tolist()
        edges, ends = [*starts.tolist(), len(sizes)], [*pairs, len(self.which)]
        return zip(map(slice, edges, edges[1:]), map(slice, ends, ends[1:]), strict=False)

    def to_pool(self, values: npt.NDArray[Number]) -> npt.NDArray[Number]:
        """Spread a value of each passage over all pairs of the pool that have it. (u,) -> (p,)"""
        result = np.empty(len(self.order), dtype=values.dtype)
        result[self.order] = values[self.which]
        return result


# -- Scores of both retrievers -----------------------------------------------------------------------------------------


_AT_ONCE = 4096  # stored vectors that are decoded at a time: a few megabytes


@dataclass(frozen=True, slots=True)
class Candidates:
    """A pool of candidates with both scores (p,), NaN where one is not known, and best sentences (p,) or -1."""

    pool: Pool
    groups: PairGroups
    dense: Float64
    lexical: Float64
    best: Int64
    whole: Bool  # (p,) whether the passage has all words of a lexical query
    other: Bool | None  # (p,) whether the passage is in another language than the query; None if all are in one
    general: Float64  # (p,) the dense scores without topics, where there are several languages; else the same
    owners: Owners  # of the groups' passages
    stored: StoredVectors | None  # the vectors of the groups' passages, where these are few


class _Spans(NamedTuple):
    """The sentences of some passages: the id of the first, and how many there are. (p,) each"""

    firsts: Int64
    counts: Int64


def score(
    db: sqlite3.Connection,
    reader: IndexReader,
    found: Sequence[Int64],
    queries: Sequence[Float32 | None],
    words: Sequence[WordScores | None],
    titles: TitleVectors | None = None,
    languages: Sequence[str | None] = (),
    names: Sequence[FindNames | None] = (),
) -> Candidates:
    """Score the passages found for each of q queries, given by their ids, by its vector and its words.

    None stands for a retriever that is not used, or that knows no word of a query. `titles`: the vectors of documents'
    titles, None if they do not count. `languages`: of the queries, if there are several;
    `names`: finds those of their words that count where the passage is in another language.
    """
    pool = Pool.of(found)
    groups = pool.by_passage()
    spans = reader.read_rows.spans(db, groups.ids)
    other = _in_other_languages(db, reader, pool, groups, spans.documents, languages) if any(languages) else None
    other = other if other is not None and other.any() else None  # as for most questions
    lexical, whole = np.full(len(pool.ids), np.nan), np.zeros(len(pool.ids), dtype=np.bool_)
    lengths = np.full(len(groups.ids), np.nan)
    if any(each is not None for each in words):
        which = groups.to_pool(np.arange(len(groups.ids)))
        rows = reader.lexical.locate(groups.ids, NeighbourFlags(spans.before, spans.after))
        lengths = rows.own
        for own, pairs in zip(words, pool.slices, strict=True):
            if own is not None:
                lexical[pairs], whole[pairs] = own.scored(rows.of(which[pairs]))
        for find, pairs in zip(names, pool.slices, strict=False) if other is not None else ():
            if other is not None and other[pairs].any() and find is not None and (own := find()) is not None:
                lexical[pairs] = np.where(other[pairs], own.scored(rows.of(which[pairs]))[0], lexical[pairs])
    dense, best = np.full(len(pool.ids), np.nan), np.full(len(pool.ids), -1)
    general = dense
    stored: StoredVectors | None = None
    having = [query for query in queries if query is not None]
    if having:
        nothing = np.zeros_like(having[0])
        vectors = np.stack([nothing if query is None else query for query in queries])
        documents = None if titles is None else titles.of(db, spans.documents)
        general = dense if other is None else dense.copy()
        found_dense, stored = _dense(db, reader, groups, pool.owners[groups.order], spans, vectors, documents, other)
        dense[groups.order], general[groups.order], best[groups.order] = found_dense
    return Candidates(
        pool,
        groups,
        dense,
        lexical,
        best,
        whole,
        other,
        general,
        Owners(spans.documents, spans.passages, spans.below_heading, spans.code, lengths),
        stored,
    )


def _in_other_languages(
    db: sqlite3.Connection,
    reader: IndexReader,
    pool: Pool,
    groups: PairGroups,
    documents: Int64,
    languages: Sequence[str | None],
) -> Bool:
    """Whether each pair's passage is in another language than its query. `documents`: of the groups' passages. (p,)"""
    codes = {
        code: number for number, code in enumerate(dict.fromkeys([ENGLISH, *(each or ENGLISH for each in languages)]))
    }
    of_passages = np.array([codes.get(code, -1) for code in reader.languages_of(db, documents)], dtype=np.int64)
    of_queries = np.array([codes[each or ENGLISH] for each in languages], dtype=np.int64)
    return np.asarray(groups.to_pool(of_passages) != of_queries[pool.owners])


def feedback_scores(
    reader: IndexReader,
    pool: Pool,
    feedback: Sequence[Int64],
    *,
    groups: PairGroups | None = None,
    stored: StoredVectors | None = None,
) -> Float64:
    """The mean inner product of each passage's vector with those of its query's feedback passages. (p,), q arrays

    -> (p,), 0 for a passage without a vector. `groups`: the pool's, if they have been made already; `stored`: their
    passages' vectors, if these have been read.
    """
    groups = groups or pool.by_passage()
    counts, models = np.array([len(ids) for ids in feedback]), np.concatenate(feedback)
    own = reader.stored("passage", models) if stored is None else stored.at(groups.ids.searchsorted(models))
    own = own.by_position()
    if not len(own.rows):
        return np.zeros(len(pool.ids))
    means: Float32 = np.zeros((len(feedback), own.rows.shape[1]), dtype=np.float32)
    np.add.at(means, np.repeat(np.arange(len(feedback)), counts)[own.positions], own.rows)
    means /= np.maximum(counts, 1).astype(np.float32)[:, None]
    near, owners = np.zeros(len(pool.ids)), pool.owners[groups.order]
    for passages, pairs in groups.parts(np.ones(len(groups.ids), dtype=np.int64), _AT_ONCE):
        each = stored if stored is not None else reader.stored("passage", groups.ids[passages])
        near[groups.order[pairs]] = each.cosines(means, owners[pairs], groups.which[pairs] - passages.start)
    near[np.isnan(near)] = 0
    return near


def _dense(
    db: sqlite3.Connection,
    reader: IndexReader,
    groups: PairGroups,
    owners: Int64,
    spans: SentenceSpans,
    queries: Float32,
    titles: StoredVectors | None,
    other: Bool | None,
) -> tuple[tuple[Float64, Float64, Int64], StoredVectors | None]:
    """The dense score of each pair of a query (q, d + k) and a passage, the same without topics if there are several
    languages, and its best sentence or -1; and the passages' vectors, if they are few. (p,), (p,), (p,)

    Pairs are in the order of the groups; `owners`: the query of each; `titles`: the vectors of the passages' titles.
    `other`: the pairs of the pool in two languages, whose topics say nothing.
    """
    dense, best = np.full(len(owners), np.nan), np.full(len(owners), -1)
    without = dense if other is None else dense.copy()
    counts = np.maximum(spans.counts, 0)
    parts, halves = groups.parts(counts + 1, _AT_ONCE), reader.halves
    general, topics = halves.of(queries)
    stored: StoredVectors | None = None
    for passages, pairs in parts:
        asking, which = owners[pairs], groups.which[pairs] - passages.start
        stored = reader.stored("passage", groups.ids[passages])
        words, subjects = map(stored.with_rows, halves.of(stored.rows))
        whole = words.cosines(general, asking, which)
        about = subjects.cosines(topics, asking, which)
        own = _Spans(spans.firsts[passages], counts[passages])
        sentences = reader.sentences(db, groups.ids[passages], own)
        top, number = _best_sentences(sentences, own.counts, general, asking, which)
        title = np.full(len(which), np.nan) if titles is None else titles.cosines(general, asking, groups.which[pairs])
        rest = whole, *(np.where(np.isnan(whole), np.nan, each) for each in (top, title))
        if other is not None:
            about[other[groups.order[pairs]]] = np.nan
            without[pairs] = combined(np.full(len(which), np.nan), *rest)
        dense[pairs] = combined(about, *rest)
        best[pairs] = np.where(np.isnan(whole), -1, number)
    is_whole = stored is not None and stored.n == len(groups.ids)  # of one query it is, of many there are parts
    return (dense, without, best), stored if is_whole else None


def _best_sentences(
    stored: StoredVectors, counts: Int64, queries: Float32, owners: Int64, which: Int64
) -> tuple[Float64, Int64]:
    """The best cosine of a query with a passage's sentences and its sentence's number, of equals the first. (p,), (p,)

    Passages are given by the vectors of all their sentences and the number of each's (u,), pairs by the indices of
    query and passage (p,). 0 and -1 for a passage without sentences.
    """
    begins = np.cumsum(counts) - counts
    lengths = counts[which]
    starts = np.cumsum(lengths) - lengths
    pairs = np.repeat(np.arange(len(which)), lengths)
    within = np.arange(len(pairs)) - starts[pairs]
    cosines = stored.cosines(queries, owners[pairs], begins[which][pairs] + within)
    cosines[np.isnan(cosines)] = 0
    top, best, filled = np.zeros(len(which)), np.full(len(which), -1), np.flatnonzero(lengths)
    if len(filled):
        top[filled] = np.maximum.reduceat(cosines, starts[filled])
    equal = np.flatnonzero(cosines == top[pairs])[::-1]  # backwards, so that the first of equals stays
    best[pairs[equal]] = within[equal]
    return top, best
