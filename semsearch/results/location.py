"""Where something is cited, as one would say it: `guide.md:10-14`, `report.pdf p. 3, top`, `talk.pptx slide 3`.

A file that people open in an editor is cited by its lines; one that has no lines of its own by its pages and places.
"""

from __future__ import annotations

from typing import NamedTuple

LINELESS = frozenset(("pdf", "docx", "pptx", "xlsx", "odt", "epub", "mail"))  # formats whose files have no lines


class Position(NamedTuple):
    """Where a sentence begins."""

    line: int  # the first is 1; of the text that was taken out, where the file has no lines
    page: int | None
    place: str | None  # in the document's own terms


def location(path: str, format: str, first: Position, last: Position | None = None) -> str:
    """The path with what leads to a position in it, or from the first one to the last."""
    if format in LINELESS:
        return f"{path} {own_terms(first, last)}".rstrip()
    return f"{path}:{first.line}" + (f"-{last.line}" if last is not None and last.line > first.line else "")


def own_terms(first: Position, last: Position | None = None) -> str:
    """`p. 3, top`, `p. 3–4`, `row 3 – row 7`: pages and places, as far as there are any."""
    last = last or first
    pages = "" if first.page is None else f"p. {first.page}"
    if pages and last.page not in (None, first.page):
        pages += f"–{last.page}"
    if first.place == last.place or last.place is None:
        return ", ".join(filter(None, (pages, first.place)))
    return pages or " – ".join(filter(None, (first.place, last.place)))
