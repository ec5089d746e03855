"""Align the clean text of a document with its source, so that a sentence can be cited to the character.

Parsers give clean text, and at best the lines it came from. But its words are in the source in the same order, with
markup between them: so walk along both, word by word. A word that is missing on one side (a link's target, a title that
markup stands for) is skipped; a jump of more than a few words counts only if the next word follows too.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator

Anchors = tuple[tuple[int, int], ...]  # (offset in clean text, offset in source), rising in the first

_WORD = re.compile(r"[^\W_]+")
_NEAR = 3  # words skipped without further evidence
_REACH = 60  # words looked ahead
_SEARCHES = 100  # of the whole source, when the way is lost: each takes time linear in its length
_MARKS = frozenset(".!?,;:…)]}'\"’”»")


def words_of(text: str) -> Iterator[tuple[str, int]]:
    """Yield each run of letters and digits, with its offset."""
    return ((match[0], match.start()) for match in _WORD.finditer(text))


def blanked(pattern: re.Pattern[str], source: str) -> str:
    """Replace all matches of a pattern by as many spaces, so that offsets hold."""
    return pattern.sub(lambda match: " " * len(match[0]), source)


class Aligner:
    """Locates clean texts in a source, one after the other.

    `visible` is the source with markup that is surely not text blanked out, so that offsets hold. `words` are its words
    with their offsets, if they are not simply the runs of letters and digits.
    """

    def __init__(self, visible: str, words: Iterable[tuple[str, int]] | None = None) -> None:
        self._visible = visible
        self._words: list[str] = []
        self._starts: list[int] = []
        for word, start in words_of(visible) if words is None else words:
            self._words.append(word.lower())
            self._starts.append(start)
        self._searches = _SEARCHES
        self._next = 0  # the first word not yet passed
        self._passed = 0  # the end of the last text that was found

    def locate(self, clean: str, low: int | None = None, high: int | None = None) -> Anchors:
        """Find the anchors of a clean text, which is in source[low:high], or else after the text before.

        There is at least one anchor: a text that cannot be found is assigned to `low`, or to the end of the last text,
        with the marks after its last word.
        """
        if low is not None:
            self._next = bisect_left(self._starts, low)
        last = len(self._starts) if high is None else bisect_left(self._starts, high)
        words = [(word.lower(), offset) for word, offset in words_of(clean)]
        anchors = self._anchors(clean, words, last, sure=high is not None)
        if not anchors and low is None and self._lost_and_found([word for word, _ in words]):
            anchors = self._anchors(clean, words, last, sure=False)
        if anchors:
            self._passed = min(anchors[-1][1] + len(clean) - anchors[-1][0], self._ahead())
        return tuple(anchors) or ((0, max(self._end(), self._passed) if low is None else low),)

    def _anchors(self, clean: str, words: list[tuple[str, int]], last: int, *, sure: bool) -> list[tuple[int, int]]:
        anchors: list[tuple[int, int]] = []
        for index, (word, offset) in enumerate(words):
            parts = self._parts(word, last)
            if not parts:
                following = words[index + 1][0] if index + 1 < len(words) else None
                at = self._find(word, following, last, sure=sure)
                if at < 0:
                    continue
                self._next, parts = at, 1
            for part in range(self._next, self._next + parts):
                self._append(anchors, clean, offset, self._starts[part])
                offset += len(self._words[part])
            self._next += parts
            self._mark_after(anchors, clean, offset)
        return anchors

    def _lost_and_found(self, words: list[str]) -> bool:
        """Search the first words of a text ahead, or else behind; if they are found, walk on from there."""
        start = words[:_NEAR]
        if len(start) < _NEAR or not self._searches:
            return False
        self._searches -= 1
        for at, end in ((self._next, len(self._words)), (0, self._next)):
            try:
                while True:
                    at = self._words.index(start[0], at, end)
                    if self._words[at : at + _NEAR] == start:
                        self._next = at
                        return True
                    at += 1
            except ValueError:
                continue
        return False

    def _end(self) -> int:
        """The end of the last word passed."""
        return self._starts[self._next - 1] + len(self._words[self._next - 1]) if self._next else 0

    def _ahead(self) -> int:
        """The start of the next word."""
        return self._starts[self._next] if self._next < len(self._starts) else len(self._visible)

    def _parts(self, word: str, last: int) -> int:
        """Count the next words that make up a word: one, or more if markup divides it ("`Iterator`s"); 0 if none do."""
        at = self._next
        if at < last and word == self._words[at]:  # nearly always
            return 1
        while word and at < last and word.startswith(self._words[at]):
            word = word[len(self._words[at]) :]
            at += 1
        return 0 if word else at - self._next

    def _find(self, word: str, following: str | None, last: int, *, sure: bool) -> int:
        """The index of a word's next occurrence, or -1. `sure`: it does occur, so a text's last word may be far."""
        words, at = self._words, self._next
        end = min(last, at + _REACH)
        near = words[at : min(end, at + _NEAR)]
        if following in near and word not in near:
            return -1  # the source goes on without this word
        while True:
            try:
                at = words.index(word, at, end)
            except ValueError:
                return -1
            if at - self._next <= _NEAR or following in words[at + 1 : at + 1 + _NEAR] or (sure and following is None):
                return at
            at += 1

    def _append(self, anchors: list[tuple[int, int]], clean: str, offset: int, source: int) -> None:
        """Add an anchor where the distance of the two texts changes, drawn back over marks before the word."""
        last_clean, last_source = anchors[-1] if anchors else (-1, -1)
        if anchors and source - last_source == offset - last_clean:
            return
        while offset - 1 > last_clean and source - 1 > last_source and self._same_mark(clean, offset - 1, source - 1):
            offset, source = offset - 1, source - 1
        anchors.append((offset, source))

    def _mark_after(self, anchors: list[tuple[int, int]], clean: str, offset: int) -> None:
        """Add an anchor for a mark that closing markup divides from the word before it ("**so**.")."""
        mark = clean[offset : offset + 1]
        if mark not in _MARKS:
            return
        end = self._end()
        if self._visible[end : end + 1] != mark:
            place = self._visible.find(mark, end, self._ahead())
            if place >= 0:
                anchors.append((offset, place))

    def _same_mark(self, clean: str, offset: int, source: int) -> bool:
        mark = clean[offset]
        return mark == self._visible[source] and not mark.isalnum() and not mark.isspace()
