"""The common components of a set of sentence vectors, and their removal.

SIF (Arora et al. 2017, algorithm 1) removes the projection on the first singular vector, without centring; uSIF
(Ethayarajh 2018, section 3.3) removes m of them piecewise, each by its share of variance, λ_i = σ_i² / Σ_{j≤m} σ_j².

The singular vectors of the sentences X (n, d) are the eigenvectors of G = XᵀX (d, d), its eigenvalues are their σ². G
is a sum over sentences: exact in one pass; the sums of parts of a corpus add up.

Few sentences, or sentences of few words, span fewer directions than may be requested. The others have no variance but
rounding error; the meaning of words not seen so far lies in them, so none of them may be taken for a component.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from semsearch.arrays.types import Float32, Float64

_TOGETHER = 4096  # sentences
_FEW = 1024  # vectors, of which each takes up to half a microsecond more in NumPy than in BLAS
_SINGLE = 1e-6  # of Σσ²: sums in single precision leave up to 1.6e-7 of it in directions without any variance
_DOUBLE = 1e-12  # of Σσ²: sums in double precision leave 1e-15, vectors in single precision 1e-14


@dataclass(frozen=True, slots=True)
class SentenceSums:
    """Sums over sentences: G = Σ v vᵀ of their raw vectors (d, d), and the number of sentences.

    A direction with no more variance than `rounding` may be one that no sentence has.
    """

    gram: Float64
    sentences: float
    rounding: float = 0.0

    @classmethod
    def empty(cls, dimension: int) -> SentenceSums:
        """The sums over no sentences, for vectors of so many dimensions."""
        return cls(np.zeros((dimension, dimension)), 0)

    @classmethod
    def of(cls, vectors: Float32) -> SentenceSums:
        """The sums over raw vectors (n, d) of n sentences. Zero vectors count as no sentence.

        A few thousand sentences at a time are summed in single precision, up to four times as fast, then in double. If
        there are no more sentences than dimensions, all is summed in double: it is little work, and they may span fewer
        directions than are requested.
        """
        gram = np.zeros((vectors.shape[1], vectors.shape[1]))
        few = len(vectors) <= len(gram)
        for first in range(0, len(vectors), _TOGETHER):
            part: npt.NDArray[Any] = vectors[first : first + _TOGETHER]
            part = part.astype(np.float64) if few else part
            gram += part.T @ part
        rounding = (_DOUBLE if few else _SINGLE) * float(np.trace(gram))
        return cls(gram, int(np.count_nonzero(vectors.any(axis=1))), rounding)

    def __add__(self, other: SentenceSums) -> SentenceSums:
        return SentenceSums(self.gram + other.gram, self.sentences + other.sentences, self.rounding + other.rounding)

    def scaled(self, sentences: float) -> SentenceSums:
        """Scale the sums to another number of sentences with the same means."""
        factor = sentences / self.sentences if self.sentences else 0.0
        return SentenceSums(self.gram * factor, sentences, self.rounding * factor)


class CommonComponents(NamedTuple):
    """Common components: unit directions c_i (m, d), each one's strength of removal λ_i (m,) and share of Σσ² (m,)."""

    directions: Float64
    strengths: Float64
    shares: Float64

    @classmethod
    def of(cls, sums: SentenceSums, m: int, *, piecewise: bool) -> CommonComponents:
        """Find the first m components of sentences. Directions whose variance is only rounding error are left out."""
        values, vectors = np.linalg.eigh(sums.gram)
        values, directions = values[::-1][:m], vectors.T[::-1][:m]
        total = float(np.trace(sums.gram))
        real = values > max(sums.rounding, _DOUBLE * total, 0.0)
        values, directions = values[real], directions[real]
        strengths = values / values.sum() if piecewise else np.ones(len(values))
        return cls(np.ascontiguousarray(directions), strengths, values / total if total > 0 else values)

    def remove(self, vectors: Float32) -> Float32:
        """Remove the components from vectors: v - Σ_i λ_i (v·c_i) c_i. (n, d) -> (n, d)

        Of few vectors each is the same to the last digit, whatever others are given with it, as BLAS does not promise.
        """
        if not len(self.directions):
            return vectors
        directions, strengths = self.directions.astype(np.float32), self.strengths.astype(np.float32)
        if len(vectors) <= _FEW or len(directions) == 1:  # BLAS is slower for one
            along = np.einsum("nd,md->nm", vectors, directions) * strengths
            return np.asarray(vectors - np.einsum("nm,md->nd", along, directions))
        return np.asarray(vectors - (vectors @ directions.T * strengths) @ directions)
