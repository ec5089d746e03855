"""Read files of word vectors in common formats, a few thousand rows at a time: a file may be larger than memory.

    GloVe .txt                     a line per word: the word, then its numbers, with single spaces between; no header
    word2vec .txt, fastText .vec   a first line `rows dimension`, then lines as in GloVe .txt
    word2vec .bin                  that first line, then a row per word: the word, a space, its numbers as little-endian
                                   float32, then a newline or not

A file's format is known by its first bytes, never by its name, and each may be compressed by gzip. GloVe's largest file
has words with spaces in them ("at name@domain.com"); the numbers are therefore counted from the right.
"""

from __future__ import annotations

import gzip
import io
import warnings
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Literal, NoReturn

import numpy as np

from semsearch.arrays.types import Float32
from semsearch.errors import VectorsError

Progress = Callable[[int, int], None]

_BLOCK = 1 << 22  # bytes of a file in memory at a time
_LONGEST_LINE = 1 << 20
_LONGEST_WORD = 4096  # bytes
_LARGEST_DIMENSION = 1 << 14
_MOST_DIGITS = 18  # of a number of rows or dimensions
_CUT = 48  # bytes; word2vec cuts longer words, also in the middle of a character
_GZIP, _FASTTEXT_MODEL, _ZIP = b"\x1f\x8b", (793712314).to_bytes(4, "little"), b"PK\x03\x04"
_BOM = b"\xef\xbb\xbf"


@dataclass(frozen=True, slots=True)
class Rows:
    """A batch of n words, as spelled in the file, and their vectors (n, d)."""

    words: list[str]
    vectors: Float32


@dataclass(frozen=True, slots=True)
class VectorFile:
    """A file of word vectors, with the format and size that its first bytes promise."""

    path: Path
    form: Literal["GloVe text", "word2vec text", "word2vec binary"]
    dimension: int
    promised: int | None  # how many rows the header promises

    def rows(self, progress: Progress | None = None) -> Iterator[Rows]:
        """Yield all rows, a batch at a time. `progress(done, total)` is called with the bytes read.

        Raises VectorsError, which names the line or byte, if the file is not what its beginning promises.
        """
        found = 0
        with _opened(self.path) as (file, done):
            read = _Binary(self, file).rows() if self.form == "word2vec binary" else _Text(self, file).rows()
            for batch in read:
                found += len(batch.words)
                if progress:
                    progress(done(), self.path.stat().st_size)
                yield batch
        if self.promised is not None and found != self.promised:
            raise VectorsError(
                f"{self.path}, line 1: promises {self.promised} rows, but the file has {found}; it may be cut short"
            )
        if not found:
            raise VectorsError(f"{self.path} has no word vectors after its first line")


def identify(path: Path) -> VectorFile:
    """Find the format of a file. Raises VectorsError, with what was found, if it is not a known one."""
    with _opened(path) as (file, _):
        start = file.read(_LONGEST_LINE)
    if not start:
        raise VectorsError(f"{path} is empty; expected word vectors (GloVe, word2vec or fastText)")
    _refuse_others(path, start)
    first, _, after = start.removeprefix(_BOM).partition(b"\n")
    header = first.split()
    if len(header) == 2 and all(part.isdigit() and len(part) <= _MOST_DIGITS for part in header):
        promised, dimension = int(header[0]), int(header[1])
        if not 1 <= dimension <= _LARGEST_DIMENSION:
            raise VectorsError(f"{path}, line 1: {dimension} dimensions; expected 1 to {_LARGEST_DIMENSION}")
        form: Literal["word2vec text", "word2vec binary"] = (
            "word2vec text" if _numbers_are_text(after, dimension) else "word2vec binary"
        )
        return VectorFile(path, form, dimension, promised)
    dimension = _numbers_at_the_end(first)
    if dimension < 2:
        raise VectorsError(
            f"{path}, line 1: expected a word and its numbers, or two whole numbers (rows and dimension), "
            f"found {_shown(first)}; word vectors can be GloVe, word2vec or fastText .vec"
        )
    return VectorFile(path, "GloVe text", dimension, None)


def _refuse_others(path: Path, start: bytes) -> None:
    if start.startswith(_FASTTEXT_MODEL):
        raise VectorsError(f"{path} is a fastText model; give the .vec file that belongs to it")
    if start.startswith(_ZIP):
        raise VectorsError(f"{path} is a zip archive; unpack it and give the file inside")
    if b"\0" in start.partition(b"\n")[0]:
        raise VectorsError(
            f"{path}, line 1: neither text in UTF-8 nor the header of a word2vec file; found {_shown(start)}"
        )


