"""PDF files and pictures: paragraphs in reading order, each line with its page and where on it.

Running heads and feet recur at the edge of page after page; they are left out, as are page numbers. A head may change
with the chapter, but its page number counts on: a number at the edge that keeps its distance from the number of the
page marks a running head or foot.

Words hyphenated at a line's end are joined. The document itself decides first: if the whole word occurs elsewhere in
it, the parts are joined; if the word with its hyphen does, the hyphen is kept. If neither occurs, the parts are joined,
unless the first usually has a hyphen.

Headings are those of the table of contents where there is one, else lines that differ by the size and weight of their
letters. A line is located at the top, in the middle or at the bottom of its page.

Scanned pages have no text, unless it is recognized (text_recognition.py): a file of such pages only is
refused, and for others their number is kept as `pages_without_text`. Blank pages are not counted, nor those on which
text was looked for and none found.
"""

from __future__ import annotations

import io
import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from contextlib import closing
from dataclasses import replace
from functools import partial
from heapq import merge
from itertools import groupby, pairwise
from operator import attrgetter
from typing import Any

import numpy as np

from semsearch.arrays.types import UInt8
from semsearch.errors import MissingExtra, SourceError
from semsearch.readers.document import Builder, Document, Omission, Spot, title_of
from semsearch.readers.pages.pdf_layout import Entry, PageLine, Pages, Paragraph, Usual, paragraphs
from semsearch.readers.pages.pdf_pages import opened_pdf, read_pages
from semsearch.readers.pages.pdf_pictures import draw_page
from semsearch.readers.pages.text_recognition import NOTHING, content_key, lines_of

# -- Hyphens -----------------------------------------------------------------------------------------------------------

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
        self._words = {word.lower() for line in lines for word in _WORD.findall(line)}

    def join(self, before: str, after: str) -> str:
        """Join two lines, of which the first ends in the middle of a word and has lost its hyphen."""
        first, second = _LAST.search(before), _FIRST.match(after)
        keeps_hyphen = not first or not second or self._keeps(first[0], second[0])
        return f"{before}{'-' if keeps_hyphen else ''}{after}"

    def _keeps(self, first: str, second: str) -> bool:
        last_part = first.lower().rpartition("-")[2]
        if last_part + second.lower() in self._words:
            return False
        if f"{first}-{second}".lower() in self._words or not second[0].islower() or not first[-1].isalpha():
            return True
        return last_part in _COMPOUNDING or first.isupper()


# -- Running heads -----------------------------------------------------------------------------------------------------

_EDGE = 2.0  # heights of letters that a head or foot of several lines takes at most
_GAP = 1.5  # heights of letters between a head or foot and the text, from line to line
_COUNTED = "the distance from the number of the page"
_PAGES = 3  # a running head or foot is on so many at least
_AT_END = re.compile(r"(?:\A\d{1,5}(?=\s|\Z)|(?<=\s)\d{1,5}\Z)")
_NUMBER = re.compile(
    r"\W*(?:(?:page|p\.?|seite|s\.)\s*)?(?:\d+|[ivxlc]+)(?:\s*(?:/|of|von)\s*\d+)?\W*\Z", re.IGNORECASE
)


def without_running_lines(lines: Sequence[PageLine]) -> list[PageLine]:
    """The lines without running heads and feet and page numbers; a short document has none of them."""
    edges = {number: _edges(list(page)) for number, page in groupby(lines, key=attrgetter("page"))}
    alike = defaultdict[tuple[str, int], list[PageLine]](list)
    for number, line in ((number, line) for number, edge in edges.items() for line in edge):
        for step in (round(line.bottom / 4), round(line.bottom / 4) + 1):  # of four points
            alike[_key(line.text), step].append(line)
        for written in {*_AT_END.findall(line.text)}:  # a page number counts on, whatever stands beside it
            alike[_COUNTED, int(written) - number].append(line)
    running = set[int]()
    for (text, _), same in alike.items():
        least = max(_PAGES, len(edges) / 3) if text == _COUNTED else _PAGES
        if len({line.page for line in same}) >= least:
            running.update(map(id, same))
    return [line for line in lines if id(line) not in running]


