"""The two papers, transcribed literally and slowly: what the fast code must agree with.

SIF: algorithm 1 and equation (7) of Arora, Liang, Ma 2017. uSIF: sections 3.1 to 3.3 of Ethayarajh 2018 and, where the
paper leaves it open, the released program: a dimension is divided by its norm over the sentence's words.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np

from semsearch.text.tokens import words

Vectors = Mapping[str, np.ndarray]


def known(sentence: str, vectors: Vectors) -> list[str]:
    return [word for word in words(sentence) if word in vectors]


def sif(
    sentences: Sequence[str],
    vectors: Vectors,
    p: Mapping[str, float],
    *,
    a: float = 1e-3,
    m: int = 1,
    fitted: Sequence[str] | None = None,
) -> np.ndarray:
    """Algorithm 1. The singular vectors come from the whole matrix, not from a sum of outer products.

    They are those of `fitted`, by default the sentences themselves; there are as many as the rank of the matrix.
    """

    def averages(sentences: Sequence[str]) -> np.ndarray:
        rows = []
        for sentence in sentences:
            total = np.zeros(_dimension(vectors))
            for word in known(sentence, vectors):
                total = total + a / (a + p[word]) * vectors[word]
            rows.append(total / max(len(known(sentence, vectors)), 1))
        return np.array(rows).T  # columns are sentences, as in the paper

    X = averages(sentences)
    left, sigma, _ = np.linalg.svd(X if fitted is None else averages(fitted), full_matrices=False)
    for u in left.T[sigma > 1e-9 * sigma[0]][:m]:
        X = X - np.outer(u, u) @ X
    return unit(X.T)


def tfidf(sentences: Sequence[str], vectors: Vectors) -> np.ndarray:
    """Equation (7)."""
    N = len(sentences)
    all_known = [known(sentence, vectors) for sentence in sentences]
    having = {word: sum(word in found for found in all_known) for word in vectors}
    rows = []
    for found in all_known:
        total = np.zeros(_dimension(vectors))
        for word in found:
            total = total + math.log((1 + N) / (1 + having[word])) * vectors[word]
        rows.append(total / max(len(found), 1))
    return unit(np.array(rows))


def usif_a(p: Mapping[str, float], n: float) -> float:
    """Section 3.1: the a that follows from the vocabulary, p(w) and the mean sentence length."""
    size = len(p)
    threshold = 1 - (1 - 1 / size) ** n
    alpha = sum(1 for word in p if p[word] > threshold) / size
    Z = 0.5 * size
    return (1 - alpha) / (alpha * Z)


def usif(
    sentences: Sequence[str],
    vectors: Vectors,
    p: Mapping[str, float],
    *,
    a: float,
    m: int = 5,
    fitted: Sequence[str] | None = None,
) -> np.ndarray:
    """Weights, normalisation and piecewise removal of the singular vectors of `fitted`, by default the sentences."""

    def averages(sentences: Sequence[str]) -> np.ndarray:
        rows = []
        for sentence in sentences:
            found = known(sentence, vectors)
            if not found:
                rows.append(np.zeros(_dimension(vectors)))
                continue
            matrix = np.array([vectors[word] for word in found])
            for column in range(matrix.shape[1]):
                norm = math.sqrt(sum(value * value for value in matrix[:, column]))
                matrix[:, column] = matrix[:, column] / norm if norm else 0.0
            weighted = [a / (0.5 * a + p[word]) * row for word, row in zip(found, matrix, strict=True)]
            rows.append(np.mean(weighted, axis=0))
        return np.array(rows)

    X = averages(sentences)
    _, sigma, right = np.linalg.svd(X if fitted is None else averages(fitted), full_matrices=False)
    sigma, right = sigma[:m], right[:m]
    result = X.copy()
    for i in range(len(sigma)):
        strength = sigma[i] ** 2 / sum(s**2 for s in sigma)
        for row in range(len(X)):
            result[row] = result[row] - strength * (X[row] @ right[i]) * right[i]
    return unit(result)


def bm25(
    passages: Sequence[Sequence[str]], question: Sequence[str], *, k1: float = 1.2, b: float = 0.75
) -> list[float]:
    """Robertson and Zaragoza 2009, with Lucene's idf. Passages and question as lists of terms."""
    mean = sum(len(passage) for passage in passages) / len(passages)
    scores = []
    for passage in passages:
        score = 0.0
        for term in question:
            having = sum(term in other for other in passages)
            idf = math.log(1 + (len(passages) - having + 0.5) / (having + 0.5))
            f = passage.count(term)
            score += idf * f * (k1 + 1) / (f + k1 * (1 - b + b * len(passage) / mean))
        scores.append(score)
    return scores


def bm25_with_neighbours(
    documents: Sequence[Sequence[Sequence[str]]], question: Sequence[str], *, k1: float = 1.2, b: float = 0.75
) -> list[float]:
    """BM25 for documents of passages: words of the passages before and after count half, in f and in length.

    The mean length is that of passages, and of half a passage more on either side where there is one.
    """
    passages = [passage for document in documents for passage in document]
    mean = sum(len(passage) for passage in passages) / len(passages)
    mean *= 1 + sum(len(document) - 1 for document in documents) / len(passages)
    scores = []
    for document in documents:
        for position, passage in enumerate(document):
            neighbours = [document[other] for other in (position - 1, position + 1) if 0 <= other < len(document)]
            length = len(passage) + 0.5 * sum(len(other) for other in neighbours)
            score = 0.0
            for term in question:
                having = sum(term in other for other in passages)
                idf = math.log(1 + (len(passages) - having + 0.5) / (having + 0.5))
                f = passage.count(term) + 0.5 * sum(other.count(term) for other in neighbours)
                score += idf * f * (k1 + 1) / (f + k1 * (1 - b + b * length / mean))
            scores.append(score)
    return scores


def unit(rows: np.ndarray) -> np.ndarray:
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    return np.divide(rows, lengths, out=np.zeros_like(rows), where=lengths > 1e-12)


def _dimension(vectors: Vectors) -> int:
    return len(next(iter(vectors.values())))
