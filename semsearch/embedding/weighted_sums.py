"""Raw sentence vectors: the weighted averages of word vectors, before any component is removed.

Everything but uSIF's normalisation is linear in the words, so weights, and later the removal, are folded into a table
of all words once, and a batch of texts is one sparse product with it. Few texts do without the table. Words outside the
table come with the texts, and their vectors from a function of them; those that it gives a zero vector are left out, as
if they did not stand there.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from threading import Lock

import numpy as np
import numpy.typing as npt

from semsearch.arrays.unit import row_lengths, to_unit, unit
from semsearch.embedding.components import CommonComponents
from semsearch.embedding.weights import WordWeights
from semsearch.text.ragged import Ragged
from semsearch.text.unknown_words import NONE, Strangers
from semsearch.word_vectors.averages import average, average_few, total
from semsearch.word_vectors.table import WordVectors

Float32 = npt.NDArray[np.float32]
Int64 = npt.NDArray[np.int64]

_FEW = 4096  # words: below, no sparse product is loaded
_ROWS = 2048  # texts whose vectors are made together, and stay near the processor until they are finished


@dataclass(frozen=True, slots=True)
class _Folded:
    """What words add to a sum when the common components are removed from it, for removal is linear too."""

    table: Float32  # (V, d)
    strangers: Float32  # (u, d)
    longest: float  # length of a word before

    def rest(self, texts: Ragged) -> Float32:
        """What is left of the sums of known words. n texts -> (n, d)"""
        return total(texts, self.table, self.strangers)


class RawVectors:
    """v_s = (1/|s|) Σ weight(w) v_w, for uSIF each dimension of v_w divided by its norm over the words of s.

    `expected` is how many words are about to be asked for, in however many batches.
    """

    def __init__(
        self,
        vectors: WordVectors,
        weights: WordWeights,
        *,
        normalise: bool,
        strangers: Callable[[Strangers], Float32] | None = None,
        expected: int = 0,
    ) -> None:
        self._vectors = vectors
        self._weights = weights
        self._normalise = normalise
        self.expected = expected
        self._meet = strangers
        self._met: tuple[Strangers, Float32] | None = None
        self._weighted: Float32 | None = None
        self._squared: Float32 | None = None
        self._folded: tuple[CommonComponents, Float32, float] | None = None
        self._making = Lock()  # a table is made once, however many threads ask for it

    def forget(self) -> None:
        """What strangers are has changed: ask anew."""
        self._met = None

    def known(self, texts: Ragged) -> Ragged:
        """The texts without the words that have no vector."""
        known = self.is_known(texts)
        return texts if known.all() else texts.only(known)

    def is_known(self, texts: Ragged) -> npt.NDArray[np.bool_]:
        """Whether each word has a vector. (t,)"""
        known = np.asarray(texts.ids >= 0, dtype=np.bool_)
        strange = np.flatnonzero(~known)
        if len(strange) and self._meet is not None:
            heard = np.asarray(self._guesses(texts.strangers).any(axis=1))
            known[strange] = heard[-1 - texts.ids[strange]]
        return known

    def words(self, ids: npt.NDArray[np.int32], strangers: Strangers = NONE) -> Float32:
        """What words add to a sum: weight(w) v_w. (t,) -> (t, d)"""
        return self.vectors_of(ids, strangers) * self._weights_of(ids)[:, None]

    def of(self, texts: Ragged) -> Float32:
        """n texts -> (n, d); a zero row where a text has no known word."""
        texts = self.known(texts)
        if len(texts.ids) <= _FEW:
            rows = self.vectors_of(texts.ids, texts.strangers)
            sums = average_few(texts, rows * self._weights_of(texts.ids)[:, None])
            squares = average_few(texts, rows * rows) if self._normalise else None
        elif not self._is_many(texts):
            present, places = np.unique(texts.ids, return_inverse=True)
            compact, rows = Ragged(places.astype(np.int32), texts.indptr), self.vectors_of(present, texts.strangers)
            sums = average(compact, rows * self._weights_of(present)[:, None])
            squares = average(compact, rows * rows) if self._normalise else None
        else:
            guesses = self._guesses(texts.strangers)
            sums = average(texts, self._weighted_table(), guesses * np.float32(self._weights.of_strangers))
            squares = average(texts, self._squared_table(), guesses * guesses) if self._normalise else None
        if squares is None:
            return sums
        # Σ a v_w / ‖v‖ = (Σ a v_w) / ‖v‖: the norm is the same for all words of a text; a zero column stays zero
        norms = np.sqrt(squares * texts.lengths[:, None].astype(np.float32))
        return np.asarray(np.divide(sums, norms, out=np.zeros_like(sums), where=norms > 0))

    def shares(self, words: Ragged) -> Float32:
        """What each word of one text adds to its raw vector. All of them are known. (t,) -> (t, d)"""
        rows = self.vectors_of(words.ids, words.strangers)
        shares = rows * (self._weights_of(words.ids) / np.float32(max(len(rows), 1)))[:, None]
        if not self._normalise:
            return np.asarray(shares, dtype=np.float32)
        norms = np.sqrt(np.einsum("ij,ij->j", rows, rows))
        return np.asarray(np.divide(shares, norms, out=np.zeros_like(shares), where=norms > 0), dtype=np.float32)

    def without(self, common: CommonComponents, texts: Ragged) -> Float32:
        """Unit vectors of what is left of each text when the common components are removed. n texts -> (n, d)"""
        result = np.empty((len(texts), self._vectors.dimension), dtype=np.float32)
        self.put_without(common, texts, result)
        return result

    def put_without(self, common: CommonComponents, texts: Ragged, out: Float32) -> None:
        """The same, to where it belongs. n texts, (n, d)"""
        if self._normalise or not self._is_many(texts):
            raw = self.of(texts)
            out[:] = unit(common.remove(raw), scale=row_lengths(raw))
            return
        texts = self.known(texts)
        folded = self._fold(common, texts)
        for first in range(0, len(texts), _ROWS):
            part = texts.part(first, min(first + _ROWS, len(texts)))
            self._unit(folded, part, folded.rest(part), out=out[first : first + _ROWS])

    def both(self, common: CommonComponents, texts: Ragged, starts: Int64) -> tuple[Float32, Float32]:
        """Unit vectors of n texts, and of m that they make together: rows starts[i] to starts[i + 1]. (n, d), (m, d)

        A sum of words is a sum of sums, so where nothing but sums is taken, words are summed once for both.
        """
        if self._normalise or not self._is_many(texts):
            return self.without(common, texts), self.without(common, texts.joined(starts))
        texts = self.known(texts)
        folded, d = self._fold(common, texts), self._vectors.dimension
        alone = np.empty((len(texts), d), dtype=np.float32)
        together = np.empty((len(starts) - 1, d), dtype=np.float32)
        edges = np.unique(np.searchsorted(starts, np.arange(0, len(texts), _ROWS))).tolist()
        for first, last in zip(edges, [*edges[1:], len(starts) - 1], strict=True):
            here = starts[first : last + 1]
            part = texts.part(int(here[0]), int(here[-1]))
            rest = folded.rest(part)
            sums = np.add.reduceat(rest, here[:-1] - here[0], axis=0)
            self._unit(folded, part, rest, out=alone[here[0] : here[-1]])
            self._unit(folded, part.joined(here - here[0]), sums, out=together[first:last])
        return alone, together

    def _fold(self, common: CommonComponents, texts: Ragged) -> _Folded:
        table, longest = self._folded_table(common)
        guesses = self._guesses(texts.strangers) * np.float32(self._weights.of_strangers)
        return _Folded(table, common.remove(guesses), max(longest, float(row_lengths(guesses).max(initial=0))))

    def _unit(self, folded: _Folded, texts: Ragged, rest: Float32, *, out: Float32) -> None:
        """What is left, put at length one. Next to nothing may be rounding, and only the raw vector tells."""
        lengths, counts = row_lengths(rest), texts.lengths
        faint = np.flatnonzero(lengths < 1e-5 * folded.longest * counts)
        factors = 1 / np.maximum(lengths, np.float32(1e-30))
        if len(faint):
            scale = row_lengths(self.of(texts.take(faint))) * counts[faint]
            factors[faint] = to_unit(rest[faint], scale=scale)
        np.multiply(rest, factors[:, None], out=out)

    def _guesses(self, strangers: Strangers) -> Float32:
        """The vectors of words outside the table. The last ones are kept: the same words come for several texts."""
        met = self._met
        if met is None or met[0] is not strangers:
            nothing = np.zeros((len(strangers), self._vectors.dimension), dtype=np.float32)
            met = self._met = strangers, self._meet(strangers) if self._meet and len(strangers) else nothing
        return met[1]

    def vectors_of(self, ids: npt.NDArray[np.int32], strangers: Strangers) -> Float32:
        """The vectors of words. (t,) -> (t, d)"""
        rows = self._vectors.rows(np.maximum(ids, 0))
        strange = ids < 0
        if strange.any():
            rows[strange] = self._guesses(strangers)[-1 - ids[strange]]
        return rows

    def _weights_of(self, ids: npt.NDArray[np.int32]) -> Float32:
        """Their weights. (t,) -> (t,)"""
        weights = self._weights.of(np.maximum(ids, 0))
        return np.where(ids < 0, np.float32(self._weights.of_strangers), weights)

    def _is_many(self, texts: Ragged) -> bool:
        """Whether to use the table of all words: if about as many words are asked for, here or in all batches.

        Not whether it is there already: then the last digits would depend on which thread came first.
        """
        return len(texts.ids) > _FEW and max(len(texts.ids), self.expected) >= len(self._vectors)

    def _weighted_table(self) -> Float32:
        with self._making:
            if self._weighted is None:
                table = self._vectors.rows(np.arange(len(self._vectors)))
                table *= self._weights.of(slice(None))[:, None]
                self._weighted = table
        return self._weighted

    def _squared_table(self) -> Float32:
        with self._making:
            if self._squared is None:
                self._squared = self._vectors.rows(np.arange(len(self._vectors))) ** 2
        return self._squared

    def _folded_table(self, common: CommonComponents) -> tuple[Float32, float]:
        """All words less the common components, and the length of the longest word before: removal is linear too."""
        table = self._weighted_table()
        with self._making:
            if self._folded is None or self._folded[0] is not common:
                folded = np.empty_like(table)
                for first in range(0, len(table), _ROWS):  # without a second table in between
                    folded[first : first + _ROWS] = common.remove(table[first : first + _ROWS])
                self._folded = common, folded, float(row_lengths(table).max(initial=0))
            return self._folded[1], self._folded[2]
