"""Make word vectors from counts: the positive pointwise mutual information of near words, and its singular vectors.

    PMI(w, c) = log [ p(w, c) / (p(w) p_α(c)) ]      p_α(c) = #(c)^α / Σ #(c)^α      M = max(PMI - log k, 0)
    M ≈ U_d Σ_d V_d^T                                 vectors = U_d Σ_d^power, each of length one

Levy, Goldberg, Dagan 2015, TACL 3, "Improving Distributional Similarity with Lessons Learned from Word Embeddings",
with its options: a small window (pairs.py), α, a shift k, subsampling of frequent words, the power of Σ. Where they
draw by chance which words are left out, the counts are multiplied by the chance that a word stays, √(t / p(w)) or 1, so
that nothing is drawn. They set α to 0.75; under the weights of SIF, which keep frequent words small already, 1 was
better. Vectors are of length one for the same reason: how much a word counts is for the weights to say.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_array

from semsearch.errors import UsageError
from semsearch.train.corpus import Corpus, Skipped, Stages, check_settings, read_corpus
from semsearch.train.pairs import PairCounter
from semsearch.train.singular import singular_vectors
from semsearch.word_vectors.table import Dtype, VectorTable
from semsearch.word_vectors.writer import TableWriter

Float32 = npt.NDArray[np.float32]
Float64 = npt.NDArray[np.float64]


def train_ppmi(
    paths: Sequence[Path],
    target: Path,
    *,
    dimension: int = 300,
    window: int = 5,
    size: int = 50_000,
    min_count: int = 5,
    smoothing: float = 1.0,
    shift: float = 1.0,
    subsampling: float | None = None,
    power: float = 0.0,
    seed: int = 0,
    dtype: Dtype = "int8",
    licence: str = "unknown",
    skipped: Skipped = lambda _path, _reason: None,
    progress: Stages | None = None,
) -> VectorTable:
    """Make a folder of word vectors at `target` from files and folders of text.

    `smoothing` is α, `shift` k, `subsampling` t (None: no subsampling), `power` that of the singular values.
    `skipped(path, reason)` is called for a file that cannot be read. The same text and settings give the same table on
    the same machine. Memory is bounded by the vocabulary and the pairs kept (pairs.py), not by the length of the text.
    Raises VectorsError if `target` exists, SourceError if a path does not, UsageError for a setting that makes no sense
    or a text with too few words; all before the long work.
    """
    check_settings(dimension=dimension, window=window, size=size, min_count=min_count, shift=shift)
    for name, value in {"smoothing": smoothing, "shift": shift, "power": power, "subsampling": subsampling}.items():
        if value is not None and not 0 <= value < float("inf"):
            raise UsageError(f"{name} must be a number from zero up, not {value}")
    with TableWriter(target, dtype=dtype) as writer:
        corpus = read_corpus(
            paths, size=size, min_count=min_count, dimension=dimension, skipped=skipped, progress=progress
        )
        counter = _count(corpus, window, progress)
        staying = subsampled(corpus.frequencies, subsampling)
        matrix = ppmi(counter.finish(), staying=staying, smoothing=smoothing, shift=shift)
        if not matrix.nnz:
            raise UsageError("no two words stand together more often than by chance; give more text or a lower shift")
        left, values = singular_vectors(matrix, dimension, seed=seed, progress=progress)
        writer.add(corpus.words, unit_rows(left * values**power))
        settings = {
            "dimension": dimension, "window": window, "size": size, "min count": min_count, "smoothing": smoothing,
            "shift": shift, "subsampling": subsampling, "power": power, "seed": seed,
        }  # fmt: skip
        card = {
            "source": f"{corpus.described}: the {len(corpus.words)} most frequent words, positive pointwise mutual "
            f"information within {window} words, {dimension} singular vectors",
            "licence": licence,
            "algorithm": "ppmi",
            "settings": settings,
            "counted words": corpus.total,
            **({"pairs left out": f"up to a count of {counter.dropped_}/{window}"} if counter.dropped_ else {}),
            "command": f"semsearch vectors train {corpus.arguments} --algorithm ppmi --dimension {dimension} "
            f"--window {window} --size {size} --min-count {min_count} --seed {seed} --dtype {dtype}",
        }
        return writer.finish(corpus.frequencies, card=card)


def subsampled(p: Float32, t: float | None) -> Float64:
    """The probability that subsampling keeps a word: √(t / p(w)), at most 1; 1 without t. (V,) -> (V,)"""
    return np.ones(len(p)) if t is None else np.minimum(1, np.sqrt(t / p.astype(np.float64)))


def ppmi(pairs: csr_array, *, staying: Float64, smoothing: float = 1.0, shift: float = 1.0) -> csr_array:
    """The positive PMI of words, from counts of pairs i <= j (V, V): -> (V, V) float32.

    `staying` is the probability that subsampling keeps each word (V,). The result is symmetric only if `smoothing` is
    1. Pairs with a PMI up to log `shift` have no entry.
    """
    counts: Any = (pairs + pairs.T).astype(np.float64).tocsr()  # SciPy's types differ between its versions
    counts.data *= np.repeat(staying, np.diff(counts.indptr)) * staying[counts.indices]
    marginals = counts.sum(axis=1)
    smoothed = marginals**smoothing
    with np.errstate(divide="ignore", invalid="ignore"):  # a word that occurs near no other has no entries
        of_word = np.log(marginals)
        of_context = np.log(smoothed / smoothed.sum())
    counts.data = np.log(counts.data) - np.repeat(of_word, np.diff(counts.indptr)) - of_context[counts.indices]
    positive: csr_array = counts.astype(np.float32)
    positive.data = np.maximum(positive.data - np.float32(np.log(shift)), 0)
    positive.eliminate_zeros()
    return positive


def unit_rows(vectors: Float32) -> Float32:
    """Scale each row to length one; rows of zeros stay. (V, d) -> (V, d)"""
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    return np.asarray(vectors / np.where(lengths > 0, lengths, 1), dtype=np.float32)


def _count(corpus: Corpus, window: int, progress: Stages | None) -> PairCounter:
    counter = PairCounter(len(corpus.words), window=window)
    done = 0
    for texts in corpus.paragraphs():
        counter.add(texts)
        done += len(texts.ids)
        if progress:
            progress("counting pairs", done, corpus.total)
    return counter