def _edges(page: Iterable[PageLine]) -> list[PageLine]:
    """The lines at the top and at the bottom that are set apart from the text."""
    upwards = sorted(page, key=lambda line: line.bottom)
    return [*_edge(upwards), *_edge(upwards[::-1])]


def _edge(lines: Sequence[PageLine]) -> list[PageLine]:
    """The first lines, up to a gap or to another size; none if there is neither within two lines' height."""
    for count, (outer, inner) in enumerate(pairwise(lines), start=1):
        distance = abs(inner.bottom - outer.bottom)
        if distance > _GAP * inner.size or (distance > 0.5 * inner.size and abs(outer.size - inner.size) > 0.5):
            return list(lines[:count])
        if abs(outer.bottom - lines[0].bottom) > _EDGE * outer.size:
            break
    return []


def _key(text: str) -> str:
    return "#" if _NUMBER.match(text) else _AT_END.sub("#", text)


# -- Headings ----------------------------------------------------------------------------------------------------------

_LARGER = 1.12  # times the size of the text
_LONGEST = 200  # characters
_MOST_LINES = 4
_NOT_LETTERS = re.compile(r"[\W_]+")
_NUMBERING = re.compile(
    r"(?:chapter|section|appendix|part|kapitel)?\s*(?:\d+|[a-z]|[ivx]+)?(?:\.\d+)*\.?:?\s+", re.IGNORECASE
)
_LETTER = re.compile(r"[^\W\d_]{2}")


def heading_levels(texts: Sequence[tuple[Paragraph, str]], contents: Sequence[Entry], usual: Usual) -> list[int]:
    """The heading level of each paragraph, 0 for text: by the table of contents, else by the letters."""
    entries: dict[tuple[int, str], int] = {}
    for entry in contents:
        for title in _titles(entry.title):
            entries.setdefault((entry.page, title), min(entry.level, 6))
    if entries:
        found_titles = (_titles(text) if len(text) <= _LONGEST else () for _, text in texts)
        levels = [
            next((entries[key] for title in titles if (key := (paragraph[0].page, title)) in entries), 0)
            for (paragraph, _), titles in zip(texts, found_titles, strict=True)
        ]
        if any(levels):
            return levels
    sizes = [_size_of_heading(paragraph, text, usual) for paragraph, text in texts]
    ranks = {size: min(rank, 6) for rank, size in enumerate(sorted({*sizes} - {0.0}, reverse=True), start=1)}
    return [ranks.get(size, 0) for size in sizes]


def _titles(text: str) -> tuple[str, str]:
    """The letters of a title, with its number and without."""
    return _letters(text), _letters(_NUMBERING.sub("", text, count=1))


def _size_of_heading(paragraph: Paragraph, text: str, usual: Usual) -> float:
    """The size of its letters, to half a point, if it looks like a heading; else 0."""
    first = paragraph[0]
    size = round(first.size * 2) / 2
    is_bold = size >= usual.size and first.bold and not usual.bold and len(paragraph) <= 2
    fits = (size > _LARGER * usual.size or is_bold) and len(text) <= _LONGEST and len(paragraph) <= _MOST_LINES
    if not fits or text.endswith((".", ",", ";")) or not _LETTER.search(text):
        return 0.0
    return size if all(_looks_alike(line, first) for line in paragraph) else 0.0


def largest_on_first_page(texts: Iterable[tuple[Paragraph, str]], usual: Usual) -> str:
    """The text of the paragraph with the largest letters on the first page, if it looks like a title, else ""."""
    largest, title = _LARGER * usual.size, ""
    for paragraph, text in texts:
        first = paragraph[0]
        may_be_title = first.page == 1 and len(paragraph) <= _MOST_LINES and _LETTER.search(first.text)
        if may_be_title and first.size > largest:
            largest, title = first.size, text
    return title


def _looks_alike(line: PageLine, other: PageLine) -> bool:
    return line.bold == other.bold and abs(line.size - other.size) < 0.1 * other.size


