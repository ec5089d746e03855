"""The vector store of an index on one machine: FAISS segments, files in the index folder that are written once.

Vectors of passages are half-precision floats in an inner-product index: half the memory to scan, so twice as fast, and
no loss that a ranking shows. Those of sentences, which are many and only fetched, are bytes (semsearch.arrays.vectors).
A segment of few passages is compared as a whole. One of many has codes of four bits for two numbers after its vectors,
an eighth of their size (product quantization; Jégou, Douze and Schmid 2011). A first scan compares all codes, many at
once in the registers of the processor (fast scan; André, Kermarrec and Le Scouarnec 2015), and its best are scored with
their vectors (refine): from a hundred thousand passages on, three times as fast as to compare all vectors.

    header      as FAISS writes it before the vectors of an index: `header`
    vectors     (n, 2 d) or (n, d) bytes
    centroids   (d / 2, 16, 2) float32, and
    blocks      the codes of 32 vectors each, as FAISS scans them: only with codes

A row's number is the position of its id among the ids of the segment, which are kept in the database
(semsearch.arrays.id_ranges). Removed ids are left out by a mask over the rows.

FAISS maps a file without checking the lengths in it: a forged file would make it read beyond the end, which ends the
process. So the header is compared with what FAISS writes for as many vectors as the database says, and the size of
the file with what follows from that.
"""

from __future__ import annotations

import errno
import math
import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property, partial
from pathlib import Path
from typing import Any

import numpy as np

from semsearch.arrays.id_ranges import IdRanges
from semsearch.arrays.types import Bool, Float32, Int64, UInt8
from semsearch.arrays.vectors import from_bytes, to_single
from semsearch.dense.faiss_writer import (
    PACKED,
    FaissSegment,
    faiss,
    fast_scan,
    header,
    plain_index,
)
from semsearch.dense.vector_store import SegmentsReader, SegmentsWriter, TopKResult
from semsearch.errors import EXHAUSTED, IndexDamaged, rebuild_command
from semsearch.storage.segments import LARGEST, Kind, Segment
from semsearch.system.durable import CheckedFile, file_digest
from semsearch.system.open_cache import OpenCache

_LARGEST = 1 << 16  # dimensions
_HALF_ERROR = 2e-3  # the error of a number in half precision, at most
_BYTE_ERROR = 5e-3  # the error of a number in signed bytes, at most


# -- The file ----------------------------------------------------------------------------------------------------------


def _read(path: Path) -> Any:
    try:
        return faiss.read_index(str(path), faiss.IO_FLAG_MMAP_IFC)
    except RuntimeError as error:
        if os.strerror(errno.ENODEV) not in str(error):  # a disk without memory maps
            raise
        return faiss.read_index(str(path))


# -- A segment ---------------------------------------------------------------------------------------------------------

_CANDIDATES = 8  # candidates for each vector that is asked for: their recall is in docs/developers/large-indexes.md
CODED = 1 << 13  # vectors from which a segment gets codes: below, a scan takes less than half a millisecond
_FEWEST = 50  # vectors: as many candidates are taken as for these where fewer are asked for
_CANDIDATES_SHARE = 1 / 16  # of a segment, at most: to score more takes longer than to compare all vectors
_ALLOWED_SHARE = 1 / 4  # of a segment, at least: to compare fewer vectors takes less than the first scan
_SPARE = 1.25  # times as many are asked for where some are not allowed, since these may be more among the best


