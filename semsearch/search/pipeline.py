"""The ranking, on one page: from the text of a query to the passages that answer it.

    prepare ─ find ─ by words, by meaning ─ fuse ─ support ─ feedback ─ boosts, exact words ─ first k ─ quote

A stage is a function `stage(query, candidates, index) -> candidates` that adds its points under its name
(semsearch.search.candidates). The numbers of the ranking are in semsearch.tuning. What taking a stage away costs was
measured on seven collections (nDCG@10, .6195 in all), 351 questions over documentation (share of first hits that
answer, .627) and XQuAD (share of quoted sentences with the answer): docs/research/measurements.md, "Stages".
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

import numpy as np

from semsearch import tuning
from semsearch.arrays.id_ranges import distinct
from semsearch.arrays.types import Float32, Float64, Int64
from semsearch.results.hits import Hit
from semsearch.results.options import SearchOptions
from semsearch.search.across_languages import across_languages
from semsearch.search.boosts import boosts
from semsearch.search.candidates import Candidates, IndexView, Query, SupportOf
from semsearch.search.exact_words import exact_words, passages_with
from semsearch.search.make_hits import make_hits
from semsearch.search.proximity import proximity
from semsearch.search.query import prepare
from semsearch.search.quote import quote
from semsearch.search.scoring import fused, mean_cosine, relevance, weights_of
from semsearch.text.near_duplicates import first_alike

Stage = Callable[[Query, Candidates, IndexView], Candidates]


def search(text: str, options: SearchOptions, index: IndexView) -> list[Hit]:
    """The passages that answer a query, best first. Raises UsageError for a query without words."""
    return answer(prepare(text, options, index), index)


def answer(query: Query, index: IndexView) -> list[Hit]:
    """The passages that answer a query that was read, or passages that stand for one."""
    return make_hits(query, quote(query, rank(query, index), index), index)


def rank(query: Query, index: IndexView) -> Candidates:
    """Rank the passages of an index for a query: all stages, and deeper if near-duplicates leave fewer hits than k."""
    tuned, options, before = tuning.TUNING, query.options, -1
    depth = max(tuned.depth, tuned.depth_per_hit * options.k) * (tuned.deeper_for_boosts if options.boosts else 1)
    while True:
        candidates = find(query, depth, index)
        for stage in STAGES:
            candidates = stage(query, candidates, index)
        if not candidates.has_more or depth >= tuned.deepest or len(candidates.ids) == before:
            return candidates
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
    candidates = Candidates(chosen, reader.read_rows.spans(index.db, chosen))
    candidates.literal = literal
    return candidates


def by_words(query: Query, candidates: Candidates, index: IndexView) -> Candidates:
    """BM25 (Robertson and Zaragoza 2009), to which half of the words of the passages before and after count.

    Without the neighbours nDCG falls by .004, first hits by .026.
    """
    if query.words is not None:
        rows = index.reader.lexical.locate(candidates.ids, candidates.neighbours)
        candidates.lexical, candidates.whole = query.words.scored(rows)
        candidates.lengths = rows.own
        if candidates.literal:
            candidates.whole |= np.isin(candidates.ids, [*candidates.literal])
    return candidates


def by_meaning(query: Query, candidates: Candidates, index: IndexView) -> Candidates:
    """The weighted mean of the cosines with the passage's topics, itself, its best sentence and the document's title.

    Without topics (Deerwester et al. 1990) nDCG falls by .015, first hits by .023; without the passage by .005 and
    .029, without the best sentence by .007 and .023, without the title by .002 and .034.
    """
    if query.vector is None or query.embedder is None or not len(candidates.ids):
        return candidates
    reader, ids, spans = index.reader, candidates.ids, candidates.spans
    stored = reader.passage_vectors.fetch(ids)
    candidates.vectors = vectors = np.zeros((len(ids), len(query.vector)), dtype=np.float32)
    vectors[stored.positions] = stored.rows
    (general, topics), (asked, asked_topics) = reader.halves.of(vectors), reader.halves.of(query.vector)
    passage = cosines(general, asked)
    sentence, candidates.sentences = _best_sentence(candidates, asked, index)
    title = np.full(len(ids), np.nan)
    if query.asked is not None:  # passages that stand for a query are compared with passages
        title = cosines(reader.titles(index.db, spans.documents), asked)
    is_unknown = np.isnan(passage)
    candidates.cosines = {
        "topics": cosines(topics, asked_topics),
        "passage": passage,
        "sentence": np.where(is_unknown, np.nan, sentence),
        "title": np.where(is_unknown, np.nan, title),
    }
    candidates.dense = mean_cosine(candidates.cosines)
    return candidates


def fuse(query: Query, candidates: Candidates, _: IndexView) -> Candidates:
    """w · cosine + (1 - w) · BM25 / best BM25: as good as reciprocal ranks, z-scores or both over their best.

    The cosine's part does not depend on the other candidates.
    """
    candidates.weights = weights = weights_of(query, candidates)
    dense, lexical = fused(candidates.dense, candidates.lexical, weights)
    if candidates.other is not None and candidates.weights_of_others is not None:
        others = fused(candidates.dense, candidates.lexical, candidates.weights_of_others)
        dense = np.where(candidates.other, others[0], dense)
        lexical = np.where(candidates.other, others[1], lexical)
    candidates.are_sections_compared = query.asked is not None and weights.dense > 0 < weights.lexical
    return candidates.add("dense", dense).add("lexical", lexical)


def short_sections(_: Query, candidates: Candidates, __: IndexView) -> Candidates:
    """A line below a heading that has a word of the question is high by that alone, and answers little.

    A short document, such as a note, loses nothing. Without it 2 of 295 first hits are lost over documentation.
    """
    tuned = tuning.TUNING
    if not candidates.are_sections_compared:
        return candidates
    loses = candidates.are_sections & (candidates.spans.passages >= tuned.short_from)
    short = np.where(loses, np.fmax(1 - candidates.lengths / tuned.short_words, 0.0), 0.0)
    return candidates.add("length", np.asarray(-tuned.short_weight * short, dtype=np.float64))


def support(_: Query, candidates: Candidates, __: IndexView) -> Candidates:
    """Sections of a guide support each other, and the best of very many passages is high by chance.

        u · (w · mean(e_2, e_3) - v · min(log10(n / n_0), l))

    e_2 is by how much the document's second best passage is above half of the best score of all, 0 if it is below; n
    is the number of the document's passages, from n_0 on; u is one, but falls to zero where the best score comes near
    one: a question that a passage meets word for word needs no support. Only passages below a heading count, and no
    source code. Without the first term, first hits fall by .043, without the second by .014.
    """
    if not candidates.are_sections_compared:
        return candidates
    tuned, weights, spans, scores = tuning.TUNING, candidates.weights, candidates.spans, candidates.scores
    best, is_section = float(np.nanmax(scores)), candidates.are_sections
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
    candidates.support = SupportOf(share * tuned.support_weight, others, share * length)
    return candidates.add("support", share * (tuned.support_weight * others - length))


def feedback(_: Query, candidates: Candidates, __: IndexView) -> Candidates:
    """Pseudo-relevance feedback (Rocchio 1971) without a second search: the cosine with the best passage so far.

    Without it nDCG falls by .007, first hits by .011.
    """
    scores, near = candidates.scores, candidates.weights.near
    if not near or candidates.vectors is None or np.isnan(scores).all():
        return candidates
    best = int(np.nanargmax(scores))
    candidates.models = (int(candidates.ids[best]),)
    candidates.cosines["feedback"] = cosine = inner_products(candidates.vectors, candidates.vectors[best])
    return candidates.add("feedback", near * cosine)


def first_k(query: Query, candidates: Candidates, index: IndexView) -> Candidates:
    """The order of the answer: best first, at most so many of a document, near-duplicates behind the best of them."""
    options, scores, ids = query.options, candidates.scores, candidates.ids
    order = np.argsort(-scores, kind="stable")
    order = order[scores[order] >= (-np.inf if options.min_score is None else options.min_score)]  # never true of NaN
    has_enough = len(order) >= options.k
    if options.per_document is not None:
        order = _first_of_each(order, candidates.spans.documents, options.per_document)
    if options.duplicates:
        groups = [[position] for position in order[: options.k].tolist()]
    else:
        groups = _without_near_duplicates(order, ids, options.k, index)
    candidates.order = [group[0] for group in groups[: options.k]]
    candidates.near_duplicates = {group[0]: tuple(group[1:]) for group in groups[: options.k] if len(group) > 1}
    candidates.has_more = has_enough and len(groups) < options.k
    return candidates


STAGES: tuple[Stage, ...] = (
    by_words,
    by_meaning,
    across_languages,
    fuse,
    relevance,
    short_sections,
    proximity,
    support,
    feedback,
    boosts,
    exact_words,
    first_k,
)

# -- What stages are made of -------------------------------------------------------------------------------------------

_BEYOND = 20  # passages beyond the first k that are compared for near-duplicates too


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


def _best_sentence(candidates: Candidates, query: Float32, index: IndexView) -> tuple[Float64, Int64]:
    """The best cosine with a sentence of each passage, and its number, of equals the first; 0 and -1 without any."""
    counts = np.maximum(candidates.spans.counts, 0)
    stored = index.reader.sentences(index.db, candidates.ids, candidates.spans)
    products = np.zeros(stored.n)
    products[stored.positions] = inner_products(stored.rows, query) if len(stored.rows) else 0.0
    best, number, filled = np.zeros(len(counts)), np.full(len(counts), -1), np.flatnonzero(counts)
    if len(filled):
        starts = np.cumsum(counts) - counts
        best[filled] = np.maximum.reduceat(products, starts[filled])
        passage = np.repeat(np.arange(len(counts)), counts)
        equal = np.flatnonzero(products == best[passage])[::-1]  # backwards, so that the first of equals stays
        number[passage[equal]] = equal - starts[passage[equal]]
    return best, np.where(np.isnan(best), -1, number)


def _first_of_each(order: Int64, documents: Int64, most: int) -> Int64:
    """The first `most` passages of each document in an order of positions."""
    seen: Counter[int] = Counter()
    kept = np.ones(len(order), dtype=np.bool_)
    for rank, document in enumerate(documents[order].tolist()):
        seen[document] += 1
        kept[rank] = seen[document] <= most
    return order[kept]


def _without_near_duplicates(order: Int64, ids: Int64, k: int, index: IndexView) -> list[list[int]]:
    """Group near-duplicates in an order of positions. It is compared beyond its beginning only if that has some."""
    beginning = k + max(_BEYOND, k // 4)
    for part in (order[:beginning], order):
        texts = index.reader.read_rows.texts(index.db, ids[part].tolist())
        firsts = first_alike([*texts.values()], index.reader.read_rows.marks(texts).tolist())
        groups: dict[int, list[int]] = {}
        for position, first in zip(part.tolist(), firsts, strict=True):
            groups.setdefault(first, []).append(position)
        if len(groups) == len(part):
            break
    return [*groups.values()]
