"""The scores of candidates: dense, lexical, fused into one; and the probability that a passage answers.

The pool of candidates. The candidates of several queries in one array, so that a passage that many queries share
is
read once.

The candidates of a thousand queries are a few thousand passages, each of which is read and decoded one time. To
this
end the pairs of a query and a passage are visited in the order of the passages.

Fusion. Fuse the two scores of each candidate, one by meaning and one by words, into one score. Pure.

The cosine is kept as it is; BM25, which has no scale of its own, is divided by the best one for the query.
Measured on
seven collections against ranks (reciprocal rank fusion), z-scores and both halves over their best: as good as the
best
of these, and the cosine's part does not depend on the other candidates. docs/research/measurements.md has the
table.
Cosines are seldom near one: with seven tenths of the weight, the two parts move a score about as much.

A third part favours candidates near the best passage: the cosine with the first of the ranking so far. It is
feedback
(Rocchio 1971) without a second search: moving the query towards that passage would add the same numbers to all
scores,
up to a factor.

Relevance: the probability of an answer. How likely a passage answers: a probability, learned from the judged
questions
of several collections.

    P(answers) = 1 / (1 + exp(-(b + c · cosine + w · covered)))

The cosine is that of the dense score; `covered` is the share of the query's words that the passage and its
neighbours
have, by their idf. Both mean the same for any query, which the score of a hit does not: its words are divided by
the
best passage's. More features, and trees in place of the sum, were no better on collections that they had not seen.
docs/research/measurements.md has how well it is calibrated there.

Scores of both retrievers. Score candidates by both halves: a passage that one half found is scored by the other
too.

dense     finds the best passages by cosine; score: weighted mean of the cosines of the passage, its best sentence,
          its document's title and, where the index has them, its topics (semsearch.topics.joined)
lexical   finds the best passages by BM25, words in title and headings counting double; score: BM25 with the
passages
          before and after, whose words count half
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt

from semsearch import tuning
from semsearch.arrays.id_ranges import are_new, distinct
from semsearch.arrays.types import Float32, Float64, Int64
from semsearch.lexical.bm25 import NeighbourFlags, WordScores
from semsearch.results.hits import FLOOR
from semsearch.results.options import Weights
from semsearch.search.index_reader import IndexReader
from semsearch.storage.catalogue import SentenceSpans, get_spans
from semsearch.topics.topic_model import combined

if TYPE_CHECKING:
    import sqlite3

    from semsearch.dense.stored_vectors import StoredVectors
    from semsearch.search.on_demand_vectors import TitleVectors

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


# -- Fusion ------------------------------------------------------------------------------------------------------------


def weigh(*, is_dense: bool, best: float, near: float = 0.0, known: float = 1.0) -> Weights:
    """Choose the weights of the parts of a score. Where one half scores no candidate, the other decides alone.

    `is_dense`: whether any candidate has a dense score; `best`: the best BM25, 0 where no candidate shares a word;
    `near`: the weight of nearness, which counts only where both halves score candidates; `known`: the share of the
    query's words that the word vectors know.
    """
    if best <= 0:
        return Weights(1.0, 0.0)
    if not is_dense:
        return Weights(0.0, 1.0, best)
    dense = dense_weight(known)
    return Weights((1 - near) * dense, (1 - near) * (1 - dense), best, near)


def dense_weight(known: float) -> float:
    """The weight of meaning: less where the word vectors know few of the query's words, as in another language.

    What they know nothing of is guessed from its pieces, or not compared; topics still know the corpus's own words.
    """
    tuned = tuning.TUNING
    share = max(0.0, (known - tuned.known_least) / (1 - tuned.known_least))
    return share * tuned.dense_weight + (1 - share) * tuned.dense_weight_unknown


def weights_of(dense: Float64, lexical: Float64, *, near: float = 0.0) -> Weights:
    """Choose the weights for candidates with these scores, NaN where a half has none. (n,), (n,)"""
    return weigh(is_dense=not np.isnan(dense).all(), best=float(np.nanmax(lexical, initial=0.0)), near=near)


def fuse(dense: Float64, lexical: Float64, weights: Weights | None = None) -> Float64:
    """Fuse scores: w · cosine + (1 - w) · BM25 / best BM25. NaN is a score that is not known. (n,), (n,) -> (n,)

    Where one half scores no candidate, the other decides alone. Other weights may be given.
    """
    return fuse_each(dense, lexical, [weights or weights_of(dense, lexical)], np.zeros(len(dense), dtype=np.intp))


def fuse_each(dense: Float64, lexical: Float64, weights: Sequence[Weights], owners: npt.NDArray[np.intp]) -> Float64:
    """Fuse the scores of several queries' candidates; `owners`: each candidate's query. (p,), (p,), q weights, (p,)"""
    table = np.array([(each.dense, each.lexical, each.best) for each in weights], dtype=np.float64).reshape(-1, 3)
    of_dense, of_lexical, best = table[owners].T
    unknown = np.isnan(dense), np.isnan(lexical)
    fused = of_dense * np.where(unknown[0], 0, dense) + of_lexical * (np.where(unknown[1], 0, lexical) / best)
    return np.asarray(np.where(unknown[0] & unknown[1], np.nan, fused))


# -- Relevance: the probability of an answer ---------------------------------------------------------------------------

_DOUBTFUL = 0.01, FLOOR  # without topics, where the cosine knows less, too many that answer lie between
_DIGITS = 4  # what is beyond them is noise, and long in JSON


def relevance(cosine: Float64, covered: Float64) -> Float64:
    """How likely passages answer, 0 to 1; NaN where either is not known. (n,), (n,) -> (n,)"""
    tuned = tuning.TUNING
    logits = tuned.relevance_bias + tuned.relevance_of_cosine * cosine + tuned.relevance_of_words * covered
    return np.asarray(np.round(1 / (1 + np.exp(-logits)), _DIGITS))


def beyond_doubt(values: Float64) -> Float64:
    """How likely passages answer, NaN where that is doubtful if their index has no topics. (n,) -> (n,)"""
    least, most = _DOUBTFUL
    return np.where((values >= least) & (values < most), np.nan, values)


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
    covered: Float64  # (p,) the share of the query's words that are there, by their idf; NaN if words are not asked


class _Spans(NamedTuple):
    """The sentences of some passages: the id of the first, and how many there are. (p,) each"""

    firsts: Int64
    counts: Int64


def score(
    db: sqlite3.Connection,
    reader: IndexReader,
    pool: Pool,
    queries: Sequence[Float32 | None],
    words: Sequence[WordScores | None],
    titles: TitleVectors | None = None,
) -> Candidates:
    """Score the passages of a pool by both halves of q queries: their vectors, and their words.

    None stands for a half that is not asked, or that knows no word of a query. `titles`: by which the titles of
    documents are compared, None if they do not count.
    """
    groups = pool.by_passage()
    spans = get_spans(db, groups.ids)
    lexical, covered = np.full(len(pool.ids), np.nan), np.full(len(pool.ids), np.nan)
    if any(each is not None for each in words):
        rows = reader.lexical.locate(groups.ids, NeighbourFlags(spans.before, spans.after))
        which = groups.to_pool(np.arange(len(groups.ids)))
        for own, pairs in zip(words, pool.slices, strict=True):
            if own is not None:
                found = own.scored(rows.of(which[pairs]))
                lexical[pairs], covered[pairs] = found.scores, found.covered
    dense, best = np.full(len(pool.ids), np.nan), np.full(len(pool.ids), -1)
    having = [query for query in queries if query is not None]
    if having:
        nothing = np.zeros_like(having[0])
        vectors = np.stack([nothing if query is None else query for query in queries])
        documents = None if titles is None else titles.of(db, spans.documents)
        dense[groups.order], best[groups.order] = _meaning(
            db, reader, groups, pool.owners[groups.order], spans, vectors, documents
        )
    return Candidates(pool, groups, dense, lexical, best, covered)


def nearness(reader: IndexReader, pool: Pool, models: Sequence[Int64], *, groups: PairGroups | None = None) -> Float64:
    """The mean inner product of each passage's vector with those of its query's models. (p,), q arrays -> (p,)

    0 for a passage without a vector. `groups`: the pool's, if they have been made already.
    """
    groups = groups or pool.by_passage()
    counts = np.array([len(ids) for ids in models])
    stored = reader.stored("passage", np.concatenate(models))
    if not len(stored.rows):
        return np.zeros(len(pool.ids))
    means: Float32 = np.zeros((len(models), stored.rows.shape[1]), dtype=np.float32)
    np.add.at(means, np.repeat(np.arange(len(models)), counts)[stored.positions], stored.rows)
    means /= np.maximum(counts, 1).astype(np.float32)[:, None]
    near, owners = np.zeros(len(pool.ids)), pool.owners[groups.order]
    for passages, pairs in groups.parts(np.ones(len(groups.ids), dtype=np.int64), _AT_ONCE):
        stored = reader.stored("passage", groups.ids[passages])
        near[groups.order[pairs]] = stored.cosines(means, owners[pairs], groups.which[pairs] - passages.start)
    near[np.isnan(near)] = 0
    return near


def _meaning(
    db: sqlite3.Connection,
    reader: IndexReader,
    groups: PairGroups,
    owners: Int64,
    spans: SentenceSpans,
    queries: Float32,
    titles: StoredVectors | None,
) -> tuple[Float64, Int64]:
    """The dense score of each pair of a query (q, d + k) and a passage, and its best sentence or -1. (p,), (p,)

    Pairs are in the order of the groups; `owners`: the query of each; `titles`: the vectors of the passages' titles.
    """
    dense, best = np.full(len(owners), np.nan), np.full(len(owners), -1)
    halves = reader.halves
    general, topics = halves.general(queries), halves.topics(queries)
    counts = np.maximum(spans.counts, 0)
    for passages, pairs in groups.parts(counts + 1, _AT_ONCE):
        asking, which = owners[pairs], groups.which[pairs] - passages.start
        stored = reader.stored("passage", groups.ids[passages])
        whole = stored.cosines(general, asking, which, part=halves.general)
        about = stored.cosines(topics, asking, which, part=halves.topics)
        own = _Spans(spans.firsts[passages], counts[passages])
        sentences = reader.sentences(db, groups.ids[passages], own)
        top, number = _best_sentences(sentences, own.counts, general, asking, which)
        title = np.full(len(which), np.nan) if titles is None else titles.cosines(general, asking, groups.which[pairs])
        dense[pairs] = combined(about, whole, *(np.where(np.isnan(whole), np.nan, each) for each in (top, title)))
        best[pairs] = np.where(np.isnan(whole), -1, number)
    return dense, best


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
