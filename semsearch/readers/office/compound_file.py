"""Compound files, in which Word, PowerPoint and Excel kept their documents before 2007: streams, and their properties.

A file is divided into sectors, which a table chains to streams; short streams are chained in smaller sectors of a
stream of their own ([MS-CFB]). Titles and authors are property sets ([MS-OLEPS]). Only streams of the outermost storage
are read: storages have embedded files and macros. Every chain is bounded by the size of the file.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Sequence
from pathlib import PurePath
from typing import Any

from semsearch.errors import SourceError
from semsearch.readers.document import Document

SIGN = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_ENTRY = struct.Struct("<64sHBxIII36xIQ")  # name, its bytes, kind, left, right, child, first sector, size
_STREAM, _ROOT = 2, 5
_LAST = 0xFFFFFFFA  # a number from here on ends a chain
_NONE = 0xFFFFFFFF
_IN_HEADER = 109  # sectors of the table that the header names
_OTHERS = {  # streams that tell another kind of file, and what to do
    "EncryptedPackage": "it is protected by a password; save it without one",
    "WordDocument": "it is a Word document; rename it to .doc",
    "PowerPoint Document": "it is a presentation; rename it to .ppt",
    "Workbook": "it is a workbook; rename it to .xls",
    "Book": "it is a workbook; rename it to .xls",
    "__properties_version1.0": "it is a message of Outlook; rename it to .msg",
}


class CompoundFile:
    """The streams of a compound file. Raises SourceError for a damaged one, here and when a stream is read."""

    def __init__(self, data: bytes, name: str) -> None:
        self._data, self._name = data, name
        if len(data) < 512 or not data.startswith(SIGN):
            raise self.damaged("it has no header")
        shift, mini_shift = struct.unpack_from("<HH", data, 30)
        if shift not in (9, 12) or mini_shift != 6:
            raise self.damaged("its sectors have an unknown size")
        first, cutoff, first_mini, _, first_table, _ = struct.unpack_from("<I4x5I", data, 48)
        self._size, self._cutoff = 1 << shift, cutoff
        self._table: Sequence[int] = self._numbers(self._sectors_of_table(first_table))
        entries = self._chain(first)
        found = [_ENTRY.unpack_from(entries, at) for at in range(0, len(entries) - len(entries) % 128, 128)]
        if not found or found[0][2] != _ROOT:
            raise self.damaged("it has no folder")
        self._mini = self._chain(found[0][6])[: found[0][7] & 0xFFFFFFFF]
        self._mini_table = self._numbers_of(self._chain(first_mini))
        self._streams = {name.lower(): (start, size & 0xFFFFFFFF) for name, start, size in _outermost(found)}

    def damaged(self, reason: str) -> SourceError:
        """The error for a file that does not hold what it should."""
        return self.refused(f"{reason}; it may be damaged")

    def refused(self, reason: str) -> SourceError:
        """The error for a file that is whole, but not read."""
        return SourceError(f"{self._name} cannot be read as {PurePath(self._name).suffix}: {reason}")

    def __contains__(self, stream: str) -> bool:
        return stream.lower() in self._streams

    def check_has(self, stream: str) -> None:
        """Raise SourceError that says what else the file is, unless it has this stream."""
        if stream not in self:
            because = next((advice for other, advice in _OTHERS.items() if other in self), "")
            if because:
                raise self.refused(because)
            raise self.damaged(f"it has no {stream}")

    def stream(self, name: str) -> bytes:
        """The content of a stream; empty if it is not there."""
        start, size = self._streams.get(name.lower(), (_NONE, 0))
        if size >= self._cutoff:
            return self._chain(start)[:size]
        starts = _chained(start, self._mini_table, self._name)
        return b"".join(self._mini[at << 6 : (at + 1) << 6] for at in starts)[:size]

    def _sector(self, number: int) -> bytes:
        return self._data[(number + 1) * self._size : (number + 2) * self._size]

    def _chain(self, start: int) -> bytes:
        return b"".join(map(self._sector, _chained(start, self._table, self._name)))

    def _sectors_of_table(self, further: int) -> list[int]:
        """The sectors that the table of chains is in: the header names the first, a chain of sectors the others."""
        found = list(struct.unpack_from(f"<{_IN_HEADER}I", self._data, 76))
        for _ in range(len(self._data) // self._size):
            *more, following = self._numbers([further]) if further < _LAST else (_NONE,)
            found += more
            further = following
            if further >= _LAST:
                break
        return [number for number in found if number < _LAST]

    def _numbers(self, sectors: Sequence[int]) -> Sequence[int]:
        most = len(self._data) // self._size  # of a table in which no sector is twice
        return self._numbers_of(b"".join(map(self._sector, sectors[: most + 1]))) or (_NONE,)

    @staticmethod
    def _numbers_of(data: bytes) -> Sequence[int]:
        return struct.unpack(f"<{len(data) // 4}I", data[: len(data) - len(data) % 4])


def _chained(start: int, table: Sequence[int], name: str) -> Iterator[int]:
    for _ in range(len(table) + 1):
        if start >= _LAST:
            return
        yield start
        if start >= len(table):
            break
        start = table[start]
    raise SourceError(f"{name} cannot be read: its sectors have no end; it may be damaged or cut short")


def _outermost(entries: Sequence[tuple[Any, ...]]) -> Iterator[tuple[str, int, int]]:
    """Name, first sector and size of the streams in the outermost storage, which is a tree of entries."""
    waiting, seen = [entries[0][5]], set[int]()
    while waiting:
        number = waiting.pop()
        if number >= len(entries) or number in seen:
            continue
        seen.add(number)
        name, length, kind, left, right, _, start, size = entries[number]
        waiting += [left, right]
        if kind == _STREAM:
            yield name[: max(0, min(length, 64) - 2)].decode("utf-16-le", "replace"), start, size


# -- Properties --------------------------------------------------------------------------------------------------------

_PROPERTIES = {2: "title", 3: "subject", 4: "author", 5: "keywords"}
_CODE_PAGE, _BYTES, _WIDE = 1, 30, 31  # a property's number, and the kinds of its value
_ENCODINGS = {1200: "utf-16-le", 10000: "mac-roman", 65001: "utf-8"}  # of code pages that Python calls otherwise
_MOST = 200  # properties


def properties(file: CompoundFile) -> dict[str, Any]:
    """Title, subject, author and keywords, as far as they are there and whole."""
    data, found, encoding = file.stream("\x05SummaryInformation"), dict[str, Any](), "cp1252"
    try:
        (at,) = struct.unpack_from("<I", data, 44)
        _, count = struct.unpack_from("<II", data, at)
        places = [struct.unpack_from("<II", data, at + 8 + 8 * number) for number in range(min(count, _MOST))]
        for kind, offset in sorted(places):
            type_, size = struct.unpack_from("<II", data, at + offset)
            value = data[at + offset + 8 :]
            if kind == _CODE_PAGE:
                encoding = _ENCODINGS.get(size & 0xFFFF, f"cp{size & 0xFFFF}")
            elif kind in _PROPERTIES and type_ in (_BYTES, _WIDE):
                raw = value[:size] if type_ == _BYTES else value[: 2 * size]
                text = raw.decode("utf-16-le" if type_ == _WIDE else encoding, "replace").partition("\0")[0]
                if text := " ".join(text.split()):
                    found[_PROPERTIES[kind]] = text
    except (struct.error, LookupError):  # what was found until here
        pass
    return found


def read_by_content(data: bytes, name: str) -> Document | None:
    """Read a file that only has the ending of one: web programs call pages .doc. None if it is a compound file."""
    if data.startswith(SIGN):
        return None
    from semsearch.readers.read import read_bytes  # which imports the registry, and that readers

    other = str(PurePath(name).with_suffix(".txt"))
    try:
        return read_bytes(data, other)
    except SourceError as error:
        raise SourceError(str(error).replace(other, name)) from error.__cause__
