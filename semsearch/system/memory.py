"""Memory that is not needed any more, given back."""

from __future__ import annotations

import ctypes
import mmap
import sys


def release_pages(mapped: mmap.mmap | None) -> None:
    """Take the pages of a file's shared map out of this process, after work that has read or written them all.

    Nothing is lost: the system keeps them as long as it has room for them, and reads them again if they are needed.
    """
    if mapped is not None and hasattr(mmap, "MADV_DONTNEED"):
        mapped.madvise(mmap.MADV_DONTNEED)


def release_freed() -> None:
    """Return freed memory to the operating system, after work that has freed many small arrays; only glibc keeps it."""
    if sys.platform == "linux":
        if trim := getattr(ctypes.CDLL(None), "malloc_trim", None):
            trim(0)
