"""The vector store of an index on one machine: FAISS segments, files in the index folder that are written once.

Vectors are half-precision floats in an inner-product index: half the memory to scan, so twice as fast, and no loss that
a ranking shows. Those of sentences, which are many and only fetched, are bytes (semsearch.arrays.vectors). A segment of
few passages is compared as a whole. One of many has codes of four bits for two numbers after its vectors, an eighth of
their size (product quantization; Jégou, Douze and Schmid 2011). A first scan compares all codes, many at once in the
registers of the processor (fast scan; André, Kermarrec and Le Scouarnec 2015), and its best are scored with their
vectors (refine). Or it has an inverted file, if its index type says so (semsearch.dense.scan_plan). Whatever the order
in the file, a row's number is the position of its id among the ids of the segment, which are kept in the database
(semsearch.arrays.id_ranges). Removed ids are left out by a mask over the rows.

FAISS maps a file without checking the lengths in it: a forged file makes it read beyond the end, which ends the
process. So all lengths are compared with the file and with each other first. Only the layouts that semsearch writes are
known: plain, with codes, or with lists; as floats, half floats, eight bits or signed bytes.

    index       four letters, d, how many vectors, 16 bytes, trained?, metric
    IxFI        index, floats
    IxSQ        index, codec, codes; after one of half floats perhaps IPfs
    IPfs        index, product quantizer, how to scan, codes in blocks of 32 vectors
    IwFl, IwSq  index, how many lists and how many are searched, index of the centroids, direct map, [codec], lists
"""

from __future__ import annotations

import errno
import math
import os
import struct
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from semsearch.arrays.id_ranges import IdRanges
from semsearch.arrays.top_k import TopK, TopKResult
from semsearch.arrays.types import Bool, Float16, Float32, Int64, UInt8
from semsearch.arrays.vectors import from_bytes, to_single
from semsearch.dense.scan_plan import CODED, FEWEST, ScanOptions
from semsearch.dense.segments_reader import MANY, SegmentsReader, compare_all
from semsearch.dense.stored_vectors import PACKED, faiss, fast_scan, in_one_thread, inner_products
from semsearch.dense.vector_store import Questions
from semsearch.errors import EXHAUSTED, IndexDamaged, rebuild_command
from semsearch.storage.segments import LARGEST, Kind, Segment
from semsearch.system.checked_file import CheckedFile
from semsearch.system.open_cache import OpenCache

if TYPE_CHECKING:
    from semsearch.dense.faiss_writer import SegmentWriter


_INNER_PRODUCT = 0
_EIGHT_BITS, _HALF, _SIGNED = 0, 4, 8  # faiss.ScalarQuantizer.QT_8bit, QT_fp16, QT_8bit_direct_signed
_ARRAY = 1  # faiss.DirectMap.Array
_LARGEST = 1 << 16  # dimensions


class UnknownLayout(ValueError):
    """A file that is none of the layouts that semsearch writes, or whose lengths disagree."""


@dataclass(frozen=True, slots=True)
class FileLayout:
    """What a vector file says of itself: d, how many vectors, and of one with lists, where each vector is."""

    dimension: int
    rows: int
    homes: Int64 | None = None  # (rows,) the list times 2^32, and the position in it
    sizes: Int64 | None = None  # (lists,) of the lists
    edges: Int64 | None = None  # (lists + 1,) where each list begins in the file, and the last one ends
    end: int = 0  # of the vectors in the file
    centroids: Float32 | None = None  # (d / 2, 16, 2) of the codes, whose blocks are the last of the file
    blocks: int = 0  # where these begin

    def are_there(self, rows: Int64) -> bool:
        """Return whether the vectors at given rows are in their lists. (n,)"""
        if self.homes is None or self.sizes is None:
            return True
        homes = self.homes[rows]
        lists, positions = homes >> 32, homes & 0xFFFFFFFF
        are_lists = (lists >= 0) & (lists < len(self.sizes))
        return bool(are_lists.all() and (positions < self.sizes[lists]).all())


def layout_of(data: UInt8) -> FileLayout:
    """Walk through a vector file. Raises UnknownLayout. (bytes,)"""
    walk = _LayoutWalk(data)
    try:
        found = walk.index(with_lists=True)
        if walk.at < len(data):
            found = walk.with_codes(found)
    except struct.error:
        raise UnknownLayout("it ends too soon") from None
    walk.require(walk.at == len(data), "there is more behind its end")
    return found


