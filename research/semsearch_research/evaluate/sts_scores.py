"""Pearson's r and Spearman's ρ of cosines and gold scores: by task and group, with intervals, claims and fits."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from semsearch.arrays.types import Bool, Float64, Floating
from semsearch.results.codec import Record, called, digits
from semsearch.text.tokens import words
from semsearch_research.evaluate.claims import Ordering, orderings
from semsearch_research.evaluate.pair_bootstrap import PairDraws, Resampled
from semsearch_research.evaluate.published import GROUPS, YEAR_TASKS, published, published_task
from semsearch_research.evaluate.sentence_pairs import Task
from semsearch_research.evaluate.sts_cosines import Cosines


def pearson(x: Floating, y: Floating) -> float:
    """Pearson's r, Σ (x - mean)(y - mean) / (‖x - mean‖ ‖y - mean‖); 0 if x or y is constant. (n,), (n,)"""
    x, y = x.astype(np.float64), y.astype(np.float64)
    x, y = x - x.mean(), y - y.mean()
    lengths = float(np.linalg.norm(x) * np.linalg.norm(y))
    return float(x @ y) / lengths if lengths > 0 else 0.0


def spearman(x: Floating, y: Floating) -> float:
    """Spearman's ρ: Pearson's r of the ranks. (n,), (n,)"""
    return pearson(ranks(x), ranks(y))


def ranks(x: Floating) -> Float64:
    """Ranks from 1, equal values sharing the mean of theirs. (n,) -> (n,)"""
    _, inverse, counts = np.unique(x, return_inverse=True, return_counts=True)
    return np.asarray((np.cumsum(counts) - (counts - 1) / 2)[inverse])


Key = tuple[tuple[str, ...], tuple[str, ...]]


def counted_once(tasks: Sequence[Task]) -> dict[str, Bool]:
    """Which pairs of each task count, by the task's label: all those of a year; of others, those of no year. (n,)

    Pairs are the same if they have the same words, in either order of the two sentences.
    """
    yearly = {key for task in tasks if task.group in YEAR_TASKS for key in _keys(task)}
    return {
        task.label: np.array([task.group in YEAR_TASKS or key not in yearly for key in _keys(task)]) for task in tasks
    }


def _keys(task: Task) -> list[Key]:
    pairs = zip(task.first, task.second, strict=True)
    return [_ordered(tuple(words(first)), tuple(words(second))) for first, second in pairs]


def _ordered(first: tuple[str, ...], second: tuple[str, ...]) -> Key:
    return (first, second) if first <= second else (second, first)


PER_TASK = "task"  # fitted on each task's own sentences


@dataclass(frozen=True, slots=True)
class StsScore(Record):
    """The score of a method on a task: r and ρ × 100. `published`: the papers' Pearson × 100, for the test split."""

    task: str
    group: str
    split: str
    method: str
    pairs: int
    pearson: float = field(metadata=digits(4))
    spearman: float = field(metadata=digits(4))
    vectors: str = ""
    fit_on: str = PER_TASK
    a: float = 0.0  # of the weights; 0 where they have none
    published: Mapping[str, float] = field(default_factory=dict)
    low: float = field(default=0.0, metadata=digits(4))  # the 95 % interval of Pearson's r
    high: float = field(default=0.0, metadata=digits(4))

    @property
    def name(self) -> str:
        """The name of the task in tables: with the split, unless that is test; a data set of its own by its group."""
        name = self.task if self.group in YEAR_TASKS else self.group
        return name if self.split in ("", "test") else f"{name} {self.split}"


@dataclass(frozen=True, slots=True)
class StsAverage(Record):
    """A method's mean over the tasks of a group. `whole`: these are all its tasks in the papers, in the test split."""

    group: str
    method: str
    tasks: int
    whole: bool
    pearson: float = field(metadata=digits(4))
    spearman: float = field(metadata=digits(4))
    published: Mapping[str, float] = field(default_factory=dict)  # Pearson × 100, only where whole
    vectors: str = ""
    fit_on: str = PER_TASK
    low: float = field(default=0.0, metadata=digits(4))
    high: float = field(default=0.0, metadata=digits(4))


@dataclass(frozen=True, slots=True)
class FitDifference(Record):
    """How far a method's mean over a group's tasks with one fit is above that with the first fit, r × 100."""

    group: str
    method: str
    vectors: str
    fit_on: str
    difference: float = field(metadata=digits(4))
    low: float = field(metadata=digits(4))
    high: float = field(metadata=digits(4))


@dataclass(frozen=True, slots=True)
class StsReport(Record):
    """The results of all methods on all tasks; `vectors` and `fit_on` are names between commas.

    `taught` are those of the word vectors that were distilled from a sentence encoder, and so are not unsupervised.
    `repeated`: how many pairs of a task stand in another one too, by the task's name; orderings count them once.
    """

    vectors: str
    fit_on: str
    scores: tuple[StsScore, ...] = field(metadata=called("tasks"))
    averages: tuple[StsAverage, ...]
    orderings: tuple[Ordering, ...] = ()
    fits: tuple[FitDifference, ...] = ()
    taught: tuple[str, ...] = ()
    repeated: Mapping[str, int] = field(default_factory=dict)

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> StsReport:
        """Read the dict that `to_dict` made, with its rounding."""
        return cls(
            data["vectors"],
            data["fit_on"],
            tuple(StsScore(**score) for score in data["tasks"]),
            tuple(StsAverage(**average) for average in data["averages"]),
            tuple(Ordering.from_dict(ordering) for ordering in data["orderings"]),
            tuple(FitDifference(**fit) for fit in data["fits"]),
            tuple(data["taught"]),
            data["repeated"],
        )


