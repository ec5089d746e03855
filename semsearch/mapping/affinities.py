"""The weights by which passages attract each other: one for each pair of neighbours, both ways, summing to one.

van der Maaten and Hinton 2008 weigh neighbours by a Gaussian of a chosen perplexity. Equal weights for the k nearest
give nearly the same map (Böhm, Berens, Kobak 2022, Journal of Machine Learning Research 23, figure 7), and need only
to know who is near.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_array

Float32 = npt.NDArray[np.float32]
Int64 = npt.NDArray[np.int64]


def affinities(neighbours: Int64) -> csr_array:
    """The symmetric weights of neighbours (n, k), where -1 is none. -> (n, n)"""
    n, k = neighbours.shape
    rows, columns = np.repeat(np.arange(n), k), neighbours.ravel()
    is_pair = columns >= 0
    pairs = (rows[is_pair], columns[is_pair])
    one_way = csr_array((np.ones(len(pairs[0]), dtype=np.float32), pairs), shape=(n, n))
    both = csr_array(one_way + one_way.T)
    both.sort_indices()
    both.data /= np.float32(max(both.data.sum(dtype=np.float64), 1.0))
    return both
