"""PDF files: paragraphs in reading order, each line with its page and where on it; needs the extra `pdf`.

Running heads, feet and page numbers are left out, words hyphenated at a line's end joined, headings recognised by the
table of contents or else by size. Scanned pages have no text: a file of such pages only is refused, and for others
their number is kept as `pages_without_text`. Blank pages are not counted.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise
from pathlib import PurePath
from typing import Any

from semsearch.errors import SourceError
from semsearch.readers.builder import Builder
from semsearch.readers.document import Document, Spot
from semsearch.readers.pdf.headings import largest_on_first_page, levels
from semsearch.readers.pdf.hyphens import Hyphens
from semsearch.readers.pdf.layout import Paragraph, paragraphs
from semsearch.readers.pdf.lines import Pages
from semsearch.readers.pdf.pdfium import read_pages
from semsearch.readers.pdf.positions import Positions
from semsearch.readers.pdf.running_heads import without_running_lines
from semsearch.results.state.problems import Omission

_RUNS = 20  # of pages that are named
_MADE_UP = re.compile(
    r"(?:microsoft \w+ - .*|\(?(?:untitled|anonymous|unspecified).*|"
    r".*\.(?:docx?|tex|dvi|indd|qxd|pdf|html?|rtf|odt|ps))\Z",
    re.IGNORECASE,
)


def read(data: bytes, name: str) -> Document:
    """Read a PDF. Its title is its property, else a large heading on the first page, else its name.

    Raises SourceError for damage, passwords and files without text, MissingExtra if pypdfium2 is not installed.
    """
    pages = read_pages(data, name)
    if pages.count and not pages.lines:
        raise SourceError(
            f"{name} has no text on its {pages.count:,} pages, which may be scanned; put it through text recognition"
        )
    lines = without_running_lines(pages.lines)
    hyphens = Hyphens(line.text for line in lines)
    found = paragraphs(lines)
    positions = Positions(pages)
    texts = [_text(paragraph, hyphens, positions) for paragraph in found]
    ranks = levels(found, pages.contents, [text for text, _ in texts])
    builder = Builder()
    for (text, spots), level in zip(texts, ranks, strict=True):
        if level:
            builder.add(" ".join(text.split()), level=level, page=spots[0].page, place=spots[0].place)
        else:
            builder.add(text, spots=spots)
    title = _title(pages, found, texts) or PurePath(name).stem
    return Document(builder.source, builder.blocks, "pdf", title, _metadata(pages), _omissions(pages))


def _text(paragraph: Paragraph, hyphens: Hyphens, positions: Positions) -> tuple[str, list[Spot]]:
    """The text of a paragraph, with the page and position of its lines."""
    text = paragraph.first.text
    spots = [Spot(0, paragraph.first.page, positions.of(paragraph.first))]
    for above, line in pairwise(paragraph.lines):
        text = hyphens.join(text, line.text) if above.hyphen else f"{text}\n{line.text}"
        spot = Spot(len(text) - len(line.text), line.page, positions.of(line))
        if spot[1:] != spots[-1][1:]:
            spots.append(spot)
    return text, spots


def _title(pages: Pages, found: list[Paragraph], texts: list[tuple[str, list[Spot]]]) -> str:
    if title := _metadata(pages).get("title"):
        return str(title)
    largest = largest_on_first_page(found)
    return "" if largest is None else " ".join(texts[largest][0].split())


def _omissions(pages: Pages) -> tuple[Omission, ...]:
    found = []
    if pages.unread:
        found.append(Omission("pages without text", len(pages.unread), f"p. {in_runs(pages.unread)}"))
    if pages.attachments:
        found.append(Omission("attachments", pages.attachments))
    return tuple(found)


def in_runs(numbers: Sequence[int]) -> str:
    """Rising numbers as one writes them: "1, 3-5, 9"."""
    runs: list[list[int]] = []
    for number in numbers:
        if runs and number == runs[-1][-1] + 1:
            runs[-1] = [runs[-1][0], number]
        else:
            runs.append([number])
    told = ", ".join("-".join(map(str, run)) for run in runs[:_RUNS])
    return f"{told}, ..." if len(runs) > _RUNS else told


def _metadata(pages: Pages) -> dict[str, Any]:
    metadata: dict[str, Any] = {key: text for key, text in pages.properties.items() if not _MADE_UP.match(text)}
    metadata["pages"] = pages.count
    if pages.unread:
        metadata["pages_without_text"] = len(pages.unread)
    return metadata
