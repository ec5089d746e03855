"""Move the word vectors of a language by pairs of texts: an English one, and the same in that language.

A word that a teacher encoded alone has its most usual sense: German "Datei" lies near dates, Spanish "archivo" near
archives. In the interfaces of programs both are files. So the vectors are moved until the average of each text is near
that of its translation. With A(t, w), SIF's weight of a word in the text t, all of a text adding up to 1; e(t), the
average of its translation by the English vectors; c(t), the weight of a pair times the square root of the number of its
words; and v(w), the vectors before, that is in two steps:

    M:  min  Σ_t c(t) |Σ_w A(t, w) (v(w) + M v(w)) - e(t)|²  +  ρ |M|²
    d:  min  Σ_t c(t) |Σ_w A(t, w) (v(w) + M v(w) + d(w) + s(stem of w)) - e(t)|²  +  λ (Σ_w |d(w)|² + Σ_stem |s|²)

Both are linear. Averages are taken less their mean over the texts, for a language has a direction of its own. A word of
many texts moves to where these want it; one that stands only beside others that explain its texts hardly moves. A word
that stands in none moves by M, and with its other forms. Words of the texts that the language lacked are added, with
v = 0; they are as rare as its rarest.
"""

from __future__ import annotations

import tempfile
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from scipy.sparse import csr_array, hstack

from semsearch.arrays.types import Float32, Float64, Int64
from semsearch.embedding.weights import SIF_A, sif_weights
from semsearch.errors import VectorsError
from semsearch.text.ragged import OovWords, Ragged
from semsearch.text.terms import spelled, stems
from semsearch.text.tokens import hash_chunks
from semsearch.word_vectors.language_table import LanguageTable
from semsearch.word_vectors.language_words import is_unparted, language_words, split_words
from semsearch.word_vectors.table import VectorTable
from semsearch_research.train.language_table_file import write_language_table
from semsearch_research.train.language_vectors import LanguageWords
from semsearch_research.word_tables.word_counts import one_word

RIDGE, LINEAR_RIDGE = 1.0, 1.0  # λ; ρ over the mean variance of the averages. See research/docs/training.md
LEAST = 3  # texts that have a word that is added
_ROUNDS, _ENOUGH = 60, 3e-3  # of conjugate gradients: steps at most, and the residual's length over its first


@dataclass(frozen=True, slots=True)
class Pair:
    """An English text, its translation, and how much they count."""

    english: str
    other: str
    weight: float = 1.0


def read_pairs(path: Path) -> list[Pair]:
    """Read pairs, one on each line: an English text, a tab, its translation, and after another tab its weight if it is
    not 1. Raises VectorsError.
    """
    try:
        lines = path.read_text(encoding="utf-8").split("\n")
    except (OSError, UnicodeDecodeError) as error:
        raise VectorsError(f"{path} cannot be read as pairs of texts: {error}") from error
    pairs = []
    for number, line in enumerate(lines, 1):
        texts = line.split("\t")
        try:
            if line:
                pairs.append(Pair(texts[0], texts[1], float(*texts[2:] or ["1"])))
        except (IndexError, ValueError, TypeError):
            raise VectorsError(
                f"{path}, line {number}: expected two texts with a tab between, and at most a number after them, "
                f"found {line[:60]!r}"
            ) from None
    return pairs


class Lookup:
    """Finds the words of texts in a list of words of a language, as a search does."""

    def __init__(self, words: Sequence[str], p: Float32, language: str, english: VectorTable) -> None:
        self._english = english
        with tempfile.TemporaryDirectory() as folder:
            self.table: LanguageTable = write_language_table(
                Path(folder) / "words", language, words, np.ones((len(words), 1)), p, parts=1, card={"space": ""}
            )
        hashes = OovWords.of([spelled(word, language) for word in words]).hashes
        order = np.argsort(p, kind="stable")  # of several forms of a word, the likeliest stays, as in the table
        self._numbers: Int64 = np.zeros(len(self.table), dtype=np.int64)
        self._numbers[self.table.lookup(hashes)[order]] = order

    def find(self, texts: Sequence[str]) -> tuple[Ragged, Ragged]:
        """The numbers of the words of texts, and the ids of the English words among them. n texts -> n rows, n rows"""
        base = len(self._english)
        found = language_words(texts, self.table, self._english, base=base, keep_unknown=False)
        own = found.only(found.ids >= base)
        numbers = self._numbers[own.ids - base].astype(np.int32)
        return Ragged(numbers, own.indptr), found.only((found.ids >= 0) & (found.ids < base))

    def lacking(self, texts: Sequence[str], least: int) -> list[str]:
        """The words of at least so many texts that neither the list nor English has, the most frequent first."""
        if is_unparted(self.table.language):
            return []
        counts = Counter(word for text in texts for word in set(split_words(text, self.table)) if one_word(word))
        words = sorted((word for word in counts if counts[word] >= least), key=lambda word: (-counts[word], word))
        hashes = OovWords.of(words).hashes
        is_new = (self.table.lookup(hashes) < 0) & (self._english.lookup(hashes) < 0)
        return [words[number] for number in np.flatnonzero(is_new).tolist()]


