"""Whole passages as lines, for answers that end in a code block: their lines stay lines, and the sentence is marked."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from semsearch.results.hits import Hit

OBEYED = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069]")  # by terminals; not line ends and tabs


@dataclass(frozen=True, slots=True)
class PassageLine:
    """A line of a passage, safe to print; whether the best sentence, or a part of it, stands on it."""

    text: str
    is_best: bool


def passage_lines(hit: Hit) -> Iterator[PassageLine]:
    """The lines of a hit's passage."""
    first = hit.passage.find(hit.sentence) if hit.sentence else -1
    last, begin = first + len(hit.sentence), 0
    for line in hit.passage.splitlines(keepends=True):
        end = begin + len(line)
        yield PassageLine(_safe(line), first >= 0 and begin < last and first < end and not line.isspace())
        begin = end


def _safe(line: str) -> str:
    """A line without characters that a terminal would obey; its indentation stays."""
    return OBEYED.sub(" ", line.expandtabs(4).rstrip())