def _numbers_are_text(rows: bytes, dimension: int) -> bool:
    """Return whether the first row has only printable characters after its word; of four random bytes, few are."""
    numbers = rows.partition(b" ")[2][: min(4 * dimension, 64)]
    return all(32 <= byte < 127 or byte in b"\t\r\n" for byte in numbers)


def _numbers_at_the_end(line: bytes) -> int:
    count = 0
    for piece in reversed(line.replace(b"\t", b" ").partition(b" ")[2].split()):
        if not _is_number(piece):
            break
        count += 1
    return count


class _Text:
    """Reads a text file whose lines are a word and its numbers."""

    def __init__(self, source: VectorFile, file: IO[bytes]) -> None:
        self.source, self.file = source, file
        self.dimension = source.dimension
        self.line = 1  # the number of the next line

    def rows(self) -> Iterator[Rows]:
        for block in self._blocks():
            lines = block.replace(b"\t", b" ").split(b"\n")
            first = self.line
            self.line += len(lines)
            numbered = [
                (number, line.rstrip(b" \r")) for number, line in enumerate(lines, first) if line.rstrip(b" \r")
            ]
            if first == 1 and numbered:
                numbered = self._without_beginning(numbered)
            if numbered:
                yield self._parsed(numbered)

    def _blocks(self) -> Iterator[bytes]:
        """Yield the file in blocks that end before a newline."""
        rest = b""
        while block := self.file.read(_BLOCK):
            whole, newline, tail = block.rpartition(b"\n")
            if newline:
                yield rest + whole
                rest = tail
            else:
                rest += tail
            if len(rest) > _LONGEST_LINE:
                self._complain(self.line, f"a line of more than {_LONGEST_LINE} bytes")
        if rest:
            yield rest

    def _without_beginning(self, numbered: list[tuple[int, bytes]]) -> list[tuple[int, bytes]]:
        if self.source.promised is not None:
            return numbered[1:]
        return [(1, numbered[0][1].removeprefix(_BOM)), *numbered[1:]]

    def _parsed(self, numbered: list[tuple[int, bytes]]) -> Rows:
        words, numbers = [], []
        for number, line in numbered:
            word, _, rest = line.partition(b" ")
            if rest.count(b" ") != self.dimension - 1 or not rest:
                word, rest = self._divided(number, line)
            words.append(self._decoded(number, word))
            numbers.append(rest)
        values = _floats(b" ".join(numbers))
        if values is None or len(values) != len(words) * self.dimension:
            self._complain_of_numbers(numbered, numbers)
        vectors = values.reshape(len(words), self.dimension)
        finite = np.isfinite(vectors).all(axis=1)
        if not finite.all():
            number, line = numbered[int(np.flatnonzero(~finite)[0])]
            self._complain(number, f"an infinite number, or NaN, for {_shown(line.partition(b' ')[0])}")
        return Rows(words, vectors)

    def _divided(self, number: int, line: bytes) -> tuple[bytes, bytes]:
        """Split a line whose word has spaces in it; complain of one with too many or too few numbers."""
        start, _, rest = line.partition(b" ")
        pieces = rest.split()
        word, values = pieces[: -self.dimension], pieces[-self.dimension :]
        surplus = any(_is_number(piece) and not piece.isdigit() for piece in word)  # not "in 1999", but one column more
        if len(values) < self.dimension or surplus or not all(_is_number(value) for value in values):
            self._complain(number, f"{_numbers_at_the_end(line)} numbers at the end of the line of {_shown(start)}")
        return b" ".join([start, *word]), b" ".join(values)

    def _decoded(self, number: int, word: bytes) -> str:
        decoded = _decoded(word)
        if decoded is None:
            self._complain(number, f"{_shown(word)}, which is not UTF-8: convert the file (iconv -t UTF-8)")
        return decoded

    def _complain_of_numbers(self, numbered: list[tuple[int, bytes]], numbers: list[bytes]) -> NoReturn:
        for (number, _), rest in zip(numbered, numbers, strict=True):
            for piece in rest.split(b" "):
                if not _is_number(piece):
                    self._complain(number, f"{_shown(piece)} where a number should be")
        self._complain(numbered[0][0], "numbers that cannot be parsed, here or soon after")

    def _complain(self, number: int, found: str) -> NoReturn:
        because = "line 1 promises" if self.source.promised is not None else "line 1 has"
        raise VectorsError(
            f"{self.source.path}, line {number}: expected a word and {self.dimension} numbers, as {because}; "
            f"found {found}"
        )


