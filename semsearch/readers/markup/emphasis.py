"""Marks of emphasis taken away, in time that grows with the length of the text and no faster.

One regular expression for a mark, words and the same mark again would look through the whole rest of a text at every
mark that is never closed. Here a mark that is not closed once is not looked for again.
"""

from __future__ import annotations

import re
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Emphasis:
    """The mark that opens emphasis, and what has to stand before and after the same mark where it closes."""

    opening: re.Pattern[str]
    before: str
    after: str

    def removed(self, text: str) -> str:
        """The text without the marks that belong together."""
        parts: list[str] = []
        closings: dict[str, re.Pattern[str] | None] = {}
        done = at = 0
        while found := self.opening.search(text, at):
            at, sign = found.end(), found[0]
            if sign not in closings:
                closings[sign] = re.compile(self.before + re.escape(sign) + self.after)
            pattern = closings[sign]
            closing = pattern.search(text, at + 1) if pattern else None
            if closing:
                parts += [text[done : found.start()], text[at : closing.start()]]
                done = at = closing.end()
            else:
                closings[sign] = None
        return "".join([*parts, text[done:]])
