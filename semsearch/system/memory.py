"""Memory that native libraries need, looked for before they are loaded; memory that is not needed, given back.

Where a limit (`ulimit -v`, `ulimit -d`, or a system that promises no more memory than it has) leaves them too little,
FAISS's OpenBLAS crashes while it is loaded, and NumPy's ends the process with status 1. So the address space is asked
for first, and given back at once. The figures are of one thread; each further one of FAISS takes as much as `THREAD`.
"""

from __future__ import annotations

import ctypes
import mmap
import os
import sys

from semsearch.errors import StorageError

LINEAR_ALGEBRA = 208  # megabytes: NumPy, SciPy, and the first product of matrices
VECTOR_SEARCH = 352  # FAISS, and a search for many queries
WRITING = 560  # the other libraries, and what is mapped of the word vectors that come with semsearch
THREAD = 136


def require_memory(megabytes: int, purpose: str) -> None:
    """Raise StorageError if so much more memory cannot be had. Where it can only just, FAISS will use one thread."""
    if not _can_have(megabytes):
        raise StorageError(
            f"too little memory {purpose}: that takes {megabytes} MB more of address space; raise the limit with "
            "ulimit -v (or ulimit -d), or close other programs"
        )
    if "OMP_NUM_THREADS" not in os.environ and not _can_have(megabytes + THREAD * (os.cpu_count() or 1)):
        os.environ["OMP_NUM_THREADS"] = "1"  # read once, when FAISS is loaded


def _can_have(megabytes: int) -> bool:
    """Reserve memory, and give it back untouched: some microseconds."""
    try:
        (mmap.mmap(-1, megabytes << 20) if os.name == "nt" else _private(megabytes << 20)).close()
    except (OSError, MemoryError):
        return False
    return True


def _private(size: int) -> mmap.mmap:
    return mmap.mmap(-1, size, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)


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
