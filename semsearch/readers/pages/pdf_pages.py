"""PDFium, by pypdfium2: files opened, lines read in the order of the file, values of form fields.

PDFium is not safe to use from several threads: it is called in processes that read one file at a time
(semsearch.readers.reader_process). The order of lines in the file is the reading order in nearly all files that
programs write, with two columns too. The values in form fields are not part of the page's text, and are put next to
their labels.
"""

from __future__ import annotations

import ctypes
import math
import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from itertools import pairwise
from typing import Any

from semsearch.errors import MissingExtra, SourceError
from semsearch.readers.pages.pdf_layout import Entry, Gap, PageLine, Pages, in_columns


def pdfium() -> Any:
    """The module pypdfium2. Raises MissingExtra."""
    try:
        import pypdfium2
    except ImportError:
        raise MissingExtra("pypdfium2") from None
    return pypdfium2


@contextmanager
def opened_pdf(data: bytes, name: str) -> Iterator[Any]:
    """Open a PDF file. Raises SourceError for a file that is damaged or needs a password, MissingExtra."""
    pypdfium2 = pdfium()
    try:
        document = pypdfium2.PdfDocument(data)
    except pypdfium2.PdfiumError as error:
        if "password" in str(error).lower():
            raise SourceError(f"{name} is protected by a password; save it without one") from None
        raise SourceError(f"{name} cannot be read as PDF: {str(error).strip('.')}; it may be truncated") from None
    with closing(document):
        yield document


# -- Forms -------------------------------------------------------------------------------------------------------------

_SAME_ROW = 0.8  # letters' heights between a label's baseline and the middle of its field
_USUAL_SIZE = 10.0  # points


def field_lines(document: Any, page: Any, number: int, raw: Any) -> Iterator[PageLine]:
    """The values of a page's text fields and choices, as lines; buttons and empty fields have none."""
    kinds = (raw.FPDF_FORMFIELD_TEXTFIELD, raw.FPDF_FORMFIELD_COMBOBOX, raw.FPDF_FORMFIELD_LISTBOX)
    box = raw.FS_RECTF()
    for index in range(raw.FPDFPage_GetAnnotCount(page)):
        annotation = raw.FPDFPage_GetAnnot(page, index)
        if not annotation:
            continue
        try:
            if raw.FPDFAnnot_GetFormFieldType(document.formenv, annotation) not in kinds:
                continue
            value = " ".join(_value(document, annotation, raw).split())
            if value and raw.FPDFAnnot_GetRect(annotation, box):
                middle = (box.bottom + box.top) / 2 - _USUAL_SIZE / 3
                yield PageLine(value, number, box.left, box.right, middle, _USUAL_SIZE)
        finally:
            raw.FPDFPage_CloseAnnot(annotation)


def with_fields(lines: Sequence[PageLine], fields: Iterable[PageLine]) -> list[PageLine]:
    """Lines with the values after their labels: the last line on the left in the same row, else the last above."""
    placed = list(lines)
    for field in fields:
        row = [place for place, line in enumerate(placed) if line.left < field.left and _is_beside(line, field)]
        above = [place for place, line in enumerate(placed) if line.bottom > field.bottom]
        if row:
            label = placed[row[-1]]
            field = field._replace(bottom=label.bottom, size=label.size)
        placed.insert((row or above or [-1])[-1] + 1, field)
    return placed


def _is_beside(line: PageLine, field: PageLine) -> bool:
    return abs(line.bottom - field.bottom) < _SAME_ROW * max(line.size, field.size)


def _value(document: Any, annotation: Any, raw: Any) -> str:
    size = raw.FPDFAnnot_GetFormFieldValue(document.formenv, annotation, None, 0)
    buffer = ctypes.create_string_buffer(size)
    units = ctypes.cast(buffer, ctypes.POINTER(ctypes.c_ushort))
    raw.FPDFAnnot_GetFormFieldValue(document.formenv, annotation, units, size)
    return buffer.raw[: max(0, size - 2)].decode("utf-16-le", "replace")


