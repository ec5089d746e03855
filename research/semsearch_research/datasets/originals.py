"""The files of releases, in folders and in archives, as streams: nothing is ever unpacked under a name of its own.

A zip is read by its members, a tar from its beginning to its end; .gz, .bz2 and .xz are opened. What an archive may
give is bounded: `MOST_TIMES` its own size and `MOST_FREE` bytes beside. Text is packed to a tenth at the best, and a
file that packs far better is made to fill a memory or a disk.
"""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import os
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Container, Iterable, Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from semsearch.errors import SourceError

MOST_TIMES, MOST_FREE = 50, 1 << 26
LONGEST_LINE = 1 << 22  # bytes
_UNPACK: dict[str, Callable[..., Any]] = {".gz": gzip.open, ".bz2": bz2.open, ".xz": lzma.open}
_TARS = {".tgz": ".gz", ".tbz2": ".bz2", ".txz": ".xz"} | {f".tar{ending}": ending for ending in _UNPACK}
_ARCHIVES = (".zip", ".tar", *_TARS)
# what damaged files, and such as are packed in a way of their own, make their readers raise
UNREADABLE = (
    *(OSError, EOFError, UnicodeError, ValueError, RuntimeError, NotImplementedError),
    *(zlib.error, lzma.LZMAError, zipfile.BadZipFile, tarfile.TarError, SourceError),
)


@dataclass(frozen=True, slots=True)
class Original:
    """A file of a release. `name` is its path with slashes; in an archive, the archive's path and the path inside.

    `file` is where it lies, if it is no part of an archive and not packed. It can be read until the next one is asked
    for, and once.
    """

    name: str
    file: Path | None
    stream: IO[bytes]

    @property
    def base(self) -> str:
        """The last part of its name."""
        return self.name.rpartition("/")[2]

    @property
    def folder(self) -> str:
        """Its name without the last part."""
        return self.name.rpartition("/")[0]

    def lines(self) -> Iterator[str]:
        """Yield the lines, blank ones too, without their ends. Raises SourceError if one is too long, or no UTF-8."""
        number = 0
        while line := self.stream.readline(LONGEST_LINE):
            number += 1
            if len(line) == LONGEST_LINE:
                raise SourceError(f"{self.name}, line {number}: longer than {LONGEST_LINE:,} bytes")
            try:
                text = line.decode("utf-8-sig" if number == 1 else "utf-8")
            except UnicodeDecodeError as error:
                raise SourceError(f"{self.name}, line {number}: this is not UTF-8; convert the file") from error
            yield text.removesuffix("\n").removesuffix("\r")


class Bounded(io.RawIOBase):
    """A stream that gives no more than an archive may: then it raises SourceError."""

    def __init__(self, stream: IO[bytes], archive: Path, allowance: list[int]) -> None:
        """`allowance` has how many bytes all streams of the archive may still give."""
        self._stream, self._archive, self._allowance = stream, archive, allowance

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any, /) -> int:
        data = self._stream.read(len(buffer))
        self._allowance[0] -= len(data)
        if self._allowance[0] < 0:
            raise SourceError(f"{self._archive} unpacks to more than {MOST_TIMES} times its size; it is not read on")
        buffer[: len(data)] = data
        return len(data)


def originals(
    paths: Iterable[Path],
    *,
    wants: Callable[[str], bool],
    leave: Container[Path] = (),
    refused: Callable[[str, BaseException], None],
    looked_at: Callable[[str], None] = lambda _: None,
) -> Iterator[Original]:
    """Yield those files below `paths`, and in archives there, whose names are wanted; not those in the folders `leave`.

    `refused` is called with the name of a file or an archive that cannot be read, and the error; `looked_at` with the
    name of each archive. Folders that are links are not followed, and of a tar or zip only plain files are read.
    """
    for path in _files(paths, leave):
        name = path.as_posix()
        if _ending(name) in _ARCHIVES:
            looked_at(path.name)
        try:
            yield from _of(path, name, wants)
        except UNREADABLE as error:
            refused(name, error)


def _files(paths: Iterable[Path], leave: Container[Path]) -> Iterator[Path]:
    seen = set[Path]()
    for path in paths:
        for file in [path] if path.is_file() else _below(path, leave):
            if file.is_file() and (real := file.resolve()) not in seen:
                seen.add(real)
                yield file


def _below(folder: Path, leave: Container[Path]) -> Iterator[Path]:
    for at, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if (Path(at) / name).resolve() not in leave)
        yield from (Path(at) / name for name in sorted(names))


def _of(path: Path, name: str, wants: Callable[[str], bool]) -> Iterator[Original]:
    ending = _ending(name)
    allowance = [MOST_TIMES * path.stat().st_size + MOST_FREE]
    if ending == ".zip":
        yield from _of_zip(path, wants, allowance)
    elif ending == ".tar" or ending in _TARS:
        with closing(_UNPACK.get(_TARS.get(ending, ""), open)(path, "rb")) as packed:
            yield from _of_tar(path, packed, wants, allowance)
    elif ending in _UNPACK and wants(inner := name[: -len(ending)]):
        with closing(_UNPACK[ending](path, "rb")) as packed:
            yield Original(inner, None, _bounded(packed, path, allowance))
    elif wants(name):
        with path.open("rb") as stream:
            yield Original(name, path, stream)


def _ending(name: str) -> str:
    """The ending by which an archive, or a packed file, is known."""
    return next((one for one in _TARS if name.lower().endswith(one)), Path(name).suffix.lower())


def _of_zip(path: Path, wants: Callable[[str], bool], allowance: list[int]) -> Iterator[Original]:
    with zipfile.ZipFile(path) as archive:
        for member in archive.infolist():
            name = f"{path.as_posix()}/{member.filename}"
            if not member.is_dir() and wants(name):
                with archive.open(member) as stream:
                    yield Original(name, None, _bounded(stream, path, allowance))


def _of_tar(path: Path, packed: IO[bytes], wants: Callable[[str], bool], allowance: list[int]) -> Iterator[Original]:
    with tarfile.open(fileobj=_bounded(packed, path, allowance), mode="r|") as archive:
        for member in archive:
            name = f"{path.as_posix()}/{member.name}"
            if member.isreg() and wants(name) and (stream := archive.extractfile(member)) is not None:
                yield Original(name, None, stream)
            archive.members = []  # type: ignore[attr-defined]  # a hundred thousand would all be kept in memory


def _bounded(stream: IO[bytes], path: Path, allowance: list[int]) -> IO[bytes]:
    return io.BufferedReader(Bounded(stream, path, allowance), 1 << 16)