class OpenedFaissSegment:
    """An opened segment of vectors. Memory-mapped: opening costs nothing, and a scan reads only what it compares.

    What is read is compared with its checksums the first time: by the first scan all, by a fetch what is fetched.
    Raises FileNotFoundError if the file has gone, IndexDamaged if it does not match the database.
    """

    def __init__(self, path: Path, segment: Segment) -> None:
        self.segment = segment
        self._path = path
        if (size := path.stat().st_size) != segment.size:
            raise self._damage(f"has {size} bytes, not {segment.size}")
        self._file = CheckedFile(path, segment.sums)
        count = len(segment.id_ranges)
        self.dimension = int.from_bytes(self._file.data[4:8].tobytes(), "little")
        if not 0 < self.dimension <= _LARGEST:
            raise self._damage("is not a vector file")
        start = header(self.dimension, count, segment.kind)
        width = self.dimension * (1 if segment.kind == "sentence" else 2)
        self._start, self._end = len(start), len(start) + count * width
        parts = self.dimension // 2
        self._centroids = self._end + parts * 16 * 2 * 4
        blocks = -(-count // PACKED) * PACKED * -(-parts // 2)
        if self._file.data[: self._start].tobytes() != start:
            raise self._damage(f"does not begin as a file of {count} vectors")
        self.has_codes: bool = size != self._end
        if self.has_codes and size != self._centroids + blocks:
            raise self._damage(f"has {size} bytes, which do not hold {count} vectors")
        try:
            self._index = _read(path)
        except RuntimeError as error:
            if lacking := next((number for number in EXHAUSTED if os.strerror(number) in str(error)), 0):
                raise OSError(lacking, os.strerror(lacking), str(path)) from error
            raise self._damage("is not a vector file") from error
        self._codes: UInt8 = self._file.data[self._start : self._end].reshape(count, width)
        self._first_scan: Any = None  # loaded when it is needed

    @property
    def rounding(self) -> float:
        """The largest rounding error of a number in a stored vector."""
        return _BYTE_ERROR if self.segment.kind == "sentence" else _HALF_ERROR

    def scan(self, queries: Float32, n: int, *, allowed: Bool | None = None) -> TopKResult:
        """Find the n allowed rows with the largest inner product with each query. (q, d), (rows,) -> (q, n)

        With codes, only the best of a first scan are compared, unless few rows are allowed or many are wanted.
        """
        if self.has_codes:
            candidates = _CANDIDATES * max(n, _FEWEST)
            share = 1.0 if allowed is None else np.count_nonzero(allowed) / len(allowed)
            asked = candidates if allowed is None else math.ceil(candidates * _SPARE / max(share, _ALLOWED_SHARE))
            if share >= _ALLOWED_SHARE and asked <= _CANDIDATES_SHARE * len(self._codes):
                return self._refined(queries, n, candidates, asked, allowed)
        return self._compared(queries, n, allowed)

    def _compared(self, queries: Float32, n: int, allowed: Bool | None) -> TopKResult:
        """Compare queries with all allowed rows. (q, d) -> (q, n)"""
        return scanned(self._checked, self.segment.id_ranges, queries, n, allowed=allowed)

    @cached_property
    def _checked(self) -> Any:
        """The opened index, all of whose vectors have been compared with their checksums. Raises IndexDamaged."""
        self._file.check(0, self._end)
        return self._index

    def _refined(self, queries: Float32, n: int, candidates: int, asked: int, allowed: Bool | None) -> TopKResult:
        """Scan the codes for the rows that seem the best, and compare the first allowed ones of these. -> (q, n)

        Queries that have too few allowed ones among them, because others are nearer, are compared with all rows.
        """
        with in_one_thread(len(queries) == 1):
            _, candidate_rows = self._loaded().search(queries, asked)
        scores: Float32 = np.full((len(queries), n), -np.inf, dtype=np.float32)
        ids = np.full((len(queries), n), -1)
        unanswered: list[int] = []
        with in_one_thread(True):  # FAISS shares queries, of which each has candidates of its own
            for number, rows in enumerate(candidate_rows):
                rows = rows[rows >= 0] if allowed is None else rows[(rows >= 0) & allowed[rows]]
                if allowed is not None and len(rows) < candidates:
                    unanswered.append(number)
                    continue
                rows = np.sort(rows[:candidates])  # of equal scores the lower comes first
                best = slice(0, min(n, len(rows)))
                refined = _half_precision_index(self._read_rows(rows))
                scores[number, best], (which,) = refined.search(queries[[number]], best.stop)
                ids[number, best] = rows[which]
        known = ids >= 0
        ids[known] = self.segment.id_ranges.ids(ids[known])
        if unanswered:
            rest = self._compared(queries[unanswered], n, allowed)
            scores[unanswered], ids[unanswered] = rest.scores, rest.ids
        return TopKResult(scores, ids)

    def _loaded(self) -> Any:
        """The codes in memory, as FAISS scans them. Threads that come at once may each load them."""
        if self._first_scan is None:
            self._file.check(self._end)
            centroids = self._file.data[self._end : self._centroids].view("<f4").reshape(-1, 16, 2)
            self._first_scan = fast_scan(centroids, self._file.data[self._centroids :], len(self._codes))
        return self._first_scan

    def release(self) -> None:
        """Release the memory of what was read, after work with all of it."""
        self._file.release()

    def rows(self, rows: Int64) -> Float32:
        """The vectors at given rows. (n,) -> (n, d)"""
        codes = self._read_rows(rows)
        return from_bytes(codes) if self.segment.kind == "sentence" else to_single(codes.view(np.int16))

    def _read_rows(self, rows: Int64) -> UInt8:
        """The vectors at given rows as they are in the file. (n,) -> (n, bytes a vector)"""
        self._file.check_each(self._start + rows * self._codes.shape[1], self._codes.shape[1])
        return self._codes.take(rows, axis=0)

    def _damage(self, what: str) -> IndexDamaged:
        return IndexDamaged(f"{self._path} {what}; run: {rebuild_command(self._path.parents[1])}")


@contextmanager
def in_one_thread(wanted: bool) -> Iterator[None]:
    """Let FAISS use one thread while the block runs, if it is wanted. It concerns the calling thread only.

    What FAISS returns is the same, with however many threads.
    """
    if not wanted:
        yield
        return
    before = faiss.omp_get_max_threads()
    faiss.omp_set_num_threads(1)
    try:
        yield
    finally:
        faiss.omp_set_num_threads(before)


def scanned(index: Any, id_ranges: IdRanges, queries: Float32, n: int, *, allowed: Bool | None = None) -> TopKResult:
    """Scan an index of FAISS for the n best allowed rows. (q, d) -> (q, n)"""
    parameters = None
    if allowed is not None:
        bits = np.packbits(allowed, bitorder="little")
        parameters = faiss.SearchParameters(sel=faiss.IDSelectorBitmap(bits))  # no copy: `bits` outlives the search
    with in_one_thread(len(queries) == 1):  # FAISS shares queries, not rows
        scores, rows = index.search(queries, n, params=parameters)
    ids = id_ranges.ids(np.maximum(rows, 0))
    if (none := rows < 0).any():
        scores[none], ids[none] = -np.inf, -1
    return TopKResult(scores, ids)


def _half_precision_index(codes: UInt8) -> Any:
    """An index of FAISS that holds a copy of vectors in half precision. (n, 2 d)"""
    index = plain_index(codes.shape[1] // 2, "passage")
    index.add_sa_codes(codes)
    return index


# -- The store ---------------------------------------------------------------------------------------------------------


class FaissStore:
    """A store of one kind of vectors in FAISS segments. With `exact`, none gets codes."""

    def __init__(self, folder: Path, kind: Kind, *, exact: bool = True, largest: int = LARGEST) -> None:
        self.folder = folder
        self.kind: Kind = kind
        self.largest = largest
        self.gathering = None if exact else CODED  # vectors from which segments have codes; None if they never have
        self._opened: OpenCache[str, OpenedFaissSegment] = OpenCache()

    def open(self, segments: Sequence[Segment], removed: IdRanges) -> SegmentsReader:
        """Open a reader of some segments. Files that the previous reader had open too stay open."""
        self._opened.keep({segment.file for segment in segments})
        return SegmentsReader([self._open(segment) for segment in segments], removed)

    def writer(self, generation: int) -> SegmentsWriter:
        """Make a writer of new files, which have no effect until the manifest names them."""
        begin = partial(FaissSegment, self.folder, self.kind, generation=generation, coded=self.gathering)
        return SegmentsWriter(begin, self.largest)

    def check(self, segment: Segment) -> list[str]:
        """Check that a file is as it was written; its problems. Raises FileNotFoundError."""
        is_same = file_digest(self.folder / segment.file) == segment.digest
        return [] if is_same else [f"{segment.file} does not match its digest"]

    def names(self) -> Iterable[str]:
        """The names of all files of this kind, including unfinished ones."""
        return {path.name for path in self.folder.glob(f"{self.kind}-*")}

    def drop(self, name: str) -> None:
        """Delete a file. Raises OSError on Windows while a reader has it open."""
        (self.folder / name).unlink(missing_ok=True)

    def _open(self, segment: Segment) -> OpenedFaissSegment:
        return self._opened.get(segment.file, partial(OpenedFaissSegment, self.folder / segment.file, segment))