# -- Pages -------------------------------------------------------------------------------------------------------------

_LINE_END = re.compile("\r\n|\ufffe")  # U+FFFE is a hyphen at the end of a line, and that end
_ODD = re.compile("[\x00-\x1f\x7f\u00ad\ufffe\uffff]")
_CHANGED = re.compile("[\x00-\x09\x0b\x0c\x0e-\x1f\x7f\u00ad\ue000-\uf8ff\ufb00-\ufb06\ufffd-\uffff]")
_UNREADABLE = re.compile("[\x00-\x08\x0e-\x1f\u25a0\ue000-\uf8ff\ufffd]")  # of fonts that do not say their letters
_LETTER = re.compile(r"\w")
_SPACE = re.compile(r"(?<=\S)[^\S\r\n]+(?=\S)")
_LIGATURES = {0xFB00: "ff", 0xFB01: "fi", 0xFB02: "fl", 0xFB03: "ffi", 0xFB04: "ffl", 0xFB05: "st", 0xFB06: "st"}
_BOLD = 600
_MOST_ENTRIES = 10_000
_PROPERTIES = {"Title": "title", "Author": "author", "Subject": "subject", "Keywords": "keywords"}


def read_pages(data: bytes, name: str) -> Pages:
    """Read the lines, table of contents and properties of a PDF file.

    Raises SourceError for a file that is damaged or needs a password, MissingExtra if pypdfium2 is not installed.
    """
    raw = pdfium().raw
    with opened_pdf(data, name) as document:
        properties = {
            ours: " ".join(value.split())
            for theirs, ours in _PROPERTIES.items()
            if (value := document.get_metadata_value(theirs))
        }
        contents = list(_contents(document))
        pages = Pages(len(document), [], contents, properties, [], {}, document.count_attachments())
        has_form = document.get_formtype() == raw.FORMTYPE_ACRO_FORM
        if has_form:
            document.init_forms()  # before the first page is opened
        for number in range(1, pages.count + 1):
            _read_page(document, number, pages, has_form=has_form)
    return pages


def _read_page(document: Any, number: int, pages: Pages, *, has_form: bool) -> None:
    """Add the lines and the size of a page, or its number to those unread."""
    pypdfium2 = pdfium()
    try:
        page = document[number - 1]
    except pypdfium2.PdfiumError:  # one page of a file that is damaged
        pages.unread.append(number)
        return
    with closing(page), closing(page.get_textpage()) as text:
        lines = _lines(text, page, number, pypdfium2.raw)
        if has_form:
            lines = with_fields(lines, field_lines(document, page, number, pypdfium2.raw))
        pages.sizes[number] = page.get_size()
        is_blank = not pypdfium2.raw.FPDFPage_CountObjects(page.raw)
    pages.lines.extend(lines)
    if not lines and not is_blank:
        pages.unread.append(number)


def _contents(document: Any) -> Iterator[Entry]:
    for number, bookmark in enumerate(document.get_toc()):
        if number >= _MOST_ENTRIES:
            return
        target = bookmark.get_dest()
        index = None if target is None else target.get_index()
        if index is not None:
            yield Entry(bookmark.get_title(), index + 1, bookmark.level + 1)


def _lines(text: Any, page: Any, number: int, raw: Any) -> list[PageLine]:
    content = text.get_text_range()
    if not content or len(_UNREADABLE.findall(content)) * 2 > len(content):
        return []
    page_text = _PageText(text, page, raw, content, number)
    return in_columns(page_text.lines, page_text)


