"""The state of reading a text that is laid out in pages, as word processors write them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from semsearch.readers.builder import Builder
from semsearch.readers.cells import PAGE_END
from semsearch.readers.document import Spot


@dataclass(slots=True)
class PagedReading(ABC):
    """The state of reading one document: its blocks so far, and the place of what comes next."""

    page: int | None = None  # None: the document does not tell its pages
    builder: Builder = field(default_factory=Builder)
    place: str | None = None  # of what is in a note, a frame or a text box
    part: str | None = None
    paragraphs: int = 0  # of the text itself
    tables: int = 0

    @abstractmethod
    def take(self, element: Any) -> None:
        """Add all paragraphs and tables in an element, in order."""

    def within(self, place: str, element: Any) -> None:
        """Read a note, a frame or a text box: its paragraphs are not counted with those of the text."""
        before, self.place = self.place, place
        self.take(element)
        self.place = before

    def next_paragraph(self) -> str:
        """Count a paragraph, if it is of the text itself, and return its place."""
        if self.place is None:
            self.paragraphs += 1
        return self.place or f"paragraph {self.paragraphs}"

    def spotted(self, parts: Iterable[str], place: str) -> tuple[str, list[Spot]]:
        """The text of a paragraph's parts, and a spot for each page that it stands on.

        The parts are read one by one, for the page may turn between them.
        """
        text, spots = "", [Spot(0, self.page, place)]
        for part in parts:
            if part == PAGE_END:
                spots.append(Spot(len(text), self.page, place))
            else:
                text += part
        return text, spots