def _letters(text: str) -> str:
    return _NOT_LETTERS.sub("", text).lower()


# -- Scanned pages -----------------------------------------------------------------------------------------------------

_DOTS = 200 / 72  # pixels for each point of a page that is recognized


def with_scans(pages: Pages, data: bytes, name: str) -> Pages:
    """The pages with the lines that are recognized on those without text; where there are none, it is a picture."""
    key, recognized, unread, advice = content_key(data), list[PageLine](), list[int](), ""
    with opened_pdf(data, name) as document:
        for number in pages.unread:
            lines: list[PageLine] | str = "it is damaged"
            if number in pages.sizes:
                with closing(document[number - 1]) as page:
                    size = pages.sizes[number]
                    lines = lines_of(f"{key} {number}", partial(draw_page, page, round(_DOTS * size[0])), number, size)
            if isinstance(lines, str):
                unread.append(number)
                advice = advice or lines
            else:
                recognized += lines
    merged = [*merge(pages.lines, recognized, key=attrgetter("page"))]
    return replace(pages, lines=merged, unread=unread, advice=advice)


# -- Reader ------------------------------------------------------------------------------------------------------------

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
    if pages.unread:
        pages = with_scans(pages, data, name)
    if pages.count and not pages.lines:
        where = "its page" if pages.count == 1 else f"its {pages.count:,} pages"
        raise SourceError(f"{name} has no text on {where}, which may be scanned; {pages.advice or NOTHING}")
    return document_of(pages, name)


def document_of(pages: Pages, name: str, format: str = "pdf") -> Document:
    """The document of pages that were read."""
    lines = without_running_lines(pages.lines)
    usual, hyphens = Usual.of(lines), Hyphens(line.text for line in lines)
    placed = [(paragraph, *_text(paragraph, hyphens, pages)) for paragraph in paragraphs(lines, usual.distance)]
    texts = [(paragraph, text) for paragraph, text, _ in placed]
    builder = Builder()
    for level, (_, text, spots) in zip(heading_levels(texts, pages.contents, usual), placed, strict=True):
        if level:
            builder.add(" ".join(text.split()), level=level, page=spots[0].page, place=spots[0].place)
        else:
            builder.add(text, spots=spots)
    metadata = _metadata(pages)
    title = title_of(name, str(metadata.get("title", "")), largest_on_first_page(texts, usual))
    return Document(builder.source, builder.blocks, format, title, metadata, _omissions(pages))


def _text(paragraph: Paragraph, hyphens: Hyphens, pages: Pages) -> tuple[str, list[Spot]]:
    """The text of a paragraph, with the page and position of its lines."""
    text = paragraph[0].text
    spots = [Spot(0, paragraph[0].page, _third(paragraph[0], pages))]
    for above, line in pairwise(paragraph):
        text = hyphens.join(text, line.text) if above.hyphen else f"{text}\n{line.text}"
        spot = Spot(len(text) - len(line.text), line.page, _third(line, pages))
        if spot[1:] != spots[-1][1:]:
            spots.append(spot)
    return text, spots


def _third(line: PageLine, pages: Pages) -> str | None:
    """Where on its page a line stands: `top`, `middle` or `bottom`."""
    _, height = pages.sizes.get(line.page, (0.0, 0.0))
    if not height:
        return None
    return "top" if line.bottom > height * 2 / 3 else "middle" if line.bottom > height / 3 else "bottom"


def _omissions(pages: Pages) -> tuple[Omission, ...]:
    omissions = []
    if pages.unread:
        omissions.append(
            Omission("pages without text", len(pages.unread), f"p. {in_runs(pages.unread)}; {pages.advice}")
        )
    if pages.attachments:
        omissions.append(Omission("attachments", pages.attachments))
    return tuple(omissions)


def in_runs(numbers: Sequence[int]) -> str:
    """Rising numbers as one writes them: "1, 3-5, 9"."""
    runs: list[list[int]] = []
    for number in numbers:
        if runs and number == runs[-1][-1] + 1:
            runs[-1] = [runs[-1][0], number]
        else:
            runs.append([number])
    named = ", ".join("-".join(map(str, run)) for run in runs[:_RUNS])
    return f"{named}, ..." if len(runs) > _RUNS else named


