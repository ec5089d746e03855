"""Find sentences on a page and the next one by their letters.

A sentence whose letters do not follow each other, because a footnote, another column or the page's end comes between,
is found in pieces. What is not found nearly whole is not found: a box in the wrong place is worse than none.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

_PIECE = 12  # letters of a piece: shorter ones occur anywhere
_NEARLY = 0.9  # of a sentence's letters
_SHORT = 8  # letters: so short a sentence may be anywhere on a page
_NEAR = 200  # letters after the sentence before, within which a short one that occurs again is believed


class Piece(NamedTuple):
    """Consecutive letters of a page, from `start` to before `end`."""

    page: int  # index among the pages that are searched
    start: int
    end: int


class SentenceSearch:
    """Finds the sentences of one page, in their order, on that page and those that follow."""

    def __init__(self, pages: Sequence[str]) -> None:
        self._pages = pages
        self._after = 0  # the letters of the first page up to here belong to sentences before

    def find(self, sentence: str) -> list[Piece]:
        """The pieces of a sentence, given by its letters, in order; empty if it is not there."""
        whole = self._whole(sentence)
        found = [whole] if whole else self._pieces(sentence)
        self._after = next((piece.end for piece in reversed(found) if piece.page == 0), self._after)
        return found

    def _whole(self, sentence: str) -> Piece | None:
        page = self._pages[0]
        start = page.find(sentence, self._after) if sentence else -1
        if len(sentence) < _SHORT and start > self._after + _NEAR:
            start = -1
        if start < 0 and sentence and (len(sentence) >= _SHORT or page.count(sentence) == 1):
            start = page.find(sentence)
        return None if start < 0 else Piece(0, start, start + len(sentence))

    def _pieces(self, sentence: str) -> list[Piece]:
        found: list[Piece] = []
        page, after, done = 0, self._after, 0
        while done < len(sentence):
            piece = self._next(sentence[done:], page, after)
            if piece is None:
                break
            found.append(piece)
            page, after, done = piece.page, piece.end, done + piece.end - piece.start
        return found if found and done >= _NEARLY * len(sentence) else []

    def _next(self, rest: str, page: int, after: int) -> Piece | None:
        """The longest beginning of what is left of a sentence: after what was found, on that page, or on a later."""
        for number in range(page, len(self._pages)):
            letters = self._pages[number]
            for start in (after, 0) if number == page else (0,):
                length = longest_beginning(rest, letters, start)
                if length >= _PIECE:
                    at = letters.find(rest[:length], start)
                    return Piece(number, at, at + length)
        return None


def longest_beginning(text: str, letters: str, start: int) -> int:
    """The length of the longest beginning of a text that occurs in letters at or after a start."""
    least, most = 0, len(text)
    while least < most:
        middle = (least + most + 1) // 2
        if letters.find(text[:middle], start) >= 0:
            least = middle
        else:
            most = middle - 1
    return least
