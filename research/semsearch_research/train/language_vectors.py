"""Align the words of another language with the English word vectors, by a teacher that knows both languages.

The teacher encodes words of both languages alone; each language's vectors are centred, for a language has a direction
of its own. A word's vector in the English space is then the sum of two, scaled to the same mean length:

    the mean of the English vectors of its `NEAREST` nearest English words, weighted by softmax(cosine / temperature)
    the image of its teacher's vector under a linear map, by ridge regression from English words

The first is exact where a translation is one of the English words, the second also knows what lies between them. Both
lose variance, and not evenly: texts become more alike than English ones. So a last linear map gives averages of words
the covariance of English averages: the least movement that does it, of two normal distributions (Gelbrich 1990), and of
that the part `EVEN` (1 is all of it).

A file has the words, most frequent first, their vectors, p(w), the mean of a text's average, and a card:

    words (n,), vectors (n, d) float16, probability (n,) float32, mean (d,) float32, card: JSON
"""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from semsearch.arrays.types import Float32, Float64
from semsearch.embedding.weights import SIF_A, sif_weights
from semsearch.errors import StorageError, VectorsError
from semsearch.system.durable import write_durably
from semsearch.word_vectors.table import VectorTable
from semsearch_research.train.teacher_encodings import Encodings

NEAREST, TEMPERATURE, EVEN = 10, 0.05, 0.75  # see research/docs/training.md
_RIDGE = 1.0
_LEAST = 1e-4  # of the greatest variance: below it a direction's is not evened
_TOGETHER = 512  # words at a time


class Encoder(Protocol):
    """What a teacher is asked for."""

    name: str
    precision: str

    def encode(self, texts: Sequence[str]) -> Float32:
        """Encode texts as unit vectors. n texts -> (n, d)"""


@dataclass(frozen=True, slots=True)
class LanguageWords:
    """The words of a language, their vectors (n, d) in the English space, and p(w) (n,)."""

    words: list[str]
    vectors: Float32
    probability: Float32

    @property
    def mean(self) -> Float32:
        """The mean of SIF's averages of texts: Σ p(w) · a / (a + p(w)) · v(w). (d,)"""
        return np.asarray((self.probability * sif_weights(self.probability, SIF_A)) @ self.vectors, dtype=np.float32)


class EnglishSpace:
    """What maps a language: m English words by the teacher (m, t), and by the shipped vectors (m, d)."""

    def __init__(self, by_teacher: Float32, vectors: Float32, probability: Float32) -> None:
        self._by_teacher = _units(by_teacher - by_teacher.mean(axis=0))
        self._vectors = vectors
        self._length = _length(vectors)
        gram = self._by_teacher.T @ self._by_teacher + np.float32(_RIDGE) * np.eye(by_teacher.shape[1])
        self._linear = np.linalg.solve(gram, self._by_teacher.T @ vectors).astype(np.float32)
        self._spread = covariance(vectors, probability)

    def place(self, by_teacher: Float32, probability: Float32, *, even: float = EVEN) -> Float32:
        """Map the words of a language from the teacher's vectors. (n, t), p(w) (n,) -> (n, d)"""
        centred = _units(by_teacher - by_teacher.mean(axis=0))
        near, linear = self._nearest(centred), centred @ self._linear
        placed = near / _length(near) + linear / _length(linear)
        placed = (placed @ evening(covariance(placed, probability), self._spread, even)).astype(np.float32)
        return np.asarray(placed * (self._length / _length(placed)), dtype=np.float32)

    def _nearest(self, centred: Float32) -> Float32:
        k = min(NEAREST, len(self._by_teacher))
        result = np.zeros((len(centred), self._vectors.shape[1]), dtype=np.float32)
        for first in range(0, len(centred), _TOGETHER):
            cosines = centred[first : first + _TOGETHER] @ self._by_teacher.T
            best = np.argpartition(-cosines, k - 1, axis=1)[:, :k]
            found = np.take_along_axis(cosines, best, axis=1) / np.float32(TEMPERATURE)
            weights = np.exp(found - found.max(axis=1, keepdims=True))
            weights /= weights.sum(axis=1, keepdims=True)
            result[first : first + _TOGETHER] = np.einsum("nk,nkd->nd", weights, self._vectors[best])
        return result


