"""Raw sentence vectors: the weighted averages of word vectors, before any component is removed.

Everything but uSIF's normalisation is linear in the words, so weights, and later the removal, are folded into a table
of all words once, and a batch of texts is one sparse product with it. Few texts do without the table.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from semsearch.average import Ragged, average, average_few
from semsearch.components import CommonComponents, row_lengths, unit
from semsearch.vectors.table import WordVectors
from semsearch.weights import WordWeights

Float32 = npt.NDArray[np.float32]
_FEW = 4096  # words: below, no sparse product is loaded


class RawVectors:
    """v_s = (1/|s|) Σ weight(w) v_w, for uSIF each dimension of v_w divided by its norm over the words of s."""

    def __init__(self, vectors: WordVectors, weights: WordWeights, *, normalise: bool) -> None:
        self._vectors = vectors
        self._weights = weights
        self._normalise = normalise
        self._weighted: Float32 | None = None
        self._squared: Float32 | None = None
        self._folded: tuple[CommonComponents, Float32, float] | None = None

    def of(self, texts: Ragged) -> Float32:
        """n texts -> (n, d); a zero row where a text has no known word."""
        if len(texts.ids) <= _FEW:
            rows = self._vectors.rows(texts.ids)
            sums = average_few(texts, rows * self._weights.of(texts.ids)[:, None])
            squares = average_few(texts, rows * rows) if self._normalise else None
        elif not self._is_many(texts):
            present, places = np.unique(texts.ids, return_inverse=True)
            compact, rows = Ragged(places.astype(np.int32), texts.indptr), self._vectors.rows(present)
            sums = average(compact, rows * self._weights.of(present)[:, None])
            squares = average(compact, rows * rows) if self._normalise else None
        else:
            sums = average(texts, self._weighted_table())
            squares = average(texts, self._squared_table()) if self._normalise else None
        if squares is None:
            return sums
        # Σ a v_w / ‖v‖ = (Σ a v_w) / ‖v‖: the norm is the same for all words of a text; a zero column stays zero
        norms = np.sqrt(squares * texts.lengths[:, None].astype(np.float32))
        return np.asarray(np.divide(sums, norms, out=np.zeros_like(sums), where=norms > 0))

    def without(self, common: CommonComponents, texts: Ragged) -> Float32:
        """Unit vectors of what is left of each text when the common components are removed. n texts -> (n, d)"""
        if self._normalise or not self._is_many(texts):
            raw = self.of(texts)
            return unit(common.remove(raw), scale=row_lengths(raw))
        table, longest = self._folded_table(common)
        rest, scale = average(texts, table), np.zeros(len(texts), dtype=np.float32)
        lengths = row_lengths(rest)
        # where next to nothing is left it may be rounding, and only the raw vector tells
        faint = np.flatnonzero((lengths < 1e-5 * longest) & (lengths > 0))
        if len(faint):
            scale[faint] = row_lengths(self.of(texts.take(faint)))
        return unit(rest, scale=scale)

    def _is_many(self, texts: Ragged) -> bool:
        """Whether to use the table of all words: if it is there already, or if about as many words are asked for."""
        return len(texts.ids) > _FEW and (self._weighted is not None or len(texts.ids) >= len(self._vectors))

    def _weighted_table(self) -> Float32:
        if self._weighted is None:
            table = self._vectors.rows(np.arange(len(self._vectors)))
            table *= self._weights.of(slice(None))[:, None]
            self._weighted = table
        return self._weighted

    def _squared_table(self) -> Float32:
        if self._squared is None:
            self._squared = self._vectors.rows(np.arange(len(self._vectors))) ** 2
        return self._squared

    def _folded_table(self, common: CommonComponents) -> tuple[Float32, float]:
        """All words less the common components, and the length of the longest word before: removal is linear too."""
        if self._folded is None or self._folded[0] is not common:
            table = self._weighted_table()
            self._folded = common, common.remove(table), float(row_lengths(table).max(initial=0))
        return self._folded[1], self._folded[2]
