"""Classify vectors by a linear support vector machine, in folds.  White et al. 2015, section 3.3.

scikit-learn's LinearSVC, which is LibLinear, with classes weighed by the inverse of their size; one machine a class
against all others. Folds are in proportion to the sizes of classes.

The paper does not say which C, the price of an error, it took; scikit-learn's own choice is 1. C has no scale of its
own: vectors twice as long want a fourth of it, so one C for all favours the models whose vectors happen to be of its
length. Short ones, as the mean of word vectors, lose by it. So C is chosen for each training fold by a second
cross-validation inside it, in two folds, for the smallest classes have two sentences left there.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from semsearch_research.paraphrase.sentence_models import Features, Float, Rows

FOLDS = 3
INNER_FOLDS = 2
COSTS = (0.01, 0.1, 1.0, 10.0, 100.0, 1000.0)
USUAL = 1.0  # scikit-learn's C
Int64 = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Classified:
    """The predicted classes of n sentences, each from a fold in which it was not trained on.

    fold       the fold in which each was tested (n,)
    predicted  with the C of its fold (n,), and `usual` with C = 1 (n,)
    costs      the C of each fold
    dimension  of the vectors, in the first fold
    """

    fold: Int64
    predicted: Int64
    usual: Int64
    costs: tuple[float, ...]
    dimension: int

    def to_dict(self) -> dict[str, Any]:
        """Convert to a plain dict, for the cache."""
        return {
            "fold": self.fold.tolist(),
            "predicted": self.predicted.tolist(),
            "usual": self.usual.tolist(),
            "costs": list(self.costs),
            "dimension": self.dimension,
        }

    @classmethod
    def from_dict(cls, kept: dict[str, Any]) -> Classified:
        """Read the dict that `to_dict` made."""
        fold, predicted, usual = (np.array(kept[name], dtype=np.int64) for name in ("fold", "predicted", "usual"))
        return cls(fold, predicted, usual, tuple(kept["costs"]), kept["dimension"])


def classify(features: Features, classes: Int64, *, cost: float | None = None, seed: int = 0) -> Classified:
    """Cross-validate; classes (n,) with three members each at least. Raises MissingExtra."""
    fold, predicted, usual = (np.zeros(len(classes), dtype=np.int64) for _ in range(3))
    costs: list[float] = []
    dimension = 0
    for number, (train, test) in enumerate(split(classes, FOLDS, seed)):
        chosen = best_cost(features, classes, train, seed=seed) if cost is None else cost
        known, new = features(train, test)
        fold[test] = number
        predicted[test] = _predict(known, classes[train], new, chosen)
        usual[test] = predicted[test] if chosen == USUAL else _predict(known, classes[train], new, USUAL)
        costs.append(chosen)
        dimension = dimension or known.shape[1]
    return Classified(fold, predicted, usual, tuple(costs), dimension)


def split(classes: Int64, folds: int, seed: int) -> list[tuple[Rows, Rows]]:
    """Split rows into folds, by the seed: the rows to train and to test on, every class in the same proportion."""
    from sklearn.model_selection import StratifiedKFold  # takes a second

    drawn = StratifiedKFold(folds, shuffle=True, random_state=seed)
    return list(drawn.split(np.zeros(len(classes)), classes))


def best_cost(features: Features, classes: Int64, train: Rows, *, seed: int) -> float:
    """Choose the C of `COSTS` that predicts most classes of the training rows; of equals the least."""
    right = np.zeros(len(COSTS), dtype=np.int64)
    for one, other in split(classes[train], INNER_FOLDS, seed):
        known, new = features(train[one], train[other])
        for index, cost in enumerate(COSTS):
            found = _predict(known, classes[train[one]], new, cost)
            right[index] += int((found == classes[train[other]]).sum())
    return COSTS[int(right.argmax())]


def _predict(known: Float, classes: Int64, new: Float, cost: float) -> Int64:
    """Train a machine on known vectors, and predict the classes of new ones. (n, d), (n,), (m, d) -> (m,)"""
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.svm import LinearSVC

    machine = LinearSVC(C=cost, class_weight="balanced", dual=True, random_state=0)
    with warnings.catch_warnings():
        # scikit-learn's limit of 1,000 rounds, which a large C reaches; on a fold of Opinosis at C = 100, 20,000 rounds
        # changed none to two of 174 answers, by model, and no accuracy
        warnings.simplefilter("ignore", ConvergenceWarning)
        # fewer than two sentences a class are no mistake here
        warnings.filterwarnings("ignore", "The number of unique classes is greater", UserWarning)
        machine.fit(known, classes)
    return np.asarray(machine.predict(new), dtype=np.int64)
