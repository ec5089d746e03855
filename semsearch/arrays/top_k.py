"""The best rows of several queries."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt


@dataclass(frozen=True, slots=True)
class Found:
    """The best rows for each of q queries, best first: scores and ids (q, n). The id -1 stands for none."""

    scores: npt.NDArray[np.float32]
    ids: npt.NDArray[np.int64]
