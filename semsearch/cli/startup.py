"""Making a short process shorter."""

from __future__ import annotations

import atexit
import gc
import os

_THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
_SELDOM = 100_000  # objects made between two looks for garbage, instead of 700


def use_one_thread() -> None:
    """Have no threads started for linear algebra: one question has no use for them, and numpy is imported sooner.

    This must come before numpy's import. What the user has set stays.
    """
    for name in _THREADS:
        os.environ.setdefault(name, "1")


def collect_seldom() -> None:
    """Look for garbage seldom, and not at the end: modules, which are most of what a command makes, are none.

    Looking them over again and again takes an eighth of a cold query, and once more at the exit as much again.
    """
    gc.set_threshold(_SELDOM)
    atexit.register(gc.freeze)
