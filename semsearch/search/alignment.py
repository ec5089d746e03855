"""How well sentences have the words of a query, one by one: the alignment by which the shown sentence is chosen.

A_ij is how well sentence j has the i-th content word of the query: the best of its words, where the same word counts 1,
another form of it (an equal stem) .95, another word cos² of their word vectors, and a word with digits none but itself.
In a short document a word of its title or its file's name counts .95 in each sentence: "how long do I bake banana
bread" asks the page of that name only for the time.

    C_ij  = max_d r^d A_i(j-d)                        a word said up to four sentences before still counts
    w_i   = √idf_i · log((n + 1) / (Σ_j C_ij + ½))    what few of the n sentences have decides
    score = Σ_i w_i C_ij

The alignment is that of Song and Roth 2015 (maximum alignment), with weights of our own; the numbers were chosen on
English, German and Chinese (docs/research/measurements.md, "The quoted sentence"). Of XQuAD's questions .835 get a
sentence with the answer; .105 fewer with the sentence nearest in meaning, .023 without vectors, .022 without the
sentences before, .019 without the weight of what few sentences have.

A question in another language than the passage is aligned by the word vectors alone, but for names and numbers; a word
of it that no passage has is as rare as in general text of its language. Where an index has several languages, the
alignment counts for such passages in the ranking, too (`across_languages`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from semsearch import tuning
from semsearch.arrays.types import Bool, Float32, Float64, Int64, UInt64
from semsearch.lexical.bm25 import TermLookup
from semsearch.results.origin import Weights
from semsearch.search.candidates import Candidates, Query, fused, mean_cosine, weights_of
from semsearch.search.index_reader import IndexView
from semsearch.search.passage_parts import PassageParts
from semsearch.text.languages import RULES
from semsearch.text.terms import QuestionTerms, spelled
from semsearch.text.tokens import hashes_of
from semsearch.word_vectors.language_table import LanguageTable
from semsearch.word_vectors.multilingual import MultilingualVectors, english_of, language_table
from semsearch.word_vectors.table import WordVectors
from semsearch.word_vectors.text_words import ReadTexts, Texts

RECALLED = 0.45  # r: what a word counts that stands in the sentence before
_REACH = 4  # sentences before
OTHER_FORM = 0.95  # what another word of the same term counts: "removed" for "remove"
OF_TITLE = 0.95  # what a word counts that the title or the file's name of a short document has
_LEAST_WEIGHT = 0.2  # of the logarithm: a word that all sentences have still counts
_MOST_WORDS = 32  # of a query, those with the largest idf
_WORDS_OF_PASSAGE = 100  # roughly


# -- Sentences ---------------------------------------------------------------------------------------------------------


class AlignedPassage(NamedTuple):
    """The n sentences of a passage, aligned with the q words of a query."""

    parts: PassageParts
    alone: Float32  # A, with the title's words (n, q)
    similar: Float32  # C, (n, q)
    around: Float32  # how well headings, title or file's name have each word (q,)
    sums: Float32  # of C over the sentences (q,)
    weights: Float64  # w, for this passage by itself (q,)
    scores: Float64  # (n,)


def aligned_passages(
    query_words: QueryWords, ids: Sequence[int], are_short: Bool, index: IndexView
) -> dict[int, AlignedPassage]:
    """Align different passages, by id; `are_short`: of which documents the title counts in each sentence."""
    if not ids:
        return {}
    parts, similar = similar_texts(query_words, ids, index)
    counts, sizes = np.array([part.sentences for part in parts]), np.array([len(part.texts) for part in parts])
    firsts = np.cumsum(sizes) - sizes
    around = firsts + counts  # the first text around each: title, name of the file, headings
    above = np.maximum.reduceat(similar, np.column_stack((firsts, around)).ravel(), axis=0)[1::2]
    of_title = np.maximum(similar[around], similar[around + 1]) * (OF_TITLE * are_short)[:, None]
    numbers = np.arange(len(similar)) - np.repeat(firsts, sizes)
    are_sentences = numbers < np.repeat(counts, sizes)
    alone = np.maximum(similar[are_sentences], np.repeat(of_title, counts, axis=0).astype(np.float32))
    with_earlier, starts = recalled(alone, numbers[are_sentences]), np.cumsum(counts) - counts
    sums = np.add.reduceat(with_earlier, starts, axis=0)
    weights = word_weights(query_words, sums, counts[:, None])
    scores = np.einsum("nq,nq->n", with_earlier, np.repeat(weights, counts, axis=0))
    slices = map(slice, starts.tolist(), (starts + counts).tolist())
    return {
        id_: AlignedPassage(part, alone[at], with_earlier[at], around_it, sum_, weight, scores[at])
        for id_, part, at, around_it, sum_, weight in zip(ids, parts, slices, above, sums, weights, strict=True)
    }


def similar_texts(query_words: QueryWords, ids: Sequence[int], index: IndexView) -> tuple[list[PassageParts], Float32]:
    """The parts of passages, and A of the texts of all of them: sentences, title, name of the file, headings. (n, q)"""
    rows = index.passages(ids)
    documents = index.documents_of(rows.values())

    def read(unread: list[int]) -> dict[int, PassageParts]:
        return {id_: PassageParts(rows[id_], documents[rows[id_].document_id]) for id_ in unread}

    parts, languages = [*index.reader.caches.parts.of(ids, read).values()], index.languages_of([*rows.values()])
    return parts, similarities(query_words, [part.texts for part in parts], languages)


def similarities(query_words: QueryWords, groups: Sequence[Texts], languages: Sequence[str]) -> Float32:
    """How well each of the n texts of groups has each word of the query: A. `languages`: that of each group. (n, q)"""
    similar: Float32 = np.zeros((sum(map(len, groups)), len(query_words.names)), dtype=np.float32)
    if not groups:
        return similar
    words = query_words.read_texts.words(groups, languages, query_words.table)
    if len(words.ids) and query_words.table is not None and query_words.vectors is not None:
        ids, which = np.unique(words.ids, return_inverse=True)
        rows = query_words.table.rows(ids)
        cosines = np.maximum(_products(rows, query_words.vectors), 0)
        cosines *= cosines / np.maximum(np.einsum("ij,ij->i", rows, rows), np.float32(1e-9))[:, None]
        firsts = np.flatnonzero(np.diff(words.of_ids, prepend=-1))
        similar[words.of_ids[firsts]] = np.maximum.reduceat(cosines[which.reshape(-1)], firsts, axis=0)
    if not len(query_words.terms):
        return similar
    at = np.minimum(query_words.terms.searchsorted(words.terms), len(query_words.terms) - 1)
    held = (query_words.terms[at] == words.terms).nonzero()[0]
    np.maximum.at(similar, (words.of_terms[held], query_words.rows[at[held]]), np.float32(OTHER_FORM))
    for row, word in enumerate(query_words.hashes.tolist()):
        similar[words.of_hashes[words.hashes == word], row] = 1
    return similar


def recalled(similar: Float32, numbers: Int64) -> Float32:
    """C: the similarities of sentences, with what earlier ones have, by their numbers in the passages. (n, q), (n,)"""
    result = similar.copy()
    for step in range(1, min(_REACH, len(similar) - 1) + 1):
        earlier = np.where((numbers[step:] >= step)[:, None], RECALLED**step * similar[:-step], np.float32(0))
        np.maximum(result[step:], earlier, out=result[step:])
    return result


def word_weights(query_words: QueryWords, sums: Float32, counts: Int64) -> Float64:
    """w: the weights of the words, for so many sentences whose C have these sums. (..., q), (..., 1)"""
    return np.asarray(query_words.weights * np.maximum(np.log((counts + 1) / (sums + 0.5)), _LEAST_WEIGHT))


_SMALL = 1 << 18  # multiplications: for more, BLAS wakes threads, which takes longer than the product


def _products(rows: Float32, vectors: Float32) -> Float32:
    """The inner products of rows (u, d) and vectors (q, d). (u, q)"""
    step = max(1, _SMALL // max(vectors.size, 1))
    if len(rows) <= step:
        return np.asarray(rows @ vectors.T)
    return np.concatenate([rows[first : first + step] @ vectors.T for first in range(0, len(rows), step)])


# -- The words of a query ----------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class QueryWords:
    """The content words of a query, as they are compared with those of sentences: q rows."""

    names: Sequence[str]
    hashes: UInt64  # (q,)
    terms: UInt64  # (t,) rising: in the languages of the index, a word has several
    rows: Int64  # (t,) the row of each term
    weights: Float64  # (q,) √idf
    frequencies: Float64  # (q,) p in general text; 0 for words that the vectors lack
    are_indexed: Bool  # (q,) whether a passage has them
    vectors: Float32 | None  # (q, d) of length one, or zero; None if words are compared by their letters only
    table: WordVectors | None  # with which the words of sentences are looked up
    read_texts: ReadTexts  # the caches of the words of sentences


def read_query_words(query: Query, index: IndexView) -> QueryWords:
    """The words of a query that are aligned: the 32 rarest, without those that are two joined ones."""
    assert query.terms is not None  # passages that stand for a query are not aligned
    reader = index.reader
    words = zip(query.terms.words, query.terms.hashes.tolist(), strict=True)
    hashes = {word: hash_ for word, hash_ in words if hash_}  # but for joined ones
    row_of_term, names = _rows(query.terms, hashes)
    terms, rows = np.array([*row_of_term], dtype=np.uint64), np.array([*row_of_term.values()], dtype=np.int64)
    lookup = None if query.original is None or index.federated else query.words  # of an example, its most telling ones
    lookup = lookup or reader.lexical.find(query.terms.terms)  # in this index alone
    at, rarity, idf = np.searchsorted(lookup.terms, terms), np.full(len(names), np.inf), np.zeros(len(names))
    np.minimum.at(rarity, rows, (lookup.weights / lookup.times)[at])
    np.maximum.at(idf, rows, lookup.idf[at])
    table = None if query.vector is None or query.embedder is None else query.embedder.chosen_.vectors
    vectors, p, are_known = _vectors(names, query)
    if isinstance(table, MultilingualVectors):
        rarity = np.where((idf == 0) & are_known, _idf_in_general(p, reader.lexical.passages), rarity)
    kept = np.sort(np.argsort(-rarity, kind="stable")[:_MOST_WORDS])
    number = {row: new for new, row in enumerate(kept.tolist())}
    numbers = {term: number[row] for term, row in sorted(row_of_term.items()) if row in number}
    return QueryWords(
        names=[names[row] for row in kept.tolist()],
        hashes=np.array([hashes[name] for name in names], dtype=np.uint64)[kept],
        terms=np.array([*numbers], dtype=np.uint64),
        rows=np.array([*numbers.values()], dtype=np.int64),
        weights=np.sqrt(rarity[kept]),
        frequencies=p[kept],
        are_indexed=idf[kept] > 0,
        vectors=None if vectors is None else vectors[kept],
        table=table,
        read_texts=reader.caches.words,
    )


def _rows(terms: QuestionTerms, hashes: Mapping[str, int]) -> tuple[dict[int, int], list[str]]:
    """The row of each term, and the first word of each row: words of one term share it, and a word's terms, too."""
    row_of_word, row_of_term, names = dict[str, int](), dict[int, int](), list[str]()
    for term, name in zip(terms.terms.tolist(), terms.words, strict=True):
        if name in hashes:
            row = row_of_word.setdefault(name, row_of_term.get(term, len(names)))
            row_of_term.setdefault(term, row)
            names += [name] * (row == len(names))
    return row_of_term, names


