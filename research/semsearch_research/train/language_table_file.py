"""Write the table of a language, which semsearch.word_vectors.language_table describes and reads."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from semsearch.arrays.types import Float32, Float64, Int64, UInt8
from semsearch.errors import StorageError, VectorsError
from semsearch.system.durable import write_durably
from semsearch.text.languages import RULES
from semsearch.text.ragged import OovWords
from semsearch.text.terms import spelled
from semsearch.word_vectors.language_table import (
    CENTROIDS,
    FINE,
    MOST_WORDS,
    SHIFT,
    STEP,
    LanguageTable,
    file_of_table,
    scales_of,
    steps_of,
)

_BLOCK = 4096  # points whose nearest centroids are found together
_ROUNDS = 8  # of k-means
_SAMPLE = 12_000  # words that a codebook is learned from, evenly over all


@dataclass(frozen=True, slots=True)
class LanguageArrays:
    """Words (n) with vectors (n, d) and p(w) (n,), and what is said of them."""

    words: list[str]
    vectors: npt.NDArray[Any]
    p: npt.NDArray[Any]
    card: Mapping[str, Any]


def read_arrays(path: Path) -> LanguageArrays:
    """Read `words`, `vectors`, `probability`, and the JSON `card` if it is there, of a NumPy archive.

    Raises VectorsError.
    """
    try:
        with np.load(path, allow_pickle=False) as arrays:
            card = json.loads(str(arrays["card"])) if "card" in arrays else {}
            words = [str(word) for word in arrays["words"].tolist()]
            return LanguageArrays(words, arrays["vectors"], arrays["probability"], card)
    except Exception as error:  # whatever zipfile, NumPy and json make of damaged bytes
        raise VectorsError(
            f"{path} is not an archive of words, vectors and probability ({error}); write it with numpy.savez"
        ) from error


def write_language_table(
    path: Path,
    language: str,
    words: Sequence[str],
    vectors: npt.NDArray[Any],
    p: npt.NDArray[Any],
    *,
    parts: int,
    card: Mapping[str, Any],
) -> LanguageTable:
    """Write words (n) with their vectors (n, d) and p(w) (n,) as a table of `parts` codes a word.

    `card`: what else to record; "space", the digest of the word vectors in whose space they are, is needed. Raises
    VectorsError for words that occur twice, numbers that are not finite, or sizes that do not agree; StorageError.
    """
    vectors, p = np.asarray(vectors, dtype=np.float32), np.asarray(p, dtype=np.float64)
    if language not in RULES:
        raise VectorsError(f"{language!r} is not the code of a language that semsearch knows: {', '.join(RULES)}")
    if vectors.ndim != 2 or not 0 < len(words) == len(vectors) == len(p) <= MOST_WORDS:
        raise VectorsError(
            f"{path}: {len(words)} words, vectors {vectors.shape} and {len(p)} p(w) do not belong together"
        )
    if not np.isfinite(vectors).all() or not (p > 0).all() or not (p <= 1).all():
        raise VectorsError(f"{path}: vectors must be finite, and p(w) above 0 and at most 1")
    if parts < 1 or vectors.shape[1] % parts:
        raise VectorsError(f"{vectors.shape[1]} dimensions cannot be cut into {parts} equal parts")
    hashes = OovWords.of(words).hashes
    order = np.argsort(hashes, kind="stable")
    kept = hashes[order] >> SHIFT
    if len(same := np.flatnonzero(kept[1:] == kept[:-1])):
        raise VectorsError(f"{words[order[same[0]]]!r} occurs twice in the words of {language}; each must occur once")
    spellings = [spelled(word, language) for word in words]
    if spellings != [*words]:  # of several forms of a word, the likeliest stays
        chosen = sorted({spellings[number]: number for number in np.argsort(p, kind="stable").tolist()}.values())
        words, vectors, p = [spellings[number] for number in chosen], vectors[chosen], p[chosen]
        hashes = OovWords.of(words).hashes
        order = np.argsort(hashes, kind="stable")
        kept = hashes[order] >> SHIFT
    vectors = vectors[order]
    lengths = np.linalg.norm(vectors, axis=1)
    largest = max(float(lengths.max()), 1e-12)
    scales = np.clip(np.rint(-FINE * np.log(np.maximum(lengths, 1e-12) / largest)), 0, 255).astype(np.uint8)
    unit = vectors / scales_of(largest)[scales][:, None]
    codebooks, codes = quantise_parts(unit, parts)
    arrays = {
        "steps": steps_of(kept),
        "rarity": np.clip(np.rint(-STEP * np.log(p[order])), 0, 255).astype(np.uint8),
        "scales": scales,
        "codes": codes,
        "codebooks": rounded(codebooks),
    }
    details = {
        **card,
        "language": language,
        "words": len(words),
        "dimension": vectors.shape[1],
        "parts": parts,
        "longest": max(map(len, words)),
        "scale": largest,
    }
    data = file_of_table(arrays, details)
    try:
        write_durably(path, lambda write: write(data))
    except OSError as error:
        raise StorageError(f"{path} cannot be written: {error.strerror or error}; choose another place") from error
    return LanguageTable(path)


def rounded(codebooks: Float32) -> Float32:
    """Numbers with six bits of precision, a hundredth of what they miss of the vectors: a wheel packs them better."""
    fractions, exponents = np.frexp(codebooks)
    return np.asarray(np.ldexp(np.rint(fractions * 64) / 64, exponents))


def quantise_parts(vectors: Float32, parts: int, *, seed: int = 0) -> tuple[Float32, UInt8]:
    """Learn codebooks for the parts of vectors by k-means, and the codes. (n, d) -> (M, 256, d / M), (n, M)"""
    width = vectors.shape[1] // parts
    codebooks = np.zeros((parts, CENTROIDS, width), dtype=np.float32)
    codes = np.zeros((len(vectors), parts), dtype=np.uint8)
    step = max(1, len(vectors) // _SAMPLE)
    for number in range(parts):
        part = np.ascontiguousarray(vectors[:, number * width : (number + 1) * width])
        centroids = _centroids(part[::step], np.random.default_rng([seed, number]))
        codebooks[number] = centroids.astype(np.float16)
        codes[:, number] = _nearest(part, codebooks[number])
    return codebooks, codes


def _centroids(points: Float32, generator: np.random.Generator) -> Float32:
    """256 centroids of points, by Lloyd's iterations; an empty cluster begins anew at a point far from its own."""
    centroids = points[generator.choice(len(points), CENTROIDS, replace=len(points) < CENTROIDS)].copy()
    for _ in range(_ROUNDS):
        own = _nearest(points, centroids)
        counts = np.bincount(own, minlength=CENTROIDS)
        sums = np.stack([np.bincount(own, column, minlength=CENTROIDS) for column in points.T], axis=1)
        filled = counts > 0
        empty = np.flatnonzero(~filled)
        if len(empty):
            distances = np.square(points - centroids[own]).sum(axis=1)
        centroids[filled] = (sums[filled] / counts[filled, None]).astype(np.float32)
        if len(empty):
            centroids[empty] = points[np.resize(np.argsort(-distances, kind="stable"), len(empty))]
    return centroids


def _nearest(points: Float32, centroids: Float32) -> Int64:
    """The nearest centroid of each point. (n, w), (256, w) -> (n,)"""
    half: Float64 = np.square(centroids, dtype=np.float64).sum(axis=1) / 2
    found = [
        (points[first : first + _BLOCK] @ centroids.T - half.astype(np.float32)).argmax(axis=1)
        for first in range(0, len(points), _BLOCK)
    ]
    return np.concatenate(found)