class _Binary:
    """Reads a binary file whose rows are a word, a space and the bytes of its numbers."""

    def __init__(self, source: VectorFile, file: IO[bytes]) -> None:
        self.source, self.file = source, file

    def rows(self) -> Iterator[Rows]:
        assert self.source.promised is not None
        self.file.readline(_LONGEST_LINE)
        size = 4 * self.source.dimension
        step = max(1, _BLOCK // size)
        for first in range(0, self.source.promised, step):
            last = min(first + step, self.source.promised)
            yield self._batch(range(first + 1, last + 1), size)
        if self.file.read(_LONGEST_LINE).strip():
            self._complain(self.source.promised, "more bytes after the last row that line 1 promises")

    def _batch(self, numbers: range, size: int) -> Rows:
        words, parts = [], []
        for number in numbers:
            words.append(self._word(number))
            parts.append(self.file.read(size))
            if len(parts[-1]) != size:
                self._complain(number, f"{len(parts[-1])} bytes of numbers before the end of the file")
        numbers_read = np.frombuffer(b"".join(parts), dtype="<f4").astype(np.float32, copy=False)
        vectors = numbers_read.reshape(len(words), self.source.dimension)
        finite = np.isfinite(vectors).all(axis=1)
        if not finite.all():
            row = int(np.flatnonzero(~finite)[0])
            self._complain(numbers[row], f"an infinite number, or NaN, for {words[row]!r}")
        return Rows(words, vectors)

    def _word(self, number: int) -> str:
        letters = bytearray()
        while (letter := self.file.read(1)) != b" ":
            letters += letter
            if not letter:
                self._complain(number, "the end of the file")
            if len(letters) > _LONGEST_WORD:
                self._complain(number, f"no space in the {_LONGEST_WORD} bytes where a word should be")
        word = bytes(letters).lstrip(b"\r\n")
        decoded = _decoded(word)
        if decoded is None:
            self._complain(number, f"the word {_shown(word)}, which is not UTF-8")
        return decoded

    def _complain(self, number: int, found: str) -> NoReturn:
        raise VectorsError(
            f"{self.source.path}, row {number}, byte {self.file.tell()}: expected a word, a space and "
            f"{4 * self.source.dimension} bytes ({self.source.dimension} float32); found {found}"
        )


@contextmanager
def _opened(path: Path) -> Iterator[tuple[IO[bytes], Callable[[], int]]]:
    """Open a file for its decompressed bytes; gives also a function that tells how much of the file has been read.

    A read error inside the block becomes a VectorsError.
    """
    try:
        with path.open("rb", buffering=_BLOCK) as stored:
            packed = stored.read(2) == _GZIP
            stored.seek(0)
            if packed:
                with io.BufferedReader(gzip.GzipFile(fileobj=stored), _BLOCK) as unpacked:
                    yield unpacked, stored.tell
            else:
                yield stored, stored.tell
    except (OSError, EOFError, zlib.error) as error:
        raise VectorsError(f"{path} cannot be read as word vectors: {error}") from error


def _floats(text: bytes) -> Float32 | None:
    """The numbers in a text, None if there is anything else in it."""
    with warnings.catch_warnings():
        warnings.simplefilter("error", DeprecationWarning)
        try:
            return np.fromstring(text, dtype=np.float32, sep=" ")
        except (DeprecationWarning, ValueError):
            return None


def _is_number(piece: bytes) -> bool:
    try:
        float(piece)
    except ValueError:
        return False
    return True


def _decoded(word: bytes) -> str | None:
    """A word of the file; "" if it was cut within a character, None if it is not UTF-8."""
    try:
        return word.decode()
    except UnicodeDecodeError as error:
        return "" if error.end == len(word) > _CUT and error.reason == "unexpected end of data" else None


def _shown(found: bytes) -> str:
    """The first 40 bytes, quoted, on one line, for an error message."""
    try:
        quoted = repr(found[:40].decode())
    except UnicodeDecodeError:
        quoted = repr(found[:40])[1:]
    return quoted + ("…" if len(found) > 40 else "")
