"""What all commands share: exit statuses, messages on stderr (one line, after the program's name), a fast start."""

from __future__ import annotations

import atexit
import gc
import logging
import os
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import ModuleType

# -- Exit statuses: a test finds every one that the code raises -------------------------------------------------------

NONE_FOUND = 1  # of commands that ask
PROBLEMS = 1  # of `verify`, `doctor` and `evaluate data`
FAILED = 2
INTERRUPTED = 130

STATUSES = {
    0: "Success. `query`, `similar` and `context` found something, `ask` an answer; `verify` found no problem. Also if "
    "the reader of the output stops early, as in `semsearch list | head`.",
    1: "`query`, `similar`, `context` and `ask` found nothing, or nothing that answers; `verify`, `doctor` and "
    "`evaluate data` found problems, printed one per line.",
    FAILED: "An error that you can fix: one line on stderr says what was found, what was expected and what to do. "
    "Also if `index` could index nothing, or if a write succeeded but could not be published.",
    INTERRUPTED: "Interrupted by Ctrl-C, or while it writes by the signals TERM or HUP; nothing was changed.",
}


# -- Short processes ---------------------------------------------------------------------------------------------------

_THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
_SELDOM = 100_000  # objects made between two garbage collections, instead of 700


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


def stopping_signals(known: ModuleType) -> list[int]:
    """The signals by which this system asks a program to stop."""
    return [getattr(known, name) for name in ("SIGTERM", "SIGHUP", "SIGBREAK") if hasattr(known, name)]


@contextmanager
def stopping_as_interrupted() -> Iterator[None]:
    """Let a system that shuts down (TERM) or a terminal that closes (HUP; Windows: BREAK) stop a write as Ctrl-C does.

    Outside of the main thread, where no signal arrives, nothing changes.
    """
    numbers = stopping_signals(signal)
    if threading.current_thread() is not threading.main_thread():
        numbers = []
    before = {number: signal.signal(number, signal.default_int_handler) for number in numbers}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


# -- Messages ----------------------------------------------------------------------------------------------------------


def complain(message: str) -> None:
    """Print an error, or another message, on stderr."""
    print(f"semsearch: {' '.join(message.splitlines())}", file=sys.stderr)


def warn(message: str) -> None:
    """Print a warning on stderr."""
    complain(f"warning: {message}")


def tell_skipped(path: str, reason: str) -> None:
    """Warn of a skipped file, with the reason."""
    warn(f"skipped {path}: {reason}")


class _Warner(logging.Handler):
    def emit(self, record: logging.LogRecord) -> None:
        warn(record.getMessage())


def tell_warnings(of: str = "semsearch") -> None:
    """Print the library's logged warnings, or those of one of its modules, on stderr, each once."""
    logger = logging.getLogger(of)
    if not any(isinstance(handler, _Warner) for handler in logger.handlers):
        logger.addHandler(_Warner(logging.WARNING))
        logger.propagate = False


def keep_warnings() -> None:
    """Discard the library's logged warnings; the command reports them itself, but for what no report has."""
    logging.getLogger("semsearch").addHandler(logging.NullHandler())
    tell_warnings("semsearch.trust")
