"""Warnings of a search: a filter or phrase that matches nothing, a query of unknown words.

They are logged, or collected for a client that does not see the log. Where several indexes are searched as one, they
are collected from each: a filter or phrase that one of the indexes knows needs no warning.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass

# -- Warnings ----------------------------------------------------------------------------------------------------------

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class SearchWarning:
    """A warning, and the text of the query that it is about; None if it is about all queries."""

    message: str
    query: str | None
    word: str | None = None  # of the query that was corrected

    @property
    def subject(self) -> tuple[str, str | None]:
        """What it is about, whatever an index suggests instead."""
        return self.message.partition(";")[0], self.query

    def log(self) -> None:
        """Log it, with the query for servers, which answer several at once."""
        logger.warning("%s", self.message, extra={"query": self.query})


_collecting: ContextVar[list[SearchWarning] | None] = ContextVar("collecting", default=None)


def warn(message: str, *, query: str | None = None, word: str | None = None) -> None:
    """Warn of something that matches nothing, or that a `word` was corrected."""
    warning, collected = SearchWarning(message, query, word), _collecting.get()
    if collected is None:
        warning.log()
    else:
        collected.append(warning)


@contextmanager
def collected_warnings() -> Iterator[list[SearchWarning]]:
    """Collect the warnings of the block instead of logging them."""
    found: list[SearchWarning] = []
    token = _collecting.set(found)
    try:
        yield found
    finally:
        _collecting.reset(token)


def log_common(of_each: Sequence[Sequence[SearchWarning]]) -> None:
    """Log the warnings that all indexes gave, in the words of the first; and what any index corrected."""
    if not of_each:
        return
    for warning in dict.fromkeys(each for warnings in of_each for each in warnings if each.word is not None):
        warning.log()
    first, *others = [[each for each in warnings if each.word is None] for warnings in of_each]
    known = [{each.subject for each in warnings} for warnings in others]
    for warning in dict.fromkeys(first):
        if all(warning.subject in subjects for subjects in known):
            warning.log()


# -- Warnings for the client of a server -------------------------------------------------------------------------------

_LIBRARY = "semsearch"


class _OfThread(threading.local):
    """The warnings of the request that this thread answers; None while it answers none."""

    warnings: list[SearchWarning] | None = None


class _Collector(logging.Handler):
    def emit(self, record: logging.LogRecord) -> None:
        if _of_thread.warnings is not None:
            _of_thread.warnings.append(SearchWarning(record.getMessage(), getattr(record, "query", None)))


_of_thread = _OfThread()
_collector = _Collector(logging.WARNING)


@contextmanager
def logged_warnings() -> Iterator[list[SearchWarning]]:
    """Collect the warnings that the library logs in this thread while the block runs. They are logged all the same."""
    logging.getLogger(_LIBRARY).addHandler(_collector)  # added once, however often this is called
    warnings: list[SearchWarning] = []
    _of_thread.warnings = warnings
    try:
        yield warnings
    finally:
        _of_thread.warnings = None
