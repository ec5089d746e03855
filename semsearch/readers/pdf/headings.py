"""Headings of a PDF: by its table of contents where it has one, else by the size and weight of their letters."""

from __future__ import annotations

import re
from collections.abc import Sequence

from semsearch.readers.pdf.layout import Paragraph, usual_size
from semsearch.readers.pdf.lines import Entry, PageLine

_LARGER = 1.12  # than the text
_LONGEST = 200  # characters
_MOST_LINES = 4
_NOT_LETTERS = re.compile(r"[\W_]+")
_NUMBERING = re.compile(
    r"(?:chapter|section|appendix|part|kapitel)?\s*(?:\d+|[a-z]|[ivx]+)?(?:\.\d+)*\.?:?\s+", re.IGNORECASE
)
_LETTER = re.compile(r"[^\W\d_]{2}")


def levels(paragraphs: Sequence[Paragraph], contents: Sequence[Entry], texts: Sequence[str]) -> list[int]:
    """Find the heading level of each paragraph, 0 for text. `texts` are those of the paragraphs."""
    found = _by_contents(paragraphs, contents, texts)
    return found if any(found) else _by_size(paragraphs, texts)


def largest_on_first_page(paragraphs: Sequence[Paragraph]) -> int | None:
    """The index of the paragraph with the largest letters on the first page, if it looks like a title."""
    body = usual_size([line for paragraph in paragraphs for line in paragraph.lines])
    sizes = {
        index: paragraph.first.size
        for index, paragraph in enumerate(paragraphs)
        if paragraph.first.page == 1 and len(paragraph.lines) <= _MOST_LINES and _LETTER.search(paragraph.first.text)
    }
    largest = max(sizes, key=lambda index: sizes[index], default=None)
    return largest if largest is not None and sizes[largest] > _LARGER * body else None


def _by_contents(paragraphs: Sequence[Paragraph], contents: Sequence[Entry], texts: Sequence[str]) -> list[int]:
    entries: dict[tuple[int, str], int] = {}
    for entry in contents:
        for title in (entry.title, _NUMBERING.sub("", entry.title, count=1)):
            entries.setdefault((entry.page, _letters(title)), min(entry.level, 6))
    found = []
    for paragraph, text in zip(paragraphs, texts, strict=True):
        page, level = paragraph.first.page, 0
        if len(text) <= _LONGEST:
            for title in (text, _NUMBERING.sub("", text, count=1)):
                level = level or entries.get((page, _letters(title)), 0)
        found.append(level)
    return found


def _by_size(paragraphs: Sequence[Paragraph], texts: Sequence[str]) -> list[int]:
    lines = [line for paragraph in paragraphs for line in paragraph.lines]
    body = usual_size(lines)
    is_bold = sum(len(line.text) for line in lines if line.bold) * 2 > sum(len(line.text) for line in lines)
    sizes: list[float] = []
    for paragraph, text in zip(paragraphs, texts, strict=True):
        size = round(paragraph.first.size * 2) / 2
        stands_out = size > _LARGER * body or (
            size >= body and paragraph.first.bold and not is_bold and len(paragraph.lines) <= 2
        )
        fits = len(text) <= _LONGEST and len(paragraph.lines) <= _MOST_LINES and _LETTER.search(text)
        all_bold = all(_looks_alike(line, paragraph.first) for line in paragraph.lines)
        sizes.append(size if stands_out and fits and all_bold and not text.endswith((".", ",", ";")) else 0.0)
    ranks = {size: min(rank, 6) for rank, size in enumerate(sorted(set(sizes) - {0.0}, reverse=True), start=1)}
    return [ranks.get(size, 0) for size in sizes]


def _looks_alike(one: PageLine, other: PageLine) -> bool:
    return one.bold == other.bold and abs(one.size - other.size) < 0.1 * other.size


def _letters(text: str) -> str:
    return _NOT_LETTERS.sub("", text).lower()
