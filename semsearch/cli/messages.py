"""What every command says and does to its process: messages on stderr, exit statuses, a short start and end.

Exit statuses. The exit statuses of the commands, and what they mean. A test finds every one that the code raises.

Short processes. Shorten the time of a short process: fewer threads, less garbage collection.

Messages. Messages on stderr: a line each, beginning with the program's name.
"""

from __future__ import annotations

import atexit
import gc
import logging
import os
import sys

# -- Exit statuses -----------------------------------------------------------------------------------------------------

NONE_FOUND = 1  # of commands that ask
PROBLEMS = 1  # of `verify` and `evaluate data`
FAILED = 2
INTERRUPTED = 130

STATUSES = {
    0: "Done. For `query`, `similar` and `context`: something was found. For `verify`: the index is sound. Also where "
    "the reader of the output had enough, as in `semsearch list | head`.",
    1: "`query`, `similar` and `context`: nothing was found. `verify`, `evaluate data`: there are problems, a "
    "line each.",
    FAILED: "An error that you can mend: one line on the standard error says what was found, what was expected and "
    "what to do. `index`: nothing could be indexed; or, of any write: it is done, and could not be published.",
    INTERRUPTED: "Interrupted by Ctrl-C; nothing was changed.",
}


# -- Short processes ---------------------------------------------------------------------------------------------------

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


# -- Messages ----------------------------------------------------------------------------------------------------------


def complain(message: str) -> None:
    """Print an error, or another message, on stderr."""
    print(f"semsearch: {' '.join(message.splitlines())}", file=sys.stderr)


def warn(message: str) -> None:
    """Print a warning on stderr."""
    complain(f"warning: {message}")


def tell_skipped(path: str, reason: str) -> None:
    """Warn of a file that was left out, and say why."""
    warn(f"skipped {path}: {reason}")


class _Told(logging.Handler):
    def emit(self, record: logging.LogRecord) -> None:
        warn(record.getMessage())


def tell_warnings() -> None:
    """Print the library's logged warnings on stderr, each once."""
    logger = logging.getLogger("semsearch")
    if not any(isinstance(handler, _Told) for handler in logger.handlers):
        logger.addHandler(_Told(logging.WARNING))
        logger.propagate = False


def keep_warnings() -> None:
    """Discard the library's logged warnings: the command reports them itself."""
    logging.getLogger("semsearch").addHandler(logging.NullHandler())
