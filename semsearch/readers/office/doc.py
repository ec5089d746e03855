"""Word documents of 1997 to 2003 (.doc, .dot): what they show, by paragraphs, tables and notes.

The text is in pieces of the main stream, one byte or two for a character, which a table of pieces puts in order; after
the text come notes, headers, comments, endnotes and text boxes, one behind the other. What paragraphs and characters
are like is in pages of 512 bytes, by the places of the text in the stream ([MS-DOC]). Headings are paragraphs whose
style is a heading's or is based on one; hidden and deleted text is left out, as are macros, pictures and codes of
fields.
"""

from __future__ import annotations

import re
import struct
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import PurePath
from typing import NamedTuple

from semsearch.readers.document import Builder, Document, joined_cells
from semsearch.readers.office.compound_file import CompoundFile, properties, read_by_content

_NEW, _OLD = 0xA5EC, 0xA5DC  # what a document begins with; the other is of Word 6 and 95
_ENCRYPTED, _SECOND_TABLE = 0x0100, 0x0200
_STYLES, _CHARACTERS, _PARAGRAPHS, _PIECES = 1, 12, 13, 33  # what the header has places and sizes of, by number
_OF_NOTES = {"footnote": 3, "comment": 5, "endnote": 47, "text box": 56}
_PARTS = ("", "footnote", "header", "macro", "comment", "endnote", "text box")  # of the text, in their order
_COMPRESSED = 0x40000000  # a piece has one byte for a character
_TITLE, _HEADINGS, _NO_STYLE = 62, 9, 0xFFF
_IN_TABLE, _ROW_END, _OUTLINE = 0x2416, 0x2417, 0x2640  # properties of a paragraph
_NOT_SHOWN = (0x0800, 0x083C)  # properties of characters: deleted, hidden
_LONG = {0xD608}  # a property whose length has two bytes
_FIELD = re.compile(r"\x13[^\x13\x14\x15]*(?:\x14([^\x13\x14\x15]*))?\x15")  # an innermost one
_OPEN = re.compile(r"\x13[^\x13\x14\x15]*(?:\x14|\Z)")  # one that ends in a later paragraph
_DEEPEST = 20  # fields in fields
_MARKS = re.compile(r"[\x00-\x08\x0e-\x1d\x1f\x7f\ufffc]")  # pictures, references, soft hyphens
_BROKEN = str.maketrans({"\x0b": "\n", "\x0c": "\n", "\x1e": "-"})
_ENDS = re.compile(r"[\r\x07\x0c]")
_ALL = 50_000_000  # characters: a table of pieces may name the same ones again and again


class _DocPiece(NamedTuple):
    """Consecutive characters: from which one on, where they are in the stream, how many bytes each has."""

    first: int
    length: int
    place: int
    width: int


class _DocRun(NamedTuple):
    """Bytes of the stream, up to an end, that share properties: the number of their style, and what differs."""

    end: int
    style: int
    changes: dict[int, int]


@dataclass(frozen=True, slots=True)
class _Paragraph:
    """A paragraph or cell, with what it is like."""

    text: str
    end: str  # the character that ends it
    level: int  # as a heading; -1 for the title of the whole
    in_table: bool
    is_row_end: bool


def read(data: bytes, name: str) -> Document:
    """Read a document. Its title is its property, else its first heading of level 1, else its name.

    What only has the ending is read by its content. Raises SourceError for damage, passwords and Word 95.
    """
    if (other := read_by_content(data, name)) is not None:
        return other
    file = CompoundFile(data, name)
    file.check_has("WordDocument")
    try:
        word = _WordFile(file)
        builder = Builder()
        title = word.build(builder)
    except (struct.error, IndexError):
        raise file.damaged("it says that there is more than it has") from None
    metadata = properties(file)
    titles = [metadata.get("title", ""), title, *(block.text for block in builder.blocks if block.level == 1)]
    return Document(builder.source, builder.blocks, "doc", next(filter(None, titles), PurePath(name).stem), metadata)


