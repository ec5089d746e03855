"""Half-precision numbers read as they are."""

from __future__ import annotations

import numpy as np

from semsearch.arrays.vectors import to_single


def test_every_finite_half_becomes_the_same_number() -> None:
    halves = np.arange(1 << 16, dtype=np.uint16).view(np.float16)
    halves = halves[np.isfinite(halves)]
    singles = to_single(halves.view(np.int16)[:, None])
    assert singles.shape == (len(halves), 1)
    assert np.array_equal(singles[:, 0].view(np.uint32), halves.astype(np.float32).view(np.uint32))  # -0.0 as well
