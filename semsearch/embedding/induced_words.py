"""Induce vectors for a corpus's own words from their contexts. Khodak et al. 2018, "A La Carte Embedding", section 3.

    u_w = mean, over the occurrences of w, of 1/(|s| - 1) Σ_{w' ∈ s but for that occurrence} weight(w') v_w'
    A   = argmin Σ_w n_w ‖v_w - g_w - A u_w‖² + λ ‖A - αI‖²,   over words of the table that the corpus has
    v_w = g_w + A u_w,   for its frequent words outside the table

The map A makes a word's vector of the mean of its contexts, and is learned from words for which both are known. Unlike
in the paper the sum is weighted; A gives only the difference from g_w, the guess from the word's pieces; and it is
drawn to a multiple of the identity, with the best α, so that a small corpus can have a map too.

Induced vectors are frozen with the fit: later texts do not change them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from hashlib import blake2b

import numpy as np

from semsearch.arrays.hash_table import HashIndex
from semsearch.arrays.types import Bool, Float16, Float32, Float64, Int32, Int64, UInt64
from semsearch.embedding.weighted_sums import WeightedSums
from semsearch.system.threads import Threads
from semsearch.text.ragged import OovWords, Ragged
from semsearch.word_vectors.table import Guessing, WordVectors

OCCURRENCES = 5  # of a word: with fewer, its contexts say too little
_MOST_WORDS = 4000  # unknown words that get a vector, the most frequent ones
_TEACHERS = 8000  # words of the table from which A is learned, the rarest ones of those that occur often enough
_RARE = 1e-4  # largest p(w) of such a word
_FEWEST = 100  # such words: with fewer there is no A
_CONTEXT = 4  # known words that a sentence needs to be a context
_SENTENCES = 50_000  # from a larger corpus, A is learned from every second, third, … sentence
_LAMBDA = 0.1  # of the mean eigenvalue of Σ n u uᵀ
_MOST = 100.0  # n_w at most


@dataclass(frozen=True, eq=False, slots=True)
class InducedWords:
    """The vectors (k, d) of k words that were induced from contexts, and the words' hashes, rising (k,)."""

    hashes: UInt64
    vectors: Float16

    def __len__(self) -> int:
        return len(self.hashes)

    def put(self, unknown_words: OovWords, into: Float32) -> None:
        """Overwrite the rows of `into` whose words have an induced vector. (u,), (u, d)"""
        rows = np.searchsorted(self.hashes, unknown_words.hashes)
        rows[rows == len(self)] = 0
        known = self.hashes[rows] == unknown_words.hashes if len(self) else np.zeros(len(unknown_words), dtype=np.bool_)
        into[known] = self.vectors[rows[known]]

    def digest(self) -> str:
        """The BLAKE2b digest of hashes and vectors."""
        return blake2b(self.hashes.tobytes() + self.vectors.tobytes(), digest_size=16).hexdigest()


