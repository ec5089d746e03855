"""The state of an interactive search, independent of the terminal: the typed query, its answer, the selected hit.

A text that is no query yet, or finds nothing, gives a message and no error: the next letter may change that.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, get_args

from semsearch.cli.answering import indexes_of
from semsearch.errors import SemsearchError
from semsearch.results.documents import PlacedPassage
from semsearch.results.hits import NOT_ANSWERED, Hit, Hits
from semsearch.results.options import Mode, SearchOptions

if TYPE_CHECKING:
    from semsearch.cli.answering import Asked

# -- The passages around a hit -----------------------------------------------------------------------------------------

_BEFORE, _AFTER = 3, 5  # passages


@dataclass(frozen=True, slots=True)
class Surroundings:
    """The passages before and after that of a hit, in their order."""

    hit: Hit
    before: tuple[PlacedPassage, ...] = ()
    after: tuple[PlacedPassage, ...] = ()


def surroundings_of(hit: Hit, opened: Asked) -> Surroundings:
    """Read the passages around a hit; none if they are unavailable: on a server, or if the document is gone."""
    index = indexes_of(opened).get(hit.index or "")
    if index is None:
        return Surroundings(hit)
    try:
        number = index.passages(hit.path, passage=hit.passage_id, limit=1).found
        if number is None:
            return Surroundings(hit)
        first = max(0, number - _BEFORE)
        found = index.passages(hit.path, offset=first, limit=number - first + 1 + _AFTER).passages
    except SemsearchError:
        return Surroundings(hit)
    before = number - first
    return Surroundings(hit, found[:before], found[before + 1 :])


# -- Answering what is typed -------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class TypedQuery:
    """The text so far, and the mode to search it in."""

    text: str
    mode: Mode

    @property
    def is_blank(self) -> bool:
        """Return whether nothing is asked yet."""
        return not self.text.strip()


@dataclass(frozen=True, slots=True)
class TypedAnswer:
    """The hits of a typed query, and a message: warnings, or why it cannot be searched."""

    query: TypedQuery
    hits: Sequence[Hit] = ()
    said: str = ""


class TypedSearch:
    """Searches in an index that is opened at the first query. Threads may share it."""

    def __init__(self, open_asked: Callable[[], Asked], options: SearchOptions) -> None:
        self.options = options
        self._open_asked = open_asked
        self._opening = threading.Lock()
        self._opened: Asked | None = None
        self._warnings = KeptWarnings()

    @property
    def opened(self) -> Asked:
        """The searched index. Raises SemsearchError if it cannot be opened."""
        with self._opening:
            if self._opened is None:
                self._opened = self._open_asked()
            return self._opened

    def answer(self, query: TypedQuery) -> TypedAnswer:
        """Search for a text. A blank text has no hits, but opens the index."""
        self._warnings.take()
        try:
            opened = self.opened
            hits = Hits() if query.is_blank else opened.search(query.text, options=self._options(query))
        except SemsearchError as error:
            return TypedAnswer(query, said=str(error))
        nearest = [f"{NOT_ANSWERED}; these are the nearest"] if hits and not hits.answered else []
        return TypedAnswer(query, hits, "; ".join([*self._warnings.take(), *nearest]))

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
    """Keeps the library's warnings, which would otherwise garble the screen."""

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


# -- The session -------------------------------------------------------------------------------------------------------

_MODES: tuple[Mode, ...] = get_args(Mode)


class InteractiveSession:
    """The typed query, its answer, the selected hit, and the scroll position of its preview."""

    def __init__(self, query: TypedQuery) -> None:
        self.query = query
        self.answer = TypedAnswer(query)
        self.is_answered = False  # whether the answer belongs to the current text
        self.said = ""  # the result of the last action: opened, or why not
        self.chosen = 0
        self.scrolled = 0  # lines of the preview, from where it begins by itself
        self._surroundings: Surroundings | None = None

    @property
    def hit(self) -> Hit | None:
        """The chosen hit; None if there are none."""
        return self.answer.hits[self.chosen] if self.answer.hits else None

    @property
    def surroundings(self) -> Surroundings | None:
        """The known passages around the selected hit; None without a hit."""
        if self.hit is None:
            return None
        kept = self._surroundings
        return kept if kept is not None and kept.hit is self.hit else Surroundings(self.hit)

    def ask(self, text: str, mode: Mode) -> TypedQuery:
        """Set the typed text; returns the query to answer."""
        self.query = TypedQuery(text, mode)
        self.is_answered, self.said = False, ""
        return self.query

    def next_mode(self) -> Mode:
        """The mode after the current one, in a circle."""
        return _MODES[(_MODES.index(self.query.mode) + 1) % len(_MODES)]

    def take_answer(self, answer: TypedAnswer) -> None:
        """Set the answer. An answer to an earlier text is shown until the newest arrives."""
        self.answer, self.is_answered = answer, answer.query == self.query
        self.chosen = self.scrolled = 0

    def take_surroundings(self, surroundings: Surroundings) -> None:
        """Set the passages around a hit."""
        self._surroundings = surroundings

    def choose(self, steps: int) -> bool:
        """Select the hit so many further down, or up, at most the first or last. Returns whether it is another."""
        before = self.chosen
        self.chosen = max(0, min(before + steps, len(self.answer.hits) - 1))
        if self.chosen != before:
            self.scrolled, self.said = 0, ""
        return self.chosen != before
