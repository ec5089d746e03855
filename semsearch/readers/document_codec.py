"""Documents as JSON, for what another process has read (semsearch.readers.reader_process), and their check.

The other process may have been taken over by the file that it read. So whatever it sends makes a document of the right
types, whose blocks lie in its source, or is refused.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from itertools import pairwise
from typing import Any

import msgspec

from semsearch.readers.document import Block, Document

_MOST = 1 << 53  # of any number
_DEEPEST = 1000  # level of a heading: of code, as deep as it is nested


class NotADocument(ValueError):
    """Bytes that are no document."""


def encode(document: Document, text: str | None = None) -> bytes:
    """A document as bytes, without its source if that is `text`, which whoever asks has.

    Half a surrogate pair, which is no character, becomes a question mark.
    """
    source = "" if document.source == text else document.source
    document = replace(document, source=source, blocks=[*document.blocks])
    try:
        return msgspec.json.encode(document)
    except UnicodeEncodeError:
        return msgspec.json.encode(_encodable(msgspec.to_builtins(document)))


def _encodable(value: Any) -> Any:
    match value:
        case str():
            return value.encode("utf-8", "replace").decode()
        case dict():
            return {_encodable(key): _encodable(item) for key, item in value.items()}
        case list() | tuple():
            return [_encodable(item) for item in value]
    return value


def decode(data: bytes, text: str = "") -> Document:
    """The document of these bytes; if it has no source, that is `text`. Raises NotADocument."""
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