def induce(
    batches: Callable[[], Iterable[Ragged]],
    vectors: WordVectors,
    weighted_sums: WeightedSums,
    *,
    spread: Threads | None = None,
) -> InducedWords | None:
    """Induce vectors for the frequent unknown words of texts, which are read twice. None if too little can be learned.

    `weighted_sums` are without uSIF's normalisation. The result does not depend on how the work is `spread`.
    """
    counts = _count(batches(), len(vectors))
    teachers = np.flatnonzero((counts.words >= OCCURRENCES) & (vectors.frequencies < _RARE))
    teachers = teachers[np.argsort(vectors.frequencies[teachers], kind="stable")][:_TEACHERS]
    chosen = np.flatnonzero(counts.unknown_words >= OCCURRENCES)
    chosen = chosen[np.lexsort((counts.hashes[chosen], -counts.unknown_words[chosen]))][:_MOST_WORDS]
    if len(teachers) < _FEWEST or not len(chosen):
        return None
    hashes = np.sort(counts.hashes[chosen])
    step = -(-counts.texts // _SENTENCES)
    finder = _ContextFinder(vectors, weighted_sums, teachers, hashes)
    contexts = _Contexts(finder)
    for part in (spread or Threads()).in_order(finder, _with_teachers(batches(), step)):
        contexts.take(part)
    means = contexts.means()
    taught = vectors.rows(teachers)
    guessed: Float32 = np.zeros((len(teachers), vectors.dimension), dtype=np.float32)
    if isinstance(vectors, Guessing):
        guessed = vectors.guess_known(teachers)
    seen = contexts.seen >= OCCURRENCES
    known, new = seen[: len(teachers)], seen[len(teachers) :]
    left = (taught - guessed)[known]
    transposed = learn_map(means[: len(teachers)][known], left, contexts.seen[: len(teachers)][known])
    result = contexts.guesses + means[len(teachers) :] @ transposed
    return InducedWords(hashes[new], result[new].astype(np.float16))


def _with_teachers(batches: Iterable[Ragged], step: int) -> Iterator[tuple[Ragged, Bool]]:
    """Each batch, and which of its texts A is learned from: every `step`-th of all, however they are batched."""
    done = 0
    for batch in batches:
        yield batch, np.arange(done, done + len(batch)) % step == 0
        done += len(batch)


def learn_map(means: Float64, left: Float32, counts: Float64) -> Float64:
    """Learn Aᵀ from the mean contexts u of words (n, d), their v - g (n, d), and their occurrences (n,). -> (d, d)"""
    weights = np.sqrt(np.minimum(counts, _MOST))[:, None]
    x, y = means * weights, left * weights
    gram, d = x.T @ x, means.shape[1]
    alpha = (x * y).sum() / max(float(np.trace(gram)), 1e-30)
    strength = _LAMBDA * max(float(np.trace(gram)), 1e-30) / d
    return np.asarray(alpha * np.eye(d) + np.linalg.solve(gram + strength * np.eye(d), x.T @ (y - alpha * x)))


@dataclass(frozen=True, slots=True)
class _Occurrences:
    """Counts of the table's words and of unknown words in texts."""

    words: Int64  # (V,)
    hashes: UInt64  # of the unknown words (u,)
    unknown_words: Int64  # (u,)
    texts: int


def _count(batches: Iterable[Ragged], size: int) -> _Occurrences:
    words, texts = np.zeros(size, dtype=np.int64), 0
    index = HashIndex()
    hashes: UInt64 = np.zeros(1024, dtype=np.uint64)
    counts: Int64 = np.zeros(1024, dtype=np.int64)
    for batch in batches:
        is_unknown = batch.ids < 0
        words += np.bincount(batch.ids[~is_unknown], minlength=size)
        here = np.bincount(-1 - batch.ids[is_unknown], minlength=len(batch.unknown_words))
        positions = index.look_up(batch.unknown_words.hashes)
        new = np.flatnonzero((positions < 0) & (here > 0))
        positions[new] = np.arange(len(index), len(index) + len(new), dtype=np.int32)
        while len(index) + len(new) > len(hashes):
            hashes, counts = np.append(hashes, np.zeros_like(hashes)), np.append(counts, np.zeros_like(counts))
        hashes[positions[new]] = batch.unknown_words.hashes[new]
        index.insert(batch.unknown_words.hashes[new], positions[new])
        occurring = here > 0
        counts[positions[occurring]] += here[occurring]
        texts += len(batch)
    return _Occurrences(words, hashes[: len(index)], counts[: len(index)], texts)


@dataclass(frozen=True, slots=True)
class _ContextSums:
    """The contexts, in some texts, of the k chosen words that they have: how many, and the sum of them."""

    slots: Int32  # numbers of the chosen words, rising (k,)
    sums: Float32  # (k, d)
    own: Float64  # the factor with which the word's own vector is in its sum (k,)
    times: Int64  # (k,)
    unknown_words: OovWords


class _ContextFinder:
    """Finds the contexts of chosen words, which have slots: first the table's words, then the unknown ones.

    It can be pickled: for other processes, which find the contexts in their share of the texts.
    """

    def __init__(
        self, vectors: WordVectors, weighted_sums: WeightedSums, teachers: Int64, unknown_words: UInt64
    ) -> None:
        self.weighted_sums = weighted_sums
        self.teachers: Int32 = teachers.astype(np.int32)
        self.slots_of_unknown: HashIndex = HashIndex(expected=len(unknown_words))
        numbers = np.arange(len(teachers), len(teachers) + len(unknown_words), dtype=np.int32)
        self.slots_of_unknown.insert(unknown_words, numbers)
        self.size = len(teachers) + len(unknown_words)
        self.dimension = vectors.dimension
        self._slots = np.full(len(vectors), -1, dtype=np.int32)
        self._slots[teachers] = np.arange(len(teachers), dtype=np.int32)

    def __call__(self, item: tuple[Ragged, Bool]) -> _ContextSums:
        """Sum up n texts as contexts of their chosen words; of the table's words only the texts that are teaching."""
        from scipy.sparse import csr_array  # start-up time: a query needs no sparse product

        texts, teaching = item
        rows = np.repeat(np.arange(len(texts)), texts.lengths)
        chosen = (self._slots_of(texts) >= 0) & ((texts.ids < 0) | teaching[rows])
        kept = np.unique(rows[chosen])
        texts, teaching = texts.take(kept), teaching[kept]
        rows = np.repeat(np.arange(len(texts)), texts.lengths)
        is_known = self.weighted_sums.is_known(texts)
        known = texts.only(is_known)
        sums = self.weighted_sums.of(known) * known.lengths[:, None].astype(np.float32)
        slots = self._slots_of(texts)
        slots[(texts.ids >= 0) & ~teaching[rows]] = -1
        used = np.flatnonzero((slots >= 0) & (known.lengths[rows] >= _CONTEXT))
        slots, which = np.unique(slots[used], return_inverse=True)
        rows, itself = rows[used], is_known[used].astype(np.float64)
        shares = 1 / (known.lengths[rows] - itself)
        matrix = csr_array((shares.astype(np.float32), (which, rows)), shape=(len(slots), len(texts)))
        times = np.bincount(which, minlength=len(slots))
        own = np.bincount(which, weights=shares * itself, minlength=len(slots)).astype(np.float64)
        return _ContextSums(slots, np.asarray(matrix @ sums), own, times, texts.unknown_words)

    def _slots_of(self, texts: Ragged) -> Int32:
        slots: Int32 = np.asarray(self._slots[np.maximum(texts.ids, 0)])
        is_unknown = texts.ids < 0
        if is_unknown.any():
            slots[is_unknown] = self.slots_of_unknown.look_up(texts.unknown_words.hashes)[-1 - texts.ids[is_unknown]]
        return slots


class _Contexts:
    """The sums of the contexts that a finder finds."""

    def __init__(self, finder: _ContextFinder) -> None:
        self._finder = finder
        self._taught = len(finder.teachers)
        self._sums = np.zeros((finder.size, finder.dimension))
        self._self = np.zeros(finder.size)  # the factor with which each word's own vector is in its sum
        self._own = np.zeros((finder.size, finder.dimension), dtype=np.float32)
        self._own[: self._taught] = finder.weighted_sums.words(finder.teachers)
        self.guesses = np.zeros((finder.size - self._taught, finder.dimension), dtype=np.float32)
        self.seen = np.zeros(finder.size)
        self._noted = np.zeros(finder.size, dtype=np.bool_)

    def take(self, part: _ContextSums) -> None:
        """Add the contexts of some texts."""
        self._sums[part.slots] += part.sums
        self._self[part.slots] += part.own
        self.seen[part.slots] += part.times
        self._note_unknown(part.unknown_words)

    def means(self) -> Float64:
        """The mean context u_w of each chosen word; zero if it has none. (n, d)"""
        return np.asarray((self._sums - self._self[:, None] * self._own) / np.maximum(self.seen, 1)[:, None])

    def _note_unknown(self, unknown_words: OovWords) -> None:
        """Note the vectors that the chosen unknown words have without their contexts."""
        slots = self._finder.slots_of_unknown.look_up(unknown_words.hashes)
        new = np.flatnonzero((slots >= 0) & ~self._noted[slots])
        slots, chosen = slots[new], unknown_words.take(new)
        ids = -1 - np.arange(len(chosen), dtype=np.int32)
        self._own[slots] = self._finder.weighted_sums.words(ids, chosen)
        self.guesses[slots - self._taught] = self._finder.weighted_sums.vectors_of(ids, chosen)
        self._noted[slots] = True