def _metadata(pages: Pages) -> dict[str, Any]:
    metadata: dict[str, Any] = {key: text for key, text in pages.properties.items() if not _MADE_UP.match(text)}
    metadata["pages"] = pages.count
    if pages.unread:
        metadata["pages_without_text"] = len(pages.unread)
    return metadata


# -- Pictures ----------------------------------------------------------------------------------------------------------
# One in which no text is found is a document without passages, as an empty file is. Without text recognition none is of
# a known format (semsearch.readers.registry).

_MOST_FRAMES = 2000  # of a TIFF
_PICTURE_FORMATS = ("PNG", "JPEG", "TIFF", "WEBP", "BMP", "GIF")
_MOST_PIXELS = 120_000_000  # of a picture as it is stored
_SIDE = 2400  # pixels to which a picture is made smaller before text is looked for
_FEWEST_PIXELS = 10_000  # pixels of a picture that may have text: others are icons
_WIDTH = 595.0  # points: a picture is taken for a page of A4
_ORIENTATION = 0x0112  # in what a camera notes


def read_picture(data: bytes, name: str) -> Document:
    """Read the text in a picture. Raises SourceError for a damaged or large one, and if no text can be recognized yet.

    Raises MissingExtra without Pillow.
    """
    try:
        from PIL import Image, ImageOps
    except ImportError:
        raise MissingExtra("Pillow", "ocr") from None
    Image.MAX_IMAGE_PIXELS = _MOST_PIXELS  # twice as many are an error
    try:
        picture = Image.open(io.BytesIO(data), formats=_PICTURE_FORMATS)
        frames = min(getattr(picture, "n_frames", 1), _MOST_FRAMES) if picture.format == "TIFF" else 1
    except Exception as error:  # Pillow has many for what is damaged
        raise SourceError(f"{name} cannot be read as a picture: {error or type(error).__name__}") from None
    key, lines, sizes = content_key(data), list[PageLine](), {}
    for number in range(1, frames + 1):

        def drawn() -> UInt8:
            if picture.width * picture.height > _MOST_PIXELS:
                raise SourceError(f"it has more than {_MOST_PIXELS:,} pixels; make it smaller")
            picture.draft("RGB", (_SIDE, _SIDE))
            shown = ImageOps.exif_transpose(picture)
            if "A" in shown.getbands() or "transparency" in shown.info:  # letters may be of the colour behind
                shown = shown.convert("RGBA")
                shown = Image.alpha_composite(Image.new("RGBA", shown.size, "white"), shown)
            shown = shown.convert("RGB")
            shown.thumbnail((_SIDE, _SIDE))
            return np.asarray(shown)

        if number > 1:
            picture.seek(number - 1)
        size = _shown_size(picture)
        if size[0] * size[1] < _FEWEST_PIXELS:
            continue
        sizes[number] = (_WIDTH, _WIDTH * size[1] / size[0])
        recognized = lines_of(f"{key} {number}", drawn, number, sizes[number])
        if isinstance(recognized, str):
            raise SourceError(f"{name} is a picture; {recognized}")
        lines += recognized
    document = document_of(Pages(frames, lines, [], {}, [], sizes), name, "picture")
    if frames > 1:
        return document
    blocks = [
        replace(block, page=None, spots=tuple(spot._replace(page=None) for spot in block.spots))
        for block in document.blocks
    ]
    return replace(document, blocks=blocks, metadata={})


def _shown_size(picture: Any) -> tuple[int, int]:
    """The width and height of a picture as it is shown, which its camera may have turned."""
    has_exif = picture.format in ("JPEG", "TIFF", "WEBP")  # to look for it in others unpacks them
    is_turned = has_exif and picture.getexif().get(_ORIENTATION, 1) in (5, 6, 7, 8)
    return (picture.height, picture.width) if is_turned else (picture.width, picture.height)
