"""What all commands share: exit statuses, messages on stderr (one line, after the program's name), a fast start."""

from __future__ import annotations

import atexit
import gc
import logging
import os
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from os import _exit
from types import ModuleType
from typing import Any, NoReturn

from semsearch.errors import EXHAUSTED, SemsearchError

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
    "Also if `index` could index nothing.",
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


def leave(ended: SystemExit) -> NoReturn:
    """End the process once its functions for the exit have run, without freeing what the system frees: 7 ms.

    Standard output was flushed. While another thread runs, the interpreter ends as it does otherwise, which awaits it.
    """
    if threading.active_count() == 1:
        atexit._run_exitfuncs()
        sys.stderr.flush()
        _exit(int(ended.code or 0))
    raise ended


def stopping_signals(known: ModuleType) -> list[int]:
    """The signals by which this system asks a program to stop."""
    return [getattr(known, name) for name in ("SIGTERM", "SIGHUP", "SIGBREAK") if hasattr(known, name)]


@contextmanager
def stopping_as_interrupted() -> Iterator[None]:
    """Let a system that shuts down (TERM) or a terminal that closes (HUP; Windows: BREAK) stop a write as Ctrl-C does.

    Outside of the main thread, where no signal arrives, nothing changes.
    """
    import signal  # start-up time: a query does without

    numbers = stopping_signals(signal)
    if threading.current_thread() is not threading.main_thread():
        numbers = []
    before = {number: signal.signal(number, signal.default_int_handler) for number in numbers}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def carried_out(command: Callable[[], Any], words: Sequence[str]) -> Any:
    """Run a command that some words ask for. An error that a user can fix is one line on stderr and exit status 2; an
    output that is closed early (`| head`) is no error; a bug keeps its traceback.
    """
    try:
        try:
            return command()
        finally:
            sys.stdout.flush()
    except SemsearchError as error:
        complain(str(error))
        for line in _choices(error, words):
            print(line, file=sys.stderr)
    except KeyboardInterrupt as interrupt:
        end_interrupted(interrupt)
    except BrokenPipeError:
        _discard_stdout()
        raise SystemExit(0) from None
    except (ImportError, MemoryError) as error:
        if isinstance(error, ImportError) and not _is_for_want_of_memory(error):
            raise
        complain("out of memory; no write was left incomplete")
    except OSError as error:
        if isinstance(error, FileNotFoundError) and error.filename is None:  # as os.getcwd has it
            complain("the current folder no longer exists; change to an existing one")
            raise SystemExit(FAILED) from None
        if error.errno not in EXHAUSTED:
            raise
        complain(": ".join(filter(None, (error.strerror, error.filename, EXHAUSTED[error.errno]))))
        _discard_stdout()
    raise SystemExit(FAILED)


def end_interrupted(interrupt: KeyboardInterrupt) -> NoReturn:
    """End a command that Ctrl-C has stopped."""
    complain(f"interrupted; {str(interrupt) or 'nothing was changed'}")
    raise SystemExit(INTERRUPTED) from None


def _is_for_want_of_memory(error: ImportError) -> bool:
    """Return whether a library could not be loaded because the address space is exhausted, as the loader words it."""
    return any(word in str(error) for word in ("failed to map segment", "annot allocate memory", "cannot enlarge"))


def _choices(error: SemsearchError, words: Sequence[str]) -> Iterator[str]:
    """Where several indexes could be meant, the command that was given, with each of them."""
    if folders := getattr(error, "folders", ()):
        from semsearch.cli.find_index import choices  # start-up time: the help needs none of it

        yield from choices(folders, words)


def _discard_stdout() -> None:
    """Discard buffered output that cannot be written, so that the interpreter does not try again at its end."""
    with suppress(OSError, ValueError), open(os.devnull, "wb") as nothing:  # noqa: PTH123  # start-up time
        os.dup2(nothing.fileno(), sys.stdout.fileno())


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
