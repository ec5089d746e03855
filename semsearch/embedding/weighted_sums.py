"""Raw sentence vectors: the weighted averages of word vectors, before any component is removed.

Everything but uSIF's normalisation is linear in the words, so weights, and later the removal, are folded into a table
of all words once, and a batch of texts is one sparse matrix, a row per text and a column per word, times that table. A
few texts do without the table. Out-of-vocabulary words come with the texts; a word whose predicted vector is zero is
left out, as if it did not occur.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from threading import Lock
from typing import NamedTuple

import numpy as np

from semsearch.arrays.types import Float32, Int32, Int64
from semsearch.arrays.vectors import row_lengths, to_unit, unit
from semsearch.embedding.components import CommonComponents
from semsearch.embedding.weights import WordWeights
from semsearch.text.ragged import OovWords, Ragged
from semsearch.word_vectors.pieces import OovVectors
from semsearch.word_vectors.table import WordVectors

FEW = 4096  # words: up to so many, no sparse product is loaded, and a text's numbers are the same in any company
_ROWS = 2048  # texts whose vectors are made together, and stay near the processor until they are finished

# -- Averages of rows --------------------------------------------------------------------------------------------------


def average(texts: Ragged, table: Float32, unknown_words: Float32 | None = None) -> Float32:
    """The mean word vector of each text, (1/|s|) Σ_{w∈s} table[w]. n texts, (V, d), (u, d) -> (n, d)

    A text without words gets a zero row. Texts with OOV words need the vectors (u, d) of these.
    """
    shares = np.repeat((1 / np.maximum(texts.lengths, 1)).astype(np.float32), texts.lengths)
    return _weighted(texts, shares, table, unknown_words)


def average_few(texts: Ragged, rows: Float32) -> Float32:
    """The mean word vector of each text, from a row for each word of the texts. n texts, (t, d) -> (n, d)

    A text without words gets a zero row. For few words: it does without the sparse product.
    """
    result = np.zeros((len(texts), rows.shape[1]), dtype=np.float32)
    lengths = texts.lengths
    filled = np.flatnonzero(lengths)
    if len(filled):
        result[filled] = np.add.reduceat(rows, texts.indptr[filled], axis=0) / lengths[filled, None].astype(np.float32)
    return result


def _weighted(texts: Ragged, shares: Float32, table: Float32, unknown_words: Float32 | None) -> Float32:
    """Σ_{w∈s} share[w] table[w], where OOV words have rows of their own. n texts, (t,), (V, d), (u, d) -> (n, d)"""
    is_unknown = texts.ids < 0
    if unknown_words is None or not len(unknown_words) or not is_unknown.any():
        return _product(texts, shares, table)
    result = _product(texts.only(~is_unknown), shares[~is_unknown], table)
    having = np.unique(np.repeat(np.arange(len(texts)), texts.lengths)[is_unknown])  # most texts have none
    others = texts.only(is_unknown).take(having)
    result[having] += _product(Ragged(-1 - others.ids, others.indptr), shares[is_unknown], unknown_words)
    return result


def _product(texts: Ragged, shares: Float32, table: Float32) -> Float32:
    from scipy.sparse import csr_array  # SciPy is large, and a query needs no sparse product

    indptr = texts.indptr.astype(np.int32)  # indices of one type are not copied
    matrix = csr_array((shares, texts.ids, indptr), shape=(len(texts), len(table)))
    return np.asarray(matrix @ table, dtype=np.float32)


# -- Weighted sums -----------------------------------------------------------------------------------------------------


class _Folded(NamedTuple):
    """The weighted table less some components, since removal is linear too; and the longest word before the removal."""

    common: CommonComponents
    table: Float32  # (V, d)
    longest: float


class _Batch(NamedTuple):
    """A batch of texts whose words are all known, and what their vectors are made of."""

    texts: Ragged
    folded: _Folded
    unknown_words: Float32  # (u, d) weighted, without the components
    longest: float

    def sums(self, part: Ragged) -> Float32:
        """The sums of the words of some texts without the common components. n texts -> (n, d)"""
        return _weighted(part, np.ones(len(part.ids), dtype=np.float32), self.folded.table, self.unknown_words)


class WeightedSums:
    """Raw sentence vectors: v_s = (1/|s|) Σ weight(w) v_w. Threads may share it.

    With `normalise`, as in uSIF, each dimension of v_w is divided by its norm over the words of s. With `pieces`, OOV
    words have vectors by their pieces; else they are left out. `expected` is the number of words of all batches to
    come.
    """

    def __init__(
        self, vectors: WordVectors, weights: WordWeights, *, normalise: bool, pieces: bool = False, expected: int = 0
    ) -> None:
        self._vectors = vectors
        self._weights = weights
        self._normalise = normalise
        self.expected = expected
        self._oov = OovVectors(vectors) if pieces else None
        self._last: tuple[OovWords, Float32] | None = None
        self._weighted: Float32 | None = None
        self._squared: Float32 | None = None
        self._folded: _Folded | None = None
        self._making = Lock()  # a table is made once, however many threads ask for it

    def known(self, texts: Ragged) -> Ragged:
        """Drop the words that have no vector from texts. n texts -> n texts"""
        known = np.asarray(texts.ids >= 0, dtype=np.bool_)
        unknown = np.flatnonzero(~known)
        if len(unknown) and self._oov is not None:
            guessed = np.asarray(self._guesses(texts.unknown_words).any(axis=1))
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
        elif not self._is_many(texts):
            present, inverse = np.unique(texts.ids, return_inverse=True)
            compact, rows = Ragged(inverse.astype(np.int32), texts.indptr), self._rows(present, texts.unknown_words)
            sums = average(compact, rows * self._weights_of(present)[:, None])
            if self._normalise:
                squares = average(compact, rows * rows)
        else:
            guesses = self._guesses(texts.unknown_words)
            sums = average(texts, self._weighted_table(), guesses * np.float32(self._weights.of_unknown_words))
            if self._normalise:
                squares = average(texts, self._squared_table(), guesses * guesses)
        if squares is None:
            return sums
        # Σ a v_w / ‖v‖ = (Σ a v_w) / ‖v‖: the norm is the same for all words of a text; a zero column stays zero
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

    def without(self, common: CommonComponents, texts: Ragged) -> Float32:
        """The unit vectors of texts after the common components are removed. n texts -> (n, d)"""
        if self._normalise or not self._is_many(texts):
            raw = self.of(texts)
            return unit(common.remove(raw), scale=row_lengths(raw))
        batch = self._batch(common, texts)
        result = np.empty((len(texts), self._vectors.dimension), dtype=np.float32)
        for rows in _parts(len(texts)):
            part = batch.texts.part(rows.start, rows.stop)
            result[rows] = self._unit(batch, part, batch.sums(part))
        return result

    def both(self, common: CommonComponents, texts: Ragged, starts: Int64) -> tuple[Float32, Float32]:
        """Like `without`, for n texts and for m joined ones: rows starts[i] to starts[i + 1]. -> (n, d), (m, d)

        The words of a joined text sum to the sum of its rows' sums, so without normalisation they are summed only once.
        """
        if self._normalise or not self._is_many(texts):
            return self.without(common, texts), self.without(common, texts.joined(starts))
        batch, d = self._batch(common, texts), self._vectors.dimension
        single = np.empty((len(texts), d), dtype=np.float32)
        joined = np.empty((len(starts) - 1, d), dtype=np.float32)
        edges = np.unique(np.searchsorted(starts, np.arange(0, len(texts), _ROWS))).tolist()
        for first, last in zip(edges, [*edges[1:], len(starts) - 1], strict=True):
            here = starts[first : last + 1]
            part = batch.texts.part(int(here[0]), int(here[-1]))
            sums = batch.sums(part)
            single[here[0] : here[-1]] = self._unit(batch, part, sums)
            sums_of_joined = np.add.reduceat(sums, here[:-1] - here[0], axis=0)
            joined[first:last] = self._unit(batch, part.joined(here - here[0]), sums_of_joined)
        return single, joined

    def fold(self, common: CommonComponents) -> None:
        """Turn the table of weighted words, if it is there, into the one that `without` uses, in the same memory.

        With uSIF's normalisation that is the same table. No other thread may be asking for raw vectors.
        """
        with self._making:
            if self._weighted is not None and not self._normalise:
                table, self._weighted = self._weighted, None
                self._folded = _fold(common, table, table.__getitem__)

    def _batch(self, common: CommonComponents, texts: Ragged) -> _Batch:
        """The folded table replaces the weighted one, which is hardly used after it: one of them is in memory."""
        texts = self.known(texts)
        with self._making:
            if self._folded is None or self._folded.common is not common:
                self._weighted = self._folded = None
                self._folded = _fold(common, self._empty_table(), self._weighted_rows)
            folded = self._folded
        guesses = self._guesses(texts.unknown_words) * np.float32(self._weights.of_unknown_words)
        longest = max(folded.longest, float(row_lengths(guesses).max(initial=0)))
        return _Batch(texts, folded, common.remove(guesses), longest)

    def _unit(self, batch: _Batch, texts: Ragged, sums: Float32) -> Float32:
        """Scale what the removal left to length one. If that is tiny, the raw vector decides whether it is rounding."""
        lengths, counts = row_lengths(sums), texts.lengths
        faint = np.flatnonzero(lengths < 1e-5 * batch.longest * counts)
        factors = 1 / np.maximum(lengths, np.float32(1e-30))
        if len(faint):
            scale = row_lengths(self.of(texts.take(faint))) * counts[faint]
            factors[faint] = to_unit(sums[faint], scale=scale)
        return np.asarray(sums * factors[:, None])

    # -- words -------------------------------------------------------------------------------------------------------

    def _guesses(self, unknown_words: OovWords) -> Float32:
        """The vectors of OOV words. The last ones are cached: batch after batch may have the same words."""
        last = self._last
        if last is None or last[0] is not unknown_words:
            if self._oov is not None and len(unknown_words):
                vectors = self._oov(unknown_words)
            else:
                vectors = np.zeros((len(unknown_words), self._vectors.dimension), dtype=np.float32)
            last = self._last = unknown_words, vectors
        return last[1]

    def _rows(self, ids: Int32, unknown_words: OovWords) -> Float32:
        """The vectors of words, known and unknown ones, without weights. (t,) -> (t, d)"""
        rows = self._vectors.rows(np.maximum(ids, 0))
        is_unknown = ids < 0
        if is_unknown.any():
            rows[is_unknown] = self._guesses(unknown_words)[-1 - ids[is_unknown]]
        return rows

    def _weights_of(self, ids: Int32) -> Float32:
        """The weights of words, known and unknown ones. (t,) -> (t,)"""
        weights = self._weights.of(np.maximum(ids, 0))
        return np.where(ids < 0, np.float32(self._weights.of_unknown_words), weights)

    # -- tables of all words -------------------------------------------------------------------------------------------

    def _is_many(self, texts: Ragged) -> bool:
        """Return whether to use the table of all words: if the texts, here or in all batches, have at least as many.

        It does not matter if the table is there already: then the last digits would depend on which thread came first.
        """
        return len(texts.ids) > FEW and max(len(texts.ids), self.expected) >= len(self._vectors)

    def _weighted_rows(self, part: slice) -> Float32:
        rows = self._vectors.rows(np.arange(part.start, part.stop))
        rows *= self._weights.of(part)[:, None]
        return rows

    def _weighted_table(self) -> Float32:
        with self._making:
            if self._weighted is None:
                table = self._empty_table()
                for part in _parts(len(table)):
                    table[part] = self._weighted_rows(part)
                self._weighted = table
            return self._weighted

    def _squared_table(self) -> Float32:
        with self._making:
            if self._squared is None:
                self._squared = self._vectors.rows(np.arange(len(self._vectors))) ** 2
            return self._squared

    def _empty_table(self) -> Float32:
        return np.empty((len(self._vectors), self._vectors.dimension), dtype=np.float32)


def _fold(common: CommonComponents, table: Float32, weighted: Callable[[slice], Float32]) -> _Folded:
    """Fill a table with the weighted words less the components."""
    longest = 0.0
    for part in _parts(len(table)):
        rows = weighted(part)
        longest = max(longest, float(row_lengths(rows).max()))
        table[part] = common.remove(rows)
    return _Folded(common, table, longest)


def _parts(n: int) -> Iterator[slice]:
    return (slice(first, min(first + _ROWS, n)) for first in range(0, n, _ROWS))
