"""How much SIF depends on a, and on where p(w) comes from: figure 2 of the SIF paper, section 4.1.1.

Pearson's r of SIF as in table 1 (one component removed, of each task's own sentences), for each a and each source of
p(w). Beside it stands the plain mean of the word vectors, without weights and without removal, as in the figure. A
uniform p(w) gives all words the same weight, whatever a is: what it reaches, removal reaches alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from semsearch.arrays.unit import row_lengths, unit
from semsearch.embedding.components import CommonComponents, Statistics
from semsearch.embedding.embedder import SentenceEmbedder
from semsearch.embedding.weighted_sums import RawVectors
from semsearch.embedding.weights import SIF_A, WordWeights, learn_weights
from semsearch.errors import UsageError
from semsearch.evaluate.cache import cached, digest_of, versions
from semsearch.evaluate.published import figures
from semsearch.evaluate.similarity.correlation import pearson
from semsearch.evaluate.similarity.sentence_pairs import Task, read_tasks
from semsearch.settings import WordVectorsLike, choose_frequencies, open_vectors
from semsearch.text.ragged import Ragged
from semsearch.word_vectors.table import WordVectors

Float32 = npt.NDArray[np.float32]
Report = Callable[[str, int, int], None]
SWEPT = tuple(float(f"{factor}e-{i}") for i in range(5, 0, -1) for factor in (1, 3))  # 1e-5, 3e-5, ... 3e-1
PAPERS_GROUP = "STS12"  # what figure 2 is about
UNIFORM = "uniform"
SOURCES = ("vectors", "corpus", UNIFORM)


@dataclass(frozen=True, slots=True)
class SweepPoint:
    """SIF with one a and one p(w): Pearson's r × 100 of each task, and their mean."""

    vectors: str
    frequencies: str
    a: float
    pearson: float
    tasks: Mapping[str, float]

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {
            "vectors": self.vectors,
            "frequencies": self.frequencies,
            "a": self.a,
            "pearson": round(self.pearson, 4),
            "tasks": {name: round(figure, 4) for name, figure in self.tasks.items()},
        }


@dataclass(frozen=True, slots=True)
class SweepReport:
    """What was run and what came out. `means`: r × 100 of the plain mean, by word vectors."""

    groups: tuple[str, ...]
    tasks: tuple[str, ...]
    points: tuple[SweepPoint, ...]  # a from low to high within word vectors and source
    means: Mapping[str, float]
    published_best: tuple[float, float]  # the range of a in which the paper found the best figures

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
            "means": {name: round(figure, 4) for name, figure in self.means.items()},
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
    progress: Report | None = None,
) -> SweepReport:
    """Pearson's r of SIF for each of the word vectors, sources of p(w) and a.

    `frequencies` are "vectors", "corpus" (the sentences of the tasks), "uniform", or files of word counts. `groups`
    chooses among the tasks (STS12, SICK14); by default STS12, as in the paper, or, where there is none of it, all.
    Raises SourceError for broken files, UsageError, VectorsError.
    """
    for what, given in (("paths", paths), ("vectors", vectors), ("frequencies", frequencies), ("a", a)):
        if isinstance(given, str | Path) or not given:
            raise UsageError(f"{what} are a sequence of at least one, not {given!r}")
    if wrong := [value for value in a if not 0 < value < float("inf")]:
        raise UsageError(f"a must be above zero, not {wrong[0]}")
    tasks = _chosen(read_tasks(map(Path, paths), split=split), groups)
    pairs = digest_of(map(Path, paths))
    sources = list(dict.fromkeys(UNIFORM if one == UNIFORM else choose_frequencies(one) for one in frequencies))
    named = _named([open_vectors(one) for one in vectors])
    points: list[SweepPoint] = []
    means: dict[str, float] = {}
    for name, opened in named.items():
        texts = _Texts(opened, tasks, kept={"pairs": pairs, "split": split, "vectors": opened.digest}, fresh=fresh)
        for done, source in enumerate(sources, len(means) * len(sources)):
            if progress is not None:
                progress(f"{name}, p(w) from {shown_source(source)}", done, len(named) * len(sources))
            for value, by_task in texts.sweep(source, sorted(set(a))):
                points.append(SweepPoint(name, source, value, _mean(by_task), by_task))
        means[name] = _mean(texts.plain())
    run = tuple(dict.fromkeys(task.group for task in tasks))
    return SweepReport(run, tuple(map(_label, tasks)), tuple(points), means, published_best())


