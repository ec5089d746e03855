"""What the library warns of while it answers a request: told to the client, which does not see the log.

A filter that matches nothing, with what may be meant; a phrase that no passage has; a query of unknown words.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

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
