"""The results of supervised tasks: the settings tried and chosen, figures and their spread, the papers' figures.

What is learned depends on the seed, and so on rounding too: another processor multiplies matrices in another order, and
a round more or less is enough for another choice on dev. So each figure is a mean over seeds, with its spread.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from statistics import fmean, stdev
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.stats import ttest_ind_from_stats

from semsearch.results.codec import Record
from semsearch_research.evaluate.claims import UNDECIDED, Held, verdict_of_test
from semsearch_research.evaluate.pair_bootstrap import Resampled
from semsearch_research.evaluate.retrieval import Figure
from semsearch_research.supervised.published_tasks import SYSTEMS

_CLAIMS = (("sif", "mean"), ("usif", "mean"), ("usif", "sif"))  # uSIF paper, section 4.4 and table 3


@dataclass(frozen=True, slots=True)
class Trial(Record):
    """A trial of a setting, with its result on dev: Pearson's r × 100 or accuracy × 100, after some rounds."""

    a: float | None
    rate: float
    regularisation: float
    rounds: int
    dev: float


@dataclass(frozen=True, slots=True)
class SupervisedRun(Record):
    """What one seed chose on dev, and its figures on test: pearson, spearman, accuracy (× 100), mse."""

    seed: int
    chosen: Trial
    figures: Mapping[str, float]
    trials: tuple[Trial, ...]

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> SupervisedRun:
        """Read the dict that `to_dict` made."""
        trials = tuple(Trial(**trial) for trial in values["trials"])
        return cls(values["seed"], Trial(**values["chosen"]), values["figures"], trials)


@dataclass(frozen=True, slots=True)
class SupervisedScore(Record):
    """The score of a method on the test split of a task, over runs that differ in their seed.

    `draws` has the mean over the runs of the figure, on draws of the test examples (B,): the same for all methods.
    """

    task: str
    kind: str
    method: str
    examples: tuple[int, int, int]  # of train, dev and test
    runs: tuple[SupervisedRun, ...]
    draws: npt.NDArray[np.float64] = field(repr=False, compare=False)

    @property
    def each(self) -> tuple[float, ...]:
        """The figure of each run that the papers have: Pearson's r × 100, or accuracy × 100."""
        return tuple(run.figures[measure_of(self.kind)] for run in self.runs)

    @property
    def figure(self) -> float:
        """The mean of that figure over the runs."""
        return fmean(self.each)

    @property
    def spread(self) -> float | None:
        """Its standard deviation over the runs; None for a single one."""
        return stdev(self.each) if len(self.runs) > 1 else None

    @property
    def resampled(self) -> Resampled:
        """The mean of the figure over the runs, with its draws."""
        return Resampled(self.figure, self.draws)

    @property
    def interval(self) -> Figure:
        """The mean of the figure over the runs with its 95 % interval, by drawing the test examples anew."""
        return self.resampled.interval

    def mean_of(self, name: str) -> float | None:
        """The mean of another figure over the runs; None if the kind of task has none."""
        return fmean(run.figures[name] for run in self.runs) if name in self.runs[0].figures else None

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {
            "task": self.task,
            "kind": self.kind,
            "method": self.method,
            "examples": list(self.examples),
            "figure": self.figure,
            "spread": self.spread,
            "interval": [round(self.interval.low, 4), round(self.interval.high, 4)],
            "runs": [run.to_dict() for run in self.runs],
        }


@dataclass(frozen=True, slots=True)
class SeedsDifference(Record):
    """How far one method is above another on a task, in means over seeds, with p by Welch's t-test over the seeds.

    p is 1 for a single seed: one run says nothing of what another would give. The interval is by drawing the test
    examples anew, the same for both. A verdict needs both: that other seeds, and other examples, keep the sign.
    """

    task: str
    difference: float
    p: float
    low: float
    high: float
    verdict: str

    @classmethod
    def between(cls, better: SupervisedScore, worse: SupervisedScore) -> SeedsDifference:
        """Compare two methods on the same task."""
        p, found = _welch(better.each, worse.each), better.resampled.above(worse.resampled).interval
        verdict = verdict_of_test(p, found.value) if found.low > 0 or found.high < 0 else UNDECIDED
        return cls(better.task, found.value, p, found.low, found.high, verdict)


@dataclass(frozen=True, slots=True)
class SupervisedOrdering(Record):
    """A claim that one method is above another, by tasks: ours, and the same tasks in table 3 of the uSIF paper."""

    better: str
    worse: str
    found: Held
    tasks: tuple[SeedsDifference, ...]
    published: Held | None

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {
            "better": self.better,
            "worse": self.worse,
            "held": self.found.held,
            "of": self.found.of,
            "difference": self.found.difference,
            "tasks": [task.to_dict() for task in self.tasks],
            "published": self.published.to_dict() if self.published else None,
        }


@dataclass(frozen=True, slots=True)
class SupervisedReport(Record):
    """The results of all methods on all tasks, run with each of `seeds`; `published` are figures by task and system."""

    vectors: str
    width: int
    seeds: tuple[int, ...]
    scores: tuple[SupervisedScore, ...]
    published: Mapping[str, Mapping[str, float]]
    taught: bool = False  # whether the word vectors were distilled from a sentence encoder

    @property
    def orderings(self) -> tuple[SupervisedOrdering, ...]:
        """The uSIF paper's claims on the three methods, checked."""
        found = []
        for better, worse in _CLAIMS:
            theirs = Held.between(self._printed(better), self._printed(worse))
            one, two = self._found(better), self._found(worse)
            if ours := Held.between(*({task: score.figure for task, score in each.items()} for each in (one, two))):
                tasks = tuple(SeedsDifference.between(score, two[task]) for task, score in one.items() if task in two)
                found.append(SupervisedOrdering(better, worse, ours, tasks, theirs))
        return tuple(found)

    def _found(self, method: str) -> dict[str, SupervisedScore]:
        return {score.task: score for score in self.scores if score.method == method}

    def _printed(self, method: str) -> dict[str, float]:
        name = SYSTEMS[method]
        return {task: figures[name] for task, figures in self.published.items() if name in figures}

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {
            "vectors": self.vectors,
            "taught": self.taught,
            "width": self.width,
            "seeds": list(self.seeds),
            "scores": [score.to_dict() for score in self.scores],
            "orderings": [ordering.to_dict() for ordering in self.orderings],
            "published": {task: dict(figures) for task, figures in self.published.items()},
        }


def measure_of(kind: str) -> str:
    """The name of the figure that counts for a kind of task."""
    return "pearson" if kind == "relatedness" else "accuracy"


def _welch(one: Sequence[float], two: Sequence[float]) -> float:
    """p of Welch's t-test, two-sided; 1 for a single run. Figures that never differ within a method have p 0, or 1."""
    if min(len(one), len(two)) < 2:
        return 1.0
    if stdev(one) == stdev(two) == 0:
        return float(one[0] == two[0])
    first, second = ((fmean(each), stdev(each), len(each)) for each in (one, two))
    return float(ttest_ind_from_stats(*first, *second, False).pvalue)