def published_best() -> tuple[float, float]:
    """Between which a the paper found the best figures."""
    found = {figure.row: figure.value for figure in figures("sif", "figure 2")}
    return found["best a, lowest"], found["best a, highest"]


def shown_source(source: str) -> str:
    """A source of p(w), a file by its name alone."""
    return source if source in SOURCES else Path(source).name


def _chosen(tasks: Sequence[Task], groups: Sequence[str]) -> list[Task]:
    """The tasks of these groups. Raises UsageError where there are none of one."""
    there = dict.fromkeys(task.group for task in tasks)
    wanted = groups or ([PAPERS_GROUP] if PAPERS_GROUP in there else list(there))
    if missing := [group for group in wanted if group not in there]:
        raise UsageError(f"there are no tasks of {missing[0]}; the files are of {', '.join(there)}")
    return [task for task in tasks if task.group in wanted]


def _label(task: Task) -> str:
    return task.name if task.split in ("", "test") else f"{task.name} {task.split}"


def _named(vectors: Iterable[WordVectors]) -> dict[str, WordVectors]:
    """Word vectors by name; several of one name have their digests with it."""
    distinct = {one.digest: one for one in vectors}
    names = [one.name for one in distinct.values()]
    return {
        one.name if names.count(one.name) == 1 else f"{one.name} ({digest[:8]})": one
        for digest, one in distinct.items()
    }


def _mean(tasks: Mapping[str, float]) -> float:
    return float(np.mean(list(tasks.values())))


class _Texts:
    """The tasks in the words of one table: tokenised when they are needed, correlated as often as one likes."""

    def __init__(self, vectors: WordVectors, tasks: Sequence[Task], *, kept: Mapping[str, Any], fresh: bool) -> None:
        self._vectors, self._tasks, self._fresh = vectors, tasks, fresh
        self._kept = {**kept, "tasks": [_label(task) for task in tasks], "libraries": versions("numpy", "scipy")}

    def plain(self) -> dict[str, float]:
        """r × 100 of each task, of the plain mean of the word vectors."""
        weights = WordWeights("none", 0.0, self._vectors.frequencies, stored=False)
        found = cached("sweep", {**self._kept, "mean": True}, lambda: self._pearson(weights, 0), fresh=self._fresh)
        return dict(found)

    def sweep(self, source: str, a: Sequence[float]) -> list[tuple[float, dict[str, float]]]:
        """r × 100 of each task for each a, with p(w) of one source."""
        content = digest_of([Path(source)]) if Path(source).is_file() else source

        def compute() -> list[dict[str, float]]:
            weights = self._weights(source)
            return [self._pearson(replace(weights, a=value), 1) for value in a]

        found = cached("sweep", {**self._kept, "frequencies": content, "a": list(a)}, compute, fresh=self._fresh)
        return list(zip(a, found, strict=True))

    @cached_property
    def _tokens(self) -> list[Ragged]:
        embedder = SentenceEmbedder(self._vectors, method="sif")
        return [embedder.tokenize(task.sentences) for task in self._tasks]

    def _weights(self, source: str) -> WordWeights:
        """SIF's weights with p(w) of a source."""
        if source == UNIFORM:
            p = np.full(len(self._vectors), 1 / len(self._vectors), dtype=np.float32)
            return WordWeights("sif", SIF_A, p, stored=True)
        return learn_weights("sif", self._vectors, lambda: self._tokens, a=SIF_A, frequencies=source)

    def _pearson(self, weights: WordWeights, components: int) -> dict[str, float]:
        """r × 100 of each task, where so many components of its own sentences are removed."""
        raw = RawVectors(self._vectors, weights, normalise=False)
        return {
            _label(task): 100 * pearson(_cosines(raw.of(tokens), components), task.scores)
            for task, tokens in zip(self._tasks, self._tokens, strict=True)
        }


def _cosines(rows: Float32, components: int) -> Float32:
    """Cosines of the first half of the rows with the second, when their common components are gone. (2n, d) -> (n,)"""
    common = CommonComponents.of(Statistics.of(rows, 0).gram, components, piecewise=False)
    first, second = np.split(unit(common.remove(rows), scale=row_lengths(rows)), 2)
    return np.asarray(np.einsum("ij,ij->i", first, second))
