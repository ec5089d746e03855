"""The word vectors of one language, in the space of the English ones: one memory-mapped file of two to three megabytes.

A word is kept as 40 bits of its hash (text/tokens.py), p(w) as one byte, its vector by product quantisation (Jégou,
Douze and Schmid 2011): the vector is cut into M parts, and each part is the nearest of 256 of a codebook.

    v(w) = scale(w) · (codebook_1[code_1(w)], …, codebook_M[code_M(w)])

    a line that names the format, a line of JSON (the card), spaces up to a multiple of 64 bytes, then arrays:
    steps      (5, n) uint8: the bytes, lowest first, of the difference of each word's 40 bits to those of the word
               before: 40 bits rise through the table, and a wheel packs small steps well
    rarity     (n,) uint8: p(w) = exp(-rarity / 12)
    scales     (n,) uint8: scale = largest scale · exp(-scales / 40)
    codes      (n, M) uint8
    codebooks  (M, 256, d / M) float16

The words themselves are not needed to look words up, and are not kept. The card names the digest of the word vectors in
whose space they are, their source and its licence. semsearch-research writes the file; the ones that come with
semsearch are in the folder `languages` beside this file.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from semsearch.arrays.hash_table import HashIndex
from semsearch.arrays.types import Float32, Int32, UInt8, UInt64
from semsearch.errors import EXHAUSTED, VectorsError
from semsearch.system.durable import mapped
from semsearch.system.source_files import content_digest
from semsearch.text.languages import RULES
from semsearch.text.tokens import TOKENISER_VERSION

FORMAT = "semsearch language vectors 2"
SUFFIX = ".vectors"
CENTROIDS = 256
HASH_BYTES = 5
MOST_WORDS = 1 << 18  # of a table: ids of several tables are told apart by the bits above
STEP = 12.0  # steps of the rarity, for each factor e
FINE = 40.0  # steps of the scales, for each factor e
SHIFT = np.uint64(24)  # bits of a hash that are not kept
_FEW = 4096  # words that are looked up by bisection; for more, a hash table is made
_ALIGNED = 64  # bytes
MOST_HEADER = 1 << 16
ARRAYS = (("steps", "u1"), ("rarity", "u1"), ("scales", "u1"), ("codes", "u1"), ("codebooks", "<f2"))


class LanguageTable:
    """The word vectors of one language, memory-mapped. Raises VectorsError if the file is no such table."""

    def __init__(self, path: Path) -> None:
        self.path: Path = Path(path)
        try:
            data = mapped(self.path)
            self.card, self._start = _card_of(data)
            self.language: str = self.card["language"]
            self.digest: str = self.card["digest"]
            self.dimension: int = self.card["dimension"]
            self.longest: int = self.card["longest"]  # characters of its longest word
            n, parts = self.card["words"], self.card["parts"]
            shapes = (HASH_BYTES, n), (n,), (n,), (n, parts), (parts, CENTROIDS, self.dimension // parts)
            views, end = [], self._start
            for (_, dtype), shape in zip(ARRAYS, shapes, strict=True):
                size = math.prod(shape) * np.dtype(dtype).itemsize
                views.append(data[end : end + size].view(dtype).reshape(shape))
                end += _aligned(size)
            if len(data) != end:
                raise ValueError(f"it has {len(data):,} bytes, not {end:,}")
        except OSError as error:
            if error.errno in EXHAUSTED:
                raise  # nothing is wrong with the file
            raise VectorsError(f"{self.path} cannot be read ({error}); install semsearch again") from error
        except (ArithmeticError, LookupError, TypeError, ValueError, RecursionError) as error:
            raise VectorsError(f"{self.path} is damaged ({error}); install semsearch again") from error
        self._data = data
        self._steps, self._rarity, self._scales, self._codes, self._codebooks = views

    def __len__(self) -> int:
        return len(self._rarity)

    def __repr__(self) -> str:
        return f"LanguageTable({self.language!r}, {len(self)} words, {self.dimension} dimensions)"

    @cached_property
    def frequencies(self) -> Float32:
        """The probability p(w) of each word in general text. (n,)"""
        return np.asarray(np.exp(np.arange(256) / -STEP).astype(np.float32)[self._rarity])

    @cached_property
    def log_p(self) -> Float32:
        """The logarithm of p(w) of each word. (n,)"""
        return np.asarray(np.log(self.frequencies))

    def lookup(self, hashes: UInt64) -> Int32:
        """Word hashes to ids, -1 for unknown words. (n,) -> (n,)"""
        wanted = hashes >> SHIFT
        if len(wanted) > _FEW or "_index" in vars(self):
            return self._index.look_up(wanted + np.uint64(1))
        at = self._hashes.searchsorted(wanted)
        return np.where(self._hashes.take(at) == wanted, at, -1).astype(np.int32)

    def rows(self, ids: npt.NDArray[np.integer[Any]]) -> Float32:
        """The vectors of word ids. (n,) -> (n, d)"""
        parts, _, width = self._codebooks.shape
        flat = self._codes[ids].astype(np.intp) + CENTROIDS * np.arange(parts)
        rows = self._flat.take(flat.ravel(), axis=0).reshape(len(flat), parts * width)
        rows *= self._lengths[self._scales[ids]][:, None]
        return np.asarray(rows)

    def verify(self) -> bool:
        """Return whether the arrays have the digest that the card gives. Reads everything."""
        return content_digest(self._data[self._start :].tobytes()) == self.digest

    @cached_property
    def _hashes(self) -> UInt64:
        """The 40 bits of each word's hash, rising, and a number beyond them. (n + 1,)"""
        steps = np.full((len(self) + 1, 8), 127, dtype=np.uint8)
        steps[:-1, :HASH_BYTES], steps[:-1, HASH_BYTES:] = self._steps.T, 0
        return np.cumsum(steps.view("<u8")[:, 0])

    @cached_property
    def _index(self) -> HashIndex:
        index, frequent_first = HashIndex(expected=2 * len(self)), np.argsort(self._rarity, kind="stable")
        index.insert(self._hashes[frequent_first] + np.uint64(1), frequent_first.astype(np.int32))
        return index

    @cached_property
    def _lengths(self) -> Float32:
        return scales_of(self.card["scale"])

    @cached_property
    def _flat(self) -> Float32:
        return self._codebooks.reshape(-1, self._codebooks.shape[2]).astype(np.float32)


