"""Documents as bytes, for what another process has read (semsearch.readers.reader_process), and their check.

The source comes first, as UTF-8, and then JSON, which has the blocks by columns: all texts, all starts and so on. A
text that stands in the source is only its length, a place its number in a list. The other process may have been taken
over by the file that it read. So whatever it sends makes a document of the right types, whose blocks lie in its source,
or is refused.

A long document is sent in parts, so that neither process ever has all of it: each is a document of the next blocks,
and the first has the title and what is said of the whole.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from importlib import import_module
from itertools import chain, islice, pairwise, starmap
from typing import Any, NoReturn, cast, get_args

from semsearch.readers.document import Block, Document, LazyBlocks, LongText, Spot, packed_blocks
from semsearch.readers.records import Columns
from semsearch.results.omissions import Omission, OmissionKind

_SIZE = struct.Struct(">Q")
_MOST = 1 << 53  # of any number
_DEEPEST = 1000  # level of a heading: of code, as deep as it is nested
_MOST_BLOCKS = 50_000_000
_KINDS = frozenset(get_args(OmissionKind))


class NotADocument(ValueError):
    """Bytes that are no document."""


# -- Encode ------------------------------------------------------------------------------------------------------------


_PART = 1 << 19  # characters of a long document that are sent at once


def read_encoded(
    data: bytes, module: str, name: str, is_text: bool, columns: tuple[list[str], list[str]] | None
) -> Generator[bytes, None, bytes]:
    """Read a file by the reader in a module, and encode its document: what the other process is asked to do."""
    source = data.decode("utf-8", "surrogatepass") if is_text else data
    chosen = () if columns is None else (Columns(*map(tuple, columns)),)
    document = import_module(module).read(source, name, *chosen)
    if not isinstance(document, Document):
        raise TypeError(f"{module}.read returned {type(document).__name__}, not a semsearch Document")
    yield from encoded_parts(document)
    return b""


def encoded_parts(document: Document) -> Iterator[bytes]:
    """A document as bytes, in parts if it is long."""
    if isinstance(document.source, str):
        yield encode(document)
        return
    source, start, blocks = document.source, 0, list[Block]()
    for block in document.blocks:
        if block.start - start >= _PART:
            yield encode(replace(document, source=source[start : block.start], blocks=blocks))
            document, start, blocks = _REST, block.start, []
        blocks.append(_moved(block, -start))
    yield encode(replace(document, source=source[start : len(source)], blocks=blocks))


def _moved(block: Block, by: int) -> Block:
    """A block of a source that begins elsewhere."""
    anchors = tuple((offset, place + by) for offset, place in block.anchors)
    return replace(block, start=block.start + by, anchors=anchors) if by else block


_REST = Document("", ())


def encode(document: Document) -> bytes:
    """A document as bytes."""
    source, blocks, names = str(document.source), [*document.blocks], _Names()
    anchors = [*chain.from_iterable(block.anchors for block in blocks)]
    spots = [*chain.from_iterable(block.spots for block in blocks)]
    sentences = [*chain.from_iterable(block.sentences for block in blocks)]
    columns: list[list[Any]] = [
        [len(block.text) if source.startswith(block.text, block.start) else block.text for block in blocks],
        [block.start for block in blocks],
        [block.level for block in blocks],
        [block.page for block in blocks],
        [names.number(block.place) for block in blocks],
        [names.number(block.part) for block in blocks],
        [None if block.metadata is None else dict(block.metadata) for block in blocks],
        [len(block.anchors) for block in blocks],
        [offset for offset, _ in anchors],
        [place for _, place in anchors],
        [len(block.spots) for block in blocks],
        [spot.offset for spot in spots],
        [spot.page for spot in spots],
        [names.number(spot.place) for spot in spots],
        [len(block.sentences) for block in blocks],
        [start for start, _ in sentences],
        [end for _, end in sentences],
    ]
    rest = [
        document.title,
        dict(document.metadata),
        [[each.kind, each.count, each.detail] for each in document.omissions],
        document.columns,
        [*names.numbers],
        [column if any(column) else len(column) for column in columns],
    ]
    text = source.encode("utf-8", "replace")  # half a surrogate pair is no character; its place stays one
    return b"".join((_SIZE.pack(len(text)), text, json.dumps(rest, ensure_ascii=False).encode("utf-8", "replace")))


class _Names:
    """The places and parts of blocks, which are few: each is written once."""

    def __init__(self) -> None:
        self.numbers: dict[str, int] = {}

    def number(self, name: str | None) -> int | None:
        """The number of a name, counted from 1, so that it says something; none of none."""
        return None if name is None else self.numbers.setdefault(name, len(self.numbers) + 1)


# -- Decode ------------------------------------------------------------------------------------------------------------


class DocumentParts:
    """The parts of a document, which are checked and packed as they come."""

    def __init__(self) -> None:
        self._first: Document | None = None
        self._text = LongText()
        self._blocks = list[Sequence[Block]]()

    def __bool__(self) -> bool:
        return self._first is not None

    def take(self, data: bytes) -> None:
        """Take the next part. Raises NotADocument."""
        part = decode(data)
        if self._first is None:
            self._first = part
            return
        if not self._blocks:
            self._add(self._first)
            self._first = replace(self._first, source="", blocks=())
        self._add(part)

    def _add(self, part: Document) -> None:
        start = len(self._text)
        self._text.add(str(part.source))
        self._blocks.append(packed_blocks((_moved(block, start) for block in part.blocks), self._text))

    def document(self) -> Document:
        """The document of all parts. Raises NotADocument if there is none."""
        if self._first is None:
            _refuse("it has no parts")
        if not self._blocks:
            return self._first
        return replace(self._first, source=self._text, blocks=LazyBlocks(lambda: chain.from_iterable(self._blocks)))


def decode(data: bytes) -> Document:
    """The document of these bytes. Raises NotADocument."""
    try:
        (size,) = _SIZE.unpack_from(data)
        if size > len(data):
            _refuse("its source is cut short")
        view = memoryview(data)
        source = str(view[_SIZE.size : _SIZE.size + size], "utf-8")
        title, metadata, omissions, columns, names, blocks = json.loads(str(view[_SIZE.size + size :], "utf-8"))
        return Document(
            source,
            packed_blocks(_blocks(blocks, source, [None, *map(_text, names)]), source),
            title=_text(title),
            metadata=_mapping(metadata),
            omissions=tuple(_omission(*each) for each in omissions),
            columns=tuple(map(_text, columns)),
        )
    except (ValueError, TypeError, LookupError, RecursionError, struct.error) as error:
        raise NotADocument(str(error)) from None


def _blocks(columns: list[Any], source: str, names: Sequence[str | None]) -> Iterator[Block]:
    """The blocks, of columns, of which one in which nothing is said is its length."""
    texts, starts, levels, pages, places, parts, metadata, *of_anchors = columns
    anchors, offsets, sources, spots, spot_offsets, spot_pages, spot_places, sentences, *spans = of_anchors
    starts = _numbers(starts, len(source))
    found_texts = (  # one at a time: together they are as long as the source
        source[start : start + text] if type(text) is int and text >= 0 else _text(text)
        for start, text in zip(starts, _column(texts, 0), strict=True)
    )
    pairs = zip(_numbers(offsets, _MOST), _numbers(sources, len(source)), strict=True)
    found = zip(_numbers(spot_offsets, _MOST), _numbers_or_none(spot_pages), _named(spot_places, names), strict=True)
    values = (
        found_texts,
        starts,
        _numbers(levels, _DEEPEST),
        _numbers_or_none(pages),
        _groups(anchors, pairs),
        _named(places, names),
        _named(parts, names),
        _groups(spots, map(Spot._make, found), first=0),
        [None if each is None else _mapping(each) for each in _column(metadata, None)],
        _groups(sentences, zip(*(_numbers(each, _MOST) for each in spans), strict=True)),
    )
    for each in starmap(Block, zip(*values, strict=True)):
        if any(not start <= end <= len(each.text) for start, end in each.sentences):
            _refuse("it has sentences outside of its texts")
        yield each


def _groups(counts: Any, items: Iterable[Any], *, first: int | None = None) -> list[tuple[Any, ...]]:
    """The items of each block, so many each, which rise by what comes first in them, from `first` on if it is given."""
    rest = iter(items)
    if type(counts) is int:  # none has any, and for text without markup that is the whole work
        groups: list[tuple[Any, ...]] = [()] * len(_column(counts, 0))
        counts = ()
    else:
        counts = _numbers(counts, _MOST_BLOCKS)
        groups = [tuple(islice(rest, count)) for count in counts]
    if next(rest, None) is not None or sum(map(len, groups)) != sum(counts):
        _refuse("it has not as many offsets as its blocks")
    for group in groups if counts else ():
        if group and first is not None and group[0][0] != first:
            _refuse("its spots do not begin at 0")
        if len(group) > 1 and any(one[0] > other[0] for one, other in pairwise(group)):
            _refuse("its offsets do not rise")
    return groups


def _column(values: Any, default: object) -> Sequence[Any]:
    if type(values) is int and 0 <= values <= _MOST_BLOCKS:
        return [default] * values
    if type(values) is not list:
        _refuse("a column of its blocks is no list")
    return cast(Sequence[Any], values)


def _numbers(values: Any, most: int) -> Sequence[int]:
    """Whole numbers from 0 to the most."""
    found = _column(values, 0)
    if found and ({*map(type, found)} != {int} or min(found) < 0 or max(found) > most):
        _refuse("it has a number that is out of range")
    return found


def _numbers_or_none(values: Any) -> Sequence[int | None]:
    found = _column(values, None)
    _numbers([each for each in found if each is not None], _MOST)
    return found


def _named(values: Any, names: Sequence[str | None]) -> Sequence[str | None]:
    numbers = _numbers_or_none(values)
    return [None if number is None else names[number] for number in numbers]


def _omission(kind: Any, count: Any, detail: Any) -> Omission:
    if kind not in _KINDS:
        _refuse("it omits what is not known")
    return Omission(cast(OmissionKind, kind), _number(count), _text(detail))


def _number(value: Any, most: int = _MOST) -> int:
    if type(value) is not int or not 0 <= value <= most:
        _refuse("it has a number that is out of range")
    return value


def _text(value: Any) -> str:
    if type(value) is not str:
        _refuse("it has something else than a text")
    if not value.isascii():
        value.encode()  # JSON can spell what is no character
    return value


def _mapping(value: Any) -> Mapping[str, Any]:
    if type(value) is not dict:
        _refuse("its metadata are no object")
    json.dumps(value, ensure_ascii=False).encode()  # as above
    return cast(Mapping[str, Any], value)


def _refuse(reason: str) -> NoReturn:
    raise NotADocument(reason)
