"""Warnings of a search: that a filter or phrase matches nothing; logged, or collected for whoever answers a client.

Warnings. Say what a search has found out about its filters and phrases: that they match nothing.

It is logged as a warning. Where several indexes are asked as one, it is gathered from each instead: a filter that
one
of them knows, or a phrase that one of them has, is nothing to warn of.

What the library logs while a request is answered. What the library warns of while it answers a request: told to
the
client, which does not see the log.

A filter that matches nothing, with what may be meant; a phrase that no passage has; a query of unknown words.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterable, Iterator, Sequence
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

    @property
    def subject(self) -> tuple[str, str | None]:
        """What it is about, whatever an index suggests instead."""
        return self.message.partition(";")[0], self.query

    def log(self) -> None:
        """Log it, with the query for servers, which answer several at once."""
        logger.warning("%s", self.message, extra={"query": self.query})


_collecting: ContextVar[list[SearchWarning] | None] = ContextVar("gathering", default=None)


def warn(message: str, *, query: str | None = None) -> None:
    """Warn of something that matches nothing."""
    told, gathering = SearchWarning(message, query), _collecting.get()
    if gathering is None:
        told.log()
    else:
        gathering.append(told)


@contextmanager
def collected_warnings() -> Iterator[list[SearchWarning]]:
    """Gather what is told while the block runs, in place of logging it."""
    found: list[SearchWarning] = []
    token = _collecting.set(found)
    try:
        yield found
    finally:
        _collecting.reset(token)


def log_common(of_each: Sequence[Sequence[SearchWarning]]) -> None:
    """Log what all of several indexes have told, as the first did."""
    if not of_each:
        return
    first, *others = of_each
    known = [{each.subject for each in told} for told in others]
    for told in dict.fromkeys(first):
        if all(told.subject in subjects for subjects in known):
            told.log()


# -- What the library logs while a request is answered -----------------------------------------------------------------

_LIBRARY = "semsearch"


@dataclass(frozen=True, slots=True)
class GatheredWarning:
    """A warning, and the text of the query that it is about; None if it is about all."""

    message: str
    query: str | None


class _Gathered(threading.local):
    """The warnings of the request that this thread answers; None while it answers none."""

    warnings: list[GatheredWarning] | None = None


class _Gatherer(logging.Handler):
    def emit(self, record: logging.LogRecord) -> None:
        if _gathered.warnings is not None:
            _gathered.warnings.append(GatheredWarning(record.getMessage(), getattr(record, "query", None)))


_gathered = _Gathered()
_gatherer = _Gatherer(logging.WARNING)


@contextmanager
def gathered_warnings() -> Iterator[list[GatheredWarning]]:
    """Gather what is warned of in this thread while the block runs."""
    logging.getLogger(_LIBRARY).addHandler(_gatherer)  # once, however often it is asked for
    warnings: list[GatheredWarning] = []
    _gathered.warnings = warnings
    try:
        yield warnings
    finally:
        _gathered.warnings = None


def about(warnings: Iterable[GatheredWarning], text: str) -> tuple[str, ...]:
    """The warnings about all queries or about that of a text, each once."""
    return tuple(dict.fromkeys(each.message for each in warnings if each.query in (None, text)))
