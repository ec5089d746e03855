"""Raw sentence vectors: the weighted averages of word vectors, before any component is removed.

    v_s = (1/|s|) Σ_{w∈s} a_w v_w                SIF, tf-idf, mean
    v_s = (1/|s|) Σ_{w∈s} a_w v_w / ν            uSIF: each dimension by its norm over the words of s, ν = √Σ_w v_w²

For many texts, a sparse matrix with a row for each text and a column for each word of the table is multiplied by the
weighted vectors of the words, which are decoded when they first occur. Out-of-vocabulary words come with the texts; a
word whose predicted vector is zero is left out, as if it did not occur.

What each word adds to the vector of a text (`share_out`), and so each pair of words to the cosine of two texts: with
x_j the vector and a_j the weight of the j-th of n words, divided by ν for uSIF, which is known once the text is,

    v = Σ_j R a_j x_j / n,  R = I - Σ_i λ_i c_i c_iᵀ          v / ‖v‖ = Σ_j s_j,  s_j = R a_j x_j / (n ‖v‖)

since the removal of components is linear, and the cosine of two texts is Σ_i Σ_j p_i · s_j. It says how the cosine is
composed; not how it would change if a word were left out, for then n, ‖v‖ and ν would be others.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from threading import Lock

import numpy as np

from semsearch.arrays.types import Float32, Int32, Int64
from semsearch.arrays.vectors import row_lengths, to_unit
from semsearch.embedding.components import CommonComponents
from semsearch.embedding.weights import WordWeights
from semsearch.text.ragged import OovWords, Ragged
from semsearch.word_vectors.pieces import RememberedRows
from semsearch.word_vectors.table import WordVectors

FEW = 4096  # words: up to so many, no sparse product is loaded, and a text's numbers are the same in any company
_MOST_REMEMBERED = 1 << 18  # OOV words
_ROWS = 2048  # texts whose vectors are finished together, and stay near the processor until they are


def average_few(texts: Ragged, rows: Float32) -> Float32:
    """The mean word vector of each text, from a row for each word of the texts. n texts, (t, d) -> (n, d)

    A text without words gets a zero row. For few words: it does without the sparse product.
    """
    lengths = np.diff(texts.indptr)
    result = np.zeros((len(lengths), rows.shape[1]), dtype=np.float32)
    filled = np.flatnonzero(lengths)
    if len(filled):
        result[filled] = np.add.reduceat(rows, texts.indptr[filled], axis=0) / lengths[filled, None].astype(np.float32)
    return result


def average(texts: Ragged, table: Float32) -> Float32:
    """The mean of table[w] over the words of each text, zero for a text without words. n texts, (V, d) -> (n, d)"""
    sums = total(texts, table)
    sums /= np.maximum(texts.lengths, 1).astype(np.float32)[:, None]
    return sums


def total(texts: Ragged, table: Float32, factors: Float32 | None = None) -> Float32:
    """The sum of table[w] over the words of each text, each times its factor. n texts, (V, d), (t,) -> (n, d)"""
    from scipy.sparse import csr_array  # SciPy is large, and a query needs no sparse product

    if factors is None:
        factors = np.ones(len(texts.ids), dtype=np.float32)
    indptr = texts.indptr.astype(np.int32)  # indices of one type are not copied
    matrix = csr_array((factors, texts.ids, indptr), shape=(len(indptr) - 1, len(table)))
    return np.asarray(matrix @ table, dtype=np.float32)


class _DecodedWords:
    """A function of words and their vectors, computed for the first text that has a word. Threads may share it.

    Rows are in the order in which words occur: with a place for each word of the table, huge pages would make nearly
    all of its memory resident.
    """

    def __init__(self, vectors: WordVectors, function: Callable[[Int32, Float32], Float32]) -> None:
        self._vectors = vectors
        self._function = function
        self._places = np.full(len(vectors), -1, dtype=np.int32)  # of the words' rows
        self._rows = np.empty((0, vectors.dimension), dtype=np.float32)
        self._count = 0
        self._lock = Lock()

    def total(self, texts: Ragged, unknown_words: Float32) -> Float32:
        """The sums over the words of texts, and of unknown ones, whose rows are given. n texts, (u, d) -> (n, d)"""
        is_unknown = texts.ids < 0
        if not is_unknown.any():
            places, rows = self._rows_for(texts.ids)
            return total(Ragged(places, texts.indptr), rows)
        places, rows = self._rows_for(np.maximum(texts.ids, 0))
        sums = total(Ragged(places, texts.indptr), rows, (~is_unknown).astype(np.float32))
        others = texts.only(is_unknown)
        sums += total(Ragged(-1 - others.ids, others.indptr), unknown_words)
        return sums

    def _rows_for(self, ids: Int32) -> tuple[Int32, Float32]:
        """The places of words among the rows, and the rows. (t,) -> (t,), (≥ words, d)"""
        with self._lock:
            places = self._places[ids]
            if len(new := np.unique(ids[places < 0])):
                count = self._count + len(new)
                if count > len(self._rows):
                    rows = np.empty((max(count, 3 * len(self._rows) // 2), self._vectors.dimension), dtype=np.float32)
                    rows[: self._count] = self._rows[: self._count]
                    self._rows = rows
                self._rows[self._count : count] = self._function(new, self._vectors.rows(new))
                self._places[new] = np.arange(self._count, count, dtype=np.int32)
                self._count, places = count, self._places[ids]
            return places, self._rows


class WeightedSums:
    """Raw sentence vectors of texts, and what is left of them without common components. Threads may share it.

    With `normalise`, as in uSIF, each dimension of v_w is divided by its norm over the words of s. OOV words that come
    with the texts have vectors by their pieces, rounded to float16: the same whether a word is remembered or not.
    """

    def __init__(self, vectors: WordVectors, weights: WordWeights, *, normalise: bool) -> None:
        self._vectors = vectors
        self._weights = weights
        self._normalise = normalise
        self._last: tuple[OovWords, Float32] | None = None

    @cached_property
    def _oov(self) -> RememberedRows:
        return RememberedRows(self._vectors.oov_rows, self._vectors.dimension, np.float16, most=_MOST_REMEMBERED)

    @cached_property
    def _weighted(self) -> _DecodedWords:
        return _DecodedWords(self._vectors, lambda ids, rows: rows * self._weights.of(ids)[:, None])

    @cached_property
    def _squares(self) -> _DecodedWords:
        return _DecodedWords(self._vectors, lambda _, rows: rows * rows)

    def known(self, texts: Ragged) -> Ragged:
        """Drop the words that have no vector from texts. n texts -> n texts"""
        known = np.asarray(texts.ids >= 0, dtype=np.bool_)
        unknown = np.flatnonzero(~known)
        if len(unknown):
            guessed = np.asarray(self._oov_vectors(texts.unknown_words).any(axis=1))
            known[unknown] = guessed[-1 - texts.ids[unknown]]
        return texts if known.all() else texts.only(known)

    def of(self, texts: Ragged) -> Float32:
        """The raw vectors of texts; zero for a text without known words. n texts -> (n, d)"""
        texts = self.known(texts)
        squares = None
        if len(texts.ids) <= FEW:
            rows = self._rows(texts.ids, texts.unknown_words)
            sums = average_few(texts, rows * self._weights_of(texts.ids)[:, None])
            if self._normalise:
                squares = average_few(texts, rows * rows)
        else:
            oov_vectors = self._oov_vectors(texts.unknown_words)
            counts = np.maximum(texts.lengths, 1).astype(np.float32)[:, None]
            sums = self._weighted.total(texts, oov_vectors * np.float32(self._weights.of_unknown_words)) / counts
            if self._normalise:
                squares = self._squares.total(texts, oov_vectors * oov_vectors) / counts
        if squares is None:
            return sums
        # Σ a v_w / ν = (Σ a v_w) / ν: the norm is the same for all words of a text; a zero column stays zero
        norms = np.sqrt(squares * texts.lengths[:, None].astype(np.float32))
        return np.asarray(np.divide(sums, norms, out=np.zeros_like(sums), where=norms > 0))

    def shares(self, words: Ragged) -> Float32:
        """The share of each word of one text in its raw vector. All words must be known. (t,) -> (t, d)"""
        rows = self._rows(words.ids, words.unknown_words)
        shares = rows * (self._weights_of(words.ids) / np.float32(max(len(rows), 1)))[:, None]
        if not self._normalise:
            return np.asarray(shares, dtype=np.float32)
        norms = np.sqrt(np.einsum("ij,ij->j", rows, rows))
        return np.asarray(np.divide(shares, norms, out=np.zeros_like(shares), where=norms > 0), dtype=np.float32)

    def unit_vectors(self, common: CommonComponents, texts: Ragged) -> Float32:
        """The unit vectors of texts after the common components are removed. n texts -> (n, d)"""
        return _without_components(common, self.of(texts))

    def unit_vectors_joined(self, common: CommonComponents, texts: Ragged, starts: Int64) -> tuple[Float32, Float32]:
        """Like `unit_vectors`, for n texts and for m joined ones: rows starts[i] to starts[i + 1]. -> (n, d), (m, d)

        The words of a joined text sum to the sum of its rows' sums, so without normalisation they are summed only once.
        """
        texts = self.known(texts)
        raw = self.of(texts)
        if self._normalise:
            return _without_components(common, raw), self.unit_vectors(common, texts.joined(starts))
        counts = texts.lengths.astype(np.float32)
        joined = total(Ragged(np.arange(len(texts), dtype=np.int32), starts), raw, counts)  # before raw is overwritten
        return _without_components(common, raw), _without_components(common, joined)

    def _oov_vectors(self, unknown_words: OovWords) -> Float32:
        """The vectors of OOV words. The last ones are cached: batch after batch may have the same words."""
        last = self._last
        if last is None or last[0] is not unknown_words:
            last = self._last = unknown_words, self._oov.of(unknown_words).astype(np.float32)
        return last[1]

    def _rows(self, ids: Int32, unknown_words: OovWords) -> Float32:
        """The vectors of words, known and unknown ones, without weights. (t,) -> (t, d)"""
        rows = self._vectors.rows(np.maximum(ids, 0))
        is_unknown = ids < 0
        if is_unknown.any():
            rows[is_unknown] = self._oov_vectors(unknown_words)[-1 - ids[is_unknown]]
        return rows

    def _weights_of(self, ids: Int32) -> Float32:
        """The weights of words, known and unknown ones. (t,) -> (t,)"""
        weights = self._weights.of(np.maximum(ids, 0))
        return np.where(ids < 0, np.float32(self._weights.of_unknown_words), weights)


def _without_components(common: CommonComponents, raw: Float32) -> Float32:
    """The unit vectors of raw ones without the common components, in the same memory. (n, d) -> (n, d)"""
    for first in range(0, len(raw), _ROWS):
        part = raw[first : first + _ROWS]
        rest = common.remove(part)
        factors = to_unit(rest, scale=row_lengths(part)).astype(np.float32)
        np.multiply(rest, factors[:, None], out=part)
    return raw


# -- Contributions of words --------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False, slots=True)
class WordShares:
    """The distinct words of a text in order (w,) and what all occurrences of each add to the text's vector (w, d).

    `unknown` are the words that have no vector.
    """

    words: tuple[str, ...]
    rows: Float32
    unknown: tuple[str, ...]

    def summing_to(self, vector: Float32) -> WordShares:
        """Shares that sum to a stored vector (d,): its rounding error is divided evenly among the words."""
        rounding = (vector - self.rows.sum(axis=0)) / np.float32(max(len(self.words), 1))
        return WordShares(self.words, np.asarray(self.rows + rounding, dtype=np.float32), self.unknown)


def share_out(
    words: Sequence[str], tokens: Ragged, weighted_sums: WeightedSums, common: CommonComponents
) -> WordShares:
    """The shares of a text's words (n,) in its vector. `tokens` are the ids of the words, as n texts of one word each,
    or of the parts of an unknown one."""
    known = weighted_sums.known(tokens)
    shares = weighted_sums.shares(known)
    rest, whole = common.remove(shares), shares.sum(axis=0)[None]
    factor = to_unit(rest.sum(axis=0)[None], scale=row_lengths(whole))
    named = [word for word, length in zip(words, known.lengths.tolist(), strict=True) for _ in range(length)]
    indices = {word: index for index, word in enumerate(dict.fromkeys(named))}
    rows = np.zeros((len(indices), shares.shape[1]), dtype=np.float32)
    np.add.at(rows, [indices[word] for word in named], rest * factor)
    unknown = dict.fromkeys(word for word, length in zip(words, known.lengths.tolist(), strict=True) if not length)
    return WordShares(tuple(indices), rows, tuple(unknown))
