"""Fixtures that several test files share, and how the tests run: where, in how many processes, and how many of them.

By default fifteen random examples of each property and the core of the page's tests are run, which takes minutes on two
cores. SEMSEARCH_TESTS=all runs everything, as tests/noxfile.py does.
"""

from __future__ import annotations

import gc
import os
import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from fixtures import (
    _configs,
    _no_recognition,
    _user_folders,
    _users,
    deaths,
    maps_in_few_steps,
    read_here,
    small_vectors,
)

__all__ = [
    "_configs",
    "_no_recognition",
    "_user_folders",
    "_users",
    "deaths",
    "maps_in_few_steps",
    "read_here",
    "small_vectors",
]

MEMORY = Path("/dev/shm")
BYTECODE = Path(__file__).parents[1] / "build" / "bytecode"
_OURS = "semsearch-tests-"
_ROOM = 6 << 30  # bytes that must be free in memory; the tests take less than a third of it
_made = pytest.StashKey[Path]()


@pytest.hookimpl(tryfirst=True)
def pytest_cmdline_main(config: pytest.Config) -> None:
    """One thread a process, unless the environment says otherwise; one that has nothing left takes tests of another."""
    if getattr(config.option, "numprocesses", None):
        for name in (
            "OMP_NUM_THREADS",
            "OPENBLAS_NUM_THREADS",
        ):  # threads that wait for each other take most of the time
            os.environ.setdefault(name, "1")
        if config.option.dist == "no":
            config.option.dist = "worksteal"


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers() -> int:
    """One process more than there are cores: many tests wait for a browser, a server or another process."""
    return len(os.sched_getaffinity(0)) + 1 if hasattr(os, "sched_getaffinity") else (os.cpu_count() or 1) + 1


@pytest.hookimpl(tryfirst=True)
def pytest_configure(config: pytest.Config) -> None:
    """Give the tests a folder for temporary files, in memory where there is room: there an fsync takes no time.

    It is deleted at the end. --basetemp or TMPDIR keep the files elsewhere. Bytecode that may not be written beside the
    modules (PYTHONDONTWRITEBYTECODE) goes to a folder that git does not see, and stays: hundreds of processes, and the
    next run, would compile the same modules.
    """
    if hasattr(config, "workerinput"):
        return
    if sys.dont_write_bytecode:
        sys.dont_write_bytecode = False
        sys.pycache_prefix = os.environ["PYTHONPYCACHEPREFIX"] = str(BYTECODE)
        del os.environ["PYTHONDONTWRITEBYTECODE"]
    if config.option.basetemp or "TMPDIR" in os.environ or not _has_room():
        return
    folder = config.stash[_made] = Path(tempfile.mkdtemp(prefix=_OURS, dir=MEMORY))
    (folder / "process").write_text(str(os.getpid()))
    os.environ["TMPDIR"] = tempfile.tempdir = str(folder)


@pytest.hookimpl(hookwrapper=True)
def pytest_collection() -> Iterator[None]:
    """Look for no garbage among what is imported and collected, now and later: there is none, and much to look at."""
    gc.disable()
    yield
    gc.freeze()
    gc.enable()


@pytest.hookimpl(trylast=True)
def pytest_unconfigure(config: pytest.Config) -> None:
    """Delete that folder."""
    if (folder := config.stash.get(_made, None)) is not None:
        shutil.rmtree(folder, ignore_errors=True)


def _has_room() -> bool:
    """Whether there is room in memory, without what runs that were killed have left there."""
    if not MEMORY.is_dir():
        return False
    for left in MEMORY.glob(f"{_OURS}*"):
        with suppress(OSError, ValueError):  # another user's
            if not Path(f"/proc/{int((left / 'process').read_text())}").exists():
                shutil.rmtree(left, ignore_errors=True)
    return shutil.disk_usage(MEMORY).free > _ROOM and os.access(MEMORY, os.W_OK)