def _vectors(names: Sequence[str], query: Query) -> tuple[Float32 | None, Float64, Bool]:
    """The vectors of words, their frequencies in general text, and whether there are such. Words with digits have no
    vector: another number is another thing. (q, d), (q,), (q,)"""
    if query.vector is None or query.embedder is None or query.vector_words is None or query.terms is None:
        return None, np.zeros(len(names)), np.zeros(len(names), dtype=np.bool_)
    table = query.embedder.chosen_.vectors
    number = {name: at for at, name in enumerate(dict.fromkeys(query.terms.words))}
    ids = query.vector_words.take(np.array([number[name] for name in names], dtype=np.int64))
    ids = ids.only(ids.ids >= 0)
    owners, counts = np.repeat(np.arange(len(names)), ids.lengths), ids.lengths
    vectors: Float32 = np.zeros((len(names), table.dimension), dtype=np.float32)
    np.add.at(vectors, owners, table.rows(ids.ids))
    vectors[[any(map(str.isdigit, name)) for name in names]] = 0
    vectors /= np.maximum(np.sqrt(np.einsum("ij,ij->i", vectors, vectors)), np.float32(1e-9))[:, None]
    p = np.bincount(owners, table.frequencies[ids.ids], len(names)) / np.maximum(counts, 1)
    return vectors, p, counts > 0


