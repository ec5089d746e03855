"""Archives (.zip, .tar, .tar.gz and the like).

The files in an archive are read by their own readers, each as a part of the archive's document under its own heading,
with its path as the metadata `file`; hidden files and those of kinds without a reader are left out as in a folder.
"""

from __future__ import annotations

import io
import tarfile
import zipfile
from collections.abc import Callable, Iterable, Iterator
from pathlib import PurePath
from typing import IO, TypeVar

from semsearch.errors import SourceError
from semsearch.readers.containers.inner_files import InnerFiles, contained_name
from semsearch.readers.document import Builder, Document
from semsearch.readers.unpacking import (
    MOST_FILES,
    Allowance,
    allowance,
    is_tape,
    opened_stream,
    opener_of,
    uncompressed_name,
)
from semsearch.results.reports import Omission, together

_Member = TypeVar("_Member")
_SKIPPED_BYTES = 4  # times what is read: how much of a compressed tape may be passed over
_LEFT_OUT = ("__MACOSX",)


def read(data: bytes, name: str) -> Document:
    """Read an archive. Raises SourceError if it is damaged."""
    with allowance(name) as left:
        if data.startswith(b"PK") or name.lower().endswith(".zip"):
            return _archive(name, lambda files: _take_zip(data, files, left))
        opener = opener_of(data)
        if opener is None and not is_tape(name):
            raise SourceError(f"{name} cannot be unpacked: it is neither compressed nor an archive")
        return _archive(name, lambda files: _take_tape(opened_stream(data, opener), files, left))


def _archive(name: str, take: Callable[[InnerFiles], None]) -> Document:
    builder = Builder()
    files = InnerFiles(name, "archived files", builder)
    try:
        take(files)
    except MemoryError:
        raise
    except Exception as error:  # zipfile and tarfile have a dozen for what is damaged
        is_said = isinstance(error, SourceError)
        reason = str(error) if is_said else f"{name} cannot be unpacked: {error or type(error).__name__}"
        if not builder.blocks:
            raise SourceError(reason) from None
        files.doubts.append(Omission("archived files" if is_said else "damaged parts", 1, reason))
    title = PurePath(uncompressed_name(PurePath(name).name)).stem
    return Document(builder.source, builder.blocks, "archive", title, omissions=together(files.omissions))


def _take_zip(data: bytes, files: InnerFiles, left: Allowance) -> None:
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        members = [entry for entry in archive.infolist() if not entry.is_dir() and not _is_hidden(entry.filename)]
        for member in _first(members, files, left):
            if member.flag_bits & 1:
                files.leave_out(contained_name(member.filename), "is protected by a password")
            else:

                def unpacked(member: zipfile.ZipInfo = member) -> bytes:
                    return _unpacked(member.file_size, left, lambda: archive.open(member))

                _take(member.filename, unpacked, files)


def _take_tape(stream: IO[bytes], files: InnerFiles, left: Allowance) -> None:
    bounded = _Bounded(stream, _SKIPPED_BYTES * max(left.size, 1), files.outer)
    with tarfile.open(fileobj=bounded, mode="r|") as archive:  # type: ignore[call-overload]  # it only needs read()
        members = (entry for entry in archive if entry.isreg() and not _is_hidden(entry.name))
        for member in _first(members, files, left):

            def unpacked(member: tarfile.TarInfo = member) -> bytes:
                return _unpacked(member.size, left, lambda: archive.extractfile(member))

            _take(member.name, unpacked, files)


def _first(members: Iterable[_Member], files: InnerFiles, left: Allowance) -> Iterator[_Member]:
    """The members that may still be read; the number of the others is noted."""
    over = 0
    for member in members:
        if left.files > 0:
            left.files -= 1
            yield member
        else:
            over += 1
    if over:
        files.doubts.append(Omission("archived files", over, f"it has more than {MOST_FILES:,}"))


def _take(name: str, unpacked: Callable[[], bytes], files: InnerFiles) -> None:
    files.take(name, unpacked, metadata={"file": contained_name(name)})


def _unpacked(size: int, left: Allowance, opened: Callable[[], IO[bytes] | None]) -> bytes:
    """The bytes of a member. Raises SourceError."""
    if size > left.size:
        raise SourceError(f"has {size:,} bytes, and the archive unpacks to too much; unpack it")
    try:
        with opened() or io.BytesIO() as stream:
            return left.unpacked(stream)
    except (SourceError, MemoryError):
        raise
    except Exception as error:  # and as many for each way of packing
        raise SourceError(f"cannot be unpacked: {error or type(error).__name__}") from error


def _is_hidden(path: str) -> bool:
    return any(part.startswith(".") or part in _LEFT_OUT for part in contained_name(path).split("/"))


class _Bounded:
    """A stream of which no more than some bytes can be read."""

    def __init__(self, stream: IO[bytes], most: int, name: str) -> None:
        self._stream, self._left, self._name = stream, most, name

    def read(self, size: int) -> bytes:
        data = self._stream.read(min(size, self._left + 1))
        self._left -= len(data)
        if self._left < 0:
            raise SourceError(f"{self._name} unpacks to too much; unpack it")
        return data
