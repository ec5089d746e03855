"""The ranking, on one page: from the text of a query to the passages that answer it.

    prepare ─ find ─ STAGES ─ first k ─ compare ─ judge ─ quote

A stage is a function `stage(query, candidates, index) -> candidates`. It finds out something about the candidates that
it is given, or adds points to them under a name (semsearch.search.candidates), and builds on the stages before it:
words and cosines are compared first, then fused, and the sum of all points is the score. Later only `quote` adds
points, where passages change places. The numbers of the ranking are in semsearch.tuning. What taking a stage away
costs was measured on seven collections (nDCG@10, .6195 in all), 351 questions over documentation (share of first hits
that answer, .627) and XQuAD (share of quoted sentences with the answer): docs/research/measurements.md, "Stages".
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

import numpy as np

from semsearch import tuning
from semsearch.arrays.id_ranges import distinct
from semsearch.arrays.types import Float32, Float64, Int64
from semsearch.filters import parse_boost
from semsearch.results.hits import Hits
from semsearch.results.options import SearchOptions
from semsearch.search.alignment import across_languages
from semsearch.search.answer_kind import answer_kind
from semsearch.search.candidates import Candidates, Query, Ranking, fused, mean_cosine, weights_of
from semsearch.search.exact_words import exact_words, passages_with
from semsearch.search.index_reader import IndexView
from semsearch.search.make_hits import find_occurrences, make_hits
from semsearch.search.prepare_query import prepare
from semsearch.search.quote import compare, quote
from semsearch.search.relevance import judge, relevance
from semsearch.storage.document_rows import filter_rows_of
from semsearch.storage.passage_rows import SentenceSpans
from semsearch.text.languages import ENGLISH, RULES

Stage = Callable[[Query, Candidates, IndexView], Candidates]


def search(text: str, options: SearchOptions, index: IndexView) -> Hits:
    """The passages that answer a query, best first; in mode "exact" those that have its text, in the documents' order.

    Raises UsageError for a query without words.
    """
    if options.mode == "exact":
        return find_occurrences(text, options, index)
    return answer(prepare(text, options, index), index)


def answer(query: Query, index: IndexView) -> Hits:
    """The passages that answer a query that was read, or passages that stand for one."""
    ranked = rank(query, index)
    compared = compare(query, ranked, index)
    judgement = judge(query, compared, ranked, index)
    ranking, quotes = quote(compared, ranked)
    return Hits(
        make_hits(query, ranking, quotes, index),
        verdict=None if judgement is None else judgement.verdict,
        missing=() if judgement is None else judgement.missing,
        corrected=query.corrected,
        notices=query.notices,
    )


def rank(query: Query, index: IndexView) -> Ranking:
    """Rank the passages of an index for a query: all stages, and deeper if near-duplicates leave fewer hits than k."""
    tuned, options, before = tuning.TUNING, query.options, -1
    depth = max(tuned.depth, tuned.depth_per_hit * options.k) * (tuned.deeper_for_boosts if options.boosts else 1)
    while True:
        candidates = find(query, depth, index)
        for stage in STAGES:
            candidates = stage(query, candidates, index)
        ranking = first_k(query, candidates, index)
        if not ranking.may_be_longer or depth >= tuned.deepest or len(candidates.ids) == before:
            return ranking
        before, depth = len(candidates.ids), depth * tuned.deeper


def find(query: Query, depth: int, index: IndexView) -> Candidates:
    """The passages that either retriever finds, and those that have a part of the query literally.

    So many of each: 300 give the same ranking as 50. Without words nDCG falls by .027, first hits by .111; without
    meaning by .038 and .088.
    """
    reader, ids = index.reader, [query.included]
    if query.vector is not None:
        if query.allowed is not None and len(query.allowed) <= tuning.TUNING.few_allowed:
            ids.append(query.allowed.all_ids())
        else:
            vectors = query.vector[None]
            if query.language and reader.languages != (query.language,):  # passages in others have no topics of it
                vectors = np.concatenate((vectors, reader.halves.without_topics(vectors)))
            rows = reader.passage_vectors.search(vectors, depth + len(query.hidden), allowed=query.allowed).ids
            ids.append(rows[rows >= 0])
    literal = passages_with(query, index) if query.parts else {}
    if query.words is not None:
        ids += [
            query.words.best(depth + len(query.hidden), allowed=query.allowed),
            np.array([*literal], dtype=np.int64),
        ]
    chosen = distinct(np.concatenate(ids))
    if len(query.hidden):
        chosen = chosen[~np.isin(chosen, query.hidden)]
    return Candidates(chosen, index.spans(chosen), literal)


def by_words(query: Query, candidates: Candidates, index: IndexView) -> Candidates:
    """BM25 (Robertson and Zaragoza 2009), to which half of the words of the passages before and after count.

    Without the neighbours nDCG falls by .004, first hits by .026.
    """
    if query.words is not None:
        rows = index.reader.lexical.locate(candidates.ids, candidates.spans.before, candidates.spans.after)
        candidates.bm25, candidates.lengths = query.words.scored(rows), rows.own_lengths
    return candidates


def by_meaning(query: Query, candidates: Candidates, index: IndexView) -> Candidates:
    """The weighted mean of the cosines with the passage's topics, itself, its best sentence and the document's title.

    Without topics (Deerwester et al. 1990) nDCG falls by .015, first hits by .023; without the passage by .005 and
    .029, without the best sentence by .007 and .023, without the title by .002 and .034.
    """
    if query.vector is None or query.embedder is None or not len(candidates.ids):
        return candidates
    reader, ids, spans = index.reader, candidates.ids, candidates.spans
    vectors = index.vectors_of(ids, len(query.vector))
    (general, topics), (of_query, topics_of_query) = reader.halves.of(vectors), reader.halves.of(query.vector)
    passage = cosines(general, of_query)
    sentence, numbers = best_sentences(of_query, ids, spans, index)
    title = np.full(len(ids), np.nan)
    if query.original is not None:  # passages that stand for a query are compared with passages
        title = cosines(index.titles(spans.documents), of_query)
    is_unknown = np.isnan(passage)
    by_part = {
        "topics": cosines(topics, topics_of_query),
        "passage": passage,
        "sentence": np.where(is_unknown, np.nan, sentence),
        "title": np.where(is_unknown, np.nan, title),
    }
    candidates.cosine, candidates.cosines = mean_cosine(by_part), by_part
    candidates.sentences, candidates.vectors = numbers, vectors
    return candidates


def fuse(query: Query, candidates: Candidates, _: IndexView) -> Candidates:
    """w · cosine + (1 - w) · BM25 / best BM25: as good as reciprocal ranks, z-scores or both over their best.

    The cosine's part does not depend on the other candidates.
    """
    candidates.weights = weights_of(query, candidates)
    cosine, bm25, other = candidates.cosine, candidates.bm25, candidates.are_other
    dense, lexical = fused(cosine, bm25, candidates.weights)
    if other is not None:
        dense_of_others, lexical_of_others = fused(cosine, bm25, candidates.weights_of_others)
        dense, lexical = np.where(other, dense_of_others, dense), np.where(other, lexical_of_others, lexical)
    return candidates.add("dense", dense).add("lexical", lexical)


def short_sections(query: Query, candidates: Candidates, __: IndexView) -> Candidates:
    """A line below a heading that has a word of the question is high by that alone, and answers little.

    A short document, such as a note, loses nothing. Without it 3 of 521 first hits are lost over documentation.
    """
    tuned = tuning.TUNING
    if not _are_compared(query, candidates):
        return candidates
    loses = candidates.are_sections & (candidates.spans.passages >= tuned.short_from)
    short = np.where(loses, np.fmax(1 - candidates.lengths / tuned.short_words, 0.0), 0.0)
    return candidates.add("short", np.asarray(-tuned.short_weight * short, dtype=np.float64))


def proximity(query: Query, candidates: Candidates, index: IndexView) -> Candidates:
    """Points for the sections that may lead, by the share of the query's pairs of adjacent words that stand together.

        near = Σ_i min(idf_i, idf_(i+1)) / √d_i  /  Σ_i min(idf_i, idf_(i+1))

    d_i is the distance of the words of a pair, in any order; beyond three words a pair counts nothing. Without it 3 of
    236 facts are no longer found first, and 4 not among five.
    """
    tuned, terms = tuning.TUNING, query.terms
    if not _are_compared(query, candidates) or terms is None or query.words is None:
        return candidates
    names = {name: at for at, name in enumerate(filter(str.isalnum, dict.fromkeys(terms.words)))}  # no joined ones
    word_of = {term: names[name] for term, name in zip(terms.terms.tolist(), terms.words, strict=True) if name in names}
    idf, lookup = [0.0] * len(names), query.words
    for term, value in zip(lookup.terms.tolist(), lookup.idf.tolist(), strict=True):
        if term in word_of:
            idf[word_of[term]] = max(idf[word_of[term]], value)
    weights, scores = [*map(min, idf, idf[1:])], candidates.scores
    first = np.argsort(-scores, kind="stable")[: tuned.proximity_passages]
    first = first[candidates.are_sections[first] & (scores[first] >= np.fmax.reduce(scores) - tuned.proximity_weight)]
    if not any(weights) or not len(first):
        return candidates
    points = np.zeros(len(scores))
    texts = [row.text for row in index.passages(candidates.ids[first].tolist()).values()]
    for language in query.languages:
        if not RULES[language].pairs and not RULES[language].sequences:  # there, terms are not words
            for at, in_order in zip(first.tolist(), index.reader.caches.words.terms(texts, language), strict=True):
                places = [(place, word_of[term]) for place, term in enumerate(in_order.tolist()) if term in word_of]
                points[at] = max(points[at], tuned.proximity_weight * _pair_proximity(places, weights))
    return candidates.add("proximity", points)


def support(query: Query, candidates: Candidates, __: IndexView) -> Candidates:
    """Sections of a guide support each other, and the best of very many passages is high by chance.

        u · (w · mean(e_2, e_3) - v · min(log10(n / n_0), l))

    e_2 is by how much the document's second best passage is above half of the best score of all, 0 if it is below; n
    is the number of the document's passages, from n_0 on; u is one, but falls to zero where the best score comes near
    one: a question that a passage meets word for word needs no support. Only passages below a heading count, and no
    source code. Without the first term, first hits fall by .043, without the second by .014.
    """
    if not _are_compared(query, candidates):
        return candidates
    tuned, weights, spans, scores = tuning.TUNING, candidates.weights, candidates.spans, candidates.scores
    best, is_section = float(np.fmax.reduce(scores)), candidates.are_sections
    first = np.argsort(-scores, kind="stable")[: tuned.depth]
    above = first[is_section[first] & (scores[first] > best / 2)]
    excesses: dict[int, list[float]] = {}
    for document, score in zip(spans.documents[above].tolist(), scores[above].tolist(), strict=True):
        excesses.setdefault(document, []).append(score - best / 2)
    means = {
        id_: sum(values[1 : 1 + tuned.support_passages]) / tuned.support_passages for id_, values in excesses.items()
    }
    others = is_section * np.array([means.get(document, 0.0) for document in spans.documents.tolist()])
    powers = np.log10(np.maximum(spans.passages, 1) / tuned.length_from)
    length = is_section * tuned.length_weight * np.clip(powers, 0.0, tuned.length_most)
    share = min(max((1 - best / (weights.dense + weights.lexical)) / tuned.support_least, 0.0), 1.0)
    return candidates.add("support", share * tuned.support_weight * others).add("long", -share * length)


def feedback(_: Query, candidates: Candidates, __: IndexView) -> Candidates:
    """Pseudo-relevance feedback (Rocchio 1971) without a second search: the cosine with the best passage so far.

    Without it nDCG falls by .007, first hits by .011.
    """
    scores, near, vectors = candidates.scores, candidates.weights.near, candidates.vectors
    if not near or vectors is None or np.isnan(scores).all():
        return candidates
    best = int(np.argmax(np.where(np.isnan(scores), -np.inf, scores)))
    cosine = inner_products(vectors, vectors[best])
    candidates.cosines = {**candidates.cosines, "feedback": cosine}
    return candidates.add("feedback", near * cosine)


def crowding(query: Query, candidates: Candidates, __: IndexView) -> Candidates:
    """A document that has three hits gives way to others: five hits of one page are one result to a reader.

    Without it 10 of 236 facts, and 14 of 521 questions over documentation, have no right document among five hits.
    """
    tuned = tuning.TUNING
    if not _are_compared(query, candidates):
        return candidates
    is_crowded = candidates.ranks_in_documents() >= tuned.crowding_from
    return candidates.add("crowding", np.where(is_crowded, -tuned.crowding_weight, 0.0))


def boosts(query: Query, candidates: Candidates, index: IndexView) -> Candidates:
    """Points for what the user prefers; how much of each a passage gets is kept for the explanation."""
    chosen = [parse_boost(text) for text in query.options.boosts]
    if not chosen:
        return candidates
    index.check_documents()
    rows, now = [*filter_rows_of(index.db, candidates.ids.tolist())], time.time()
    candidates.boosts = np.zeros((len(chosen), len(candidates.ids)))
    positions = np.searchsorted(candidates.ids, [row.first_passage for row in rows])
    candidates.boosts[:, positions] = [[boost.share(row, now) for row in rows] for boost in chosen]
    return candidates.add("boosts", np.array([boost.points for boost in chosen]) @ candidates.boosts)


STAGES: tuple[Stage, ...] = (
    by_words,
    by_meaning,
    across_languages,
    fuse,
    short_sections,
    proximity,
    support,
    feedback,
    crowding,
    relevance,
    boosts,
    exact_words,
)


def first_k(query: Query, candidates: Candidates, index: IndexView) -> Ranking:
    """The order of the answer: best first, at most so many of a document, near-duplicates behind the best of them."""
    options, scores, ids = query.options, candidates.scores, candidates.ids
    wanted = answer_kind(query.original or query.text, query.language or ENGLISH)
    k = max(options.k, wanted.reordered)  # of more than are asked for, one may come first
    order = np.argsort(-scores, kind="stable")
    order = order[~np.isnan(scores[order])]
    has_enough = len(order) >= options.k
    if options.per_document is not None:
        order = order[candidates.ranks_in_documents()[order] < options.per_document]
    if options.duplicates:
        groups = [[position] for position in order[:k].tolist()]
    else:
        groups = _without_near_duplicates(order, ids, k, index)
    near_duplicates = {group[0]: group[1:] for group in groups[:k]}
    return Ranking(candidates, [*near_duplicates], near_duplicates, has_enough and len(groups) < options.k)


# -- What stages are made of -------------------------------------------------------------------------------------------


def _are_compared(query: Query, candidates: Candidates) -> bool:
    """Whether sections (passages below a heading, no source code) are compared by what a section of a guide has by its
    place: where both retrievers know a query that was typed."""
    return query.original is not None and candidates.weights.dense > 0 < candidates.weights.lexical


def _pair_proximity(places: Sequence[tuple[int, int]], weights: Sequence[float]) -> float:
    """The share of the pairs, by their weights, that stand together in a text. `places`: where it has which word."""
    most, nearest = tuning.TUNING.proximity_words, [0.0] * len(weights)
    for at, (place, word) in enumerate(places):
        for other_place, other in places[max(at - most, 0) : at]:  # so many words that the query has may be between
            if abs(word - other) == 1 and place - other_place <= most:
                nearest[min(word, other)] = max(nearest[min(word, other)], (place - other_place) ** -0.5)
    return float(np.dot(nearest, weights)) / sum(weights)


def inner_products(vectors: Float32, query: Float32) -> Float64:
    """Each by itself, so that the same vector has the same product in any company. (n, d), (d,) -> (n,)"""
    return np.asarray(np.einsum("nd,d->n", vectors, query), dtype=np.float64)


def cosines(vectors: Float32, query: Float32) -> Float64:
    """The cosines of unit vectors with a query's, NaN where either is zero. (n, d), (d,) -> (n,)"""
    products = inner_products(vectors, query)
    silent = np.flatnonzero(products == 0)
    if len(silent):
        products[silent[~vectors[silent].any(axis=1)]] = np.nan
        if not query.any():
            products[:] = np.nan
    return products