def _idf_in_general(p: Float64, passages: int) -> Float64:
    """The idf that words would have in so many passages of general text. (n,)"""
    having = passages * -np.expm1(-_WORDS_OF_PASSAGE * p)
    return np.asarray(np.log(1 + (passages - having + 0.5) / (having + 0.5)))


# -- Passages in other languages ---------------------------------------------------------------------------------------


def across_languages(query: Query, candidates: Candidates, index: IndexView) -> Candidates:
    """Compare passages in another language than the query's, which have neither its topics nor its words.

    Of the words only names and numbers can be the same. The cosine has the weight by which the nearest passages in the
    query's own language would have about their scores, and counts how well the passage's words, and those of its
    headings, align with the query's: static vectors find a word's translation better than the mean of all words finds
    that of a text (docs/research/measurements.md, "Languages").
    """
    if query.language is None or not len(candidates.ids):
        return candidates
    languages = index.languages_of_documents(candidates.spans.documents)
    other = np.array([language != query.language for language in languages], dtype=np.bool_)
    if not other.any():
        return candidates
    if (names := names_in(query)) is not None:
        spans = candidates.spans
        bm25 = names.scored(index.reader.lexical.locate(candidates.ids, spans.before, spans.after))
        candidates.bm25 = np.where(other, bm25, candidates.bm25)
    general = candidates.cosine
    if candidates.cosines:
        topics = candidates.cosines["topics"]
        general = mean_cosine({**candidates.cosines, "topics": np.full(len(other), np.nan)})
        candidates.cosines = {**candidates.cosines, "topics": np.where(other, np.nan, topics)}
        candidates.cosine = np.where(other, general, candidates.cosine)
    candidates.are_other = other
    candidates.weights_of_others = _weights_of_others(weights_of(query, candidates), candidates, other, general)
    candidates.are_aligned = _are_aligned(query.language, index.reader.language_documents)
    if candidates.cosines and candidates.are_aligned:
        _align(query, candidates, other, index)
    return candidates


