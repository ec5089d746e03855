"""The state of an interactive search: what is typed, the answer to it, the chosen hit. It knows no terminal."""

from __future__ import annotations

from typing import get_args

from semsearch.cli.interactive.surroundings import Surroundings
from semsearch.cli.interactive.typed import TypedAnswer, TypedQuery
from semsearch.results.hits import Hit, Mode

_MODES: tuple[Mode, ...] = get_args(Mode)


class InteractiveSession:
    """What is typed, the answer to it, the chosen hit, and how far its preview is scrolled."""

    def __init__(self, query: TypedQuery) -> None:
        self.query = query
        self.answer = TypedAnswer(query)
        self.is_answered = False  # whether the answer is to what is typed now
        self.said = ""  # of what was last done: opened, or why not
        self.chosen = 0
        self.scrolled = 0  # lines of the preview, from where it begins by itself
        self._surroundings: Surroundings | None = None

    @property
    def hit(self) -> Hit | None:
        """The chosen hit; None if there are none."""
        return self.answer.hits[self.chosen] if self.answer.hits else None

    @property
    def surroundings(self) -> Surroundings | None:
        """What is known to stand around the chosen hit; None without a hit."""
        if self.hit is None:
            return None
        kept = self._surroundings
        return kept if kept is not None and kept.hit is self.hit else Surroundings(self.hit)

    def ask(self, text: str, mode: Mode) -> TypedQuery:
        """Take what is typed now; the query that is to be answered."""
        self.query = TypedQuery(text, mode)
        self.is_answered, self.said = False, ""
        return self.query

    def next_mode(self) -> Mode:
        """The mode after the current one, in a circle."""
        return _MODES[(_MODES.index(self.query.mode) + 1) % len(_MODES)]

    def take_answer(self, answer: TypedAnswer) -> None:
        """Take an answer. One to an earlier text is shown until that to the newest comes."""
        self.answer, self.is_answered = answer, answer.query == self.query
        self.chosen = self.scrolled = 0

    def take_surroundings(self, surroundings: Surroundings) -> None:
        """Take what stands around a hit."""
        self._surroundings = surroundings

    def choose(self, steps: int) -> bool:
        """Choose a hit so many further down, or up; the first or last if there are not so many. Whether it is new."""
        before = self.chosen
        self.chosen = max(0, min(before + steps, len(self.answer.hits) - 1))
        if self.chosen != before:
            self.scrolled, self.said = 0, ""
        return self.chosen != before
