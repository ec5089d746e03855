"""How well sentences have the words of a query, one by one: the alignment by which the shown sentence is chosen.

A_ij is how well sentence j has the i-th content word of the query: the best of its words, where the same word counts 1,
another form of it (an equal stem) .95, another word cos² of their word vectors.

    C_ij  = max_d r^d A_i(j-d)                        a word said up to four sentences before still counts
    w_i   = √idf_i · log((n + 1) / (Σ_j C_ij + ½))    what few of the n sentences have decides
    score = Σ_i w_i C_ij

The alignment is that of Song and Roth 2015 (maximum alignment), with weights of our own; the numbers were chosen on
English, German and Chinese (docs/research/measurements.md, "The quoted sentence"). Of XQuAD's questions .835 get a
sentence with the answer; .105 fewer with the sentence nearest in meaning, .023 without vectors, .022 without the
sentences before, .019 without the weight of what few sentences have.

A question in another language than the passage is aligned by the word vectors alone, but for names and numbers; a word
of it that no passage has is as rare as in general text of its language.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from semsearch.arrays.id_ranges import are_new
from semsearch.arrays.types import Bool, Float32, Float64, Int64, UInt64
from semsearch.embedding.weighted_sums import average_few
from semsearch.embedding.word_finder import as_multilingual, word_ids
from semsearch.search.candidates import Query
from semsearch.search.index_reader import IndexView
from semsearch.search.text_words import ReadTexts
from semsearch.text.languages import ENGLISH
from semsearch.text.ragged import Ragged
from semsearch.text.terms import hashes_of
from semsearch.text.tokens import hash_chunks, hash_whole
from semsearch.word_vectors.multilingual import MultilingualVectors
from semsearch.word_vectors.table import WordVectors

RECALLED = 0.45  # r: what a word counts that stands in the sentence before
REACH = 4  # sentences before
OTHER_FORM = 0.95  # what another word of the same term counts: "removed" for "remove"
_LEAST_WEIGHT = 0.2  # of the logarithm: a word that all sentences have still counts
_MOST_WORDS = 32  # of a query, those with the largest idf
_WORDS_OF_PASSAGE = 100  # roughly


@dataclass(frozen=True, slots=True)
class AskedWords:
    """The content words of a query, as they are compared with those of sentences: q rows."""

    names: Sequence[str]
    hashes: UInt64  # (q,)
    terms: UInt64  # (t,) rising: in the languages of the index, a word has several
    rows: Int64  # (t,) the row of each term
    weights: Float64  # (q,) √idf
    frequencies: Float64  # (q,) p in general text; 0 for words that the vectors lack
    are_held: Bool  # (q,) whether a passage has them
    vectors: Float32 | None  # (q, d) of length one, or zero; None if words are compared by their letters only
    table: WordVectors | None  # with which the words of sentences are looked up
    read_texts: ReadTexts  # the memory of the words of sentences


def asked_words(query: Query, index: IndexView) -> AskedWords:
    """The words of a query that are aligned: the 32 rarest, without those that are two joined ones."""
    assert query.terms is not None  # passages that stand for a query are not aligned
    reader, names, hashes, several = index.reader, list[str](), list[int](), None
    table = None if query.vector is None or query.embedder is None else query.embedder.chosen_.vectors
    if table is not None and query.language is not None:
        several = as_multilingual(table)
    is_foreign = several is not None and query.language not in reader.languages  # whose words may be characters, too
    distinct = list(dict.fromkeys(query.terms.words))
    chunk = hash_whole(distinct, marks=reader.languages != (ENGLISH,))
    of_distinct = zip(distinct, (np.cumsum(chunk.counts) - chunk.counts).tolist(), chunk.counts.tolist(), strict=True)
    single = {name: int(chunk.hashes[first]) for name, first, count in of_distinct if count == 1}
    if is_foreign:
        single = dict(zip(distinct, hashes_of(distinct).tolist(), strict=True))
    words = None if query.original is None else query.words  # of an example, those are only its most telling ones
    lookup = reader.lexical.find(query.terms.terms) if words is None else words.lookup
    at = np.searchsorted(lookup.terms, query.terms.terms)
    row_of_word, row_of_term, least, most = dict[str, int](), dict[int, int](), list[float](), list[float]()
    idfs = zip((lookup.weights / lookup.times)[at].tolist(), lookup.idf[at].tolist(), strict=True)
    for term, name, (idf, idf_held) in zip(query.terms.terms.tolist(), query.terms.words, idfs, strict=True):
        if name not in single:
            continue
        row = row_of_word.get(name, row_of_term.get(term, len(names)))
        if row == len(names):
            names.append(name)
            hashes.append(single[name])
            least.append(idf)
            most.append(idf_held)
        row_of_word[name], row_of_term[term] = row, row_of_term.get(term, row)
        least[row], most[row] = min(least[row], idf), max(most[row], idf_held)
    rarity, vectors, p = np.array(least), None, np.zeros(len(names))
    if several is not None and query.language is not None and names:
        ids = _words_in(several, names, query.language)
        vectors = _unit(average_few(ids, several.rows(ids.ids)))
        p = average_few(ids, several.frequencies[ids.ids][:, None])[:, 0].astype(np.float64)
        in_none = (np.array(most) == 0) & (ids.lengths > 0)
        rarity = np.where(in_none, _idf_in_general(p, reader.lexical.passages), rarity)
    elif table is not None:
        vectors = np.zeros((len(names), table.dimension), dtype=np.float32)
        found = table.lookup(np.array(hashes, dtype=np.uint64))
        vectors[found >= 0] = _unit(table.rows(found[found >= 0]))
        p[found >= 0] = table.frequencies[found[found >= 0]]
    kept = np.sort(np.argsort(-rarity, kind="stable")[:_MOST_WORDS])
    number = {row: new for new, row in enumerate(kept.tolist())}
    rows = {term: number[row] for term, row in sorted(row_of_term.items()) if row in number}
    return AskedWords(
        names=[names[row] for row in kept.tolist()],
        hashes=np.array(hashes, dtype=np.uint64)[kept],
        terms=np.array([*rows], dtype=np.uint64),
        rows=np.array([*rows.values()], dtype=np.int64),
        weights=np.sqrt(rarity[kept]),
        frequencies=p[kept],
        are_held=np.array(most)[kept] > 0,
        vectors=None if vectors is None else vectors[kept],
        table=table,
        read_texts=reader.memory.words,
    )


def similarities(asked: AskedWords, texts: Sequence[str], languages: Sequence[str]) -> Float32:
    """How well each text, in one of these languages, has each word of the query: A. (n, q)"""
    similar: Float32 = np.zeros((len(texts), len(asked.names)), dtype=np.float32)
    for language in dict.fromkeys(languages):
        at = np.flatnonzero([code == language for code in languages])
        similar[at] = _similarities_in(asked, [texts[number] for number in at.tolist()], language)
    return similar


def _similarities_in(asked: AskedWords, texts: Sequence[str], language: str) -> Float32:
    """The same for texts in one language."""
    similar: Float32 = np.zeros((len(texts), len(asked.names)), dtype=np.float32)
    words = asked.read_texts.words(texts, language, asked.table)
    if len(words.ids) and asked.table is not None and asked.vectors is not None:
        ids, which = np.unique(words.ids, return_inverse=True)
        rows = asked.table.rows(ids)
        cosines = np.maximum(_products(rows, asked.vectors), 0)
        cosines *= cosines / np.maximum(np.einsum("ij,ij->i", rows, rows), np.float32(1e-9))[:, None]
        firsts = are_new(words.of_ids).nonzero()[0]
        similar[words.of_ids[firsts]] = np.maximum.reduceat(cosines[which.reshape(-1)], firsts, axis=0)
    if not len(asked.terms):
        return similar
    at = np.minimum(asked.terms.searchsorted(words.terms), len(asked.terms) - 1)
    held = (asked.terms[at] == words.terms).nonzero()[0]
    np.maximum.at(similar, (words.of_terms[held], asked.rows[at[held]]), np.float32(OTHER_FORM))
    for row, word in enumerate(asked.hashes.tolist()):
        similar[words.of_hashes[words.hashes == word], row] = 1
    return similar


def recalled(similar: Float32, numbers: Int64) -> Float32:
    """C: the similarities of sentences, with what earlier ones have, by their numbers in the passages. (n, q), (n,)"""
    result = similar.copy()
    for step in range(1, min(REACH, len(similar) - 1) + 1):
        earlier = np.where((numbers[step:] >= step)[:, None], RECALLED**step * similar[:-step], np.float32(0))
        np.maximum(result[step:], earlier, out=result[step:])
    return result


def word_weights(asked: AskedWords, sums: Float32, counts: Int64) -> Float64:
    """w: the weights of the words, for so many sentences whose C have these sums. (..., q), (..., 1)"""
    return np.asarray(asked.weights * np.maximum(np.log((counts + 1) / (sums + 0.5)), _LEAST_WEIGHT))


# -- Words -------------------------------------------------------------------------------------------------------------


_SMALL = 1 << 18  # multiplications: for more, BLAS wakes threads, which takes longer than the product


def _products(rows: Float32, vectors: Float32) -> Float32:
    """The inner products of rows (u, d) and vectors (q, d). (u, q)"""
    step = max(1, _SMALL // max(vectors.size, 1))
    return np.concatenate([rows[first : first + step] @ vectors.T for first in range(0, len(rows), step)])


def _unit(rows: Float32) -> Float32:
    return np.asarray(rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), np.float32(1e-9)))


def _words_in(vectors: MultilingualVectors, names: Sequence[str], language: str) -> Ragged:
    """The words of a question's names in its language that have vectors. Nearly every question has a new one."""
    if language in vectors.tables:
        found = vectors.words_of(names, language, keep_unknown=False)
        return found.only(found.ids >= 0)
    return word_ids(hash_chunks(names), vectors.english, keep_unknown=False)


def _idf_in_general(p: Float64, passages: int) -> Float64:
    """The idf that words would have in so many passages of general text. (n,)"""
    having = passages * -np.expm1(-_WORDS_OF_PASSAGE * p)
    return np.asarray(np.log(1 + (passages - having + 0.5) / (having + 0.5)))
