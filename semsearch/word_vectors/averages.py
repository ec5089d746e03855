"""Ragged word ids and a table of word vectors to the average of each text.

The average is a sparse matrix, a row a text and a column a word, times the table of word vectors.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from semsearch.text.ragged import Ragged

Float32 = npt.NDArray[np.float32]


def average(texts: Ragged, table: Float32, strangers: Float32 | None = None) -> Float32:
    """(1/|s|) Σ_{w∈s} table[w]; a zero row for a text without words. n texts, (V, d), (u, d) -> (n, d)

    Where texts have strangers, their rows must be given.
    """
    shares = np.repeat((1 / np.maximum(texts.lengths, 1)).astype(np.float32), texts.lengths)
    return _weighed(texts, shares, table, strangers)


def total(texts: Ragged, table: Float32, strangers: Float32 | None = None) -> Float32:
    """Σ_{w∈s} table[w], the same without the division. n texts, (V, d), (u, d) -> (n, d)"""
    return _weighed(texts, np.ones(len(texts.ids), dtype=np.float32), table, strangers)


def _weighed(texts: Ragged, shares: Float32, table: Float32, strangers: Float32 | None) -> Float32:
    strange = texts.ids < 0 if strangers is not None and len(strangers) else None
    if strangers is None or strange is None or not strange.any():
        return _product(texts, shares, table)
    result = _product(texts.only(~strange), shares[~strange], table)
    some = np.unique(np.repeat(np.arange(len(texts)), texts.lengths)[strange])  # most texts have none
    others = texts.only(strange).take(some)
    result[some] += _product(Ragged(-1 - others.ids, others.indptr), shares[strange], strangers)
    return result


def _product(texts: Ragged, shares: Float32, table: Float32) -> Float32:
    """Σ_{w∈s} share[w] table[w]. n texts, (t,), (V, d) -> (n, d)"""
    from scipy.sparse import csr_array  # start-up time: a query needs no sparse product

    indptr = texts.indptr.astype(np.int32)  # indices of one type are not copied
    matrix = csr_array((shares, texts.ids, indptr), shape=(len(texts), len(table)))
    return np.asarray(matrix @ table, dtype=np.float32)


def average_few(texts: Ragged, rows: Float32) -> Float32:
    """The same where few words' rows are at hand, one for each word of the texts. n texts, (t, d) -> (n, d)"""
    result = np.zeros((len(texts), rows.shape[1]), dtype=np.float32)
    lengths = texts.lengths
    filled = np.flatnonzero(lengths)
    if len(filled):
        result[filled] = np.add.reduceat(rows, texts.indptr[filled], axis=0) / lengths[filled, None].astype(np.float32)
    return result
