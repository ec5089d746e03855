"""Write a table of word vectors row by row, so that it may be larger than memory.

The files are described in semsearch.word_vectors.table.

Everything is written to a folder of another name, which is renamed at the end: that rename is the commit point. A
process that is killed leaves a folder `<name>.<random>.partial`, which nothing opens.
"""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import IO, Any

import numpy as np
import numpy.typing as npt

from semsearch.arrays.hash_table import HashIndex
from semsearch.arrays.types import Float32, Floating
from semsearch.errors import StorageError, VectorsError
from semsearch.text.tokens import TOKENISER_VERSION, hash_words
from semsearch.word_vectors.table import FORMAT, Dtype, VectorTable, digest_of

PARTIAL = ".partial"


@dataclass(frozen=True, slots=True)
class PieceFiles:
    """Pieces (n,), and the arrays of their files by name, as semsearch.word_vectors.pieces has them."""

    words: Sequence[str]
    arrays: Mapping[str, npt.NDArray[Any]]


class TableWriter:
    """Writes a table of word vectors to a folder, which appears whole or not at all.

        with TableWriter(folder, dtype="float32") as writer:
            writer.add(words, vectors)                    # as often as needed, most frequent words first
            table = writer.finish(frequencies, card=card)

    `replace` allows it to replace a table that is there; otherwise a folder that exists raises VectorsError. Methods
    raise StorageError if the disk cannot be written.
    """

    def __init__(self, folder: Path, *, dtype: Dtype = "int8", replace: bool = False) -> None:
        self.folder: Path = Path(folder)
        self.dtype = dtype
        self.replace = replace
        self.words: list[str] = []
        self._dimension = 0
        self._scales: list[Float32] = []

    def __enter__(self) -> TableWriter:
        if not self.replace:
            check_absent(self.folder)
        with self._storing():
            self.folder.parent.mkdir(parents=True, exist_ok=True)
            partial_folder = tempfile.mkdtemp(prefix=f"{self.folder.name}.", suffix=PARTIAL, dir=self.folder.parent)
            self._partial = Path(partial_folder)
            self._partial.chmod(0o755)  # mkdtemp lets no one else read
            self._file: IO[bytes] = (self._partial / "vectors.npy").open("wb")
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._file.close()
        shutil.rmtree(self._partial, ignore_errors=True)

    def add(self, words: Sequence[str], vectors: Floating) -> None:
        """Append words (n) and their vectors (n, d). Raises VectorsError for a number that the dtype cannot hold."""
        if not self._dimension:
            self._dimension = int(vectors.shape[1])
            self._start = self._write_header(0)
        if vectors.shape != (len(words), self._dimension):
            raise ValueError(
                f"{len(words)} words need vectors of shape {(len(words), self._dimension)}, got {vectors.shape}"
            )
        stored, scales = self._stored(vectors)
        with self._storing():
            self._file.write(stored.tobytes())
        self._scales.append(scales)
        self.words.extend(words)

    def overwrite(self, number: int, vector: Floating) -> None:
        """Replace the vector (d,) of a word that was added, by its number from 0."""
        stored, scales = self._stored(vector[None])
        with self._storing():
            self._file.seek(self._start + number * stored.nbytes)
            self._file.write(stored.tobytes())
            self._file.seek(0, os.SEEK_END)
        for part in self._scales:
            if number < len(part):
                part[number] = scales[0]
                break
            number -= len(part)

    def finish(
        self, frequencies: Floating, *, card: Mapping[str, Any], pieces: PieceFiles | None = None
    ) -> VectorTable:
        """Write p(w) (V,), the index of the words, a card of provenance, and pieces, and put the table in its folder.

        Raises VectorsError if there are no words, or a word occurs twice or is not one word to the tokeniser.
        """
        if not self.words:
            raise VectorsError(f"{self.folder} would have no words; a table needs at least one")
        if len(frequencies) != len(self.words):
            raise ValueError(f"{len(self.words)} words need as many frequencies, got {len(frequencies)}")
        index = index_of(self.words)
        arrays: dict[str, npt.NDArray[Any]] = {
            "keys": index.keys,
            "slots": index.values,
            "frequencies": np.asarray(frequencies, dtype=np.float32),
        }
        if self.dtype == "int8":
            arrays["scales"] = np.concatenate(self._scales)
        if pieces is not None:
            arrays |= pieces.arrays
            card = {"pieces": len(pieces.words), **card}
        with self._storing():
            self._file.seek(0)
            if self._write_header(len(self.words)) != self._start:
                raise AssertionError("NumPy no longer leaves room in its header for more rows")
            self._file.close()
            for name, array in arrays.items():
                save_array(self._partial / f"{name}.npy", array)
            self._write_lines("words.txt", self.words)
            if pieces is not None:
                self._write_lines("pieces.txt", pieces.words)
            self._write_card(card)
            self._commit()
        return VectorTable(self.folder)

    def write(
        self, words: Sequence[str], vectors: Floating, frequencies: Floating, *, card: Mapping[str, Any]
    ) -> VectorTable:
        """Write a whole table at once: words (V), vectors (V, d) and p(w) (V,). Raises as `add` and `finish`."""
        with self as writer:
            writer.add(words, vectors)
            return writer.finish(frequencies, card=card)

    def _stored(self, vectors: Floating) -> tuple[npt.NDArray[Any], Float32]:
        if self.dtype == "int8":
            return quantise(vectors)
        with np.errstate(over="ignore"):
            stored = vectors.astype(self.dtype)
        if not np.isfinite(stored).all():
            raise VectorsError(f"a vector has an entry that {self.dtype} cannot hold; choose float32 or int8")
        return stored, np.ones(len(vectors), dtype=np.float32)

    def _write_header(self, rows: int) -> int:
        """Write an array's header, which has room for any number of rows. Returns the offset at which rows begin."""
        shape = (rows, self._dimension)
        header = {"descr": np.dtype(self.dtype).str, "fortran_order": False, "shape": shape}
        with self._storing():
            npy: Any = np.lib.format  # not typed in every NumPy
            npy.write_array_header_1_0(self._file, header)
        return self._file.tell()

    def _write_lines(self, name: str, lines: Sequence[str]) -> None:
        text = "".join(line + "\n" for line in lines)
        (self._partial / name).write_text(text, encoding="utf-8", newline="\n")

    def _write_card(self, card: Mapping[str, Any]) -> None:
        details = {
            "format": FORMAT,
            "name": self.folder.name,
            "words": len(self.words),
            "dimension": self._dimension,
            "dtype": self.dtype,
            "tokeniser": TOKENISER_VERSION,
            **card,
            "digest": digest_of(self._partial),
        }
        text = json.dumps(details, indent=2, ensure_ascii=False) + "\n"
        (self._partial / "card.json").write_text(text, encoding="utf-8", newline="\n")

    def _commit(self) -> None:
        for path in self._partial.iterdir():
            with path.open("rb+") as file:
                os.fsync(file.fileno())
        if self.replace and self.folder.exists():
            old = Path(tempfile.mkdtemp(prefix=f"{self.folder.name}.", suffix=PARTIAL, dir=self.folder.parent))
            self.folder.replace(old / "old")
            shutil.rmtree(old, ignore_errors=True)  # where another process has it mapped, Windows keeps it
        self._partial.replace(self.folder)

    @contextmanager
    def _storing(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            reason = error.strerror or str(error)
            raise StorageError(
                f"{self.folder} cannot be written: {reason}; free space or choose another place"
            ) from error


def quantise(vectors: Floating) -> tuple[npt.NDArray[np.int8], Float32]:
    """Quantise each row to 8-bit integers and a scale, so that its largest entry is ±127. (V, d) -> (V, d), (V,)"""
    scales = np.abs(vectors).max(axis=1) / 127
    divisors = np.where(scales > 0, scales, 1)
    return np.rint(vectors / divisors[:, None]).astype(np.int8), scales.astype(np.float32)


def check_absent(folder: Path) -> None:
    """Raise VectorsError if something exists where a new folder is to be made."""
    if folder.exists():
        raise VectorsError(f"{folder} exists; remove it or choose another name")


def index_of(words: Sequence[str]) -> HashIndex:
    """Build a hash table from the words' hashes to their ids, which are their positions in `words`.

    Raises VectorsError for a word that is not one word to the tokeniser, or occurs twice.
    """
    hashed = hash_words(words)
    if not np.array_equal(np.diff(hashed.indptr), np.ones(len(words), dtype=np.int64)):
        wrong = words[int(np.flatnonzero(np.diff(hashed.indptr) != 1)[0])]
        raise VectorsError(f"{wrong!r} is not one word to the tokeniser; normalise the vocabulary first")
    _, first, times = np.unique(hashed.hashes, return_index=True, return_counts=True)
    if len(first) != len(words):
        twice = words[int(first[times > 1].min())]
        raise VectorsError(f"{twice!r} occurs twice in the vocabulary; each word must occur once")
    index = HashIndex(expected=len(words))
    index.insert(hashed.hashes, np.arange(len(words), dtype=np.int32))
    return index


def save_array(path: Path, array: npt.NDArray[Any]) -> None:
    """Write an array as NumPy's own format has it. Raises OSError."""
    np.save(path, array, allow_pickle=False)
