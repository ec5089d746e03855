"""Rank passages for queries: a list of the best k for each, in which near-duplicates count as one.

found by either retriever ─ scored by both ─ fused ─ support and feedback added ─ exact words first ─ deduplicated ─
the best k

Fusion keeps the cosine as it is and divides BM25, which has no scale of its own, by the best one for the query. On
seven collections that is as good as the best of reciprocal rank fusion, z-scores and both scores over their best
(docs/research/measurements.md), and the cosine's part does not depend on the other candidates. Cosines are seldom near
one: with seven tenths of the weight, the two parts move a score about as much. A third part is pseudo-relevance
feedback (Rocchio 1971) without a second search: the cosine with the best passages of the ranking so far. Moving the
query towards them would add the same numbers to all scores, up to a factor.

The relevance of a passage is the probability that it answers, learned from the judged questions of several collections,
and from questions of other collections, which nothing answers:

    P(answers) = 1 / (1 + exp(-(b + c · cosine · min(1, 0.1 / spread) + w · words + s · share + u · unknown)))

    spread   the standard deviation of the question's cosines with passages of the index, which is large where words
             have estimated vectors, as in a language that the word vectors lack
    words    BM25 / ((k1 + 1) √(Σ idf · idf of the rarest word)): comparable between questions, long ones counting more
    share    of the best passage's score, without feedback: where a better passage is, this one is less likely meant
    unknown  the share of the question's words without a vector; 0 if the passage has none of the question's words, and
             then the cosine, which such words lower, is multiplied by the share of the others

A passage with all words of the question has at least 0.2: of questions about something else hardly one has it, but a
frequent word says little by itself. Feedback does not count: a first hit is always similar to itself. Where words or
vectors are not compared, the sum has numbers of its own. More features were no better on unseen collections
(docs/research/measurements.md, "Relevance").
"""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache, partial
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from semsearch import tuning
from semsearch.arrays.id_ranges import IdRanges
from semsearch.arrays.types import Bool, Float64, Int64, UInt64
from semsearch.frozen import dataclass
from semsearch.results.options import ExactWords, Mode, Origin, SearchOptions, Weights
from semsearch.search.document_support import (
    NO_SUPPORT,
    ByTexts,
    DocumentSupport,
    Owners,
    points_of_lengths,
    supports_of,
)
from semsearch.search.index_reader import IndexReader
from semsearch.search.make_hits import Ranked, languages_of_passages
from semsearch.search.query import Query
from semsearch.search.quote import is_aligned_across
from semsearch.search.scoring import Candidates, Pool, feedback_scores, score
from semsearch.system import clock
from semsearch.text.listings import asks_for_sources, is_listing
from semsearch.text.near_duplicates import first_alike

if TYPE_CHECKING:
    import sqlite3

    from semsearch.search.exact_words import Found

_FEW_BEYOND = 5  # passages beyond the first k whose texts are looked at for lists of sources
_MOST_NEAR = 5  # first passages in which it is looked where words of a query stand, whatever k is
_MOST_ALIGNED = 30  # passages in other languages whose words are aligned, or k
_AT_ONCE = 100_000  # pairs of a query and a passage: some ten megabytes
_DEEPER_FOR_BOOSTS = 4  # times as many candidates: one that a boost brings forward may be far down
_ALONE: dict[Mode, Weights] = {"dense": Weights(1.0, 0.0), "lexical": Weights(0.0, 1.0)}


_is_listing = lru_cache(maxsize=4096)(is_listing)  # the same passages are found again


@dataclass(frozen=True, slots=True)
class RankedPassages:
    """The result list of one query: its passages, best first, and the origin that their hits carry, if they know it."""

    ranked: list[Ranked]
    origin: Origin | None
    exact: Mapping[int, ExactWords]  # of passages that have exact words, by their ids
    support: DocumentSupport = NO_SUPPORT