_FEW_OWN = 0.1  # share of the documents that are in the query's language


def _are_aligned(language: str, documents: Mapping[str, int]) -> bool:
    """Whether the alignment of a query's words counts in the ranking of passages in other languages.

    Hardly any of the index's `documents` of each language may be in its own: beside passages in it, their translations
    would gain too much. A query has whole words, not characters or sequences of letters, if none is.
    """
    own, is_whole = documents.get(language, 0), not (RULES[language].pairs or RULES[language].sequences)
    return not own or (is_whole and own <= _FEW_OWN * sum(documents.values()))


def _weights_of_others(own: Weights, candidates: Candidates, other: Bool, general: Float64) -> Weights:
    """The weights of passages in `other` languages, by ridge regression towards all weight, which the cosine has
    without any passage in the query's language that is near. `general`: the mean cosines without topics. (n,)"""
    tuned = tuning.TUNING
    there = np.flatnonzero(~other & ~np.isnan(general))
    weight = own.dense + own.lexical
    if len(there):
        there = there[np.argsort(-general[there], kind="stable")[: tuned.across_nearest]]
        dense, lexical = fused(candidates.cosine[there], candidates.bm25[there], own)
        near = np.maximum(general[there], 0)
        scores, squares = float((dense + lexical) @ near), float(near @ near)
        weight = min((scores + tuned.across_ridge * weight) / (squares + tuned.across_ridge), tuned.across_most)
    return Weights(weight, tuned.words_across * own.lexical, own.best, own.near)


