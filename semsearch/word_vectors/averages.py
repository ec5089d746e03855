"""Average the word vectors of each text, for many texts at once.

The averages are a sparse matrix, with a row per text and a column per word, times the table of word vectors.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from semsearch.text.ragged import Ragged

Float32 = npt.NDArray[np.float32]


def average(texts: Ragged, table: Float32, unknown_words: Float32 | None = None) -> Float32:
    """The mean word vector of each text, (1/|s|) Σ_{w∈s} table[w]. n texts, (V, d), (u, d) -> (n, d)

    A text without words gets a zero row. Texts with unknown words need the vectors (u, d) of these.
    """
    shares = np.repeat((1 / np.maximum(texts.lengths, 1)).astype(np.float32), texts.lengths)
    return _weighted(texts, shares, table, unknown_words)


def total(texts: Ragged, table: Float32, unknown_words: Float32 | None = None) -> Float32:
    """The sum of each text's word vectors, Σ_{w∈s} table[w]. n texts, (V, d), (u, d) -> (n, d)

    A text without words gets a zero row. Texts with unknown words need the vectors (u, d) of these.
    """
    return _weighted(texts, np.ones(len(texts.ids), dtype=np.float32), table, unknown_words)


def _weighted(texts: Ragged, shares: Float32, table: Float32, unknown_words: Float32 | None) -> Float32:
    is_unknown = texts.ids < 0 if unknown_words is not None and len(unknown_words) else None
    if unknown_words is None or is_unknown is None or not is_unknown.any():
        return _product(texts, shares, table)
    result = _product(texts.only(~is_unknown), shares[~is_unknown], table)
    some = np.unique(np.repeat(np.arange(len(texts)), texts.lengths)[is_unknown])  # most texts have none
    others = texts.only(is_unknown).take(some)
    result[some] += _product(Ragged(-1 - others.ids, others.indptr), shares[is_unknown], unknown_words)
    return result


def _product(texts: Ragged, shares: Float32, table: Float32) -> Float32:
    """Σ_{w∈s} share[w] table[w], for texts without unknown words. n texts, (t,), (V, d) -> (n, d)"""
    from scipy.sparse import csr_array  # start-up time: a query needs no sparse product

    indptr = texts.indptr.astype(np.int32)  # indices of one type are not copied
    matrix = csr_array((shares, texts.ids, indptr), shape=(len(texts), len(table)))
    return np.asarray(matrix @ table, dtype=np.float32)


def average_few(texts: Ragged, rows: Float32) -> Float32:
    """The mean word vector of each text, from a row for each word of the texts. n texts, (t, d) -> (n, d)

    A text without words gets a zero row. For few words: it does without the sparse product.
    """
    result = np.zeros((len(texts), rows.shape[1]), dtype=np.float32)
    lengths = texts.lengths
    filled = np.flatnonzero(lengths)
    if len(filled):
        result[filled] = np.add.reduceat(rows, texts.indptr[filled], axis=0) / lengths[filled, None].astype(np.float32)
    return result