def best_sentences(query: Float32, ids: Int64, spans: SentenceSpans, index: IndexView) -> tuple[Float64, Int64]:
    """The best cosine with a sentence of each passage, and its number, of equals the first; 0 and -1 without any."""
    counts, stored = spans.counts, index.sentences(ids, spans)
    products = np.zeros(stored.n)
    products[stored.positions] = inner_products(stored.rows, query) if len(stored.rows) else 0.0
    best, number, filled = np.zeros(len(counts)), np.full(len(counts), -1), np.flatnonzero(counts)
    if len(filled):
        starts = np.cumsum(counts) - counts
        best[filled] = np.maximum.reduceat(products, starts[filled])
        passage = np.repeat(np.arange(len(counts)), counts)
        equal = np.flatnonzero(products == best[passage])[::-1]  # backwards, so that the first of equals stays
        number[passage[equal]] = equal - starts[passage[equal]]
    return best, number


def _without_near_duplicates(order: Int64, ids: Int64, k: int, index: IndexView) -> list[list[int]]:
    """Group near-duplicates in an order of positions. It is compared beyond its beginning only if that has some.

    Of 39,000 passages of handbooks, 1,941 repeated another; 13 of them differed in more than spaces and signs.
    """
    beginning = k + max(tuning.TUNING.beyond, k // 4)
    for part in (order[:beginning], order):
        groups: dict[bytes, list[int]] = {}
        for position, letters in zip(part.tolist(), index.letters(ids[part].tolist()).values(), strict=True):
            groups.setdefault(letters, []).append(position)
        if len(groups) == len(part):
            break
    return [*groups.values()]
