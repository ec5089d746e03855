"""Join words that were hyphenated at the end of a line, with or without the hyphen.

The document itself decides first: if the whole word occurs elsewhere in it, the parts are joined, and if the word with
its hyphen does, the hyphen is kept. If neither occurs, the parts are joined, unless the first usually has a hyphen.
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
    """Joins hyphenated lines, by the words of the text that they are from."""

    def __init__(self, lines: Iterable[str]) -> None:
        found: set[str] = set()
        for line in lines:
            found.update(_WORD.findall(line))
        words = {word.lower() for word in found}
        self._words = {word for word in words if "-" not in word}
        self._compounds = words - self._words

    def join(self, before: str, after: str) -> str:
        """Join two lines, of which the first ends in the middle of a word and has lost its hyphen."""
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