def learn_translations(
    made: LanguageWords, language: str, pairs: Sequence[Pair], english: VectorTable, *, ridge: float = RIDGE
) -> LanguageWords:
    """The words of a language with their vectors moved by pairs, and words of the pairs that it lacked.

    Raises VectorsError if no pair has words on both sides.
    """
    others = [pair.other for pair in pairs]
    words, p, vectors = made.words, made.probability, made.vectors.astype(np.float32)
    found = Lookup(words, p, language, english)
    added = found.lacking(others, LEAST)
    if added:
        words = [*words, *added]
        p = np.concatenate((p, np.full(len(added), p.min(), dtype=np.float32)))
        vectors = np.concatenate((vectors, np.zeros((len(added), vectors.shape[1]), dtype=np.float32)))
        found = Lookup(words, p, language, english)
    own, borrowed = found.find(others)
    wanted = _sums(_english_words([pair.english for pair in pairs], english), english)
    aside = _sums(borrowed, english)
    weights = _matrix(own, sif_weights(p, SIF_A), len(words))
    totals = weights.sum(axis=1)
    usable = np.flatnonzero((totals > 0) & (wanted.totals > 0))
    if not len(usable):
        raise VectorsError("no pair has known words in both languages; nothing can be learned from them")
    own_totals = (totals + aside.totals)[usable, None]
    averages: Any = csr_array(weights[usable].multiply(1 / own_totals), dtype=np.float32)
    targets = wanted.vectors[usable] / wanted.totals[usable, None] - aside.vectors[usable] / own_totals
    counts = np.array([pair.weight for pair in pairs])[usable] * np.sqrt(np.diff(averages.indptr))
    vectors += vectors @ _linear(_centred(averages @ vectors), _centred(targets - averages @ vectors), counts)
    root = np.sqrt(counts)[:, None].astype(np.float32)
    missing = _centred(targets - averages @ vectors) * root
    scaled = csr_array(averages.multiply(root), dtype=np.float32)
    forms = _forms(words, language)
    moved = _least_squares(csr_array(hstack([scaled, scaled @ forms]), dtype=np.float32), missing, ridge)
    vectors += moved[: len(words)] + forms @ moved[len(words) :]
    return LanguageWords(list(words), vectors, p)


@dataclass(frozen=True, slots=True)
class _Sums:
    """Weighted sums of the vectors of texts (n, d), and of their weights (n,)."""

    vectors: Float32
    totals: Float64


def _sums(texts: Ragged, english: VectorTable) -> _Sums:
    used, which = np.unique(texts.ids, return_inverse=True)
    matrix = _matrix(
        Ragged(which.reshape(-1).astype(np.int32), texts.indptr),
        sif_weights(english.frequencies[used], SIF_A),
        len(used),
    )
    return _Sums(np.asarray(matrix @ english.rows(used), dtype=np.float32), matrix.sum(axis=1))


def _matrix(texts: Ragged, weights: Float64, size: int) -> Any:
    return csr_array((weights[texts.ids].astype(np.float32), texts.ids, texts.indptr), shape=(len(texts), size))


def _english_words(texts: Sequence[str], english: VectorTable) -> Ragged:
    chunks = [
        Ragged(english.lookup(chunk.hashes), np.concatenate(([0], np.cumsum(chunk.counts))))
        for chunk in hash_chunks(texts)
    ]
    found = Ragged.concatenate(chunks)
    return found.only(found.ids >= 0)


def _forms(words: Sequence[str], language: str) -> Any:
    """Which of the stems that several words have is each word's: 1 or 0. n words -> (n, stems)"""
    _, which, counts = np.unique(stems(words, language), return_inverse=True, return_counts=True)
    is_shared = counts > 1
    rows = np.flatnonzero(is_shared[which])
    columns = (np.cumsum(is_shared) - 1)[which[rows]]
    return csr_array((np.ones(len(rows), dtype=np.float32), (rows, columns)), shape=(len(words), int(is_shared.sum())))


def _centred(rows: Float32) -> Float32:
    return np.asarray(rows - rows.mean(axis=0), dtype=np.float32)


def _linear(averages: Float32, missing: Float32, counts: Float64) -> Float32:
    """The map of averages to what they lack. (t, d), (t, d), (t,) -> (d, d)"""
    weighted = (averages * counts[:, None]).astype(np.float32)
    gram = weighted.T @ averages
    gram += max(LINEAR_RIDGE * float(np.trace(gram)) / len(gram), 1e-12) * np.eye(len(gram), dtype=np.float32)
    return np.asarray(np.linalg.solve(gram, weighted.T @ missing), dtype=np.float32)


def _least_squares(matrix: Any, wanted: Float32, ridge: float) -> Float32:
    """x with the least |matrix x - wanted|² + ridge |x|², by conjugate gradients. (t, n), (t, d) -> (n, d)"""
    back: Any = csr_array(matrix.T)
    x = np.zeros((matrix.shape[1], wanted.shape[1]), dtype=np.float32)
    residual = np.asarray(back @ wanted, dtype=np.float32)
    scale = (1 / (back.multiply(back).sum(axis=1) + ridge)).astype(np.float32)[:, None]
    direction = scale * residual
    size = first = np.einsum("nd,nd->d", residual, direction)
    for _ in range(_ROUNDS):
        image = np.asarray(back @ (matrix @ direction), dtype=np.float32) + np.float32(ridge) * direction
        far = size / np.maximum(np.einsum("nd,nd->d", direction, image), 1e-30)
        x += far * direction
        residual -= far * image
        steep = scale * residual
        before, size = size, np.einsum("nd,nd->d", residual, steep)
        if size.sum() <= _ENOUGH**2 * first.sum():
            break
        direction = steep + size / np.maximum(before, 1e-30) * direction
    return x