def covariance(vectors: Float32, probability: Float32) -> Float64:
    """The covariance of words that are drawn by p(w) and weighted as by SIF. (n, d), (n,) -> (d, d)"""
    weights = probability * sif_weights(probability, SIF_A) ** 2
    weights = weights / weights.sum()
    centred = vectors - weights @ vectors
    return np.asarray((centred * weights[:, None]).T @ centred, dtype=np.float64)


def evening(found: Float64, wanted: Float64, part: float) -> Float64:
    """The linear map, of that power, that turns a covariance into one of another's shape, with its own sum. -> (d, d)

    found^-1/2 (found^1/2 · wanted · found^1/2)^1/2 found^-1/2, symmetric.
    """
    wanted = wanted * (np.trace(found) / np.trace(wanted))
    root, inverse = _power(found, 0.5), _power(found, -0.5)
    return _power(inverse @ _power(root @ wanted @ root, 0.5) @ inverse, part)


def align_language(
    teacher: Encoder,
    counts: Mapping[str, int],
    english: VectorTable,
    target: Path,
    *,
    encodings: Path,
    size: int,
    anchors: int,
    card: Mapping[str, str] | None = None,
    progress: Callable[[str, int, int], None] | None = None,
) -> LanguageWords:
    """Make the file `target` for the `size` most frequent words, mapped by the first `anchors` words of `english`.

    The teacher's vectors are cached in the folder `encodings`, so that a run that was stopped is resumed, and English
    is encoded once for all languages. Raises VectorsError if there are no words, StorageError if the file cannot be
    written.
    """
    chosen = sorted(counts, key=lambda word: (-counts[word], word))[:size]
    if not chosen:
        raise VectorsError("there are no words to encode; expected a counts file with at least one word")
    kept = Encodings(encodings, teacher.name, teacher.precision)
    known = english.words[:anchors]
    for words in (known, chosen):
        kept.complete(words, teacher.encode, progress=partial(progress, "words encoded") if progress else None)
    ids = np.arange(len(known))
    space = EnglishSpace(kept.of(known).astype(np.float32), english.rows(ids), english.frequencies[ids])
    probability = np.array([counts[word] for word in chosen], dtype=np.float64) / sum(counts.values())
    share = probability.astype(np.float32)
    made = LanguageWords(chosen, space.place(kept.of(chosen).astype(np.float32), share), share)
    facts = {"teacher": teacher.name, "words": len(chosen), "english": english.digest, **(card or {})}
    write_language(made, target, facts)
    return made


def write_language(made: LanguageWords, target: Path, card: Mapping[str, Any]) -> None:
    """Write a language's file. Raises StorageError if that fails."""
    buffer = io.BytesIO()
    np.savez(
        buffer,
        words=np.array(made.words),
        vectors=made.vectors.astype(np.float16),
        probability=made.probability,
        mean=made.mean,
        card=np.array(json.dumps(dict(card), ensure_ascii=False)),
    )
    try:
        write_durably(target, lambda write: write(buffer.getvalue()))
    except OSError as error:
        raise StorageError(f"{target} cannot be written: {error.strerror or error}; choose another place") from error


def _units(vectors: Float32) -> Float32:
    return np.asarray(vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-12), dtype=np.float32)


def _length(vectors: Float32) -> float:
    """The mean length of vectors; 1 if they are all zero."""
    return float(np.linalg.norm(vectors, axis=1).mean()) or 1.0


def _power(matrix: Float64, power: float) -> Float64:
    """A power of a symmetric matrix without negative eigenvalues. (d, d) -> (d, d)"""
    values, vectors = np.linalg.eigh((matrix + matrix.T) / 2)
    values = np.maximum(values, _LEAST * max(float(values[-1]), 1e-30))
    return np.asarray((vectors * values**power) @ vectors.T)