def _card_of(data: UInt8) -> tuple[dict[str, Any], int]:
    """The card, and where the arrays begin. Raises ValueError."""
    first, line, _ = data[:MOST_HEADER].tobytes().split(b"\n", 2)
    if first != FORMAT.encode():
        raise ValueError(f"it is not of format {FORMAT!r}, as another version of semsearch made it")
    card = json.loads(line)
    if card["tokeniser"] != TOKENISER_VERSION or card["language"] not in RULES:
        raise ValueError(f"it was made for tokeniser {card['tokeniser']}, not {TOKENISER_VERSION}")
    return card, _aligned(len(first) + len(line) + 2)


def steps_of(hashes: UInt64) -> UInt8:
    """The bytes of the steps between rising hashes of 40 bits. (n,) -> (5, n)"""
    steps = np.diff(hashes, prepend=np.uint64(0)).astype("<u8")
    return steps.view(np.uint8).reshape(-1, 8)[:, :HASH_BYTES].T


def file_of_table(arrays: Mapping[str, npt.NDArray[Any]], card: Mapping[str, Any]) -> bytes:
    """A table as a file has it, by its ARRAYS; the card without tokeniser and digest. Raises VectorsError."""
    body = b"".join(_padded(np.asarray(arrays[name], dtype=dtype).tobytes()) for name, dtype in ARRAYS)
    details = {**card, "tokeniser": TOKENISER_VERSION, "digest": content_digest(body)}
    header = f"{FORMAT}\n{json.dumps(details, ensure_ascii=False)}\n".encode()
    if len(header) > MOST_HEADER:
        raise VectorsError(f"a card has {len(header):,} bytes; at most {MOST_HEADER:,} are read")
    return _padded(header, b" ") + body


def _padded(data: bytes, filling: bytes = b"\0") -> bytes:
    return data + filling * (_aligned(len(data)) - len(data))


def _aligned(size: int) -> int:
    return -(-size // _ALIGNED) * _ALIGNED


def scales_of(largest: float) -> Float32:
    """The scale that each byte stands for. (256,)"""
    return (largest * np.exp(np.arange(256) / -FINE)).astype(np.float32)


# -- Shipped tables ----------------------------------------------------------------------------------------------------

_HERE = Path(__file__).parent / "languages"


def language_folder() -> Path:
    """The folder of the tables that come with semsearch."""
    return _HERE


def find_language_table(language: str) -> Path | None:
    """The file of the table of a language; None if there is none."""
    path = language_folder() / f"{language}{SUFFIX}"
    return path if path.is_file() else None


def shipped_languages() -> list[str]:
    """The codes of the languages that have a table, without English."""
    return sorted(path.stem for path in language_folder().glob(f"*{SUFFIX}"))
