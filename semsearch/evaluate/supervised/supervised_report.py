"""What came out of supervised tasks: what was tried, what was chosen, the figures, and the papers' beside them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from semsearch.evaluate.record import Record
from semsearch.evaluate.supervised.published_tasks import SYSTEMS
from semsearch.evaluate.verdicts import Held

_CLAIMS = (("sif", "mean"), ("usif", "mean"), ("usif", "sif"))  # uSIF paper, section 4.4 and table 3


@dataclass(frozen=True, slots=True)
class Trial(Record):
    """What was tried, and what came out on dev: Pearson's r × 100 or accuracy × 100, after so many rounds."""

    a: float | None
    rate: float
    regularisation: float
    rounds: int
    dev: float


@dataclass(frozen=True, slots=True)
class SupervisedScore(Record):
    """A method on the test split of a task. `figures`, × 100 but for mse: pearson, spearman and mse, or accuracy."""

    task: str
    kind: str
    method: str
    examples: tuple[int, int, int]  # of train, dev and test
    chosen: Trial
    figures: Mapping[str, float]
    trials: tuple[Trial, ...]

    @property
    def figure(self) -> float:
        """The one that the papers have: Pearson's r × 100, or accuracy × 100."""
        return self.figures[measure_of(self.kind)]

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> SupervisedScore:
        trials = tuple(Trial(**trial) for trial in values["trials"])
        train, dev, test = values["examples"]
        changed = {"examples": (train, dev, test), "chosen": Trial(**values["chosen"]), "trials": trials}
        return cls(**{**values, **changed})


@dataclass(frozen=True, slots=True)
class SupervisedOrdering:
    """One method above another: in how many tasks, and in how many of the same tasks in table 3 of the uSIF paper."""

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
    """What was run, with which word vectors, and what came out; by task, what was published, by the system's name."""

    vectors: str
    width: int
    seed: int
    scores: tuple[SupervisedScore, ...]
    published: Mapping[str, Mapping[str, float]]

    @property
    def orderings(self) -> tuple[SupervisedOrdering, ...]:
        """What the uSIF paper says of the three methods, checked."""
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
    """Which of the figures counts."""
    return "pearson" if kind == "relatedness" else "accuracy"
