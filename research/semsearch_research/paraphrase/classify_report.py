"""The results of classifying paraphrases: sizes of groups, accuracies, and comparisons of models."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from semsearch.results.codec import Record, called
from semsearch_research.paraphrase.agreement import ModelComparison


@dataclass(frozen=True, slots=True)
class GroupSizes(Record):
    """The sizes of a data set: sentences, groups, tokens, groups by their sentences; `published`: the paper's."""

    data: str
    sentences: int
    groups: int
    tokens: int
    sizes: Mapping[int, int]
    published: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class ClassifyScore(Record):
    """The score of a model on a data set: each fold's accuracy × 100 with the C of the fold, and at C = 1.

    `low` and `high`, and those at C = 1, are of the mean over the folds: 95 % of the draws of each fold's sentences.
    """

    data: str
    model: str
    dimension: int
    folds: tuple[float, ...]
    costs: tuple[float, ...]
    folds_at_1: tuple[float, ...]
    published: float | None
    low: float
    high: float
    low_at_1: float
    high_at_1: float

    @property
    def accuracy(self) -> float:
        """The mean accuracy over the folds."""
        return float(np.mean(self.folds))

    @property
    def spread(self) -> float:
        """The standard deviation of the accuracy over the folds."""
        return float(np.std(self.folds))

    @property
    def accuracy_at_1(self) -> float:
        """The mean accuracy over the folds at C = 1."""
        return float(np.mean(self.folds_at_1))

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {
            "data": self.data,
            "model": self.model,
            "dimension": self.dimension,
            "accuracy": round(self.accuracy, 2),
            "spread": round(self.spread, 2),
            "interval": [round(self.low, 2), round(self.high, 2)],
            "folds": [round(fold, 2) for fold in self.folds],
            "C": list(self.costs),
            "accuracy at C = 1": round(self.accuracy_at_1, 2),
            "interval at C = 1": [round(self.low_at_1, 2), round(self.high_at_1, 2)],
            "published": self.published,
        }


@dataclass(frozen=True, slots=True)
class ClassifyReport(Record):
    """The results of all models on all data sets. `training`: the number of sentences trained on, 0 if none."""

    vectors: str
    taught: bool  # whether the word vectors were distilled from a sentence encoder
    seed: int
    training: int = field(metadata=called("training sentences"))
    sizes: tuple[GroupSizes, ...] = field(metadata=called("data"))
    scores: tuple[ClassifyScore, ...]
    comparisons: tuple[ModelComparison, ...]  # of all folds
