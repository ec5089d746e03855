"""Documents as all readers return them, and what readers build them with: blocks, rows of tables, damaged parts.

A block is one heading or one paragraph-like piece (paragraph, list item, table row, code block), in reading order. Its
text is clean (no markup). Where markup was removed, `anchors` map the clean characters to the source, so that a
sentence can be found again in the file, to the character and the line.
"""

from __future__ import annotations

import json
import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Sized
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from itertools import accumulate, chain, pairwise
from operator import itemgetter
from pathlib import PurePath
from typing import Any, NamedTuple

from semsearch.errors import SourceError
from semsearch.results.codec import Record
from semsearch.results.reports import OmissionKind as OmissionKind

Anchors = tuple[tuple[int, int], ...]  # (offset in clean text, offset in source), rising in the first
_LINE_END = re.compile(r"\r\n?|\n")


class Spot(NamedTuple):
    """The page and place of a block's text from an offset on, until the next spot."""

    offset: int  # in the block's text
    page: int | None
    place: str | None


@dataclass(frozen=True, slots=True)
class Block:
    """A heading or paragraph. `start` is a character offset into `Document.source`.

    A heading without text ends the sections of its level and below: the blocks after it are under none of them.
    """

    text: str
    start: int
    level: int = 0  # 0: body; 1 to 6: a heading of that level
    page: int | None = None
    anchors: tuple[tuple[int, int], ...] = ()  # (offset in text, offset in source), rising; empty: text is a slice
    place: str | None = None  # in the document's own terms: "slide 3", "Sheet1!B7", "cell 4", "message 12"
    part: str | None = None  # no passage extends beyond it: the slide or the message, not a table's row
    spots: tuple[Spot, ...] = ()  # rising, the first for offset 0; empty: all of it is at `page` and `place`
    metadata: Mapping[str, Any] | None = None  # JSON values: the chosen columns of the block's record
    sentences: tuple[tuple[int, int], ...] = ()  # (start, end) of each in the text, rising, if the reader knows them

    def page_at(self, offset: int) -> int | None:
        """The page of the character at `offset` of the text."""
        return self._spot(offset).page if self.spots else self.page

    def place_at(self, offset: int) -> str | None:
        """The place of the character at `offset` of the text."""
        return self._spot(offset).place if self.spots else self.place

    def _spot(self, offset: int) -> Spot:
        return self.spots[max(0, bisect_right(self.spots, offset, key=itemgetter(0)) - 1)]

    def source_offset(self, offset: int) -> int:
        """The offset in the source of the character at `offset` of the clean text."""
        return mapped_by(self.anchors, offset) if self.anchors else self.start + offset


def mapped_by(anchors: Sequence[tuple[int, int]], offset: int) -> int:
    """The offset in the source of the character at `offset` of a clean text. There is one anchor at least."""
    following = bisect_right(anchors, (offset, 1 << 62))
    clean, source = anchors[max(0, following - 1)]
    mapped = source + max(0, offset - clean)
    return min(mapped, anchors[following][1]) if 0 < following < len(anchors) else mapped


class LazyBlocks(Sequence[Block]):
    """Blocks that are made each time they are gone through: those of a long table take thirty times its memory.

    An index goes through them once; to take one by its number makes all before it.
    """

    def __init__(self, make: Callable[[], Iterable[Block]]) -> None:
        self._make = make

    def __iter__(self) -> Iterator[Block]:
        return iter(self._make())

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def __bool__(self) -> bool:
        return next(iter(self), None) is not None

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and [*self] == [*other]

    __hash__ = None  # type: ignore[assignment]  # as a list

    def __getitem__(self, index: Any) -> Any:
        return [*self][index]


WAITING = "its text is recognized last: semsearch index goes on with it"


@dataclass(frozen=True, slots=True)
class Omission(Record):
    """A part of a file that its reader could not read, or may have misread."""

    kind: OmissionKind
    count: int = 1  # number of pages, byte sequences, attachments, bytes
    detail: str = ""  # which, or how they were read


def together(omissions: Iterable[Omission]) -> tuple[Omission, ...]:
    """The omissions of a file, from those of its parts: those of one kind and detail are summed."""
    counts = Counter[tuple[OmissionKind, str]]()
    for omission in omissions:
        counts[omission.kind, omission.detail] += omission.count
    return tuple(Omission(kind, count, detail) for (kind, detail), count in counts.items())


@dataclass(frozen=True, slots=True)
class Document:
    """A file that was read, or a text given to `Index.add`, before it is divided into passages."""

    source: str  # the decoded text as it stands in the file; line n is its n-th line
    blocks: Sequence[Block]
    format: str = "text"  # text, markdown, rst, html, ...
    title: str = ""
    metadata: Mapping[str, Any] = field(default_factory=dict)  # JSON values: front matter, <meta>, field lists
    omissions: tuple[Omission, ...] = ()  # parts of the file that are not in it, or may be wrong
    columns: tuple[str, ...] = ()  # names of the columns of a table or of records


