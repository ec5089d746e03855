"""Messages on stderr: a line each, beginning with the program's name."""

from __future__ import annotations

import logging
import sys


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
