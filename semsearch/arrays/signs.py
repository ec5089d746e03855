"""Fix the signs of directions that have none of their own, such as singular vectors."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt


def signs(columns: npt.NDArray[np.floating[Any]]) -> npt.NDArray[np.int8]:
    """The factor 1 or -1 for each column that makes the first of its largest entries positive. (n, m) -> (m,)

    Entries within a thousandth of the largest count as equally large: which of two equal ones comes out larger is a
    matter of rounding, and differs between processors.
    """
    sizes = np.abs(columns)
    first = (sizes >= 0.999 * sizes.max(axis=0)).argmax(axis=0)
    return np.where(columns[first, np.arange(columns.shape[1])] < 0, np.int8(-1), np.int8(1))