def title_of(name: str, *titles: str, blocks: Iterable[Block] = ()) -> str:
    """The first of these titles that is not empty, else the first heading of level 1, else the file's name."""
    headings = (block.text for block in blocks if block.level == 1)
    shown = (" ".join(title.split()) for title in chain(titles, headings))
    return next(filter(None, shown), PurePath(name).stem)


def line_starts(source: str) -> list[int]:
    """The offset at which each line begins, as an editor counts lines: they end with CRLF, LF or a lone CR."""
    if "\r" not in source:
        before = accumulate(map(len, source.split("\n")[:-1]), initial=0)
        return [number + characters for number, characters in enumerate(before)]
    return [0, *(end.end() for end in _LINE_END.finditer(source))]


def each_line_span(source: str) -> Iterator[tuple[int, int]]:
    """Where each line begins and ends, with what ends it: for a text of millions of lines."""
    start = 0
    for match in _LINE_END.finditer(source):
        yield start, match.end()
        start = match.end()
    yield start, len(source)


@dataclass(frozen=True, slots=True)
class Text:
    """A document that is in no file. `metadata` and a non-empty `title` override those found in the text."""

    id: str
    text: str
    title: str = ""
    metadata: Mapping[str, Any] = field(default_factory=dict)
    format: str = "text"


# -- Builder -----------------------------------------------------------------------------------------------------------

_NONE = 7  # below the deepest heading
_LONGEST_PLACE = 200  # characters: it is kept with every block, and a made-up name of a sheet may have a million


class Builder:
    """Collects the blocks of a document, and joins them to its source text."""

    def __init__(self) -> None:
        self.blocks: list[Block] = []
        self._texts: list[str] = []
        self._length = 0  # of the source so far
        self._deepest = 0  # level of the heading that blocks stand under
        self._ending = _NONE  # level of the sections that end with the next block

    def add(
        self,
        text: str,
        *,
        level: int = 0,
        page: int | None = None,
        place: str | None = None,
        part: str | None = None,
        spots: Sequence[Spot] = (),
        metadata: Mapping[str, Any] | None = None,
    ) -> None:
        """Add a block, if it is not empty. With `spots`, these locate its text, not `page` and `place`."""
        text = text.replace("\r\n", "\n").replace("\r", "\n")
        start = len(text) - len(text.lstrip() if text.lstrip("\n")[:1] == " " else text.lstrip("\n"))
        if text := text[start:].rstrip():
            place, part = place and place[:_LONGEST_PLACE], part and part[:_LONGEST_PLACE]
            if spots:
                spots = _from(spots, start)
                page, place = spots[0].page, spots[0].place
            self._end_sections(level)
            self.blocks.append(Block(text, self._length, level, page, (), place, part, tuple(spots), metadata))
            self._texts.append(f"{text}\n\n")
            self._length += len(text) + 2

    def end_sections(self, level: int = 1) -> None:
        """End all sections of this level and deeper ones: the next block is under none of their headings."""
        self._ending = min(level, self._ending)

    def _end_sections(self, level: int) -> None:
        """Before a block of a level: end what is to end, if that block would not end it anyway."""
        if (not level or level > self._ending) and self._ending <= self._deepest:
            self.blocks.append(Block("", self._length, self._ending))
            self._deepest = self._ending - 1
        self._deepest, self._ending = level or self._deepest, _NONE

    def add_all(
        self,
        blocks: Iterable[Block],
        *,
        place: str | None = None,
        part: str | None = None,
        metadata: Mapping[str, Any] | None = None,
    ) -> None:
        """Add the blocks of a part that another reader has read."""
        for block in blocks:
            self.add_block(replace(block, place=place or block.place, part=part or block.part, metadata=metadata))

    def add_block(self, block: Block) -> None:
        """Add a block that another reader has made; one without text ends the sections of its level."""
        if block.level and not block.text:
            self.end_sections(block.level)
        self.add(
            block.text,
            level=block.level,
            page=block.page,
            place=block.place,
            part=block.part,
            spots=block.spots,
            metadata=block.metadata,
        )

    @property
    def source(self) -> str:
        """The text of all blocks, with an empty line between them."""
        return "".join(self._texts)


def _from(spots: Sequence[Spot], start: int) -> list[Spot]:
    """The spots of a text of which only text[start:] is left. Of several at one offset, the last counts."""
    at = {max(0, spot.offset - start): spot for spot in spots}
    return [spot._replace(offset=offset) for offset, spot in sorted(at.items())]


# -- Damaged parts -----------------------------------------------------------------------------------------------------

