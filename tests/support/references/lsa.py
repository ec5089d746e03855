"""Latent semantic analysis, transcribed literally and slowly: the oracle of semsearch.topics."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Hashable, Sequence
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Lsa:
    """Terms in order, their idf and loadings V (t, k), and all singular values of A."""

    terms: list
    idf: dict
    loadings: np.ndarray
    values: np.ndarray

    def vector(self, text: Sequence[Hashable]) -> np.ndarray:
        """A text's terms to its topics, at length one."""
        total = np.zeros(self.loadings.shape[1])
        for term, times in Counter(text).items():
            if term in self.idf:
                total = total + (1 + math.log(times)) * self.idf[term] * self.loadings[self.terms.index(term)]
        return total / (np.linalg.norm(total) or 1)


def lsa(passages: Sequence[Sequence[Hashable]], k: int) -> Lsa:
    """Each passage as its terms. A's rows are x / ‖x‖, x_t = (1 + log f_t) log(N / N_t); V from the whole matrix."""
    N = len(passages)
    every = sorted({term for passage in passages for term in passage})
    having = {term: sum(term in passage for passage in passages) for term in every}
    terms = [term for term in every if having[term] < N]
    idf = {term: math.log(N / having[term]) for term in terms}
    A = np.zeros((N, len(terms)))
    for row, passage in enumerate(passages):
        for column, term in enumerate(terms):
            if term in passage:
                A[row, column] = (1 + math.log(list(passage).count(term))) * idf[term]
        A[row] = A[row] / (np.linalg.norm(A[row]) or 1)
    _, values, right = np.linalg.svd(A, full_matrices=False)
    return Lsa(terms, idf, right[:k].T, values)
