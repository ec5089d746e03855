"""What the classification of paraphrases gives: sizes of groups, accuracies, and how models compare."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from semsearch.evaluate.paraphrase.agreement import ErrorAgreement, ModelComparison


@dataclass(frozen=True, slots=True)
class GroupSizes:
    """A data set: how many groups have how many sentences, and how many tokens there are; `published` has the same."""

    data: str
    sentences: int
    groups: int
    tokens: int
    sizes: Mapping[int, int]
    published: Mapping[str, int]

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {
            "data": self.data,
            "sentences": self.sentences,
            "groups": self.groups,
            "tokens": self.tokens,
            "sizes": {str(size): count for size, count in self.sizes.items()},
            "published": dict(self.published),
        }


@dataclass(frozen=True, slots=True)
class ClassifyScore:
    """A model on a data set: each fold's accuracy × 100 with the C of the fold, and at C = 1."""

    data: str
    model: str
    dimension: int
    folds: tuple[float, ...]
    costs: tuple[float, ...]
    folds_at_1: tuple[float, ...]
    published: float | None

    @property
    def accuracy(self) -> float:
        return float(np.mean(self.folds))

    @property
    def spread(self) -> float:
        """The standard deviation over the folds."""
        return float(np.std(self.folds))

    @property
    def accuracy_at_1(self) -> float:
        return float(np.mean(self.folds_at_1))

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {
            "data": self.data,
            "model": self.model,
            "dimension": self.dimension,
            "accuracy": round(self.accuracy, 2),
            "spread": round(self.spread, 2),
            "folds": [round(fold, 2) for fold in self.folds],
            "C": list(self.costs),
            "accuracy at C = 1": round(self.accuracy_at_1, 2),
            "published": self.published,
        }


@dataclass(frozen=True, slots=True)
class ClassifyReport:
    """What was run, with which word vectors, and what came out. `training`: for how many sentences, if for any."""

    vectors: str
    seed: int
    training: int
    sizes: tuple[GroupSizes, ...]
    scores: tuple[ClassifyScore, ...]
    agreements: tuple[ErrorAgreement, ...]  # of the first fold, as in the paper
    comparisons: tuple[ModelComparison, ...]  # of all folds

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {
            "vectors": self.vectors,
            "seed": self.seed,
            "training sentences": self.training,
            "data": [sizes.to_dict() for sizes in self.sizes],
            "scores": [score.to_dict() for score in self.scores],
            "agreements": [agreement.to_dict() for agreement in self.agreements],
            "comparisons": [comparison.to_dict() for comparison in self.comparisons],
        }