class _WordFile:
    """The streams of a document, and what its header says of them."""

    def __init__(self, file: CompoundFile) -> None:
        self._stream = file.stream("WordDocument")
        sign, version, flags = struct.unpack_from("<HH6xH", self._stream)
        if sign == _OLD or (sign == _NEW and version < 193):
            raise file.refused("it was written by Word 95 or earlier; save it as .docx")
        if sign != _NEW:
            raise file.damaged("its header is not Word's")
        if flags & _ENCRYPTED:
            raise file.refused("it is protected by a password; save it without one")
        self._table = file.stream("1Table" if flags & _SECOND_TABLE else "0Table")
        self._pieces = list(self._read_pieces())
        self._starts = [piece.first for piece in self._pieces]
        self._levels = self._read_levels()
        self._runs = list(self._read_runs(_PARAGRAPHS))
        self._hidden = [
            (run.end, any(run.changes.get(kind) == 1 for kind in _NOT_SHOWN)) for run in self._read_runs(_CHARACTERS)
        ]
        self._run_ends = [run.end for run in self._runs]
        self._hidden_ends = [end for end, _ in self._hidden]

    def _named(self, number: int) -> bytes:
        """What the header says stands at a place of the table's stream."""
        (count,) = struct.unpack_from("<H", self._stream, 152)
        if number >= count:
            return b""
        place, size = struct.unpack_from("<II", self._stream, 154 + 8 * number)
        return self._table[place : place + size]

    def _read_pieces(self) -> Iterator[_DocPiece]:
        data, at, total = self._named(_PIECES), 0, 0
        while at < len(data) and data[at] == 1:  # changes of formats, which are skipped
            at += 3 + int.from_bytes(data[at + 1 : at + 3], "little")
        (size,) = struct.unpack_from("<xI", data, at)
        count = max(0, size - 4) // 12
        bounds = struct.unpack_from(f"<{count + 1}I", data, at + 5)
        for number in range(count):
            (place,) = struct.unpack_from("<I", data, at + 5 + 4 * (count + 1) + 8 * number + 2)
            first, length = bounds[number], bounds[number + 1] - bounds[number]
            width = 1 if place & _COMPRESSED else 2
            place = (place & (_COMPRESSED - 1)) // (3 - width)
            length = min(length, (len(self._stream) - place) // width, _ALL - total)
            if length > 0:
                total += length
                yield _DocPiece(first, length, place, width)

    def _read_levels(self) -> list[int]:
        """The heading level of each style: 0 for none, -1 for the title of the whole."""
        data = self._named(_STYLES)
        if len(data) < 6:
            return []
        size, count = struct.unpack_from("<HH", data)
        at, styles = 2 + size, list[tuple[int, int]]()
        for _ in range(min(count, _NO_STYLE)):
            (length,) = struct.unpack_from("<H", data, at)
            kind, based = struct.unpack_from("<HH", data, at + 2) if length >= 4 else (_NO_STYLE, 0xFFFF)
            styles.append((kind & 0xFFF, based >> 4))
            at += 2 + length + length % 2
            if at + 2 > len(data):
                break
        return [_level(styles, number) for number in range(len(styles))]

    def _read_runs(self, what: int) -> Iterator[_DocRun]:
        """The runs of paragraphs or characters, in the order of the stream."""
        data = self._named(what)
        count = max(0, len(data) - 4) // 8
        for page in struct.unpack_from(f"<{count}I", data, 4 * (count + 1)):
            at = 512 * (page & 0x3FFFFF)
            block = self._stream[at : at + 512]
            if len(block) < 512:
                continue
            runs = block[511]
            ends = struct.unpack_from(f"<{min(runs, 126) + 1}I", block)[1:]
            for number, end in enumerate(ends):
                step = 13 if what == _PARAGRAPHS else 1
                place = 2 * block[min(4 * (len(ends) + 1) + step * number, 510)]
                yield _DocRun(
                    end, *(_paragraph_changes(block, place) if step == 13 else _character_changes(block, place))
                )

    def _characters(self, first: int, end: int) -> Iterator[tuple[str, Sequence[int]]]:
        """The characters between two numbers, in pieces that are shown or not alike, with their ends in the stream."""
        for piece in self._pieces[max(0, bisect_right(self._starts, first) - 1) :]:
            start, stop = max(first, piece.first), min(end, piece.first + piece.length)
            if piece.first >= end:
                return
            at, last = (piece.place + (each - piece.first) * piece.width for each in (start, max(start, stop)))
            while at < last:
                number = bisect_right(self._hidden_ends, at)
                upto, is_hidden = self._hidden[number] if number < len(self._hidden) else (last, False)
                upto = min(last, max(at + piece.width, at + (upto - at) // piece.width * piece.width))
                raw = self._stream[at:upto]
                text = raw.decode("cp1252" if piece.width == 1 else "utf-16-le", "replace")
                if piece.width == 2 and len(text) != len(raw) // 2:  # characters of two units, each with its mark
                    text = "".join(map(chr, struct.unpack(f"<{len(raw) // 2}H", raw)))
                yield ("" if is_hidden else text), range(at + piece.width, upto + 1, piece.width)
                at = upto

    def paragraphs(self, first: int, end: int) -> Iterator[_Paragraph]:
        """The paragraphs between two numbers of characters."""
        parts: list[str] = []
        for text, ends in self._characters(first, end):
            last = 0
            for found in _ENDS.finditer(text):
                parts.append(text[last : found.start()])
                yield self._paragraph("".join(parts), found[0], ends[found.start()])
                parts, last = [], found.end()
            parts.append(text[last:])
        if any(parts):
            yield self._paragraph("".join(parts), "\r", 0)

    def _paragraph(self, text: str, end: str, place: int) -> _Paragraph:
        number = bisect_right(self._run_ends, place - 1)
        run = self._runs[number] if number < len(self._runs) else _DocRun(0, 0, {})
        level = self._levels[run.style] if run.style < len(self._levels) else 0
        if (outline := run.changes.get(_OUTLINE, _HEADINGS)) < _HEADINGS:
            level = outline + 1
        return _Paragraph(_shown(text), end, level, bool(run.changes.get(_IN_TABLE)), bool(run.changes.get(_ROW_END)))

    def build(self, builder: Builder) -> str:
        """Add all that is shown; the title of the whole, if a paragraph has that style."""
        lengths = struct.unpack_from("<7I", self._stream, 76)
        starts = [sum(lengths[:number]) for number in range(len(lengths))]
        title = _add_text(self.paragraphs(0, lengths[0]), builder)
        builder.end_sections()
        for kind, start, length in zip(_PARTS, starts, lengths, strict=True):
            if kind in _OF_NOTES and length:
                for number, (first, end) in enumerate(self._notes(_OF_NOTES[kind], length), start=1):
                    for paragraph in self.paragraphs(start + first, start + end):
                        place = f"{kind} {number}"
                        builder.add(paragraph.text.strip(), place=place, part=kind)
        return title

    def _notes(self, what: int, length: int) -> Iterator[tuple[int, int]]:
        """The first and last character of each note of a kind."""
        data, size = self._named(what), 22 if what == _OF_NOTES["text box"] else 0
        count = max(0, len(data) - 4) // (4 + size) + 1
        bounds = sorted({min(each, length) for each in struct.unpack_from(f"<{count}I", data)}) if data else [0, length]
        yield from pairwise(bounds)


def _level(styles: Sequence[tuple[int, int]], number: int) -> int:
    for _ in range(len(styles)):
        if number >= len(styles):
            return 0
        kind, number = styles[number]
        if 1 <= kind <= _HEADINGS:
            return kind
        if kind == _TITLE:
            return -1
    return 0


def _paragraph_changes(block: bytes, place: int) -> tuple[int, dict[int, int]]:
    if not place:
        return 0, {}
    size = block[place]
    start, end = (place + 1, place + 2 * size) if size else (place + 2, place + 2 + 2 * block[min(place + 1, 511)])
    found = block[start:end]
    return int.from_bytes(found[:2], "little"), dict(_changes(found[2:]))


def _character_changes(block: bytes, place: int) -> tuple[int, dict[int, int]]:
    return 0, dict(_changes(block[place + 1 : place + 1 + block[place]])) if place else {}


def _changes(data: bytes) -> Iterator[tuple[int, int]]:
    """Properties, each with the first byte of its value."""
    at = 0
    while at + 3 <= len(data):
        kind = int.from_bytes(data[at : at + 2], "little")
        yield kind, data[at + 2]
        length = (1, 1, 2, 4, 2, 2, 0, 3)[kind >> 13]
        if not length:
            length = int.from_bytes(data[at + 2 : at + 4], "little") + 1 if kind in _LONG else 1 + data[at + 2]
        at += 2 + length


def _shown(text: str) -> str:
    """What is shown of a paragraph: the results of fields, without marks of pictures and references."""
    for _ in range(_DEEPEST if "\x13" in text else 0):
        text, count = _FIELD.subn(lambda found: found[1] or "", text)
        if not count:
            break
    text = _MARKS.sub("", _OPEN.sub("", text).translate(_BROKEN))
    return text if text.isascii() else text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def _add_text(paragraphs: Iterator[_Paragraph], builder: Builder) -> str:
    """Add paragraphs and rows of tables; the title of the whole, or ""."""
    title, count, table, row = "", 0, 0, 0
    cells, cell, was_in_table = list[str](), list[str](), False
    for each in paragraphs:
        if each.in_table or each.end == "\x07":
            if not was_in_table:
                table, row, cells, cell = table + 1, 0, [], []
            was_in_table = True
            cell.append(each.text)
            if each.end == "\x07" and not each.is_row_end:
                cells.append(" ".join(cell))
                cell = []
            if each.is_row_end:
                row += 1
                builder.add(joined_cells(cells), place=f"table {table}, row {row}")
                cells, cell = [], []
            continue
        if cells:  # a table without ends of rows
            builder.add(joined_cells(cells), place=f"table {table}, row {row + 1}")
        cells, was_in_table, count = [], False, count + 1
        text = each.text.strip()
        if each.level < 0 and not title:
            title = " ".join(text.split())
        if level := max(0, each.level):
            builder.add(" ".join(text.split()), level=level, place=f"paragraph {count}")
        else:
            builder.add(text, place=f"paragraph {count}")
    if cells:
        builder.add(joined_cells(cells), place=f"table {table}, row {row + 1}")
    return title