@dataclass(frozen=True, slots=True)
class Rankings:
    """Candidates with their fused scores, and for each query the positions of those that answer it, best first."""

    candidates: Candidates
    scores: Float64  # (p,)
    orders: list[Int64]
    weights: list[Weights]
    feedback: list[Int64]  # ids of the feedback passages of each query; empty if feedback does not count
    relevance: Float64  # (p,) NaN for passages that stand for a query
    relative: list[Weights]  # as in `Origin`
    exact: list[Mapping[int, ExactWords]]  # for each query, of the candidates with exact words, by their ids
    owners: Owners  # (p,) of the candidates
    supports: Sequence[DocumentSupport]
    shares: Float64 | None = None  # of boosts, (b, p)
    across: Sequence[Weights] = ()  # of passages in another language than the query


def rank_passages(
    db: sqlite3.Connection, reader: IndexReader, queries: Sequence[Query], options: SearchOptions
) -> list[RankedPassages]:
    """Rank the passages of an index for each query."""
    allowed = None
    if options.filters or options.passages is not None:
        from semsearch.search.filter_sql import allowed_passages, warn_unmatched  # start-up time: few searches filter

        if options.filters:
            reader.check_documents(db)
        allowed = allowed_passages(db, options.filters, options.passages)
        warn_unmatched(db, options.filters, reader.filter_warnings)
    depth = max(tuning.TUNING.depth, tuning.TUNING.depth_per_hit * options.k)
    if options.boosts:
        from semsearch.search.boosts import warn_unmatched_boosts  # start-up time: few searches have any

        reader.check_documents(db)
        warn_unmatched_boosts(db, options.boosts, reader.filter_warnings)
        depth *= _DEEPER_FOR_BOOSTS
    plain = [each for each in queries if each.syntax is None]
    together = iter(PassageRanker(db, reader, options, allowed).rank(plain, depth, [0] * len(plain)))
    if len(plain) == len(queries):
        return [*together]
    from semsearch.search.query_syntax import allowed_by_phrases  # start-up time: most queries have only words

    found = list[RankedPassages]()
    for each in queries:
        if each.syntax is None:
            found.append(next(together))
        else:  # it has its own allowed passages
            own = allowed_by_phrases(db, reader.lexical, each.syntax, allowed)
            found += PassageRanker(db, reader, options, own).rank([each], depth, [0])
    return found


