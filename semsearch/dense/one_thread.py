"""FAISS in one thread, for work too small to share: to wake other threads takes longer, and on a busy machine long."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager

import faiss


@contextmanager
def in_one_thread(wanted: bool) -> Iterator[None]:
    """Let FAISS use one thread while the block runs, if it is wanted. It concerns the calling thread only.

    What FAISS returns is the same, with however many threads.
    """
    if not wanted:
        yield
        return
    before = faiss.omp_get_max_threads()
    faiss.omp_set_num_threads(1)
    try:
        yield
    finally:
        faiss.omp_set_num_threads(before)


def _alone() -> None:
    """In a child that was forked, the threads that FAISS would wait for are not there."""
    faiss.omp_set_num_threads(1)


if hasattr(os, "register_at_fork"):  # not on Windows
    os.register_at_fork(after_in_child=_alone)
