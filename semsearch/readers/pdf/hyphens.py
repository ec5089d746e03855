"""Words that were parted at the end of a line: with or without the hyphen that stands there.

The document itself is asked first: if the whole word stands somewhere else in it, so it is written here, and likewise
with the hyphen. What neither form is known of is joined, unless its first part goes with a hyphen as a rule.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

_WORD = re.compile(r"[^\W_]+(?:-[^\W_]+)*")
_LAST = re.compile(r"[^\W_]+(?:-[^\W_]+)*\Z")
_FIRST = re.compile(r"[^\W_]+")
_COMPOUNDING = frozenset(
    "all anti cross ex full half high ill large long low mid multi new non off on one open part real self semi short "
    "single small so state three two up user well".split()
)


class Hyphens:
    """Joins lines, knowing the words of the text that they are from."""

    def __init__(self, lines: Iterable[str]) -> None:
        words = {word.lower() for line in lines for word in _WORD.findall(line)}
        self._words = {word for word in words if "-" not in word}
        self._compounds = words - self._words

    def join(self, before: str, after: str) -> str:
        """Two lines, of which the first ends in the middle of a word, its hyphen left out."""
        first, second = _LAST.search(before), _FIRST.match(after)
        if not first or not second:
            return f"{before}-{after}"
        return before + ("-" if self._keeps(first[0], second[0]) else "") + after

    def _keeps(self, first: str, second: str) -> bool:
        parts = first.lower().rpartition("-")
        whole = parts[2] + second.lower()
        if whole in self._words:
            return False
        if f"{first}-{second}".lower() in self._compounds or not second[0].islower() or not first[-1].isalpha():
            return True
        return parts[2] in _COMPOUNDING or first.isupper()
