"""Answer what is typed. What is no query yet, or finds nothing, is said and no error: the next letter may mend it."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from semsearch.errors import SemsearchError
from semsearch.results.hits import Hit, Mode
from semsearch.results.options import SearchOptions

if TYPE_CHECKING:
    from semsearch.cli.asked_indexes import Asked


@dataclass(frozen=True, slots=True)
class TypedQuery:
    """A text as it is typed so far, and the mode it is to be searched in."""

    text: str
    mode: Mode

    @property
    def is_blank(self) -> bool:
        """Return whether nothing is asked yet."""
        return not self.text.strip()


@dataclass(frozen=True, slots=True)
class TypedAnswer:
    """The hits of a typed query, and what is said of it: warnings, or why it cannot be searched."""

    query: TypedQuery
    hits: Sequence[Hit] = ()
    said: str = ""


class TypedSearch:
    """Searches for what is typed, in what is opened when it is first needed. Threads may share it."""

    def __init__(self, open_asked: Callable[[], Asked], options: SearchOptions) -> None:
        self.options = options
        self._open_asked = open_asked
        self._opening = threading.Lock()
        self._opened: Asked | None = None
        self._warnings = KeptWarnings()

    @property
    def opened(self) -> Asked:
        """What is searched. Raises SemsearchError where it cannot be opened."""
        with self._opening:
            if self._opened is None:
                self._opened = self._open_asked()
            return self._opened

    def answer(self, query: TypedQuery) -> TypedAnswer:
        """Search for a text. A blank one has no hits, but opens what the next one is searched in."""
        self._warnings.take()
        try:
            opened = self.opened
            hits = [] if query.is_blank else opened.search(query.text, options=self._options(query))
        except SemsearchError as error:
            return TypedAnswer(query, said=str(error))
        return TypedAnswer(query, hits, "; ".join(self._warnings.take()))

    def _options(self, query: TypedQuery) -> SearchOptions:
        return replace(self.options, mode=query.mode)

    def __enter__(self) -> TypedSearch:
        logging.getLogger("semsearch").addHandler(self._warnings)
        return self

    def __exit__(self, *_: object) -> None:
        logging.getLogger("semsearch").removeHandler(self._warnings)
        with self._opening:
            if self._opened is not None:
                self._opened.close()


class KeptWarnings(logging.Handler):
    """Keeps the library's warnings, which would be written across the screen."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self._kept: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        """Keep a warning."""
        self._kept.append(record.getMessage())

    def take(self) -> list[str]:
        """Return what was kept since the last time, each once."""
        kept, self._kept = self._kept, []
        return list(dict.fromkeys(kept))
