"""The models of sentence vectors that are compared by classifying paraphrases.  White et al. 2015, section 3.2.

    mowe, sowe      mean and sum of word vectors; words without one are skipped
    bow             counts of tokens
    pca-bow         their 300 principal components, of the training sentences
    pca-bow-white   these scaled to a variance of one; the paper does not say whether its own were
    pca-bow-all, pca-bow-white-all  the same of all sentences, tested ones too: what the paper says it avoids
    pv-dm, pv-dbow  paragraph vectors, trained on another text
    sif, usif       this package's own, with the common components, and uSIF's a, of the training sentences

What is learned from sentences is learned from those of the training fold alone, as the paper does it for pca-bow, where
it found a few per cent too much otherwise. An index fits its components on all that it holds, without anyone's labels;
here the sentences to be tested are to be new, except for the models whose name ends in -all.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from semsearch import SentenceEmbedder, WordVectors
from semsearch_research.paraphrase.bags import bags

Float = npt.NDArray[np.floating[Any]]
Rows = npt.NDArray[np.int64]
Features = Callable[[Rows, Rows], tuple[Float, Float]]
"""Training rows (n,) and other rows (m,) to their vectors, (n, d) and (m, d)."""

MODELS = ("mowe", "sowe", "bow", "pca-bow", "pv-dm", "pv-dbow", "sif", "usif")
PCA_VARIANTS = ("pca-bow-white", "pca-bow-all", "pca-bow-white-all")  # run only where they are named
PCA_DIMENSIONS = 300


def fixed(vectors: Float) -> Features:
    """Make features of vectors (n, d) that do not depend on the training rows."""
    return lambda train, test: (vectors[train], vectors[test])


def mean_of_words(texts: Sequence[str], vectors: WordVectors) -> Float:
    """The mean of word vectors, (1/|s|) Σ v_w; zero if no word is known. n texts -> (n, d)"""
    embedder = SentenceEmbedder(vectors, method="mean").fit([])
    return embedder.raw(embedder.tokenize(texts)).astype(np.float64)


def sum_of_words(texts: Sequence[str], vectors: WordVectors) -> Float:
    """The sum of word vectors, Σ v_w. n texts -> (n, d)"""
    embedder = SentenceEmbedder(vectors, method="mean").fit([])
    words = embedder.tokenize(texts)
    return np.asarray(embedder.raw(words).astype(np.float64) * words.lengths[:, None])


def principal_components(
    counts: Float, *, most: int = PCA_DIMENSIONS, whiten: bool = False, with_test: bool = False
) -> Features:
    """Make features of the first principal components of the training rows of counts (n, v), at most `most`.

    With `whiten` each has a variance of one. With `with_test` they are those of the tested rows too.
    """

    def features(train: Rows, test: Rows) -> tuple[Float, Float]:
        from sklearn.decomposition import PCA  # takes a second

        known = counts[np.concatenate([train, test])] if with_test else counts[train]
        dimensions = min(most, *known.shape)
        fitted = PCA(dimensions, svd_solver="full", whiten=whiten).fit(known)
        return fitted.transform(counts[train]), fitted.transform(counts[test])

    return features


def embedded(
    texts: Sequence[str], vectors: WordVectors, method: str, *, a: float | None = None, components: int | None = None
) -> Features:
    """Make features of unit vectors by SIF or uSIF, fitted on the training rows."""

    def features(train: Rows, test: Rows) -> tuple[Float, Float]:
        embedder = SentenceEmbedder(vectors, method=method, a=a, components=components)
        learned = embedder.fit_transform([texts[row] for row in train])
        return learned, embedder.transform([texts[row] for row in test])

    return features


def features_of(
    model: str,
    texts: Sequence[str],
    vectors: WordVectors,
    *,
    a: float | None = None,
    components: int | None = None,
    paragraphs: Mapping[str, Float],
) -> Features:
    """The vectors of a model of `MODELS` or `PCA_VARIANTS` for n texts; those of paragraphs (n, d) are given."""
    if model in ("mowe", "sowe"):
        return fixed(mean_of_words(texts, vectors) if model == "mowe" else sum_of_words(texts, vectors))
    if model == "bow":
        return fixed(bags(texts))
    if model.startswith("pca-bow"):
        return principal_components(bags(texts), whiten="white" in model, with_test=model.endswith("-all"))
    if model in paragraphs:
        return fixed(paragraphs[model])
    return embedded(texts, vectors, model, a=a, components=components)
