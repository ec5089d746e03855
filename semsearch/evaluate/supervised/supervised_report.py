"""The results of supervised tasks: the settings tried and chosen, the figures, and the papers' figures."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from semsearch.evaluate.record import ExperimentRecord
from semsearch.evaluate.supervised.published_tasks import SYSTEMS
from semsearch.evaluate.verdicts import Held

_CLAIMS = (("sif", "mean"), ("usif", "mean"), ("usif", "sif"))  # uSIF paper, section 4.4 and table 3


@dataclass(frozen=True, slots=True)
class Trial(ExperimentRecord):
    """A trial of a setting, with its result on dev: Pearson's r × 100 or accuracy × 100, after some rounds."""

    a: float | None
    rate: float
    regularisation: float
    rounds: int
    dev: float


@dataclass(frozen=True, slots=True)
class SupervisedScore(ExperimentRecord):
    """The score of a method on the test split of a task. `figures`: pearson, spearman, accuracy (× 100) and mse."""

    task: str
    kind: str
    method: str
    examples: tuple[int, int, int]  # of train, dev and test
    chosen: Trial
    figures: Mapping[str, float]
    trials: tuple[Trial, ...]

    @property
    def figure(self) -> float:
        """The figure that the papers have: Pearson's r × 100, or accuracy × 100."""
        return self.figures[measure_of(self.kind)]

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> SupervisedScore:
        """Read the dict that `to_dict` made."""
        trials = tuple(Trial(**trial) for trial in values["trials"])
        train, dev, test = values["examples"]
        changed = {"examples": (train, dev, test), "chosen": Trial(**values["chosen"]), "trials": trials}
        return cls(**{**values, **changed})


@dataclass(frozen=True, slots=True)
class SupervisedOrdering:
    """A claim that one method is above another, by tasks: ours, and the same tasks in table 3 of the uSIF paper."""

    better: str
    worse: str
    found: Held
    published: Held | None

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        published = self.published.to_dict() if self.published else None
        return {"better": self.better, "worse": self.worse, **self.found.to_dict(), "published": published}


@dataclass(frozen=True, slots=True)
class SupervisedReport:
    """The results of all methods on all tasks; `published` are the papers' figures by task and system."""

    vectors: str
    width: int
    seed: int
    scores: tuple[SupervisedScore, ...]
    published: Mapping[str, Mapping[str, float]]

    @property
    def orderings(self) -> tuple[SupervisedOrdering, ...]:
        """The uSIF paper's claims on the three methods, checked."""
        found = []
        for better, worse in _CLAIMS:
            ours, theirs = (Held.between(of(better), of(worse)) for of in (self._found, self._printed))
            if ours is not None:
                found.append(SupervisedOrdering(better, worse, ours, theirs))
        return tuple(found)

    def _found(self, method: str) -> dict[str, float]:
        return {score.task: score.figure for score in self.scores if score.method == method}

    def _printed(self, method: str) -> dict[str, float]:
        name = SYSTEMS[method]
        return {task: figures[name] for task, figures in self.published.items() if name in figures}

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {
            "vectors": self.vectors,
            "width": self.width,
            "seed": self.seed,
            "scores": [score.to_dict() for score in self.scores],
            "orderings": [ordering.to_dict() for ordering in self.orderings],
            "published": {task: dict(figures) for task, figures in self.published.items()},
        }


def measure_of(kind: str) -> str:
    """The name of the figure that counts for a kind of task."""
    return "pearson" if kind == "relatedness" else "accuracy"
