"""The results of measuring similarity: scores by task, averages by group, and orderings of methods."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from semsearch.evaluate.published import YEAR_TASKS
from semsearch.evaluate.similarity.orderings import Ordering
from semsearch.results.codec import Record, called, digits

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
