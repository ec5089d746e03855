"""The common components of a set of sentence vectors, and their removal.

SIF (Arora et al. 2017, algorithm 1) removes the projection on the first singular vector, without centring; uSIF
(Ethayarajh 2018, section 3.3) removes m of them piecewise, each by its share of variance, λ_i = σ_i² / Σ_{j≤m} σ_j².

The singular vectors of the sentences X (n, d) are the eigenvectors of G = XᵀX (d, d), its eigenvalues are their σ². G
is a sum over sentences: exact in one pass; the sums of parts of a corpus add up, and those of removed parts subtract.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Float32 = npt.NDArray[np.float32]
Float64 = npt.NDArray[np.float64]

_TOGETHER = 4096  # sentences


@dataclass(frozen=True, slots=True)
class Statistics:
    """Sums over sentences: G = Σ v vᵀ of their raw vectors (d, d), the number of sentences and of known words."""

    gram: Float64
    sentences: float
    words: float

    @classmethod
    def empty(cls, dimension: int) -> Statistics:
        """The sums over no sentences, for vectors of so many dimensions."""
        return cls(np.zeros((dimension, dimension)), 0, 0)

    @classmethod
    def of(cls, vectors: Float32, words: int) -> Statistics:
        """The sums over raw vectors (n, d) of n sentences with `words` known words. Zero vectors count as no sentence.

        A few thousand sentences at a time are summed in single precision, which is four times as fast, then in double.
        """
        gram = np.zeros((vectors.shape[1], vectors.shape[1]))
        for first in range(0, len(vectors), _TOGETHER):
            part = vectors[first : first + _TOGETHER]
            gram += part.T @ part
        return cls(gram, int(np.count_nonzero(vectors.any(axis=1))), words)

    def __add__(self, other: Statistics) -> Statistics:
        return Statistics(self.gram + other.gram, self.sentences + other.sentences, self.words + other.words)

    def __sub__(self, other: Statistics) -> Statistics:
        return Statistics(self.gram - other.gram, self.sentences - other.sentences, self.words - other.words)

    def scaled(self, sentences: float) -> Statistics:
        """Scale the sums to another number of sentences with the same means."""
        factor = sentences / self.sentences if self.sentences else 0.0
        return Statistics(self.gram * factor, sentences, self.words * factor)


@dataclass(frozen=True, slots=True)
class CommonComponents:
    """Common components: unit directions c_i (m, d), each one's strength of removal λ_i (m,) and share of Σσ² (m,)."""

    directions: Float64
    strengths: Float64
    shares: Float64

    @classmethod
    def of(cls, gram: Float64, m: int, *, piecewise: bool) -> CommonComponents:
        """Find the first m components of G (d, d). Directions without any variance are left out."""
        values, vectors = np.linalg.eigh(gram)
        values, directions = values[::-1][:m], vectors.T[::-1][:m]
        real = values > max(values[:1].sum(), 0.0) * 1e-12
        values, directions = values[real], directions[real]
        strengths = values / values.sum() if piecewise else np.ones(len(values))
        total = float(np.trace(gram))
        return cls(np.ascontiguousarray(directions), strengths, values / total if total > 0 else values)

    def remove(self, vectors: Float32) -> Float32:
        """Remove the components from vectors: v - Σ_i λ_i (v·c_i) c_i. (n, d) -> (n, d)"""
        if not len(self.directions):
            return vectors
        directions = self.directions.astype(np.float32)
        return np.asarray(vectors - (vectors @ directions.T * self.strengths.astype(np.float32)) @ directions)

    def angles(self, other: CommonComponents) -> Float64:
        """The principal angles in degrees between the spans of both, smallest first. (min(m, m'),)"""
        cosines = np.linalg.svd(self.directions @ other.directions.T, compute_uv=False)
        return np.asarray(np.degrees(np.arccos(np.clip(cosines, -1, 1))))