class _LayoutWalk:
    def __init__(self, data: UInt8) -> None:
        self._data = data
        self.at = 0

    def index(self, *, with_lists: bool) -> FileLayout:
        kind = bytes(self._data[self.at : self.at + 4])
        self.at += 4
        dimension, rows, _, _, _, metric = self._take("<iqqqBi")
        self.require(0 < dimension <= _LARGEST and 0 <= rows <= len(self._data), "its size makes no sense")
        self.require(metric == _INNER_PRODUCT, "it has another metric")
        if kind == b"IxFI":
            self._vector(4, rows * dimension)
        elif kind == b"IxSQ":
            self._vector(1, rows * self._codec(dimension))
        else:
            self.require(with_lists and kind in (b"IwFl", b"IwSq"), f"it begins with {kind!r}")
            return self._in_lists(kind, dimension, rows)
        return FileLayout(dimension, rows, end=self.at)

    def with_codes(self, of: FileLayout) -> FileLayout:
        """The layout of vectors that are followed by their codes."""
        kind, dimension, rows, _, _, _, metric = self._take("<4siqqqBi")
        parts = of.dimension // 2
        self.require(kind == b"IPfs" and of.homes is None, f"it goes on with {kind!r}")
        self.require((dimension, rows, metric) == (of.dimension, of.rows, _INNER_PRODUCT), "its codes are of others")
        self.require(self._take("<QQQ") == (dimension, parts, 4) and dimension % 2 == 0, "its codes have other lengths")
        centroids = self._vector(4, 16 * dimension).view("<f4").reshape(parts, 16, 2)
        self.require(bool(np.isfinite(centroids).all()), "its centroids are no numbers")
        filled, even = -(-rows // PACKED) * PACKED, -(-parts // 2) * 2
        _, together, _, all_rows, all_parts = self._take("<iiiQQ")
        self.require((together, all_rows, all_parts) == (PACKED, filled, even), "its codes have other blocks")
        self._vector(1, filled * even // 2)
        return FileLayout(dimension, rows, end=of.end, centroids=centroids, blocks=self.at - filled * even // 2)

    def _in_lists(self, kind: bytes, dimension: int, rows: int) -> FileLayout:
        lists, searched = self._take("<QQ")
        self.require(0 < searched <= lists <= len(self._data), "its lists make no sense")
        centroids = self.index(with_lists=False)
        self.require((centroids.rows, centroids.dimension) == (lists, dimension), "it has other centroids")
        (direct,) = self._take("<B")
        self.require(direct == _ARRAY, "it does not say where its vectors are")
        homes = self._vector(8, rows).view("<i8")
        width = 4 * dimension
        if kind == b"IwSq":
            width = self._codec(dimension)
            self.require(self._take("<QB")[0] == width, "its vectors have another length")
        sizes = self._sizes(lists, width)
        self.require(int(sizes.sum()) == rows and not (sizes < 0).any(), "its lists have other lengths")
        edges = self.at + np.concatenate((np.zeros(1, dtype=np.int64), np.cumsum(sizes * (width + 8))))
        self._skip(rows * (width + 8))
        return FileLayout(dimension, rows, homes, sizes, edges)

    def _sizes(self, lists: int, width: int) -> Int64:
        """The lengths of all lists."""
        kind, count, code_size, how = self._take("<4sQQ4s")
        self.require((kind, count, code_size) == (b"ilar", lists, width), "its lists are others")
        if how == b"full":
            return self._vector(8, lists).view("<i8")
        self.require(how == b"sprs", "its lists are others")
        pairs = self._vector(8, None).view("<i8")
        self.require(len(pairs) % 2 == 0, "its lists have other lengths")
        numbers, lengths = pairs[::2], pairs[1::2]
        self.require(not ((numbers < 0) | (numbers >= lists)).any(), "its lists have other numbers")
        self.require(len(np.unique(numbers)) == len(numbers), "a list comes twice")
        sizes = np.zeros(lists, dtype=np.int64)
        sizes[numbers] = lengths
        return sizes

    def _codec(self, dimension: int) -> int:
        """The bytes of a vector."""
        kind, _, _, own_dimension, width = self._take("<iifQQ")
        self.require(own_dimension == dimension, "its codec has other dimensions")
        sizes = {_HALF: 2 * dimension, _EIGHT_BITS: dimension, _SIGNED: dimension}
        self.require(sizes.get(kind) == width, "it has another codec")
        self._vector(4, 2 * dimension if kind == _EIGHT_BITS else 0)
        return int(width)

    def _vector(self, width: int, count: int | None) -> UInt8:
        """The bytes of an array that says how many elements of `width` bytes it has: `count`, if given."""
        (found,) = self._take("<Q")
        self.require(found <= len(self._data) and count in (None, found), "an array has another length")
        start = self.at
        self._skip(found * width)
        return self._data[start : self.at]

    def _take(self, form: str) -> tuple[Any, ...]:
        found = struct.unpack(form, self._data[self.at : self.at + struct.calcsize(form)].tobytes())
        self.at += struct.calcsize(form)
        return found

    def _skip(self, size: int) -> None:
        self.at += size
        self.require(self.at <= len(self._data), "it ends too soon")

    @staticmethod
    def require(holds: bool, else_: str) -> None:
        """Raise UnknownLayout where something does not hold."""
        if not holds:
            raise UnknownLayout(else_)


# -- Faiss segment -----------------------------------------------------------------------------------------------------


_CANDIDATES_SHARE = 1 / 16  # of a segment, at most: to score more takes longer than to compare all vectors
_ALLOWED_SHARE = 1 / 4  # of a segment, at least: to compare fewer vectors takes less than the first scan
_SPARE = 1.25  # times as many are asked for where some are not allowed, since these may be more among the best
_ROUNDING = 2e-3  # the error of a number in half precision, at most
_READ_WHOLE = 1 << 28  # bytes: of a file with lists that is checked before the first scan, at most
_COARSE = 2e-2  # the error of a number in eight bits, at most
_SCALED = 5e-3  # the error of a number in signed bytes, at most


def _read(path: Path) -> faiss.Index:
    try:
        return faiss.read_index(str(path), faiss.IO_FLAG_MMAP_IFC)
    except RuntimeError as error:
        if os.strerror(errno.ENODEV) not in str(error):  # a disk without memory maps
            raise
        return faiss.read_index(str(path))


class Vectors:
    """An opened segment of vectors. Memory-mapped: opening costs nothing, and a scan reads only what it compares.

    What is read is compared with its checksums the first time: by the first scan all, by a fetch what is fetched.
    Raises FileNotFoundError if the file has gone, IndexDamaged if it does not match the database.
    """

    def __init__(self, path: Path, segment: Segment) -> None:
        self.segment = segment
        cure = f"run: {rebuild_command(path.parents[1])}"
        if (size := path.stat().st_size) != segment.size:
            raise IndexDamaged(f"{path} has {size} bytes, not {segment.size}; {cure}")
        self._file = CheckedFile(path, segment.sums)
        try:
            self._layout = layout_of(self._file.data)
            self._index = _read(path)
        except (UnknownLayout, RuntimeError) as error:
            if lacking := next((number for number in EXHAUSTED if os.strerror(number) in str(error)), 0):
                raise OSError(lacking, os.strerror(lacking), str(path)) from error
            raise IndexDamaged(f"{path} is not a vector file; {cure}") from error
        if self._index.ntotal != len(segment.id_ranges):
            raise IndexDamaged(f"{path} has {self._index.ntotal} vectors, not {len(segment.id_ranges)}; {cure}")
        self._has_lists = isinstance(self._index, faiss.IndexIVF)
        quantizer = getattr(self._index, "sq", None)
        self._kind = -1 if quantizer is None else int(quantizer.qtype)
        if self._layout.edges is not None:
            self._edges = self._layout.edges
            self._unread: Bool = np.full(len(self._edges) - 1, segment.size > _READ_WHOLE)
        if not self._has_lists:
            end, shape = self._layout.end, (self._index.ntotal, self._index.code_size)
            self._start = end - shape[0] * shape[1]
            self._codes: UInt8 = self._file.data[self._start : end].reshape(shape)
        self._first_scan: Any = None  # loaded when it is needed

    @property
    def dimension(self) -> int:
        """The length of the vectors."""
        return int(self._index.d)

    @property
    def compares_all(self) -> bool:
        """Return whether a scan compares the vectors of all rows, since there are neither lists nor codes."""
        return not self._has_lists and not self._candidates_each

    @property
    def _candidates_each(self) -> int:
        """The candidates that the first scan finds for each of the vectors asked for; 0 if there are no codes."""
        scan = self.segment.scan
        return 0 if scan is None or self._layout.centroids is None or self._kind != _HALF else max(0, scan.probes)

    @property
    def is_scaled(self) -> bool:
        """Return whether the file has multiples of the vectors, as bytes."""
        return self._kind == _SIGNED

    @property
    def rounding(self) -> float:
        """The largest rounding error of a number in a stored vector."""
        return {_EIGHT_BITS: _COARSE, _SIGNED: _SCALED}.get(self._kind, _ROUNDING)

    def scan(self, queries: Float32, n: int, *, allowed: Bool | None = None, exact: bool = False) -> TopKResult:
        """Find the n allowed rows with the largest inner product with each query. (q, d), (rows,) -> (q, n)

        With codes, only the best of the first scan are compared. With lists, only the nearest lists are searched: the
        fewer rows are allowed, the more lists, so that about as many allowed rows are compared, or all lists if that
        takes no more. `exact` compares all.
        """
        if candidates := 0 if exact else self._candidates_each * max(n, FEWEST):
            share = 1.0 if allowed is None else np.count_nonzero(allowed) / len(allowed)
            asked = candidates if allowed is None else math.ceil(candidates * _SPARE / max(share, _ALLOWED_SHARE))
            if share >= _ALLOWED_SHARE and asked <= _CANDIDATES_SHARE * len(self._codes):
                return self._refined(queries, n, candidates, asked, allowed)
            if len(queries) >= MANY:
                return self._compared(queries, n, allowed)
        self._check()
        if self.is_scaled:
            return self._scanned_whole(queries, n, np.ones(len(self._codes), np.bool_) if allowed is None else allowed)
        probes = (self._index.nlist if exact else self._probes(allowed)) if self._has_lists else 0
        if probes and self._unread.any():
            self._expect_lists(queries, probes)
        try:
            return scanned(self._index, self.segment.id_ranges, queries, n, allowed=allowed, probes=probes)
        except IndexError as error:
            raise self._damage() from error

    def _refined(self, queries: Float32, n: int, candidates: int, asked: int, allowed: Bool | None) -> TopKResult:
        """Scan the codes for the rows that seem the best, and compare the first allowed ones of these. -> (q, n)

        Queries that have too few allowed ones among them, because others are nearer, are compared with all rows.
        """
        with in_one_thread(len(queries) == 1):
            _, found = self._loaded().search(queries, asked)
        scores: Float32 = np.full((len(queries), n), -np.inf, dtype=np.float32)
        ids = np.full((len(queries), n), -1)
        others: list[int] = []
        with in_one_thread(True):  # FAISS shares queries, of which each has candidates of its own
            for number, rows in enumerate(found):
                rows = rows[rows >= 0] if allowed is None else rows[(rows >= 0) & allowed[rows]]
                if allowed is not None and len(rows) < candidates:
                    others.append(number)
                    continue
                rows = np.sort(rows[:candidates])  # of equal scores the lower comes first
                best = slice(0, min(n, len(rows)))
                scores[number, best], (which,) = _of_halves(self._read(rows)).search(queries[[number]], best.stop)
                ids[number, best] = rows[which]
        known = ids >= 0
        ids[known] = self.segment.id_ranges.ids(ids[known])
        if others:
            rest = self.scan(queries[others], n, allowed=allowed, exact=True)
            scores[others], ids[others] = rest.scores, rest.ids
        return TopKResult(scores, ids)

    def _loaded(self) -> Any:
        """The codes in memory, as FAISS scans them. Threads that come at once may each load them."""
        if self._first_scan is None:
            assert self._layout.centroids is not None  # else there are no candidates
            self._file.check(self._layout.end)
            blocks = self._file.data[self._layout.blocks :]
            self._first_scan = fast_scan(self._layout.centroids, blocks, len(self._codes))
        return self._first_scan

    def _compared(self, queries: Float32, n: int, allowed: Bool | None) -> TopKResult:
        """Compare many queries with all allowed rows."""
        best, ids = TopK(len(queries), n), self.segment.id_ranges.ids
        rows = np.arange(len(self._codes)) if allowed is None else np.flatnonzero(allowed)
        compare_all(best, queries, rows, decode=self.rows, ids=ids)
        return best.best()

    def _expect_lists(self, queries: Float32, probes: int) -> None:
        """Have the system read the lists that queries search and none has before: FAISS waits for page after page."""
        searched = np.zeros_like(self._unread)
        searched[self._index.quantizer.search(queries, probes)[1]] = True
        wanted = np.flatnonzero(searched & self._unread)
        for start, end in zip(self._edges[wanted].tolist(), self._edges[wanted + 1].tolist(), strict=True):
            self._file.expect(start, end)
        self._unread[wanted] = False

    def _scanned_whole(self, queries: Float32, n: int, allowed: Bool) -> TopKResult:
        """Scan multiples, whose products are those of no unit vectors. Slow: no search compares all sentences."""
        numbers, best = np.flatnonzero(allowed), TopK(len(queries), n)
        owners, which = np.repeat(np.arange(len(queries)), len(numbers)), np.tile(np.arange(len(numbers)), len(queries))
        products = inner_products(queries, owners, self.rows(numbers), which).reshape(len(queries), len(numbers))
        best.add(products, self.segment.id_ranges.ids(numbers))
        return best.best()

    def release(self) -> None:
        """Take what was read out of memory, after work with all of it."""
        self._file.release()

    def _check(self) -> None:
        """Compare the file with its checksums, once. One with lists and of more than some megabytes is not read for it:
        a query reads a small part of it, and which that is only FAISS knows.
        """
        if not self._has_lists or self.segment.size <= _READ_WHOLE:
            self._file.check()

    def _damage(self) -> IndexDamaged:
        path = self._file.path
        return IndexDamaged(
            f"{path} is damaged: it refers to vectors that it does not have; run: {rebuild_command(path.parents[1])}"
        )

    def _probes(self, allowed: Bool | None) -> int:
        """The number of lists to search."""
        lists, probes = int(self._index.nlist), int(self._index.nprobe)
        share = 1.0 if allowed is None else float(np.count_nonzero(allowed)) / len(allowed)
        return lists if share * lists <= probes else min(lists, math.ceil(probes / share))

    def rows(self, rows: Int64) -> Float32:
        """The vectors at given rows. (n,) -> (n, d)"""
        if self._has_lists:
            self._check()
            if not self._layout.are_there(rows):
                raise self._damage()
            return np.asarray(self._index.reconstruct_batch(rows), dtype=np.float32)
        codes = self._read(rows)
        if self.is_scaled:
            return from_bytes(codes)
        return to_single(codes.view(np.int16)) if self._kind == _HALF else np.asarray(self._index.sa_decode(codes))

    def _read(self, rows: Int64) -> UInt8:
        """The vectors at given rows as they are in the file, which has no lists. (n,) -> (n, bytes a vector)"""
        starts, width = self._start + rows * self._codes.shape[1], self._codes.shape[1]
        self._file.check_each(starts, width)
        return self._codes.take(rows, axis=0)


class HeldVectors:
    """An opened segment whose vectors are held in memory, as half-precision floats. Threads may share it."""

    compares_all = True
    rounding = _ROUNDING

    def __init__(self, segment: Segment, rows: Float16) -> None:
        """Hold a copy of vectors in the order of the segment's ids. (n, d)"""
        self.segment = segment
        self.dimension = rows.shape[1]
        self._index = _of_halves(np.ascontiguousarray(rows).view(np.uint8))
        self._codes = _codes(self._index)

    def scan(self, queries: Float32, n: int, *, allowed: Bool | None = None) -> TopKResult:
        """Find the n allowed rows with the largest inner product with each query. (q, d), (rows,) -> (q, n)"""
        return scanned(self._index, self.segment.id_ranges, queries, n, allowed=allowed)

    def rows(self, rows: Int64) -> Float32:
        """The vectors at given rows. (n,) -> (n, d)"""
        return to_single(self._codes.take(rows, axis=0).view(np.int16))


def scanned(
    index: Any, id_ranges: IdRanges, queries: Float32, n: int, *, allowed: Bool | None = None, probes: int = 0
) -> TopKResult:
    """Scan an index of FAISS for the n best allowed rows; `probes` of its lists, if it has any. (q, d) -> (q, n)

    Raises IndexError if its lists name rows that there are not.
    """
    selected: dict[str, Any] = {}
    if allowed is not None:
        bits = np.packbits(allowed, bitorder="little")
        selected["sel"] = faiss.IDSelectorBitmap(bits)  # does not copy: `bits` must outlive the search
    parameters = faiss.SearchParametersIVF(nprobe=probes, **selected) if probes else faiss.SearchParameters(**selected)
    with in_one_thread(len(queries) == 1):  # FAISS shares queries, not rows
        scores, rows = index.search(queries, n, params=parameters)
    if probes and rows.size and rows.max() >= len(id_ranges):
        raise IndexError(f"there is no row {rows.max()}")
    ids = id_ranges.ids(np.maximum(rows, 0))
    if (none := rows < 0).any():
        scores[none], ids[none] = -np.inf, -1
    return TopKResult(scores, ids)


def _of_halves(codes: UInt8) -> Any:
    """An index of FAISS that holds a copy of vectors in half precision. (n, 2 d)"""
    index = faiss.IndexScalarQuantizer(codes.shape[1] // 2, faiss.ScalarQuantizer.QT_fp16, faiss.METRIC_INNER_PRODUCT)
    index.add_sa_codes(codes)
    return index


def _codes(index: Any) -> UInt8:
    """The codes of an index without lists, as a view of its memory. (n, bytes a vector)"""
    shape = (index.ntotal, index.code_size)
    return np.asarray(faiss.rev_swig_ptr(index.codes.data(), shape[0] * shape[1])).reshape(shape)


class FaissStore:
    """A store of one kind of vectors in FAISS segments. Without `scanning`, they are only fetched."""

    def __init__(
        self, folder: Path, kind: Kind, *, scanning: ScanOptions | None = None, largest: int = LARGEST
    ) -> None:
        self.folder = folder
        self.kind: Kind = kind
        self.largest = largest
        self._scanning = scanning
        self._opened: OpenCache[str, Vectors] = OpenCache()

    @property
    def gathering(self) -> int | None:
        """The number of vectors from which segments have codes; None if they never have."""
        gathering = None if self._scanning is None else self._scanning.gathering
        return None if gathering is None else min(gathering, CODED)

    def open(self, segments: Sequence[Segment], removed: IdRanges) -> SegmentsReader:
        """Open a reader of some segments. Files that the previous reader had open too stay open."""
        self._opened.keep({segment.file for segment in segments})
        return SegmentsReader([self._opened.get(each.file, partial(self._segment, each)) for each in segments], removed)

    def writer(self, generation: int, *, questions: Questions | None = None) -> SegmentWriter:
        """Make a writer of new files, which have no effect until the manifest names them."""
        from semsearch.dense.faiss_writer import SegmentWriter  # start-up time: a search writes nothing

        return SegmentWriter(
            self.folder,
            self.kind,
            generation=generation,
            largest=self.largest,
            scanning=self._scanning,
            questions=questions,
        )

    def merge(
        self, segments: Sequence[Segment], removed: IdRanges, *, generation: int, questions: Questions | None = None
    ) -> list[Segment]:
        """Merge segments into new files, without removed ids."""
        from semsearch.dense.vector_store import merge_by_copying  # start-up time: a search writes nothing

        opened = [self._opened.get(each.file, partial(self._segment, each)) for each in segments]

        def release() -> None:
            for vectors in opened:
                vectors.release()

        return merge_by_copying(self, segments, removed, generation=generation, questions=questions, after_each=release)

    def check(self, segment: Segment) -> list[str]:
        """Check that a file is as it was written; its problems. Raises FileNotFoundError."""
        from semsearch.system.durable import file_digest

        is_same = file_digest(self.folder / segment.file) == segment.digest
        return [] if is_same else [f"{segment.file} does not match its digest"]

    def names(self) -> Iterable[str]:
        """The names of all files of this kind, including unfinished ones."""
        return {path.name for path in self.folder.glob(f"{self.kind}-*")}

    def drop(self, name: str) -> None:
        """Delete a file. Raises OSError on Windows while a reader has it open."""
        (self.folder / name).unlink(missing_ok=True)

    def _segment(self, segment: Segment) -> Vectors:
        return Vectors(self.folder / segment.file, segment)
