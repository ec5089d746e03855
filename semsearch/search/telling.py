"""Say what a search has found out about its filters and phrases: that they match nothing.

It is logged as a warning. Where several indexes are asked as one, it is gathered from each instead: a filter that one
of them knows, or a phrase that one of them has, is nothing to warn of.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class ToldWarning:
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


_gathering: ContextVar[list[ToldWarning] | None] = ContextVar("gathering", default=None)


def tell(message: str, *, query: str | None = None) -> None:
    """Warn of something that matches nothing."""
    told, gathering = ToldWarning(message, query), _gathering.get()
    if gathering is None:
        told.log()
    else:
        gathering.append(told)


@contextmanager
def gathered() -> Iterator[list[ToldWarning]]:
    """Gather what is told while the block runs, in place of logging it."""
    found: list[ToldWarning] = []
    token = _gathering.set(found)
    try:
        yield found
    finally:
        _gathering.reset(token)


def log_common(of_each: Sequence[Sequence[ToldWarning]]) -> None:
    """Log what all of several indexes have told, as the first did."""
    if not of_each:
        return
    first, *others = of_each
    known = [{each.subject for each in told} for told in others]
    for told in dict.fromkeys(first):
        if all(told.subject in subjects for subjects in known):
            told.log()
