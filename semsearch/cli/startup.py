"""Making a short process shorter."""

from __future__ import annotations

import os

_THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")


def use_one_thread() -> None:
    """Have no threads started for linear algebra: one question has no use for them, and numpy is imported sooner.

    This must come before numpy's import. What the user has set stays.
    """
    for name in _THREADS:
        os.environ.setdefault(name, "1")
