"""Documents as bytes, for what another process has read (semsearch.readers.reader_process), and their check.

The source comes first, as UTF-8, and then JSON: a text that stands in the source is only its length. The other process
may have been taken over by the file that it read. So whatever it sends makes a document of the right types, whose
blocks are in order and lie in its source, or is refused.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Mapping, Sequence
from importlib import import_module
from itertools import chain
from typing import Any, NoReturn, cast, get_args

from semsearch.readers.document import Block, Document, Spot
from semsearch.readers.records import Columns
from semsearch.results.omissions import Omission, OmissionKind

_SIZE = struct.Struct(">Q")
_MOST = 1 << 53  # of any number
_DEEPEST = 1000  # level of a heading: of code, as deep as it is nested
_DEFAULTS = (0, 0, 0, None, None, None, (), (), None)  # of the fields of a block
_KINDS = frozenset(get_args(OmissionKind))


class NotADocument(ValueError):
    """Bytes that are no document."""


# -- Encode ------------------------------------------------------------------------------------------------------------


def read_encoded(
    data: bytes, module: str, name: str, is_text: bool, columns: tuple[list[str], list[str]] | None
) -> bytes:
    """Read a file by the reader in a module, and encode its document: what the other process is asked to do."""
    source = data.decode("utf-8", "surrogatepass") if is_text else data
    chosen = () if columns is None else (Columns(*map(tuple, columns)),)
    document = import_module(module).read(source, name, *chosen)
    if not isinstance(document, Document):
        raise TypeError(f"{module}.read returned {type(document).__name__}, not a semsearch Document")
    return encode(document)


def encode(document: Document) -> bytes:
    """A document as bytes."""
    source = document.source
    rest = [
        document.title,
        dict(document.metadata),
        [[each.kind, each.count, each.detail] for each in document.omissions],
        document.columns,
        [_encoded(block, source) for block in document.blocks],
    ]
    text = source.encode("utf-8", "surrogatepass")
    return _SIZE.pack(len(text)) + text + json.dumps(rest, ensure_ascii=False).encode("utf-8", "surrogatepass")


def _encoded(block: Block, source: str) -> list[Any]:
    text, start = block.text, block.start
    found: list[Any] = [
        len(text) if source.startswith(text, start) else text,
        start,
        block.level,
        block.page,
        block.place,
        block.part,
        [*chain.from_iterable(block.anchors)],
        [*chain.from_iterable(block.spots)],
        None if block.metadata is None else dict(block.metadata),
    ]
    while not found[-1]:
        found.pop()  # a block has at least one that says something, but for an empty one at the start
        if not found:
            break
    return found


# -- Decode ------------------------------------------------------------------------------------------------------------


def decode(data: bytes) -> Document:
    """The document of these bytes. Raises NotADocument."""
    try:
        (size,) = _SIZE.unpack_from(data)
        if size > len(data):
            _refuse("its source is cut short")
        source = data[_SIZE.size : _SIZE.size + size].decode("utf-8", "surrogatepass")
        title, metadata, omissions, columns, blocks = json.loads(
            data[_SIZE.size + size :].decode("utf-8", "surrogatepass")
        )
        return Document(
            source,
            [_block(block, source) for block in blocks],
            title=_text(title),
            metadata=_mapping(metadata),
            omissions=tuple(_omission(*each) for each in omissions),
            columns=tuple(map(_text, columns)),
        )
    except (ValueError, TypeError, LookupError, RecursionError, struct.error) as error:
        raise NotADocument(str(error)) from None


def _block(values: list[Any], source: str) -> Block:
    given: tuple[Any, ...] = (*values, *_DEFAULTS[len(values) :])
    text, start, level, page, place, part, anchors, spots, metadata = given
    _number(start, len(source))
    if isinstance(text, int):
        text = source[start : start + _number(text, len(source) - start)]
    return Block(
        _text(text),
        start,
        _number(level, _DEEPEST),
        None if page is None else _number(page),
        _pairs(anchors, len(source)),
        None if place is None else _text(place),
        None if part is None else _text(part),
        _spots(spots) if spots else (),
        None if metadata is None else _mapping(metadata),
    )


def _pairs(numbers: Sequence[Any], most: int) -> tuple[tuple[int, int], ...]:
    """Rising pairs of offsets, in the text and in the source."""
    if not numbers:
        return ()
    pairs = tuple(zip(numbers[::2], numbers[1::2], strict=True))
    offsets = numbers[::2]
    if set(map(type, numbers)) != {int} or min(numbers) < 0 or max(numbers) > most or offsets != sorted(offsets):
        _refuse("its anchors are no rising offsets")
    return pairs


def _spots(values: Sequence[Any]) -> tuple[Spot, ...]:
    """Rising spots, the first at the start of the text."""
    spots = tuple(
        Spot(_number(offset), None if page is None else _number(page), None if place is None else _text(place))
        for offset, page, place in zip(values[::3], values[1::3], values[2::3], strict=True)
    )
    offsets = [spot.offset for spot in spots]
    if offsets[0] or offsets != sorted(offsets):
        _refuse("its spots do not rise from 0")
    return spots


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
    return value


def _mapping(value: Any) -> Mapping[str, Any]:
    if type(value) is not dict:
        _refuse("its metadata are no object")
    return cast(Mapping[str, Any], value)


def _refuse(reason: str) -> NoReturn:
    raise NotADocument(reason)
