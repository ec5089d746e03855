"""What the models of SIF and uSIF take for granted, measured.

Word vectors are "roughly uniformly dispersed" (SIF, section 3; uSIF, sections 2 and 4.2). Then two things follow:

    Z_c = Σ_w exp(<c, v_w>) is about the same for all discourse vectors c of length one            SIF
    E_w [d(c, v_w)] = 1/2, where d is the angle between c and v_w as a share of π                  uSIF

Both are computed for directions that are drawn by chance, and for those of sentences (SIF's weighted means), which is
where they are needed. A sentence has n = 11 words on average, from which uSIF's a follows: counted on the sentences.

A lecture on the SIF paper (Mochihashi 2018) shows why a discourse vector may be thought of on a sphere: the lengths of
Gaussian vectors of n dimensions hardly differ, and are √2 Γ((n + 1)/2) / Γ(n/2) on average.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

import numpy as np
import numpy.typing as npt

from semsearch import WordVectors
from semsearch.embedding.weighted_sums import WeightedSums
from semsearch.errors import UsageError
from semsearch.results.codec import Record, digits
from semsearch.text.tokens import words
from semsearch.word_vectors.loading import WordVectorsLike, open_vectors
from semsearch_research.evaluate.inputs import Progress, check_several
from semsearch_research.evaluate.sentence_pairs import Task, read_tasks
from semsearch_research.evaluate.sts_cosines import WeighedWords
from semsearch_research.published import figures

Float64 = npt.NDArray[np.float64]
Origin = Literal["by chance", "sentences"]
DIRECTIONS = 500
GAUSSIAN_DRAWS = 5000
LECTURE_DIMENSION = 200  # whose mean length the lecture gives: 14.124
_BATCH = 8192  # words at a time
_MIDDLE = (5, 95)  # per cent of the directions


@dataclass(frozen=True, slots=True)
class Dispersion(Record):
    """The dispersion of all words around some directions: means over these, and the range of the middle 90 %.

    `distance` is E_w [d(c, v_w)], `partition` Z_c divided by its mean.
    """

    directions: Origin
    count: int
    distance: float = field(metadata=digits(4))
    distance_range: tuple[float, float] = field(metadata=digits(4))
    partition_range: tuple[float, float] = field(metadata=digits(4))


@dataclass(frozen=True, slots=True)
class SentenceLength(Record):
    """The mean number of words of the sentences of a group, or of all."""

    group: str
    sentences: int
    words: float = field(metadata=digits(2))


@dataclass(frozen=True, slots=True)
class GaussianLengths(Record):
    """The lengths of Gaussian vectors: their mean and standard deviation, and the mean by the formula."""

    dimension: int
    drawn: int
    mean: float = field(metadata=digits(4))
    deviation: float = field(metadata=digits(4))
    expected: float = field(metadata=digits(4))


@dataclass(frozen=True, slots=True)
class AssumptionsReport(Record):
    """What was found for some word vectors and sentences; `published` is the paper's n."""

    vectors: str
    dispersion: tuple[Dispersion, ...]
    lengths: tuple[SentenceLength, ...]
    gaussian: tuple[GaussianLengths, ...]
    published: float


def evaluate_assumptions(
    paths: Sequence[str | Path],
    *,
    vectors: WordVectorsLike = "english",
    directions: int = DIRECTIONS,
    seed: int = 0,
    split: str = "test",
    progress: Progress | None = None,
) -> AssumptionsReport:
    """Measure the dispersion of word vectors, and the lengths of the sentences in files of pairs.

    At most so many `directions` of each kind are drawn. Raises SourceError for broken files, UsageError, VectorsError.
    """
    check_several(paths=paths)
    if directions < 2:
        raise UsageError(f"directions must be at least 2, not {directions}")
    tasks = read_tasks(map(Path, paths), split=split)
    opened = open_vectors(vectors)
    generator = np.random.default_rng(seed)
    kinds: dict[Origin, Float64] = {
        "by chance": _unit(generator.standard_normal((directions, opened.dimension))),
        "sentences": _of_sentences(opened, tasks, directions, generator),
    }
    found = []
    for number, (origin, rows) in enumerate(kinds.items()):
        if progress is not None:
            progress(f"{opened.name}: {origin}", number, len(kinds))
        if len(rows) > 1:
            found.append(dispersion(opened, origin, rows))
    [n] = [figure.value for figure in figures("usif", "section 4.2") if figure.row == "n"]
    dimensions = sorted({opened.dimension, LECTURE_DIMENSION})
    gaussian = tuple(gaussian_lengths(dimension, GAUSSIAN_DRAWS, generator) for dimension in dimensions)
    return AssumptionsReport(opened.name, tuple(found), tuple(_lengths(tasks)), gaussian, n)


def dispersion(vectors: WordVectors, origin: Origin, directions: Float64) -> Dispersion:
    """Measure how all words lie around directions of length one. (c, d)"""
    distances, partition = np.zeros(len(directions)), np.zeros(len(directions))
    for first in range(0, len(vectors), _BATCH):
        rows = vectors.rows(np.arange(first, min(first + _BATCH, len(vectors)))).astype(np.float64)
        products = rows @ directions.T
        lengths = np.linalg.norm(rows, axis=1, keepdims=True)
        cosines = np.clip(products / np.where(lengths > 0, lengths, 1), -1, 1)
        distances += np.arccos(cosines).sum(axis=0) / np.pi
        partition += np.exp(products).sum(axis=0)
    distances /= len(vectors)
    partition /= partition.mean()
    mean = float(distances.mean())
    return Dispersion(origin, len(directions), mean, _range(distances), _range(partition))


def gaussian_lengths(dimension: int, count: int, generator: np.random.Generator) -> GaussianLengths:
    """Draw Gaussian vectors and measure their lengths."""
    lengths = np.linalg.norm(generator.standard_normal((count, dimension)), axis=1)
    expected = math.sqrt(2) * math.exp(math.lgamma((dimension + 1) / 2) - math.lgamma(dimension / 2))
    return GaussianLengths(dimension, count, float(lengths.mean()), float(lengths.std()), expected)


def _of_sentences(vectors: WordVectors, tasks: Sequence[Task], most: int, generator: np.random.Generator) -> Float64:
    """The directions of some sentences, by SIF's weights; those without known words are left out."""
    weighed = WeighedWords(vectors)
    sums = WeightedSums(vectors, weighed.weights("sif", (), None), normalise=False)
    sentences = list(dict.fromkeys(sentence for task in tasks for sentence in task.sentences))
    drawn = generator.permutation(len(sentences))[:most]
    rows = sums.of(weighed.tokenize([sentences[number] for number in np.sort(drawn)])).astype(np.float64)
    return _unit(rows[rows.any(axis=1)])


def _lengths(tasks: Sequence[Task]) -> list[SentenceLength]:
    counts = [(task.group, [len(words(sentence)) for sentence in task.sentences]) for task in tasks]
    groups = dict.fromkeys(group for group, _ in counts)
    found = [(group, [n for name, each in counts if name == group for n in each]) for group in groups]
    if len(found) > 1:
        found.append(("all", [n for _, each in counts for n in each]))
    return [SentenceLength(group, len(each), float(np.mean(each))) for group, each in found]


def _range(values: Float64) -> tuple[float, float]:
    low, high = np.percentile(values, _MIDDLE)
    return float(low), float(high)


def _unit(rows: Float64) -> Float64:
    return np.asarray(rows / np.linalg.norm(rows, axis=1, keepdims=True))