class _PageText:
    """The lines of a page, and where its content has them."""

    def __init__(self, text: Any, page: Any, raw: Any, content: str, number: int) -> None:
        self._content, self._number = content, number
        self._characters = _Characters(text, page, raw)
        self._text, self._raw = text.raw, raw
        self._same = len(content) == text.count_chars()
        self._changed = _CHANGED.search(content.replace("\ufffe", "")) is not None
        self._spans: list[tuple[int, int]] = []
        self.lines: list[PageLine] = []
        start = 0
        ends = [*(match.span() for match in _LINE_END.finditer(content)), (len(content), len(content))]
        for end, following in ends:
            if line := self._line(start, end, hyphen=content[end:following] == "\ufffe"):
                self._spans.append((start, end))
                self.lines.append(line)
            start = following

    def gaps(self, index: int) -> list[Gap]:
        """The gaps between the words of a line."""
        start, end = self._spans[index]
        return [
            Gap(
                match.start(),
                self._characters.right_edge(self._index(match.start() - 1)),
                self._characters.origin(self._index(match.end()))[0],
            )
            for match in _SPACE.finditer(self._content, start + 1, end - 1)
        ]

    def cut(self, index: int, offsets: Sequence[int]) -> list[PageLine]:
        """The pieces of a line that is cut at these offsets."""
        start, end = self._spans[index]
        hyphen = self.lines[index].hyphen
        parts = pairwise([start, *offsets, end])
        return [line for first, last in parts if (line := self._line(first, last, hyphen=hyphen and last == end))]

    def _line(self, start: int, end: int, *, hyphen: bool) -> PageLine | None:
        line = self._content[start:end]
        shown = (_ODD.sub("", line).translate(_LIGATURES) if self._changed else line).strip()
        if not shown:
            return None
        first = self._index(start + len(line) - len(line.lstrip()))
        last = self._index(start + len(line.rstrip()) - 1)
        left, bottom = self._characters.origin(first)
        letter = _LETTER.search(self._content, start + len(line) // 2, end)  # a space that PDFium adds has no size
        size, bold = self._characters.letters(self._index(letter.start()) if letter else first)
        return PageLine(shown, self._number, left, self._characters.right_edge(last), bottom, size, bold, hyphen)

    def _index(self, offset: int) -> int:
        """The number that PDFium gives to a character of the content."""
        return offset if self._same else self._raw.FPDFText_GetCharIndexFromTextIndex(self._text, offset)


class _Characters:
    """The coordinates and sizes of a page's characters as the page is shown: it may be stored rotated."""

    def __init__(self, text: Any, page: Any, raw: Any) -> None:
        self._raw, self._text = raw, text.raw
        self._box, self._matrix = raw.FS_RECTF(), raw.FS_MATRIX()
        self._x, self._y = ctypes.c_double(), ctypes.c_double()
        self._turns = page.get_rotation() // 90
        width, height = page.get_size()
        self._width, self._height = (height, width) if self._turns % 2 else (width, height)

    def origin(self, index: int) -> tuple[float, float]:
        """The left end of a character's baseline."""
        x, y = self._x, self._y
        if not self._raw.FPDFText_GetCharOrigin(self._text, index, x, y):
            return 0.0, 0.0
        return self._turned(x.value, y.value)

    def right_edge(self, index: int) -> float:
        """The right edge of a character."""
        box = self._box
        if not self._raw.FPDFText_GetLooseCharBox(self._text, index, box):
            return 0.0
        return max(self._turned(box.left, box.bottom)[0], self._turned(box.right, box.top)[0])

    def letters(self, index: int) -> tuple[float, bool]:
        """The size of a character in points, and whether it is bold."""
        size = self._raw.FPDFText_GetFontSize(self._text, index)
        matrix = self._matrix
        if self._raw.FPDFText_GetMatrix(self._text, index, matrix):
            size *= math.hypot(matrix.c, matrix.d)
        return max(size, 0.1), self._raw.FPDFText_GetFontWeight(self._text, index) >= _BOLD

    def _turned(self, x: float, y: float) -> tuple[float, float]:
        if self._turns == 0:
            return x, y
        if self._turns == 1:
            return y, self._width - x
        return (self._width - x, self._height - y) if self._turns == 2 else (self._height - y, x)
