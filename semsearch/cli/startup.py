"""Shorten the time of a short process: fewer threads, less garbage collection."""

from __future__ import annotations

import atexit
import gc
import os

_THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
_SELDOM = 100_000  # objects made between two looks for garbage, instead of 700


def use_one_thread() -> None:
    """Start no threads for linear algebra: a single query has no use for them, and numpy is imported sooner.

    Must be called before numpy is imported. Environment variables that the user has set are kept.
    """
    for name in _THREADS:
        os.environ.setdefault(name, "1")


def collect_seldom() -> None:
    """Collect garbage seldom, and not at the end: most objects of a command are modules, which are no garbage.

    Checking them again and again takes an eighth of a cold query, and as much again at the exit.
    """
    gc.set_threshold(_SELDOM)
    atexit.register(gc.freeze)
