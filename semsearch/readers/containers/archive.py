"""Archives (.zip, .tar, .tar.gz and the like) and single compressed files (.gz, .bz2, .xz).

The files in an archive are read by their own readers, each as a part of the archive's document under its own heading,
with its path as the metadata `file`; hidden files and those of kinds without a reader are left out as in a folder. A
compressed file is the document that it is without compression. Sizes are bounded as in inner_files.py, as they come
out: what an archive's directory says of them may be wrong.
"""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Iterable, Iterator
from pathlib import PurePath
from typing import IO, TypeVar

from semsearch.errors import SourceError
from semsearch.readers.containers.inner_files import (
    MOST_FILES,
    Allowance,
    InnerFiles,
    ReadBytes,
    allowance,
    contained_name,
)
from semsearch.readers.document import Builder, Document
from semsearch.readers.registry import COMPRESSED
from semsearch.results.omissions import Omission, together

_Member = TypeVar("_Member")
_TAPE = ".tar"
_SHORT = {".tgz": ".tar", ".tbz2": ".tar", ".tbz": ".tar", ".txz": ".tar"}
_OPENERS: dict[bytes, Callable[[IO[bytes]], IO[bytes]]] = {
    b"\x1f\x8b": gzip.open,  # type: ignore[dict-item]  # which returns text only if asked to
    b"BZh": bz2.open,
    b"\xfd7zXZ": lzma.open,
}
_SKIPPED_BYTES = 4  # times what is read: how much of a compressed tape may be passed over
_LEFT_OUT = ("__MACOSX",)


def read(data: bytes, name: str, read_bytes: ReadBytes) -> Document:
    """Read an archive; `read_bytes` reads each file in it. Raises SourceError if it is damaged."""
    with allowance(name) as left:
        if data.startswith(b"PK") or name.lower().endswith(".zip"):
            return _archive(name, read_bytes, lambda files: _take_zip(data, files, left))
        opener = _opener(data)
        if opener is None and not is_tape(name):
            raise SourceError(f"{name} cannot be unpacked: it is neither compressed nor an archive")
        return _archive(name, read_bytes, lambda files: _take_tape(_opened(data, opener), files, left))


def uncompressed(data: bytes, name: str) -> bytes:
    """The bytes of a compressed file without compression. Raises SourceError if it is damaged, or they are too many."""
    opener = _opener(data)
    if opener is None:
        raise SourceError(f"{name} cannot be unpacked: it is not compressed, or damaged")
    with allowance(name) as left:
        try:
            return left.unpacked(_opened(data, opener))
        except (EOFError, OSError, ValueError, lzma.LZMAError, zlib.error) as error:
            raise SourceError(f"{name} cannot be unpacked: {error}") from None


def is_compressed(data: bytes) -> bool:
    """Whether bytes are compressed in one of the ways that can be undone here."""
    return _opener(data) is not None


def is_tape(name: str) -> bool:
    """Whether a file with this name is an archive of tar, compressed or not."""
    return uncompressed_name(name).lower().endswith(_TAPE)


def uncompressed_name(name: str) -> str:
    """The name of a compressed file without compression: "ls.1" of "ls.1.gz", "all.tar" of "all.tgz"."""
    stem, dot, suffix = name.rpartition(".")
    return stem + _SHORT.get(f".{suffix}".lower(), "") if dot and f".{suffix}".lower() in COMPRESSED else name


def _opener(data: bytes) -> Callable[[IO[bytes]], IO[bytes]] | None:
    return next((opener for sign, opener in _OPENERS.items() if data.startswith(sign)), None)


def _opened(data: bytes, opener: Callable[[IO[bytes]], IO[bytes]] | None) -> IO[bytes]:
    file = io.BytesIO(data)
    return opener(file) if opener else file


def _archive(name: str, read_bytes: ReadBytes, take: Callable[[InnerFiles], None]) -> Document:
    builder = Builder()
    files = InnerFiles(name, "archived files", builder, read_bytes)
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
