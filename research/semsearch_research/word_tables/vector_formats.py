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
from itertools import islice
from pathlib import Path
from typing import IO, Literal

import numpy as np

from semsearch.arrays.types import Float32
from semsearch.errors import VectorsError

Progress = Callable[[int, int], None]
Form = Literal["GloVe text", "word2vec text", "word2vec binary"]

_ROWS = 4096  # rows in memory at a time
_BUFFER = 1 << 22  # bytes
_LONGEST_LINE = 1 << 20
_LONGEST_WORD = 4096  # bytes
_LARGEST_DIMENSION = 1 << 14
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
    form: Form
    dimension: int
    promised: int | None  # how many rows the header promises

    def rows(self, progress: Progress | None = None) -> Iterator[Rows]:
        """Yield all rows, a batch at a time. `progress(done, total)` is called with the bytes read.

        Raises VectorsError, which names the line or row, if the file is not what its beginning promises.
        """
        count = 0
        with _opened(self.path) as (file, done):
            for batch in self._binary(file) if self.form == "word2vec binary" else self._text(file):
                count += len(batch.words)
                if progress:
                    progress(done(), self.path.stat().st_size)
                yield batch
        if self.promised is not None and count != self.promised:
            raise self._error("line 1", f"promises {self.promised} rows, but the file has {count}; it may be cut short")
        if not count:
            raise self._error("line 2", "no word vectors after the first line")

    # -- text ----------------------------------------------------------------------------------------------------

    def _text(self, file: IO[bytes]) -> Iterator[Rows]:
        if self.promised is not None:
            file.readline()
        lines = enumerate(iter(lambda: file.readline(_LONGEST_LINE), b""), 1 if self.promised is None else 2)
        while batch := list(islice(lines, _ROWS)):
            words, numbers, places = [], [], []
            for number, line in batch:
                if len(line) == _LONGEST_LINE and not line.endswith(b"\n"):
                    raise self._error(f"line {number}", f"a line of more than {_LONGEST_LINE} bytes")
                if row := line.replace(b"\t", b" ").rstrip(b" \r\n"):
                    word, rest = self._divided(number, row.removeprefix(_BOM) if number == 1 else row)
                    words.append(self._decoded(f"line {number}", word))
                    numbers.append(rest)
                    places.append(number)
            if words:
                yield Rows(words, self._parsed(words, numbers, places))

    def _divided(self, number: int, line: bytes) -> tuple[bytes, bytes]:
        """The word and the numbers of a line; the word may have spaces in it ("in 1999")."""
        word, _, rest = line.partition(b" ")
        if rest and rest.count(b" ") == self.dimension - 1:
            return word, rest
        pieces = rest.split()
        inner, values = pieces[: -self.dimension], pieces[-self.dimension :]
        has_more_columns = any(_is_number(piece) and not piece.isdigit() for piece in inner)
        if len(values) < self.dimension or has_more_columns or not all(map(_is_number, values)):
            raise self._error(
                f"line {number}",
                f"expected a word and {self.dimension} numbers, as line 1 "
                f"{'has' if self.promised is None else 'promises'}; found {_numbers_at_the_end(line)} numbers at the "
                f"end of the line of {_shown(word)}",
            )
        return b" ".join([word, *inner]), b" ".join(values)

    def _parsed(self, words: list[str], numbers: list[bytes], places: list[int]) -> Float32:
        """The numbers of some lines. (n, d)"""
        values = _floats(b" ".join(numbers))
        if values is None or len(values) != len(words) * self.dimension:
            for place, row in zip(places, numbers, strict=True):
                for piece in row.split(b" "):
                    if not _is_number(piece):
                        raise self._error(f"line {place}", f"{_shown(piece)} where a number should be")
            raise self._error(f"line {places[0]}", "numbers that cannot be parsed, here or soon after")
        return self._finite(values.reshape(len(words), self.dimension), words, [f"line {place}" for place in places])

    # -- binary --------------------------------------------------------------------------------------------------

    def _binary(self, file: IO[bytes]) -> Iterator[Rows]:
        file.readline(_LONGEST_LINE)
        size, promised = 4 * self.dimension, self.promised or 0
        for first in range(1, promised + 1, _ROWS):
            words, parts, places = [], [], []
            for number in range(first, min(first + _ROWS, promised + 1)):
                places.append(f"row {number}")
                words.append(self._decoded(places[-1], self._word(file, places[-1])))
                parts.append(file.read(size))
                if len(parts[-1]) != size:
                    raise self._error(places[-1], f"{len(parts[-1])} bytes of numbers, not {size}, and then no more")
            vectors = np.frombuffer(b"".join(parts), dtype="<f4").astype(np.float32, copy=False)
            yield Rows(words, self._finite(vectors.reshape(len(words), self.dimension), words, places))
        if file.read(_LONGEST_LINE).strip():
            raise self._error(f"row {promised}", "more bytes after the last row that line 1 promises")

    def _word(self, file: IO[bytes], place: str) -> bytes:
        letters = bytearray()
        while (letter := file.read(1)) != b" ":
            letters += letter
            if not letter:
                raise self._error(place, "the end of the file in a word")
            if len(letters) > _LONGEST_WORD:
                raise self._error(place, f"no space in the {_LONGEST_WORD} bytes where a word should be")
        return bytes(letters).lstrip(b"\r\n")

    # -- both ----------------------------------------------------------------------------------------------------

    def _decoded(self, place: str, word: bytes) -> str:
        """A word of the file; "" if word2vec cut it within a character."""
        try:
            return word.decode()
        except UnicodeDecodeError as error:
            if error.end == len(word) > _CUT and error.reason == "unexpected end of data":
                return ""
            raise self._error(place, f"{_shown(word)}, which is not UTF-8; convert the file to it") from error

    def _finite(self, vectors: Float32, words: list[str], places: list[str]) -> Float32:
        """Check vectors of some words, whose places in the file are given for errors. (n, d)"""
        wrong = np.flatnonzero(~np.isfinite(vectors).all(axis=1))
        if len(wrong):
            raise self._error(places[wrong[0]], f"an infinite number, or NaN, for {words[wrong[0]]!r}")
        return vectors

    def _error(self, place: str, problem: str) -> VectorsError:
        return VectorsError(f"{self.path} ({self.form}), {place}: {problem}")


