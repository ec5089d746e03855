"""The state of an interactive search, independent of the terminal: the typed query, its answer, the selected hit.

A text that is no query yet, or finds nothing, gives a message and no error: the next letter may change that.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import get_args

from semsearch.cli.asked_indexes import Asked, indexes_of
from semsearch.errors import SemsearchError
from semsearch.results.documents import PlacedPassage
from semsearch.results.hits import Hit, Hits, heading_of
from semsearch.results.options import Mode, SearchOptions

_BEFORE, _AFTER = 3, 5  # passages around a hit
_MODES: tuple[Mode, ...] = get_args(Mode)


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
    message: str = ""


@dataclass(frozen=True, slots=True)
class Surroundings:
    """The passages before and after that of a hit, in their order."""

    hit: Hit
    before: tuple[PlacedPassage, ...] = ()
    after: tuple[PlacedPassage, ...] = ()


def surroundings_of(hit: Hit, asked: Asked) -> Surroundings:
    """Read the passages around a hit; none if they are unavailable: on a server, or if the document is gone."""
    index = indexes_of(asked).get(hit.index or "")
    if index is None:
        return Surroundings(hit)
    try:
        number = index.passages(hit.path, passage=hit.passage_id, limit=1).found
        if number is None:
            return Surroundings(hit)
        first = max(0, number - _BEFORE)
        passages = index.passages(hit.path, offset=first, limit=number - first + 1 + _AFTER).passages
    except SemsearchError:
        return Surroundings(hit)
    return Surroundings(hit, passages[: number - first], passages[number - first + 1 :])


class TypedSearch(logging.Handler):
    """Searches in an index that is opened at the first query. The library's warnings become part of the answer."""

    def __init__(self, open_asked: Callable[[], Asked], options: SearchOptions) -> None:
        super().__init__(logging.WARNING)
        self.options = options
        self._open_asked = open_asked
        self._opening = threading.Lock()
        self._asked: Asked | None = None
        self._warnings: list[str] = []

    @property
    def asked(self) -> Asked:
        """The searched index. Raises SemsearchError if it cannot be opened."""
        with self._opening:
            if self._asked is None:
                self._asked = self._open_asked()
            return self._asked

    def answer(self, query: TypedQuery) -> TypedAnswer:
        """Search for a text. A blank text has no hits, but opens the index."""
        self._warnings = []
        try:
            asked = self.asked
            options = replace(self.options, mode=query.mode)
            hits = Hits() if query.is_blank else asked.search(query.text, options=options)
        except SemsearchError as error:
            return TypedAnswer(query, message=str(error))
        verdict = [heading_of(hits.verdict, hits.missing)] if hits else []
        return TypedAnswer(query, hits, "; ".join(filter(None, [*dict.fromkeys(self._warnings), *verdict])))

    def emit(self, record: logging.LogRecord) -> None:
        """Keep a warning, which would garble the screen."""
        self._warnings.append(record.getMessage())

    def __enter__(self) -> TypedSearch:
        logging.getLogger("semsearch").addHandler(self)
        return self

    def __exit__(self, *_: object) -> None:
        logging.getLogger("semsearch").removeHandler(self)
        with self._opening:
            if self._asked is not None:
                self._asked.close()


class InteractiveSession:
    """The typed query, its answer, the selected hit, and the scroll position of its preview."""

    def __init__(self, query: TypedQuery) -> None:
        self.query = query
        self.answer = TypedAnswer(query)
        self.is_answered = False  # whether the answer belongs to the current text
        self.message = ""  # the result of the last action: opened, or why not
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
        known = self._surroundings
        return known if known is not None and known.hit is self.hit else Surroundings(self.hit)

    def ask(self, text: str, mode: Mode) -> TypedQuery:
        """Set the typed text; returns the query to answer."""
        self.query = TypedQuery(text, mode)
        self.is_answered, self.message = False, ""
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
            self.scrolled, self.message = 0, ""
        return self.chosen != before
