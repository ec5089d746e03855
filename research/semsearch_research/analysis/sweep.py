"""Measure how much SIF depends on a, and on the source of p(w): figure 2 of the SIF paper, section 4.1.1.

Pearson's r of SIF as in table 1 (one component removed, of each task's own sentences), for each a and each source of
p(w), is compared with the plain mean of the word vectors, without weights and without removal, as in the figure. A
uniform p(w) gives all words the same weight, whatever a is, and so shows the effect of removal alone.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from semsearch import Method
from semsearch.embedding.weights import METHODS
from semsearch.errors import UsageError
from semsearch.results.codec import Record, digits
from semsearch.word_vectors.table import WordVectorsLike
from semsearch_research.evaluate.cache import cached, digest_of, versions
from semsearch_research.evaluate.inputs import (
    Progress,
    check_each_a,
    counts_in,
    distinct_names,
    is_distilled,
)
from semsearch_research.evaluate.pair_bootstrap import PairDraws, Resampled
from semsearch_research.evaluate.published import published_figures
from semsearch_research.evaluate.retrieval import Figure
from semsearch_research.evaluate.sentence_pairs import Task, read_tasks, task_files
from semsearch_research.evaluate.sts_cosines import UNIFORM, WeighedWords, cosines
from semsearch_research.evaluate.sts_scores import pearson
from semsearch_research.word_tables.conversion import open_vectors

SWEPT = tuple(float(f"{factor}e-{i}") for i in range(5, 0, -1) for factor in (1, 3))  # 1e-5, 3e-5, ... 3e-1
PAPERS_GROUP = "STS12"  # the tasks of figure 2
SOURCES = ("vectors", "corpus", UNIFORM)


@dataclass(frozen=True, slots=True)
class SweepPoint(Record):
    """A point of the sweep, SIF with one a and one p(w): Pearson's r × 100 of each task, and their mean.

    The mean has its 95 % interval, by drawing pairs anew within each task.
    """

    vectors: str
    frequencies: str
    a: float
    pearson: float = field(metadata=digits(4))
    tasks: Mapping[str, float] = field(metadata=digits(4))
    low: float = field(metadata=digits(4))
    high: float = field(metadata=digits(4))


@dataclass(frozen=True, slots=True)
class SweepReport(Record):
    """The results of a sweep. `means`: r × 100 of the plain mean with its interval, by word vectors.

    `taught` are the word vectors that were distilled from a sentence encoder.
    """

    groups: tuple[str, ...]
    tasks: tuple[str, ...]
    points: tuple[SweepPoint, ...]  # a from low to high within word vectors and source
    means: Mapping[str, Figure]
    published_best: tuple[float, float]  # the range of a in which the paper found the best figures
    taught: tuple[str, ...] = ()

    @property
    def series(self) -> dict[tuple[str, str], tuple[SweepPoint, ...]]:
        """The points of each word vectors and source of p(w)."""
        found: dict[tuple[str, str], tuple[SweepPoint, ...]] = {}
        for point in self.points:
            name = point.vectors, point.frequencies
            found[name] = (*found.get(name, ()), point)
        return found

    @property
    def best(self) -> tuple[SweepPoint, ...]:
        """The best point of each series; of those that are equal to a hundredth, the one with the lowest a."""
        return tuple(max(points, key=lambda point: round(point.pearson, 2)) for points in self.series.values())

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {
            "groups": list(self.groups),
            "tasks": list(self.tasks),
            "points": [point.to_dict() for point in self.points],
            "best": [point.to_dict() for point in self.best],
            "means": {name: round(figure.value, 4) for name, figure in self.means.items()},
            "intervals of means": {name: [round(f.low, 4), round(f.high, 4)] for name, f in self.means.items()},
            "taught": list(self.taught),
            "published": {"paper": "sif", "place": "figure 2", "best a": list(self.published_best)},
        }


def evaluate_sweep(
    paths: Sequence[str | Path],
    *,
    vectors: Sequence[WordVectorsLike] = ("english",),
    frequencies: Sequence[str | Path] = SOURCES,
    a: Sequence[float] = SWEPT,
    groups: Sequence[str] = (),
    split: str = "test",
    fresh: bool = False,
    progress: Progress | None = None,
) -> SweepReport:
    """Measure Pearson's r of SIF for each of the word vectors, sources of p(w) and a.

    `frequencies` are "vectors", "corpus" (the sentences of the tasks), "uniform", or files of word counts. `groups`
    chooses among the tasks (STS12, SICK14); by default STS12, as in the paper, or, if there is none of it, all.
    Raises SourceError for broken files, UsageError, VectorsError.
    """
    check_each_a(a)
    tasks = _chosen(read_tasks(map(Path, paths), split=split), groups)
    sources = list(dict.fromkeys(str(counts_in(one)) for one in frequencies))
    opened = list({one.digest: one for one in map(open_vectors, vectors)}.values())
    values = sorted(set(a))
    points: list[SweepPoint] = []
    means: dict[str, Figure] = {}
    draws = {task.label: PairDraws(task.label, len(task.scores)) for task in tasks}
    for name, table in zip(distinct_names(opened, "{} ({})"), opened, strict=True):
        kept = {
            "pairs": digest_of(task_files(map(Path, paths), split=split)),
            "split": split,
            "tasks": [task.label for task in tasks],
            "vectors": table.digest,
            "libraries": versions("numpy", "scipy"),
        }
        for done, source in enumerate(sources, len(means) * len(sources)):
            if progress is not None:
                progress(f"{name}, p(w) from {Path(source).name}", done, len(opened) * len(sources))
            content = digest_of([Path(source)]) if Path(source).is_file() else source
            swept = partial(_measured, WeighedWords(table, source), tasks, draws, METHODS["sif"], values)
            found = cached("sweep", {**kept, "frequencies": content, "a": values}, swept, fresh=fresh)
            points += [
                SweepPoint(name, source, value, one["mean"], one["tasks"], one["low"], one["high"])
                for value, one in zip(values, found, strict=True)
            ]
        plain = partial(_measured, WeighedWords(table), tasks, draws, METHODS["mean"], [None])
        [one] = cached("sweep", {**kept, "mean": True}, plain, fresh=fresh)
        means[name] = Figure(one["mean"], one["low"], one["high"])
    run = tuple(dict.fromkeys(task.group for task in tasks))
    taught = tuple(name for name, table in zip(means, opened, strict=True) if is_distilled(table))
    return SweepReport(run, tuple(task.label for task in tasks), tuple(points), means, published_best(), taught)


def _measured(
    words: WeighedWords,
    tasks: Sequence[Task],
    draws: Mapping[str, PairDraws],
    method: Method,
    a: Sequence[float | None],
) -> list[dict[str, Any]]:
    """Compute for each a the r × 100 of each task, and their mean with its interval."""
    found = [
        Resampled(
            100 * pearson(one.values, one.task.scores), 100 * draws[one.task.label].pearson(one.values, one.task.scores)
        )
        for one in cosines(words, tasks, [method], a=a)
    ]
    rows = []
    for each in (found[first : first + len(tasks)] for first in range(0, len(found), len(tasks))):
        mean = Resampled.mean(each).interval
        by_task = {task.label: one.value for task, one in zip(tasks, each, strict=True)}
        rows.append({"tasks": by_task, "mean": mean.value, "low": mean.low, "high": mean.high})
    return rows


def published_best() -> tuple[float, float]:
    """The range of a, lowest and highest, in which the paper found the best figures."""
    found = {figure.row: figure.value for figure in published_figures("sif", "figure 2")}
    return found["best a, lowest"], found["best a, highest"]


def _chosen(tasks: Sequence[Task], groups: Sequence[str]) -> list[Task]:
    """The tasks of some groups. Raises UsageError if a group has none."""
    there = dict.fromkeys(task.group for task in tasks)
    wanted = groups or ([PAPERS_GROUP] if PAPERS_GROUP in there else list(there))
    if missing := [group for group in wanted if group not in there]:
        raise UsageError(f"there are no tasks of {missing[0]}; the files are of {', '.join(there)}")
    return [task for task in tasks if task.group in wanted]
