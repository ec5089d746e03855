"""From the cosines of methods to their scores by task, averages by group, orderings and differences of fits."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from semsearch.evaluate.published import GROUPS, YEAR_TASKS, published, published_task
from semsearch.evaluate.similarity.correlation import pearson, spearman
from semsearch.evaluate.similarity.cosines import Cosines
from semsearch.evaluate.similarity.counted_once import counted_once
from semsearch.evaluate.similarity.orderings import Ordering, orderings
from semsearch.evaluate.similarity.pair_bootstrap import PairDraws, Resampled
from semsearch.evaluate.similarity.sentence_pairs import Task
from semsearch.evaluate.similarity.sts_report import FitDifference, StsAverage, StsReport, StsScore


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

    def _resampled(self, found: Cosines, kept: npt.NDArray[np.bool_]) -> Resampled:
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


def _varies(scores: npt.NDArray[np.float64]) -> bool:
    return len(np.unique(scores)) > 1