def _align(query: Query, candidates: Candidates, other: Bool, index: IndexView) -> None:
    """Add the alignment of words to the cosines of the best passages; the others get the worst alignment of these."""
    tuned, cosine = tuning.TUNING, candidates.cosine.copy()
    at = np.flatnonzero(other & ~np.isnan(cosine))
    scores = sum(fused(cosine[at], candidates.bm25[at], candidates.weights_of_others))
    most = max(tuned.across_aligned, query.options.k + tuned.across_aligned_beyond)
    best = at[np.argsort(-scores, kind="stable")[:most]]
    if not len(best):
        return
    aligned = alignments(read_query_words(query, index), candidates.ids[best].tolist(), index).sum(axis=1)
    values = np.full(len(cosine), np.nan)
    values[at] = aligned.min()
    values[best] = aligned
    cosine[at] = (cosine[at] + tuned.aligned_across * values[at]) / (1 + tuned.aligned_across)
    candidates.cosine, candidates.cosines = cosine, {**candidates.cosines, "words": values}


def alignments(query_words: QueryWords, ids: Sequence[int], index: IndexView) -> Float64:
    """What each word of a query adds to how well passages have them all: idf_i (max_j A_ij + B_i) / 2 Σ idf.

    A_ij is how well sentence j of the passage has the word (semsearch.search.alignment), B_i how well the headings
    above have it. They count as a sentence, too; where there are none, B_i = max_j A_ij. Rows sum to 0 to 1. (n, q)
    """
    parts, similar = similar_texts(query_words, ids, index)
    counts, sizes = np.array([part.sentences for part in parts]), np.array([len(part.texts) for part in parts])
    firsts, ends = np.cumsum(sizes) - sizes, np.cumsum(sizes)
    headings = firsts + counts + 2  # behind title and name of the file
    similar = np.concatenate((similar, np.zeros((1, similar.shape[1]), dtype=np.float32)))
    above = np.maximum.reduceat(similar, np.column_stack((headings, ends)).ravel(), axis=0)[::2]
    best = np.maximum.reduceat(similar, np.column_stack((firsts, firsts + counts)).ravel(), axis=0)[::2]
    best, bare = np.maximum(best, np.where((headings < ends)[:, None], above, 0)), headings == ends
    above[bare] = best[bare]
    idf = np.square(query_words.weights)
    return np.asarray((best + above) / 2 * (idf / max(float(idf.sum()), 1e-9)))


# -- Words that are the same in other languages ------------------------------------------------------------------------

_FREQUENT = 20_000  # words of a language, which are no names


def names_in(query: Query) -> TermLookup | None:
    """The words of a query that are the same in other languages: with digits, or none of the frequent words of its
    language. None if it is not compared by words."""
    if query.words is None or query.terms is None or query.language is None or query.embedder is None:
        return None
    english = english_of(query.embedder.chosen_.vectors)
    table = language_table(query.language, english) or english
    ids = table.lookup(hashes_of([spelled(word, query.language) for word in query.terms.words]))
    is_frequent = (ids >= 0) & (table.frequencies[np.maximum(ids, 0)] > _least_frequent(table))
    has_digit = np.array([any(map(str.isdigit, word)) for word in query.terms.words], dtype=np.bool_)
    return query.words.search.find(query.terms.terms[has_digit | ~is_frequent])


_least: dict[str, float] = {}


def _least_frequent(table: WordVectors | LanguageTable) -> float:
    """The p(w) above which a word of a table is one of its frequent words."""
    if table.digest not in _least:  # it takes longer than all else that is done with a question's names
        p = table.frequencies
        _least[table.digest] = float(np.partition(p, -_FREQUENT)[-_FREQUENT]) if len(p) > _FREQUENT else 0.0
    return _least[table.digest]
