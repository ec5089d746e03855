"""What answers a question, as one writes it down, and whether a hit is that:

    notes/guide.md                     any passage of the document
    notes/guide.md#Bread               a passage under that heading
    notes/guide.md:12                  the passage that has the line
    notes/report.pdf page 3            a passage on the page; also p. 3
    notes/talk.pptx slide 3            a passage at the place, in the document's own terms

A document is named as hits show it, by its absolute path, or by the end of its path; a text that a program
added by its id.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from semsearch.results.contents.documents import DocumentInfo
from semsearch.results.hits import Hit

_LINE = re.compile(r"(.+):(\d+)(?:-\d+)?")
_HEADING = re.compile(r"(.*\S)#(\S.*)")
_PAGE = re.compile(r"(.+?) (?:page|p\.) ?(\d+)")
_PLACE = re.compile(r"(.+\.\w{1,8}) (\S.*)")


@dataclass(frozen=True, slots=True)
class ExpectedAnswer:
    """A document, or a part of it: a heading, a line, a page or a place. `written` is how it was written down."""

    written: str
    path: str
    heading: str | None = None
    line: int | None = None
    page: int | None = None
    place: str | None = None

    @classmethod
    def read(cls, written: str) -> ExpectedAnswer:
        """Understand what was written down. What names no part is the path of a document."""
        if found := _LINE.fullmatch(written):
            return cls(written, found[1], line=int(found[2]))
        if found := _HEADING.fullmatch(written):
            return cls(written, found[1], heading=found[2].strip())
        if found := _PAGE.fullmatch(written):
            return cls(written, found[1], page=int(found[2]))
        if found := _PLACE.fullmatch(written):
            return cls(written, found[1], place=found[2])
        return cls(written, written)

    @classmethod
    def of(cls, hit: Hit) -> ExpectedAnswer:
        """Write down where a hit stands, by what stays when its document is edited: heading, page or place."""
        path = hit.path
        if hit.page is not None:
            return cls.read(f"{path} page {hit.page}")
        if hit.headings and hit.headings[-1].strip():
            return cls(f"{path}#{hit.headings[-1]}", path, heading=hit.headings[-1].strip())
        return cls.read(f"{path} {hit.place}") if hit.place else cls(path, path)

    def is_in(self, hit: Hit) -> bool:
        """Whether a hit is of this document, and of this part of it."""
        paths = paths_of(hit)
        if not any(names(self.path, path) for path in paths):
            return any(names(self.written, path) for path in paths)  # a path that looks as if it named a part
        if self.line is not None:
            return _first_line(hit) <= self.line <= _first_line(hit) + hit.passage.count("\n")
        if self.heading is not None:
            return self.heading.casefold() in (heading.casefold() for heading in hit.headings)
        if self.page is not None:
            return hit.page == self.page
        return self.place is None or (hit.place or "").casefold().startswith(self.place.casefold())


def names(written: str, path: str) -> bool:
    """Whether a path is what was written, or ends with it."""
    written, path = (each.replace("\\", "/").removeprefix("./") for each in (written, path))
    return path == written or path.endswith(f"/{written}")


def paths_of(document: Hit | DocumentInfo) -> tuple[str, ...]:
    """The paths of a document: as it is shown, and absolute; or the id of a text that a program added."""
    return document.path, f"{document.root}/{document.document}" if document.root else document.document


def _first_line(hit: Hit) -> int:
    """The line that a hit's passage begins on; a hit says that of its sentence."""
    return hit.line - hit.passage[: max(hit.passage.find(hit.sentence), 0)].count("\n")
