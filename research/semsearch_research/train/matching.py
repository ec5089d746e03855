"""Train word vectors until sentence vectors have the similarities that a teacher's sentence vectors have.

The cosines between the averages of all pairs of texts in a batch (with SIF's weights, which will be used later too) are
brought near the teacher's cosines, by two losses:

    the mean of (cos - cos of the teacher)² over all pairs
    the divergence between each text's neighbours in the batch, softmax(cosines / temperature), and the teacher's

The first sets the scale, the second puts the nearest texts in the right order, which is what a ranking needs. In a
batch drawn at random nearly all pairs are unrelated; so the texts are sorted into clusters by the teacher's vectors,
and a batch is made of some clusters, with many texts of each.

The length of a word's vector is learned too, and corrects its weight: a "how" is rarer in an encyclopaedia than in
questions. Only the words of a batch move (lazy Adam).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from semsearch.arrays.types import Float16, Float32, Int64
from semsearch.embedding.weights import check_a
from semsearch.errors import UsageError
from semsearch.text.ragged import Ragged
from semsearch_research.train.adam import Adam

_WARM_UP = 50  # steps in which the learning rate rises; then it falls linearly
_ROUNDS = 4  # of k-means
_SAMPLE = 100_000  # texts that the clusters are made from
_PART = 20_000  # texts held in memory as floats at a time


@dataclass(frozen=True, slots=True)
class Matching:
    """The settings of the training. research/docs/training.md says what each of them changes."""

    epochs: float = 5.0
    batch: int = 1024  # texts
    groups: int = 64  # clusters that a batch is made of
    clusters: int = 1000
    a: float = 1e-3  # of SIF's weights
    rate: float = 2e-3
    ranking: float = 1e-3  # weight of the second loss
    temperature: float = 0.05
    seed: int = 0

    def __post_init__(self) -> None:
        check_a(self.a)
        for name in ("epochs", "batch", "groups", "clusters", "rate", "temperature"):
            if not 0 < (value := getattr(self, name)) < float("inf"):
                raise UsageError(f"{name} must be a number above zero, not {value}")
        if not 0 <= self.ranking < float("inf"):
            raise UsageError(f"ranking must be zero or more, not {self.ranking}; 0 switches it off")
        if self.groups > self.batch:
            raise UsageError(f"a batch of {self.batch} texts cannot have {self.groups} clusters")


def match(
    words: Float32,
    frequencies: Float32,
    texts: Ragged,
    targets: Float16,
    matching: Matching,
    *,
    progress: Callable[[int, int], None] | None = None,
) -> Float32:
    """Train word vectors (V, d) on texts (n) and the teacher's unit vectors of them (n, d'). -> (V, d)

    `frequencies` is p(w), (V,). Texts without a known word are left out. Raises UsageError if fewer than two are left.
    """
    usable = np.flatnonzero(texts.lengths > 0)
    if len(usable) < 2:
        raise UsageError(f"{len(usable)} of {len(texts)} texts have words with a vector; give more texts")
    generator = np.random.default_rng(matching.seed)
    groups = _cluster(targets, usable, matching, generator)
    steps = max(1, round(matching.epochs * len(usable) / matching.batch))
    weights = (matching.a / (matching.a + frequencies)).astype(np.float32)
    values = words.copy()
    adam = Adam([values], rate=matching.rate)
    for step, rows in zip(range(steps), _batches(groups, matching, generator), strict=False):
        present, averaging = _averaging(texts.take(rows), weights)
        teacher = targets[rows].astype(np.float32)
        averages = averaging @ values[present]
        _, gradient = loss_and_gradient(averages, teacher, ranking=matching.ranking, temperature=matching.temperature)
        adam.step_rows(present, averaging.T @ gradient, _schedule(step, steps))
        if progress:
            progress(step + 1, steps)
    return values


def loss_and_gradient(
    averages: Float32, targets: Float32, *, ranking: float, temperature: float
) -> tuple[float, Float32]:
    """The sum of both losses, and its gradient by the averages. (b, d), (b, d') -> scalar, (b, d)"""
    count = len(averages)
    lengths = np.maximum(np.linalg.norm(averages, axis=1, keepdims=True), 1e-6)
    units = averages / lengths
    cosines, wanted = units @ units.T, targets @ targets.T
    error = cosines - wanted
    np.fill_diagonal(error, 0)
    pairs = count * (count - 1)
    loss = float(np.vdot(error, error)) / pairs
    by_cosine = error * np.float32(2 / pairs)
    if ranking:
        found, right = (_log_softmax(np.asarray(each / temperature, dtype=np.float32)) for each in (cosines, wanted))
        share = np.exp(right)
        loss += ranking * float(np.sum(share * (right - found))) / count
        by_cosine += (np.exp(found) - share) * np.float32(ranking / (temperature * count))
    by_unit = (by_cosine + by_cosine.T) @ units
    gradient = (by_unit - units * np.sum(by_unit * units, axis=1, keepdims=True)) / lengths
    return loss, np.asarray(gradient, dtype=np.float32)


def _log_softmax(scores: Float32) -> Float32:
    """The log-softmax of each row without its diagonal entry: a text is not its own neighbour. (b, b) -> (b, b)"""
    np.fill_diagonal(scores, -1e4)
    scores -= scores.max(axis=1, keepdims=True)
    return np.asarray(scores - np.log(np.exp(scores).sum(axis=1, keepdims=True)), dtype=np.float32)


def _averaging(texts: Ragged, weights: Float32) -> tuple[Int64, Any]:
    """The distinct words of b texts (u,), and the matrix (b, u) that makes SIF's weighted averages of their vectors."""
    present, inverse = np.unique(texts.ids, return_inverse=True)
    shares = weights[texts.ids] / np.repeat(texts.lengths, texts.lengths).astype(np.float32)
    return present.astype(np.int64), csr_array((shares, inverse, texts.indptr), shape=(len(texts), len(present)))


def _schedule(step: int, steps: int) -> float:
    return min(1.0, (step + 1) / _WARM_UP) * max(0.02, 1 - step / steps)


def _cluster(targets: Float16, usable: Int64, matching: Matching, generator: np.random.Generator) -> list[Int64]:
    """Group the usable texts by cluster: spherical k-means over the teacher's vectors."""
    count = min(matching.clusters, len(usable))
    sample = targets[np.sort(generator.permutation(usable)[: max(_SAMPLE, count)])].astype(np.float32)
    centres = sample[np.sort(generator.choice(len(sample), count, replace=False))]
    for _ in range(_ROUNDS):
        nearest = _nearest(sample, centres)
        sums = _adding(nearest, count) @ sample + np.float32(1e-6)
        centres = (sums / np.linalg.norm(sums, axis=1, keepdims=True)).astype(np.float32)
    parts = [usable[first : first + _PART] for first in range(0, len(usable), _PART)]
    owners = np.concatenate([_nearest(targets[part].astype(np.float32), centres) for part in parts])
    order = np.argsort(owners, kind="stable")
    edges = np.searchsorted(owners[order], np.arange(1, count))
    return [group for group in np.split(usable[order], edges) if len(group)]


def _adding(owners: Int64, count: int) -> Any:
    """The matrix (count, n) that adds up the rows of each owner."""
    ones = np.ones(len(owners), dtype=np.float32)
    return csr_array((ones, (owners, np.arange(len(owners)))), shape=(count, len(owners)))


def _nearest(vectors: Float32, centres: Float32) -> Int64:
    """The nearest centre of each vector. (n, d'), (c, d') -> (n,)"""
    parts = [vectors[first : first + _PART] for first in range(0, len(vectors), _PART)]
    return np.concatenate([(part @ centres.T).argmax(axis=1) for part in parts])


def _batches(groups: list[Int64], matching: Matching, generator: np.random.Generator) -> Iterator[Int64]:
    """Yield the rows of texts batch by batch, without end; in each round nearly every text once."""
    size = max(1, matching.batch // matching.groups)
    while True:
        pieces: list[Int64] = []
        for group in groups:
            shuffled = generator.permutation(group)
            pieces += [shuffled[first : first + size] for first in range(0, len(group), size)]
        order = generator.permutation(len(pieces))
        for first in range(0, len(order), matching.groups):
            rows = np.concatenate([pieces[index] for index in order[first : first + matching.groups]])
            if len(rows) > 1:
                yield rows
