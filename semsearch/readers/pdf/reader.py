"""PDF files: paragraphs in reading order, each with its page; needs the extra `pdf`.

Running heads, feet and page numbers are left out, words parted at a line's end joined, headings told by the table of
contents or else by size. Scanned pages have no text: a file of nothing else is refused, and of others the number is
kept as `pages_without_text`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise
from pathlib import PurePath
from typing import Any

from semsearch.errors import SourceError
from semsearch.readers.builder import Builder
from semsearch.readers.document import Document
from semsearch.readers.pdf.headings import largest_on_first_page, levels
from semsearch.readers.pdf.hyphens import Hyphens
from semsearch.readers.pdf.layout import Paragraph, paragraphs
from semsearch.readers.pdf.lines import Pages
from semsearch.readers.pdf.pdfium import read_pages
from semsearch.readers.pdf.running import without_running_lines

_SENTENCE_END = re.compile(r"[.!?…][\"'”’)\]]*\s+(?=[^\Wa-z])")
_MADE_UP = re.compile(
    r"(?:microsoft \w+ - .*|\(?(?:untitled|anonymous|unspecified).*|"
    r".*\.(?:docx?|tex|dvi|indd|qxd|pdf|html?|rtf|odt|ps))\Z",
    re.IGNORECASE,
)


def read(data: bytes, name: str) -> Document:
    """The paragraphs of a PDF. Its title is its property, else a large heading on the first page, else its name.

    Raises SourceError for damage, passwords and files without text, MissingExtra where pypdfium2 is not installed.
    """
    pages = read_pages(data, name)
    if pages.count and not pages.lines:
        raise SourceError(
            f"{name} has no text on its {pages.count:,} pages, which may be scanned; put it through text recognition"
        )
    lines = without_running_lines(pages.lines)
    hyphens = Hyphens(line.text for line in lines)
    found = paragraphs(lines)
    texts = [list(_texts(paragraph, hyphens)) for paragraph in found]
    ranks = levels(found, pages.contents, ["".join(text for _, text in parts) for parts in texts])
    builder = Builder()
    for parts, level in zip(texts, ranks, strict=True):
        for page, text in parts:
            builder.add(" ".join(text.split()) if level else text, level=level, page=page)
    title = _title(pages, found, texts) or PurePath(name).stem
    return Document(builder.source, builder.blocks, "pdf", title, _metadata(pages))


def _texts(paragraph: Paragraph, hyphens: Hyphens) -> Iterator[tuple[int, str]]:
    """The text of a paragraph, cut after the sentence that runs over the end of a page."""
    text, page = paragraph.first.text, paragraph.first.page
    for above, line in pairwise(paragraph.lines):
        start = len(text)
        text = hyphens.join(text, line.text) if above.hyphen else f"{text}\n{line.text}"
        if line.page != page and (end := _SENTENCE_END.search(text, start)):
            yield page, text[: end.end()].rstrip()
            text, page = text[end.end() :], line.page
    yield page, text


def _title(pages: Pages, found: list[Paragraph], texts: list[list[tuple[int, str]]]) -> str:
    if title := _metadata(pages).get("title"):
        return str(title)
    place = largest_on_first_page(found)
    return "" if place is None else " ".join("".join(text for _, text in texts[place]).split())


def _metadata(pages: Pages) -> dict[str, Any]:
    metadata: dict[str, Any] = {key: text for key, text in pages.properties.items() if not _MADE_UP.match(text)}
    metadata["pages"] = pages.count
    if pages.empty:
        metadata["pages_without_text"] = pages.empty
    return metadata
