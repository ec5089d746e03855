"""Measure how much depends on m, the number of components that uSIF removes piecewise: uSIF paper, section 3.3.

The paper says that a greater m should improve results in theory, and fixes m = 5, since singular vectors beyond that do
not explain much more variance. So here are, for uSIF with each m and each task's own components,

    r_m             Pearson's r, the mean of the tasks, and r_m - r_5, on the same draws of pairs
    σ_m² / Σ_j σ_j²    the share of the variance (not centred) that the m-th singular vector explains, mean of the tasks

m = 0 removes nothing, m = 1 the whole of the first component, as SIF does. The strengths λ_i add up to 1 for every m:
a greater m removes less of the first component, and something of more of them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from semsearch import WordVectors
from semsearch.embedding.components import CommonComponents, SentenceSums
from semsearch.embedding.methods import METHODS
from semsearch.embedding.weighted_sums import WeightedSums
from semsearch.errors import UsageError
from semsearch.results.codec import Record, digits
from semsearch.word_vectors.loading import WordVectorsLike, open_vectors
from semsearch_research.evaluate.cache import cached, digest_of, versions
from semsearch_research.evaluate.inputs import Progress, check_several, distinct_names, is_distilled
from semsearch_research.evaluate.pair_bootstrap import Resampled
from semsearch_research.evaluate.sentence_pairs import Task, read_tasks, task_files
from semsearch_research.evaluate.sts_cosines import WeighedWords, cosines
from semsearch_research.evaluate.sts_scores import PER_TASK, MeasuredCosines, PairMeasures

PAPERS_M = METHODS["usif"].components
REMOVED = (*range(11), 15, 20)


@dataclass(frozen=True, slots=True)
class RemovalPoint(Record):
    """uSIF with one m: Pearson's r × 100 of each group and over all tasks, and by how much that is above m = 5.

    Over all tasks, pairs that stand in several of them count once. `low` and `high` are the 95 % interval of that mean,
    `difference_low` and `difference_high` that of the difference. `explained` is the share of the variance that the
    m-th singular vector explains; None for m = 0.
    """

    vectors: str
    m: int
    pearson: float = field(metadata=digits(4))
    low: float = field(metadata=digits(4))
    high: float = field(metadata=digits(4))
    difference: float = field(metadata=digits(4))
    difference_low: float = field(metadata=digits(4))
    difference_high: float = field(metadata=digits(4))
    explained: float | None = field(metadata=digits(6))
    groups: Mapping[str, float] = field(default_factory=dict, metadata=digits(4))


@dataclass(frozen=True, slots=True)
class RemovalReport(Record):
    """The points of all word vectors, from the lowest m on. `taught`: vectors distilled from a sentence encoder."""

    tasks: tuple[str, ...]
    published_m: int
    points: tuple[RemovalPoint, ...]
    taught: tuple[str, ...] = ()

    @property
    def series(self) -> dict[str, tuple[RemovalPoint, ...]]:
        """The points of each word vectors."""
        found: dict[str, tuple[RemovalPoint, ...]] = {}
        for point in self.points:
            found[point.vectors] = (*found.get(point.vectors, ()), point)
        return found


def evaluate_removal(
    paths: Sequence[str | Path],
    *,
    vectors: Sequence[WordVectorsLike] = ("english",),
    m: Sequence[int] | None = None,
    split: str = "test",
    fresh: bool = False,
    progress: Progress | None = None,
) -> RemovalReport:
    """Measure Pearson's r of uSIF for each of the word vectors and each number of components.

    `m` are by default those of `REMOVED` that all vectors have dimensions for. The paper's m = 5 is measured in any
    case, to be compared with. Results are kept unless `fresh`.
    Raises SourceError for broken files, UsageError, VectorsError.
    """
    check_several(paths=paths, vectors=vectors, **({} if m is None else {"m": m}))
    files = task_files(map(Path, paths), split=split)
    opened = list({one.digest: one for one in map(open_vectors, vectors)}.values())
    most = min(table.dimension for table in opened)
    numbers = sorted({*([one for one in REMOVED if one <= most] if m is None else m), PAPERS_M})
    if numbers[0] < 0 or numbers[-1] > most:
        wrong = next(one for one in numbers if not 0 <= one <= most)
        raise UsageError(f"m must be from 0 to the number of dimensions, {most}, not {wrong}")
    tasks = read_tasks(files)
    points: list[RemovalPoint] = []
    names = distinct_names(opened, "{} ({})")
    for done, (name, table) in enumerate(zip(names, opened, strict=True)):
        if progress is not None:
            progress(f"{name}: tasks", done, len(opened))
        inputs = {
            "files": [digest_of([file]) for file in files],
            "vectors": table.digest,
            "m": numbers,
            "versions": versions("numpy", "scipy"),
        }
        rows = cached("removal", inputs, partial(_measured, table, tasks, numbers), fresh=fresh)
        points += [RemovalPoint(name, **row) for row in rows]
    taught = tuple(name for name, table in zip(names, opened, strict=True) if is_distilled(table))
    return RemovalReport(tuple(task.label for task in tasks), PAPERS_M, tuple(points), taught)


def _measured(table: WordVectors, tasks: Sequence[Task], numbers: Sequence[int]) -> list[dict[str, Any]]:
    """Measure each m: the fields of RemovalPoint but the vectors' name."""
    words = WeighedWords(table)
    methods = [replace(METHODS["usif"], name=f"{m}", components=m) for m in numbers]
    measure = PairMeasures(tasks)
    found: dict[int, list[MeasuredCosines]] = {m: [] for m in numbers}
    for one in cosines(words, tasks, methods):
        found[int(one.method.name)].append(measure.of(one, table.name, PER_TASK))
    means = {m: Resampled.mean(one.once for one in each if one.once is not None) for m, each in found.items()}
    shares = explained(words, tasks, numbers[-1])
    rows = []
    for m, mean in means.items():
        interval, above = mean.interval, mean.above(means[PAPERS_M]).interval
        groups: dict[str, list[float]] = {}
        for each in found[m]:
            groups.setdefault(each.score.group, []).append(each.score.pearson)
        rows.append(
            {
                "m": m,
                "pearson": interval.value,
                "low": interval.low,
                "high": interval.high,
                "difference": above.value,
                "difference_low": above.low,
                "difference_high": above.high,
                "explained": shares[m - 1] if m else None,
                "groups": {group: float(np.mean(values)) for group, values in groups.items()},
            }
        )
    return rows


def explained(words: WeighedWords, tasks: Sequence[Task], most: int) -> list[float]:
    """The share of the variance that each of uSIF's first singular vectors explains, the mean of the tasks. (most,)"""
    sums = WeightedSums(words.vectors, words.weights("usif", (), None), normalise=True)
    total = np.zeros(most)
    for task in tasks:
        own = SentenceSums.of(sums.of(words.tokenize(task.sentences)), 0)
        shares = CommonComponents.of(own, most, piecewise=True).shares  # fewer where sentences span fewer directions
        total[: len(shares)] += shares
    return [float(share) for share in total / len(tasks)]