_NAMED = 3  # of what is left out, in a report


def first_names(names: Sequence[str]) -> str:
    """The first of some names, for a report."""
    return ", ".join(filter(None, names[:_NAMED])) + (", ..." if len(names) > _NAMED else "")


class DamagedParts:
    """Collects the errors of the parts of one file, which are left out and reported, so that the rest can be read.

    One broken slide is no reason to lose a talk, one message of a mailbox none to lose the others.
    """

    def __init__(self, name: str) -> None:
        self._name = name
        self._errors: list[SourceError] = []

    @contextmanager
    def left_out(self) -> Iterator[None]:
        """A SourceError within ends the part that is read, and not the file."""
        try:
            yield
        except SourceError as error:
            self._errors.append(error)

    def omissions(self, blocks: Sized) -> tuple[Omission, ...]:
        """Return the omissions of a document with these blocks. Raises SourceError if no block is left."""
        if not self._errors:
            return ()
        if not len(blocks):
            raise SourceError(f"{self._name} has no part that can be read: {self._errors[0]}")
        return (Omission("damaged parts", len(self._errors), "; ".join(map(str, self._errors[:_NAMED]))),)


# -- Cells of a row ----------------------------------------------------------------------------------------------------

_ALONE = 30  # words: about two sentences, and more than a row of names and numbers


def joined_cells(cells: Iterable[str]) -> str:
    """Join cells with " | " between them, or only a space where a sentence has just ended; empty ones are left out."""
    row: list[str] = []
    for cell in filter(None, (" ".join(cell.split()) for cell in cells)):
        row += (gap(row[-1]), cell) if row else (cell,)
    return "".join(row)


def gap(before: str) -> str:
    """The separator between two cells of a row, given the text before it, which is not empty."""
    return " | " if before[-1] not in ".!?…" else " "


def stands_alone(text: str) -> bool:
    """Tell whether a record is so long that it shares no passage with the records before and after it."""
    return len(text.split(maxsplit=_ALONE)) >= _ALONE


# -- Documents of another process --------------------------------------------------------------------------------------
# The process that reads a file may have been taken over by it. So whatever it sends makes a document of the right
# types, whose blocks lie in its source, or is refused.

_MOST = 1 << 53  # of any number
_DEEPEST = 1000  # level of a heading: of code, as deep as it is nested


class NotADocument(ValueError):
    """Bytes that are no document."""


def encode_document(document: Document, text: str | None = None) -> bytes:
    """A document as bytes, without its source if that is `text`, which whoever asks has.

    Half a surrogate pair, which is no character, becomes a question mark.
    """
    import msgspec  # takes a twentieth of a cold query's time, which reads no documents

    source = "" if document.source == text else document.source
    document = replace(document, source=source, blocks=[*document.blocks])
    try:
        return msgspec.json.encode(document)
    except UnicodeEncodeError:
        return json.dumps(msgspec.to_builtins(document), ensure_ascii=False).encode("utf-8", "replace")


def decode_document(data: bytes, text: str = "") -> Document:
    """The document of these bytes; if it has no source, that is `text`. Raises NotADocument."""
    import msgspec  # as above

    try:
        document = msgspec.json.decode(data, type=Document)
    except (ValueError, RecursionError) as error:  # msgspec's errors are ValueErrors
        raise NotADocument(str(error)) from None
    document = document if document.source else replace(document, source=text)
    if any(not 0 <= omission.count <= _MOST for omission in document.omissions):
        raise NotADocument("it has a number that is out of range")
    for block in document.blocks:
        if reason := _what_is_wrong(block, len(document.source)):
            raise NotADocument(reason)
    return document


def _what_is_wrong(block: Block, length: int) -> str:
    """Why a block cannot be one of a source of this length; "" if it can."""
    sources = [block.start, *(source for _, source in block.anchors)]
    numbers = [*(offset for offset, _ in block.anchors), *(spot.page or 0 for spot in block.spots), block.page or 0]
    if not block.anchors:  # it is a slice of the source
        sources.append(block.start + len(block.text))
    if min(sources) < 0 or max(sources) > length:
        return "a block lies outside of its source"
    if not 0 <= block.level <= _DEEPEST or min(numbers) < 0 or max(numbers) > _MOST:
        return "it has a number that is out of range"
    if not _rises(block.anchors) or not _rises(block.spots) or not _rises(block.sentences):
        return "its offsets do not rise"
    if block.spots and block.spots[0].offset != 0:
        return "its spots do not begin at 0"
    if any(not 0 <= start <= end <= len(block.text) for start, end in block.sentences):
        return "it has sentences outside of its texts"
    return ""


def _rises(items: Iterable[tuple[Any, ...]]) -> bool:
    return all(first[0] <= second[0] for first, second in pairwise(items))