@dataclass(frozen=True, slots=True)
class MeasuredCosines:
    """A method's score on a task; its r × 100 with draws, on all pairs and on those that are counted once."""

    score: StsScore
    whole: Resampled
    once: Resampled | None  # None if fewer than two different scores are left


class PairMeasures:
    """Measures cosines against the scores of some tasks, all on the same draws of a task's pairs."""

    def __init__(self, tasks: Sequence[Task]) -> None:
        self._once = counted_once(tasks)
        self._draws: dict[tuple[str, bool], PairDraws] = {}

    @property
    def repeated(self) -> dict[str, int]:
        """How many pairs of a task stand in another one too, by the task's label."""
        return {label: int((~kept).sum()) for label, kept in self._once.items() if not kept.all()}

    def of(self, found: Cosines, vectors: str, fit_on: str) -> MeasuredCosines:
        """Measure the cosines of a method on a task."""
        task, kept = found.task, self._once[found.task.label]
        whole = self._resampled(found, np.ones_like(kept))
        once = whole if kept.all() else self._resampled(found, kept) if _varies(task.scores[kept]) else None
        interval = whole.interval
        score = StsScore(
            task.name,
            task.group,
            task.split,
            found.method.name,
            len(task.scores),
            whole.value,
            100 * spearman(found.values, task.scores),
            vectors,
            fit_on,
            found.a,
            published_task(task.name) if task.split == "test" else {},
            interval.low,
            interval.high,
        )
        return MeasuredCosines(score, whole, once)

    def _resampled(self, found: Cosines, kept: Bool) -> Resampled:
        x, y = found.values[kept], found.task.scores[kept]
        key = found.task.label, bool(kept.all())
        if key not in self._draws:
            self._draws[key] = PairDraws(found.task.label, len(y))
        return Resampled(100 * pearson(x, y), 100 * self._draws[key].pearson(x, y))


def report_of(
    found: Sequence[MeasuredCosines],
    vectors: Sequence[str],
    fits: Sequence[str],
    *,
    taught: Sequence[str],
    repeated: Mapping[str, int],
) -> StsReport:
    """Make the report of all scores, in their order."""
    return StsReport(
        ", ".join(vectors),
        ", ".join(fits),
        tuple(one.score for one in found),
        tuple(_averages(found)),
        tuple(_orderings(found)),
        tuple(_fits(found, fits)),
        tuple(taught),
        repeated,
    )


def _averages(found: Sequence[MeasuredCosines]) -> Iterator[StsAverage]:
    """Average the tasks of each group, as the papers do: tasks count the same, however many pairs they have."""
    groups: dict[tuple[str, str, str, str, str], list[MeasuredCosines]] = {}
    for one in found:
        score = one.score
        key = score.vectors, score.fit_on, score.method, score.group, score.split
        groups.setdefault(key, []).append(one)
    for (vectors, fit_on, method, group, split), members in groups.items():
        names = {member.score.task.partition(".")[2] for member in members}
        whole = split == "test" and group in GROUPS and names == YEAR_TASKS.get(group, names)
        mean = Resampled.mean(member.whole for member in members).interval
        yield StsAverage(
            group if split in ("test", "") else f"{group} {split}",
            method,
            len(members),
            whole,
            mean.value,
            float(np.mean([member.score.spearman for member in members])),
            published(group) if whole else {},
            vectors,
            fit_on,
            mean.low,
            mean.high,
        )


def _orderings(found: Sequence[MeasuredCosines]) -> Iterator[Ordering]:
    """Check the papers' claims for each run, on pairs that are counted once."""
    runs: dict[tuple[str, str], dict[str, dict[str, Resampled]]] = {}
    for one in (one for one in found if one.once is not None):
        run = runs.setdefault((one.score.vectors, one.score.fit_on), {})
        assert one.once is not None  # as it was asked for
        run.setdefault(one.score.method, {})[one.score.name] = one.once
    for (vectors, fit_on), by_method in runs.items():
        yield from orderings(by_method, vectors=vectors, fit_on=fit_on)


def _fits(found: Sequence[MeasuredCosines], fits: Sequence[str]) -> Iterator[FitDifference]:
    """The differences of each later fit from the first, by group."""
    groups: dict[tuple[str, str, str], dict[str, list[Resampled]]] = {}
    for one in found:
        key = one.score.group, one.score.method, one.score.vectors
        groups.setdefault(key, {}).setdefault(one.score.fit_on, []).append(one.whole)
    for (group, method, vectors), by_fit in groups.items():
        base = Resampled.mean(by_fit[fits[0]])
        for fit_on in fits[1:]:
            difference = Resampled.mean(by_fit[fit_on]).above(base).interval
            yield FitDifference(group, method, vectors, fit_on, difference.value, difference.low, difference.high)


def _varies(scores: Float64) -> bool:
    return len(np.unique(scores)) > 1