def identify(path: Path) -> VectorFile:
    """Find the format of a file. Raises VectorsError, with what was found, if it is not a known one."""
    with _opened(path) as (file, _):
        start = file.read(_LONGEST_LINE)
    if not start:
        raise VectorsError(f"{path} is empty; expected word vectors (GloVe, word2vec or fastText)")
    first, _, after = start.removeprefix(_BOM).partition(b"\n")
    if start.startswith(_FASTTEXT_MODEL):
        raise VectorsError(f"{path} is a fastText model; give the .vec file that belongs to it")
    if start.startswith(_ZIP):
        raise VectorsError(f"{path} is a zip archive; unpack it and give the file inside")
    if b"\0" in first:
        raise VectorsError(f"{path}, line 1: neither text in UTF-8 nor the header of a word2vec file: {_shown(start)}")
    header = first.split()
    if len(header) == 2 and all(part.isdigit() and len(part) <= 18 for part in header):
        promised, dimension = int(header[0]), int(header[1])
        if not 1 <= dimension <= _LARGEST_DIMENSION:
            raise VectorsError(f"{path}, line 1: {dimension} dimensions; expected 1 to {_LARGEST_DIMENSION}")
        form: Form = "word2vec text" if _is_text(after, dimension) else "word2vec binary"
        return VectorFile(path, form, dimension, promised)
    dimension = _numbers_at_the_end(first)
    if dimension < 2:
        raise VectorsError(
            f"{path}, line 1: expected a word and its numbers, or two whole numbers (rows and dimension), "
            f"found {_shown(first)}; word vectors can be GloVe, word2vec or fastText .vec"
        )
    return VectorFile(path, "GloVe text", dimension, None)


def _is_text(rows: bytes, dimension: int) -> bool:
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


@contextmanager
def _opened(path: Path) -> Iterator[tuple[IO[bytes], Callable[[], int]]]:
    """Open a file for its decompressed bytes; gives also a function that tells how much of the file has been read.

    A read error inside the block becomes a VectorsError.
    """
    try:
        with path.open("rb", buffering=_BUFFER) as stored:
            is_packed = stored.read(2) == _GZIP
            stored.seek(0)
            if is_packed:
                with io.BufferedReader(gzip.GzipFile(fileobj=stored), _BUFFER) as unpacked:
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


def _shown(piece: bytes) -> str:
    """The first 40 bytes, quoted, on one line, for an error message."""
    return repr(piece[:40].decode(errors="backslashreplace")) + ("…" if len(piece) > 40 else "")