@dataclass(frozen=True, slots=True)
class PassageRanker:
    """Ranks the allowed passages of an index for queries; None allows all.

    Many queries are ranked together, since the passages that they share are then read, decoded and compared once; but
    only so many at a time that their passages stay few.
    """

    db: sqlite3.Connection
    reader: IndexReader
    options: SearchOptions
    allowed: IdRanges | None

    def rank(self, queries: Sequence[Query], depth: int, before: Sequence[int]) -> list[RankedPassages]:
        """Rank `depth` candidates of each retriever. `before`: how many each query had at the last, smaller depth."""
        allowed = 0 if self.allowed is None else min(len(self.allowed), tuning.TUNING.few_allowed)
        block, found = max(1, _AT_ONCE // (depth + max(depth, allowed))), list[RankedPassages]()
        for first in range(0, len(queries), block):
            part = slice(first, first + block)
            found += self._rank_block(queries[part], depth, before[part])
        return found

    def _rank_block(self, queries: Sequence[Query], depth: int, before: Sequence[int]) -> list[RankedPassages]:
        """Rank queries that are few enough to be ranked together.

        A query with so many near-duplicates that its list is not full is ranked again from more candidates, until the
        list is full or there are no more.
        """
        rankings, options = self._rank(queries, depth), self.options
        ids, many = rankings.candidates.pool.ids, [len(order) for order in rankings.orders]
        if options.per_document is not None:
            rankings.orders[:] = best_of_each(self.db, ids, rankings.orders, options.per_document)
        if options.duplicates:
            groups = [[[position] for position in range(min(options.k, len(order)))] for order in rankings.orders]
        else:
            rows = self.reader.read_rows
            found_ids = [ids[order] for order in rankings.orders]
            groups = deduplicated(partial(rows.texts, self.db), rows.marks, found_ids, options.k)
        found = self._result_lists(queries, rankings, [each[: options.k] for each in groups])
        counts = np.diff(rankings.candidates.pool.bounds).tolist()
        short = [
            number
            for number, (each, found_first) in enumerate(zip(groups, many, strict=True))
            if len(each) < options.k <= found_first
            and depth < tuning.TUNING.deepest
            and counts[number] != before[number]
        ]
        if short:
            more = [queries[n] for n in short]
            deeper = self.rank(more, depth * tuning.TUNING.deeper, [counts[n] for n in short])
            for number, ranked in zip(short, deeper, strict=True):
                found[number] = ranked
        return found

    def _rank(self, queries: Sequence[Query], depth: int) -> Rankings:
        """Find the candidates of all queries, score and order them."""
        reader, options = self.reader, self.options
        vectors, words = [each.vector for each in queries], [each.words for each in queries]
        titles = next(
            (each.titles for each in queries if each.titles is not None), None
        )  # the same for all of a search
        found, literal = self._scan(queries, depth), [self._literal(each) for each in queries]
        for number, each in enumerate(queries):
            if each.words is not None:
                more = each.words.best(depth + len(each.hidden), allowed=self.allowed)
                found[number] = np.concatenate((found[number], more, np.array([*literal[number]], dtype=np.int64)))
            if len(each.hidden):
                found[number] = found[number][~np.isin(found[number], each.hidden)]
        languages = [each.language for each in queries]
        names = [each.names for each in queries]
        candidates = score(self.db, reader, found, vectors, words, titles, languages, names)
        pool, other = candidates.pool, candidates.other
        weights = _weights(candidates, queries, options.mode)
        scores = fuse_each(candidates.dense, candidates.lexical, weights, pool.owners)
        across: Sequence[Weights] = ()
        if other is not None:
            across = across_languages(candidates, scores, weights)
            candidates = replace(candidates, dense=self._aligned(candidates, queries, across))
            of_others = fuse_each(candidates.dense, candidates.lexical, across, pool.owners)
            scores = np.where(other & ~np.isnan(candidates.dense), of_others, scores)
        best = pool.largest(scores, least=0.0)
        best[best == 0] = np.inf  # a share of nothing is 0
        for pairs, own in zip(pool.slices, literal, strict=True):
            if own:  # exact words are no less than all words
                candidates.whole[pairs] |= np.isin(pool.ids[pairs], list(own))
        likely = self._relevance(candidates, queries, scores / best[pool.owners])
        relative = [_divided(own, of) for own, of in zip(weights, best.tolist(), strict=True)]
        owners = candidates.owners.of(candidates.groups.to_pool(np.arange(len(candidates.groups.ids))))
        supports = [NO_SUPPORT] * len(queries)
        if any(each.asked is not None for each in queries):  # `similar` has none
            supports = self._supports(queries, pool, scores, owners, weights, literal)
            for support, pairs in zip(supports, pool.slices, strict=True):
                if support is not NO_SUPPORT:
                    scores[pairs] += support.points(pool.ids[pairs], owners.of(pairs))
        feedback = [pool.ids[:0]] * len(queries)
        if any(each.near for each in weights):
            orders, most = _orders(scores, pool, None), tuning.TUNING.near_models
            feedback = [pool.ids[order[: most if own.near else 0]] for order, own in zip(orders, weights, strict=True)]
            near = feedback_scores(reader, pool, feedback, groups=candidates.groups, stored=candidates.stored)
            scores = scores + np.array([each.near for each in weights])[pool.owners] * near
        shares = None
        if options.boosts:
            from semsearch.search.boosts import parse_boost, shares_of  # start-up time: few searches have any

            boosts, groups = [parse_boost(text) for text in options.boosts], candidates.groups
            shares = np.stack([groups.to_pool(row) for row in shares_of(self.db, boosts, groups.ids, clock.now())])
            scores = scores + np.array([boost.points for boost in boosts]) @ shares
        exact: list[Mapping[int, ExactWords]] = [{}] * len(queries)
        for number, (pairs, own) in enumerate(zip(pool.slices, literal, strict=True)):
            if own:
                from semsearch.search.exact_words import exact_words  # start-up time: few queries have any

                exact[number] = exact_words(pool.ids[pairs], scores[pairs], own)
                scores[pairs] += [exact[number][id_].points if id_ in own else 0.0 for id_ in pool.ids[pairs].tolist()]
        orders = _orders(scores, pool, options.min_score)
        return Rankings(
            candidates, scores, orders, weights, feedback, likely, relative, exact, owners, supports, shares, across
        )

    def _supports(
        self,
        queries: Sequence[Query],
        pool: Pool,
        scores: Float64,
        owners: Owners,
        weights: Sequence[Weights],
        literal: Sequence[Found],
    ) -> list[DocumentSupport]:
        """The support for each query. It is by the scores (p,) with what each passage has for itself."""
        own, kinds = scores + points_of_lengths(owners), [ByTexts()] * len(queries)
        by_both = [
            (number, pairs)
            for number, pairs in enumerate(pool.slices)
            if weights[number].dense > 0 < weights[number].lexical
        ]
        most, firsts = max(self.options.k + _FEW_BEYOND, _MOST_NEAR), dict[int, Int64]()
        for number, pairs in by_both:
            firsts[number] = pairs.start + np.argsort(-own[pairs], kind="stable")[:most]
        texts = self.reader.read_rows.texts(
            self.db,
            [id_ for number, first in firsts.items() for id_ in pool.ids[first].tolist() if id_ not in literal[number]],
        )
        near: dict[int, dict[int, str]] = {}  # of each query, the texts in which words may stand together
        for number, first in firsts.items():
            first = first[:_MOST_NEAR]
            may_lead = owners.are_sections[first] & (own[first] >= own[first[:1]] - tuning.TUNING.proximity_weight)
            leading = pool.ids[first[may_lead]].tolist()
            near[number] = {id_: texts[id_] for id_ in leading if id_ not in literal[number]}
        if len(queries) > 1:
            self.reader.proximity.read({id_: text for each in near.values() for id_, text in each.items()})
        for number, pairs in by_both:
            ids = pool.ids[firsts[number]].tolist()
            read = {id_: texts[id_] for id_ in ids if id_ not in literal[number]}
            kinds[number] = self._by_texts(queries[number], read, near[number])
            own[pairs] += kinds[number].of_proximity(pool.ids[pairs])
        supports = supports_of(pool.slices, own, owners, weights)
        return [
            each if each is NO_SUPPORT else replace(each, by_texts=kind)
            for each, kind in zip(supports, kinds, strict=True)
        ]

    def _by_texts(self, query: Query, texts: Mapping[int, str], near: Mapping[int, str]) -> ByTexts:
        """What the texts of the best candidates say: which of them list sources or contents, unless the query asks for
        these, and in which words of the query stand together, of those that may lead."""
        listings = () if asks_for_sources(query.text) else [id_ for id_, text in texts.items() if _is_listing(text)]
        if not near or query.named is None or query.words is None:
            return ByTexts(frozenset(listings))
        return ByTexts(frozenset(listings), self.reader.proximity.find(query.named, query.words.lookup, near))

    def _aligned(self, candidates: Candidates, queries: Sequence[Query], across: Sequence[Weights]) -> Float64:
        """The dense scores, in which the alignment of words counts where passage and question are in two languages:
        static vectors find a word's translation better than the mean of all words finds that of a text. (p,)

        The words of the best passages are aligned; the others count as if theirs were as the worst of these.
        """
        assert candidates.other is not None  # there are several languages
        dense, pool, share = candidates.dense.copy(), candidates.pool, tuning.TUNING.aligned_across
        embedder = self.reader.embedder(self.db)
        scores = fuse_each(dense, candidates.lexical, across, pool.owners)
        most = max(_MOST_ALIGNED, self.options.k + _FEW_BEYOND)
        for query, pairs in zip(queries, pool.slices, strict=True):
            if query.named is None or query.language is None or embedder is None or not self._is_aligned(query):
                continue
            at = pairs.start + np.flatnonzero(candidates.other[pairs] & ~np.isnan(dense[pairs]))
            vectors = self.reader.embedder_of(embedder, [query.language]).chosen_.vectors
            lookup = None if query.words is None else query.words.lookup
            asked = self.reader.aligner.asked(query.named, lookup, vectors, query.language)
            if not len(at) or not asked.names:
                continue
            best = at[np.argsort(-scores[at], kind="stable")[:most]]
            passages, documents = self.reader.read_rows.with_documents(self.db, pool.ids[best].tolist())
            rows = [passages[id_] for id_ in pool.ids[best].tolist()]
            formats = [documents[row.document_id].format for row in rows]
            spoken = languages_of_passages(self.db, self.reader, rows)
            found = self.reader.aligner.aligned(asked, vectors, rows, formats, spoken).sum(axis=1)
            words = np.full(len(dense), found.min())
            words[best] = found
            dense[at] = (dense[at] + share * words[at]) / (1 + share)
        return dense

    def _is_aligned(self, query: Query) -> bool:
        """Whether the alignment of a query's words counts for passages in other languages."""
        if query.named is None or query.language is None:
            return False
        return is_aligned_across(query.language, self.reader.language_documents)

    def _literal(self, query: Query) -> Found:
        """The allowed passages that have parts of a query literally, with these parts."""
        if not query.parts or query.words is None:
            return {}
        from semsearch.search.exact_words import passages_with  # start-up time: few queries have any

        return passages_with(self.db, self.reader.lexical, query.words, query.parts, self.allowed, query.text)

    def _relevance(self, candidates: Candidates, queries: Sequence[Query], share: Float64) -> Float64:
        """The relevance of each candidate, by its share of the best score; NaN for similar passages. (p,), (p,)"""
        if all(each.asked is None for each in queries):
            return np.full(len(share), np.nan)
        having = [number for number, each in enumerate(queries) if each.vector is not None]
        owners, spread = candidates.pool.owners, np.zeros(len(queries))
        if having:
            vectors = np.stack([each.vector for each in queries if each.vector is not None])
            spread[having] = self.reader.spread(self.reader.halves.general(vectors))
        usual = np.array([1.0 if each.words is None else each.words.lookup.usual for each in queries])
        topics = not having or self.reader.topics is not None  # a search by words alone opens none
        numbers = np.array(
            [
                relevance_numbers(vector=each.vector is not None, words=each.words is not None, topics=topics)
                for each in queries
            ]
        )
        cosine = candidates.dense * trust(spread)[owners]
        words, unknown = candidates.lexical / usual[owners], np.array([each.unknown for each in queries])[owners]
        own_numbers = numbers[owners]
        if candidates.other is not None:  # whose words are others
            own_numbers[candidates.other] = relevance_numbers(vector=True, words=False, topics=topics)
            aligned = np.array([self._is_aligned(each) for each in queries])[owners]
            own_numbers[candidates.other & aligned] = relevance_numbers(vector=True, words=False, aligned=True)
        return relevance(own_numbers, Likelihood(cosine, words, share, unknown, candidates.whole))

    def _scan(self, queries: Sequence[Query], depth: int) -> list[Int64]:
        """The ids of the dense retriever's candidates; where few passages are allowed, all of these. q arrays (n,)"""
        found: list[Int64] = [np.zeros(0, np.int64)] * len(queries)
        having = [number for number, each in enumerate(queries) if each.vector is not None]
        if not having:
            return found
        if self.allowed is not None and len(self.allowed) <= tuning.TUNING.few_allowed:
            rows = [self.allowed.all_ids()] * len(having)
        else:
            vectors = np.stack([each.vector for each in queries if each.vector is not None])
            depth += max(len(each.hidden) for each in queries)
            asked = [queries[number].language for number in having]
            if any(code and self.reader.languages != (code,) for code in asked) and self.reader.halves.k:
                vectors = np.concatenate(
                    (vectors, self.reader.halves.without_topics(vectors))
                )  # they have other topics
            rows = [ids[ids >= 0] for ids in self.reader.scan(vectors, depth, allowed=self.allowed).ids]
            rows = [np.concatenate(rows[number :: len(having)]) for number in range(len(having))]
        for number, ids in zip(having, rows, strict=True):
            found[number] = ids
        return found

    def _result_lists(
        self, queries: Sequence[Query], rankings: Rankings, groups: Sequence[Sequence[Sequence[int]]]
    ) -> list[RankedPassages]:
        """The result list of each query, from groups of positions in its order: the first of each group."""
        candidates, orders = rankings.candidates, [order.tolist() for order in rankings.orders]
        ids = candidates.pool.ids
        leading = [order[group[0]] for order, own in zip(orders, groups, strict=True) for group in own]
        columns = (ids, rankings.scores, candidates.dense, candidates.lexical, candidates.best, rankings.relevance)
        rows = zip(*(column[leading].tolist() for column in columns), strict=True)
        found: list[RankedPassages] = []
        each = zip(orders, groups, self._origins(queries, rankings), rankings.exact, rankings.supports, strict=True)
        for number, (order, own, origin, exact, of_documents) in enumerate(each):
            ranked: list[Ranked] = []
            firsts = np.array([order[group[0]] for group in own], dtype=np.int64)
            parts = of_documents.parts(ids[firsts], rankings.owners.of(firsts))
            for group, part, row in zip(own, parts, rows):  # noqa: B905  # rows go on
                id_, points, dense, lexical, best, likely = row
                others = tuple(ids[[order[position] for position in group[1:]]].tolist()) if group[1:] else ()
                boosted = () if rankings.shares is None else tuple(rankings.shares[:, order[group[0]]].tolist())
                known = _known(dense), _known(lexical)
                across = None
                if candidates.other is not None and candidates.other[order[group[0]]] and known[0] is not None:
                    across = rankings.across[number]
                ranked.append(Ranked(id_, points, *known, best, others, boosted, _known(likely), part, across))
            found.append(RankedPassages(ranked, origin, exact, of_documents))
        return found

    def _origins(self, queries: Sequence[Query], rankings: Rankings) -> Iterator[Origin | None]:
        columns = rankings.weights, rankings.feedback, rankings.relative
        for query, weights, feedback, relative in zip(queries, *columns, strict=True):
            compared = None if query.text == query.asked else query.text
            about = self.options.mode, self.reader.generation, weights, tuple(feedback.tolist())
            corrected = query.corrected or None
            yield (
                None
                if query.asked is None
                else Origin(
                    query.asked, *about, text=compared, corrected=corrected, language=query.language, relative=relative
                )
            )


def _weights(candidates: Candidates, queries: Sequence[Query], mode: Mode) -> list[Weights]:
    """Choose the weights of each query, by which the scores of its candidates are fused."""
    if mode in _ALONE:
        return [_ALONE[mode]] * len(queries)
    pool = candidates.pool
    known = pool.largest(np.where(np.isnan(candidates.dense), 0.0, 1.0), least=0.0).tolist()
    best = pool.largest(candidates.lexical, least=0.0).tolist()
    return [
        weigh(is_dense=is_dense > 0, best=largest, near=each.near, known=each.share_known)
        for each, is_dense, largest in zip(queries, known, best, strict=True)
    ]


_NEAREST = 10  # passages in the query's own language, by which others are measured
_USUAL, _MOST_ACROSS = 1.0, 2.0  # squared cosines that speak for all weight; the largest weight of others


def across_languages(candidates: Candidates, scores: Float64, weights: Sequence[Weights]) -> list[Weights]:
    """The weights for passages in another language than the query, which have neither its topics nor its words.

    The cosine has the weight by which the nearest passages in the query's own language would have about their scores
    (by ridge regression towards all weight, which it has without any that are near). Of the words only names and
    numbers can be the same, and count little.
    """
    share, found = tuning.TUNING.words_across, list[Weights]()
    for own, pairs in zip(weights, candidates.pool.slices, strict=True):
        assert candidates.other is not None  # there are several languages
        there = np.flatnonzero(~candidates.other[pairs] & ~np.isnan(candidates.general[pairs]))
        weight = own.dense + own.lexical
        if len(there):
            there = there[np.argsort(-candidates.general[pairs][there], kind="stable")[:_NEAREST]]
            cosines, points = np.maximum(candidates.general[pairs][there], 0), np.nan_to_num(scores[pairs][there])
            weight = (float(points @ cosines) + _USUAL * weight) / (float(cosines @ cosines) + _USUAL)
            weight = min(weight, _MOST_ACROSS)
        found.append(Weights(weight, share * own.lexical, own.best, own.near))
    return found


def _divided(weights: Weights, of: float) -> Weights:
    return Weights(weights.dense / of, weights.lexical / of, weights.best)


def _orders(scores: Float64, pool: Pool, min_score: float | None) -> list[Int64]:
    """The positions in the pool of each query's answer, best first, equal scores by their ids. (p,) -> q arrays"""
    least, orders = -np.inf if min_score is None else min_score, list[Int64]()
    for pairs in pool.slices:
        own = scores[pairs]
        order = np.argsort(-own, kind="stable")
        orders.append(pairs.start + order[own[order] >= least])  # never true of NaN
    return orders


def _known(value: float) -> float | None:
    return None if math.isnan(value) else value


# -- Fusion ------------------------------------------------------------------------------------------------------------


def weigh(*, is_dense: bool, best: float, near: float = 0.0, known: float = 1.0) -> Weights:
    """Choose the weights of the score components. Where one retriever scores no candidate, the other decides alone.

    `is_dense`: whether any candidate has a dense score; `best`: the best BM25, 0 where no candidate shares a word;
    `near`: the weight of feedback, which counts only where both retrievers score candidates; `known`: the share of the
    query's words that the word vectors know.
    """
    if best <= 0:
        return Weights(1.0, 0.0)
    if not is_dense:
        return Weights(0.0, 1.0, best)
    dense = dense_weight(known)
    return Weights((1 - near) * dense, (1 - near) * (1 - dense), best, near)


def dense_weight(known: float) -> float:
    """The weight of the dense score: less where the word vectors know few of the query's words, as in other languages.

    The other words have estimated vectors or none; topics still know the corpus's own words.
    """
    tuned = tuning.TUNING
    share = max(0.0, (known - tuned.known_least) / (1 - tuned.known_least))
    return share * tuned.dense_weight + (1 - share) * tuned.dense_weight_unknown


def weights_of(dense: Float64, lexical: Float64, *, near: float = 0.0) -> Weights:
    """Choose the weights for candidates with these scores, NaN where a retriever has none. (n,), (n,)"""
    return weigh(is_dense=not np.isnan(dense).all(), best=float(np.nanmax(lexical, initial=0.0)), near=near)


def fuse(dense: Float64, lexical: Float64, weights: Weights | None = None) -> Float64:
    """Fuse scores: w · cosine + (1 - w) · BM25 / best BM25. NaN is an unknown score. (n,), (n,) -> (n,)

    Where one retriever scores no candidate, the other decides alone. Other weights may be given.
    """
    return fuse_each(dense, lexical, [weights or weights_of(dense, lexical)], np.zeros(len(dense), dtype=np.intp))


def fuse_each(dense: Float64, lexical: Float64, weights: Sequence[Weights], owners: npt.NDArray[np.intp]) -> Float64:
    """Fuse the scores of several queries' candidates; `owners`: each candidate's query. (p,), (p,), q weights, (p,)"""
    table = np.array([(each.dense, each.lexical, each.best) for each in weights], dtype=np.float64).reshape(-1, 3)
    of_dense, of_lexical, best = table[owners].T
    unknown = np.isnan(dense), np.isnan(lexical)
    fused = of_dense * np.where(unknown[0], 0, dense) + of_lexical * (np.where(unknown[1], 0, lexical) / best)
    return np.asarray(np.where(unknown[0] & unknown[1], np.nan, fused))


# -- Relevance ---------------------------------------------------------------------------------------------------------

_DIGITS = 4  # further ones are noise, and long in JSON


def relevance_numbers(*, vector: bool, words: bool, topics: bool = True, aligned: bool = False) -> tuple[float, ...]:
    """Bias and coefficients of the others, for a query with or without a vector, by words or not. (5,)

    `topics`: whether the index has topics; `aligned`: whether the cosine has the alignment of words across languages.
    """
    tuned = tuning.TUNING
    if aligned:
        return tuned.relevance_aligned
    if vector and words:
        bias, *others = tuned.relevance
        return bias + (0.0 if topics else tuned.relevance_of_small), *others
    return tuned.relevance_without_words if vector else tuned.relevance_without_vectors


def trust(spread: Float64) -> Float64:
    """How much a query's cosines count, 0 to 1, by their spread in the index. (n,) -> (n,)"""
    usual = tuning.TUNING.usual_spread
    return np.asarray(usual / np.maximum(spread, usual))


@dataclass(frozen=True, slots=True)
class Likelihood:
    """What relevance is estimated from. (n,) each; NaN counts as 0"""

    cosine: Float64  # times its trust
    words: Float64
    share: Float64
    unknown: Float64
    whole: Bool  # whether the passage has all words of the question


def relevance(numbers: Float64, by: Likelihood) -> Float64:
    """P(answers), 0 to 1, rising with cosine, words and share. Numbers (n, 5) or (5,) -> (n,)"""
    bias, of_cosine, of_words, of_share, of_unknown = numbers.T
    tuned, has_words = tuning.TUNING, by.words > 0
    cosine = np.where(np.isnan(by.cosine), 0, by.cosine)
    cosine *= np.where(has_words | (of_words == 0) | (cosine < 0), 1, 1 - by.unknown)
    logits = bias + of_cosine * cosine + of_words * np.fmax(by.words, 0)
    logits += of_share * np.fmax(by.share, tuned.least_share) + of_unknown * np.where(has_words, by.unknown, 0)
    least = np.where(by.whole, tuned.relevance_of_all, 0)
    return np.asarray(np.round(np.fmax(1 / (1 + np.exp(-logits)), least), _DIGITS))


# -- Near-duplicates ---------------------------------------------------------------------------------------------------

ReadTexts = Callable[[Sequence[int]], Mapping[int, str]]  # of passages, by id
FindMarks = Callable[[Mapping[int, str]], UInt64]  # of these, (n, 3)

_BEYOND = 20  # passages beyond the first k that are always compared too


def deduplicated(read: ReadTexts, find_marks: FindMarks, rankings: Sequence[Int64], k: int) -> list[list[list[int]]]:
    """Group the positions of near-duplicates in each ranking; groups are in the order of their first ones.

    A ranking is compared beyond its beginning only if the beginning has near-duplicates, which most have not.
    """
    beginning = k + max(_BEYOND, k // 4)
    beginnings = [ids[:beginning] for ids in rankings]
    texts = read(sorted({id_ for ids in beginnings for id_ in ids.tolist()}))
    suspects = _suspects(list(texts), find_marks(texts))
    return [_deduplicated(read, ids.tolist(), beginning, texts, suspects) for ids in rankings]


def _suspects(ids: Sequence[int], marks: UInt64) -> dict[int, list[int]]:
    """The ids of passages that share a mark with another one, with their marks. (n,), (n, 3)"""
    order = np.argsort(marks, axis=None)
    rising = marks.ravel()[order]
    same = np.flatnonzero(rising[1:] == rising[:-1])
    positions = np.concatenate((order[same], order[same + 1])) // marks.shape[1]
    return {ids[position]: marks[position].tolist() for position in positions.tolist()}


def _deduplicated(
    read: ReadTexts,
    ids: Sequence[int],
    beginning: int,
    texts: Mapping[int, str],
    suspects: Mapping[int, Sequence[int]],
) -> list[list[int]]:
    """Group one ranking. `texts`: those of its beginning; `suspects`: the marks of possible near-duplicates."""
    firsts = list(range(min(len(ids), beginning)))
    positions = [position for position in firsts if ids[position] in suspects]
    marks = [mark for position in positions for mark in suspects[ids[position]]]
    if len(set(marks)) == len(marks):
        return [[position] for position in firsts]
    own = first_alike([texts[ids[position]] for position in positions], [suspects[ids[at]] for at in positions])
    for position, first in zip(positions, own, strict=True):
        firsts[position] = positions[first]
    if len(ids) > beginning and len(set(firsts)) < beginning:
        every = read(ids)
        firsts = first_alike([every[id_] for id_ in ids])
    groups: dict[int, list[int]] = {}
    for position, first in enumerate(firsts):
        groups.setdefault(first, []).append(position)
    return list(groups.values())


# -- At most so many passages of each document -------------------------------------------------------------------------

_DOCUMENTS = "SELECT id, document_id FROM passages WHERE id IN (SELECT value FROM json_each(?))"


def best_of_each(db: sqlite3.Connection, ids: Int64, orders: Sequence[Int64], most: int) -> list[Int64]:
    """The first `most` passages of each document in each order. `orders`: positions among ids (p,), best first."""
    owner = dict(db.execute(_DOCUMENTS, (json.dumps(sorted(set(ids.tolist()))),)).fetchall())
    return [_first(order, [owner[id_] for id_ in ids[order].tolist()], most) for order in orders]


def _first(order: Int64, documents: Sequence[int], most: int) -> Int64:
    seen: Counter[int] = Counter()
    kept = np.ones(len(order), dtype=np.bool_)
    for position, document in enumerate(documents):
        seen[document] += 1
        kept[position] = seen[document] <= most
    return order[kept]
