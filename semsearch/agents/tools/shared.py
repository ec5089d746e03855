"""What several tools have in common: parameters, and how an answer is kept short."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

from semsearch.agents.jsonrpc import to_line
from semsearch.results.codec import to_dict
from semsearch.serve.operations.parameters import Parameter

MOST_CHARACTERS = 24_000  # of an answer: about 6,000 tokens; clients cut or refuse answers of more than 25,000
PASSAGE_CHARACTERS = 4_000  # of one passage

INDEX = Parameter("index", "text", "Only this index; by default all.", most=1000)
FILTERS = Parameter(
    "filters",
    "texts",
    "Only documents that match all: globs on paths (guide/*.md), conditions (year>=2024, author=Ada); a|b for either, "
    "!a for all others.",
    default=(),
    most=50,
    longest=1000,
)
CURSOR = Parameter("cursor", "text", "next_cursor of an answer, with the same arguments, to go on.", most=100)
Item = TypeVar("Item")


def that_fit(items: Sequence[Item]) -> list[Item]:
    """The first items that have room in one answer; one at least."""
    room, taken = MOST_CHARACTERS, list[Item]()
    for item in items:
        room -= len(to_line(to_dict(item)))
        if room < 0 and taken:
            break
        taken.append(item)
    return taken


def shortened(text: str) -> str:
    """A text, cut where it is too long for one result among several."""
    return text if len(text) <= PASSAGE_CHARACTERS else f"{text[:PASSAGE_CHARACTERS].rstrip()} …"


def heading_of(title: str, headings: Sequence[str]) -> str:
    """The title of a document and headings in it as one text, outermost first."""
    from semsearch.text.headings import heading_text  # start-up time

    return " > ".join(heading_text(title, headings).split("\n"))
