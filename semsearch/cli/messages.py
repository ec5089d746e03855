"""What is told on stderr: a line each, beginning with the program's name."""

from __future__ import annotations

import logging
import sys


def complain(message: str) -> None:
    """An error."""
    print(f"semsearch: {' '.join(message.splitlines())}", file=sys.stderr)


def warn(message: str) -> None:
    """What went otherwise than one would think, and was dealt with."""
    complain(f"warning: {message}")


def tell_skipped(path: str, reason: str) -> None:
    """A file that was left out, and why."""
    warn(f"skipped {path}: {reason}")


class _Told(logging.Handler):
    def emit(self, record: logging.LogRecord) -> None:
        warn(record.getMessage())


def tell_warnings() -> None:
    """Let the library's logged warnings be told, once."""
    logger = logging.getLogger("semsearch")
    if not any(isinstance(handler, _Told) for handler in logger.handlers):
        logger.addHandler(_Told(logging.WARNING))
        logger.propagate = False


def keep_warnings() -> None:
    """Let no one hear the library's logged warnings: the command reports them itself."""
    logging.getLogger("semsearch").addHandler(logging.NullHandler())
