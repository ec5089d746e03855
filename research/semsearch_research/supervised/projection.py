"""Classifiers over fixed sentence vectors: a learned linear projection, a layer of sigmoids, a softmax.

    texts    z = P x                      pairs    h_L = P x_L,  h_R = P x_R,  z = [h_L * h_R, |h_L - h_R|]
    p = softmax(V σ(U z + b) + c)

Pairs are Tai et al. 2015, section 4.2; the projection before them is the SIF paper's (appendix A.2: 2400 dimensions),
and the sentence vectors are not learned. The loss is the divergence of p from a target, which for a label is all on one
class and for a score is spread over two. Gradients are written out; research/tests/supervised/test_projection.py
compares them with differences of the loss.

Is the projection of use? For texts it is not: U P is one matrix, and any that U could be without P. It is kept for the
paper's form, at little cost: U P is multiplied once a step, not once a text. For pairs it is: products and absolute
values of P x are other functions than those of x. A width of 0 leaves the projection out.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt
from scipy.special import expit, log_softmax, xlogy

Array = npt.NDArray[np.floating[Any]]
Float64 = npt.NDArray[np.float64]
Inputs = tuple[Array, ...]  # (n, d) each: one for texts, two for pairs


class Classifier(Protocol):
    """The protocol of a classifier that `semsearch_research.supervised.descent` can train."""

    @property
    def parameters(self) -> Sequence[Array]:
        """The arrays that training changes in place."""

    def probabilities(self, inputs: Inputs) -> Array:
        """The probability of each class. -> (n, K)"""

    def loss_and_gradients(self, inputs: Inputs, targets: Array) -> tuple[float, list[Array]]:
        """The loss, the mean of Σ_k t_k log(t_k / p_k), targets t (n, K); and its gradient by each parameter."""


@dataclass(frozen=True, slots=True)
class Head:
    """The layers after the first product: p = softmax(V σ(z + b) + c). (h,), (h, K), (K,)"""

    b: Array
    V: Array
    c: Array

    @classmethod
    def drawn(cls, hidden: int, classes: int, generator: np.random.Generator) -> Head:
        """Make a head with random weights."""
        return cls(np.zeros(hidden, np.float32), drawn(hidden, classes, generator), np.zeros(classes, np.float32))

    @property
    def parameters(self) -> tuple[Array, ...]:
        """The arrays that training changes, in the order of the gradients."""
        return self.b, self.V, self.c

    def probabilities(self, sums: Array) -> Array:
        """The probability of each class, from the sums z. (n, h) -> (n, K)"""
        return np.asarray(np.exp(log_softmax(expit(sums + self.b) @ self.V + self.c, axis=1)))

    def loss_and_gradients(self, sums: Array, targets: Array) -> tuple[float, Array, list[Array]]:
        """The loss, its gradient by the sums (n, h), and those by b, V, c."""
        active = expit(sums + self.b)
        logs = log_softmax(active @ self.V + self.c, axis=1)
        by_logits = (np.exp(logs) - targets) / len(targets)
        by_sums = by_logits @ self.V.T * active * (1 - active)
        gradients: list[Array] = [by_sums.sum(axis=0), active.T @ by_logits, by_logits.sum(axis=0)]
        return divergence(targets, logs), by_sums, gradients


class TextClassifier:
    """A classifier of texts: x P U + b, sigmoids, softmax. P (d, w), or without it; U (d or w, h)."""

    def __init__(self, dimension: int, width: int, hidden: int, classes: int, generator: np.random.Generator) -> None:
        self.P = drawn(dimension, width, generator) if width else None
        self.U = drawn(width or dimension, hidden, generator)
        self.head = Head.drawn(hidden, classes, generator)

    @property
    def parameters(self) -> tuple[Array, ...]:
        """The arrays that training changes, in the order of the gradients."""
        return (*_given(self.P), self.U, *self.head.parameters)

    def probabilities(self, inputs: Inputs) -> Array:
        """The probability of each class. (n, K)"""
        [x] = inputs
        return self.head.probabilities(x @ self._joined())

    def loss_and_gradients(self, inputs: Inputs, targets: Array) -> tuple[float, list[Array]]:
        """The loss, and its gradients by the parameters."""
        [x] = inputs
        loss, by_sums, rest = self.head.loss_and_gradients(x @ self._joined(), targets)
        by_joined = x.T @ by_sums
        if self.P is None:
            return loss, [by_joined, *rest]
        return loss, [by_joined @ self.U.T, self.P.T @ by_joined, *rest]

    def _joined(self) -> Array:
        """Both linear layers as one. (d, h)"""
        return self.U if self.P is None else self.P @ self.U


class PairClassifier:
    """A classifier of pairs: (h_L * h_R) U + |h_L - h_R| T + b, sigmoids, softmax, with h = x P.

    P (d, w), or without it; U, T (d or w, h).
    """

    def __init__(self, dimension: int, width: int, hidden: int, classes: int, generator: np.random.Generator) -> None:
        self.P = drawn(dimension, width, generator) if width else None
        both = drawn(2 * (width or dimension), hidden, generator)
        self.U, self.T = np.split(both, 2)
        self.head = Head.drawn(hidden, classes, generator)

    @property
    def parameters(self) -> tuple[Array, ...]:
        """The arrays that training changes, in the order of the gradients."""
        return (*_given(self.P), self.U, self.T, *self.head.parameters)

    def probabilities(self, inputs: Inputs) -> Array:
        """The probability of each class. (n, K)"""
        left, right = self._projected(inputs)
        return self.head.probabilities((left * right) @ self.U + np.abs(left - right) @ self.T)

    def loss_and_gradients(self, inputs: Inputs, targets: Array) -> tuple[float, list[Array]]:
        """The loss, and its gradients by the parameters."""
        left, right = self._projected(inputs)
        products, differences = left * right, left - right
        distances = np.abs(differences)
        loss, by_sums, rest = self.head.loss_and_gradients(products @ self.U + distances @ self.T, targets)
        gradients = [products.T @ by_sums, distances.T @ by_sums, *rest]
        if self.P is None:
            return loss, gradients
        by_products = by_sums @ self.U.T
        by_differences = by_sums @ self.T.T * np.sign(differences)
        by_left, by_right = by_products * right + by_differences, by_products * left - by_differences
        return loss, [inputs[0].T @ by_left + inputs[1].T @ by_right, *gradients]

    def _projected(self, inputs: Inputs) -> tuple[Array, Array]:
        left, right = inputs
        return (left, right) if self.P is None else (left @ self.P, right @ self.P)


def drawn(rows: int, columns: int, generator: np.random.Generator) -> Array:
    """Draw the initial matrix uniformly from ±√(6 / (rows + columns)) (Glorot, Bengio 2010). float32"""
    bound = np.float32((6 / (rows + columns)) ** 0.5)
    return np.asarray((2 * generator.random((rows, columns), dtype=np.float32) - 1) * bound, dtype=np.float32)


def divergence(targets: Array, logs: Array) -> float:
    """The mean of Σ_k t_k (log t_k - log p_k), with 0 log 0 = 0. (n, K), (n, K)"""
    return float((xlogy(targets, targets) - targets * logs).sum(dtype=np.float64)) / len(targets)


def spread(scores: Float64, classes: int) -> Array:
    """Make targets of scores from 1 to K: all on the class of a whole score, else shared by its two neighbours, so that
    Σ_k k t_k is the score. Tai et al. 2015, section 4.2. (n,) -> (n, K)"""
    below = np.clip(np.floor(scores), 1, classes - 1).astype(np.int64)
    targets = np.zeros((len(scores), classes), dtype=np.float32)
    rows = np.arange(len(scores))
    targets[rows, below - 1] = below + 1 - scores
    targets[rows, below] = scores - below
    return targets


def one_hot(labels: npt.NDArray[np.integer[Any]], classes: int) -> Array:
    """Make targets of labels from 0 to K - 1. (n,) -> (n, K)"""
    return np.asarray(np.eye(classes, dtype=np.float32)[labels])


def _given(matrix: Array | None) -> tuple[Array, ...]:
    return () if matrix is None else (matrix,)
