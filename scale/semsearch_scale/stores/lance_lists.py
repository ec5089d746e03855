"""Segments of many vectors in Lance: an inverted file, whose lists are read for the queries near them, and cached.

Lance rounds a query to the half precision of the vectors, so the ids it finds are only candidates, a few more than were
asked for: their vectors are read and compared with the unrounded query. Ranking a passage mostly needs its vector
anyway, so the vectors read last are kept.

The number of lists to search is measured, as for a segment of FAISS (semsearch.dense.scan_plan): the least of some
numbers that reaches the recall on half of the probe questions, raised if the other half falls short.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np

from semsearch.arrays.id_ranges import distinct
from semsearch.arrays.top_k import TopK, TopKResult, nothing_found
from semsearch.arrays.types import Bool, Float16, Float32, Int64, UInt64
from semsearch.arrays.vectors import to_single
from semsearch.dense.scan_plan import FEW, QUESTIONS, K, evenly, least_step, shares_found
from semsearch.dense.stored_vectors import inner_products
from semsearch.results.reports import Scan
from semsearch.storage.segments import Segment
from semsearch_scale.stores.lance_tables import LancePlace

_TRAINING = 40  # vectors for each list that its centroid is learned from
COLUMN = "vector"
ROUNDING = 2e-3  # the error of a number in half precision
_FEW = 256  # allowed rows: so few are all read and compared
_MORE = 16  # extra candidates, because the query is rounded
_KEPT = 1 << 14  # rows read last that are kept: eight megabytes for 256 numbers each
_PACE = 64  # queries that may take as long as one, where a store is slow
_OFFSET = np.uint64(32)  # bits of a row's address: its position in a fragment, and above them the fragment


class ListedVectors:
    """An opened segment with lists. Threads may share it."""

    compares_all = False
    rounding = ROUNDING

    def __init__(self, place: LancePlace, segment: Segment, table: Any) -> None:
        self.segment = segment
        self.dimension: int = table.schema.field(COLUMN).type.list_size
        self._place = place
        self._table = table
        counts = [fragment.physical_rows for fragment in table.get_fragments()]
        self._starts: Int64 = np.cumsum([0, *counts], dtype=np.int64)
        self._recent: dict[int, Float16] = {}  # replaced whole: threads need no lock, at worst one reads again

    def scan(self, queries: Float32, n: int, *, allowed: Bool | None = None) -> TopKResult:
        """Find the n best allowed rows of the nearest lists. (q, d), (rows,) -> (q, n)

        The fewer rows are allowed, the more lists are searched, so that about as many allowed rows are compared.
        """
        count = len(self.segment.id_ranges) if allowed is None else int(np.count_nonzero(allowed))
        n = min(n, count)
        if not len(queries) or not n:
            return nothing_found(len(queries))
        if allowed is not None and count <= _FEW:
            rows = np.flatnonzero(allowed)
            best = TopK(len(queries), n)
            best.add(queries @ self.rows(rows).T, self.segment.id_ranges.ids(rows))
            return best.best()
        assert self.segment.scan is not None  # measured when it was written
        share = count / len(self.segment.id_ranges)
        probes = min(self.segment.scan.lists, math.ceil(self.segment.scan.probes / share))
        return self._best(queries, self.candidates(queries, n + _MORE, probes=probes, allowed=allowed), n)

    def candidates(self, queries: Float32, n: int, *, probes: int, allowed: Bool | None = None) -> Int64:
        """Find the n best allowed rows of so many lists, as Lance compares them; -1 for none. (q, d) -> (q, n)"""
        nearest = {"column": COLUMN, "q": queries, "k": n, "metric": "dot", "nprobes": probes}
        scanner = partial(self._table.scanner, columns=["_rowid", "_distance"], nearest=nearest, with_row_id=True)
        mask = self._mask(allowed)
        times = 1 + len(queries) // _PACE
        found = self._place.ask(lambda: scanner(**mask).to_table(), name=self.segment.file, times=times)
        owners = found["query_index"].to_numpy().astype(np.int64)
        rows = self._rows_at(found["_rowid"].to_numpy())
        order = np.lexsort((found["_distance"].to_numpy(), owners))
        counts = np.bincount(owners, minlength=len(queries))
        columns = np.arange(len(owners)) - np.repeat(np.cumsum(counts) - counts, counts)
        result = np.full((len(queries), n), -1, dtype=np.int64)
        result[owners[order], columns] = rows[order]
        return result

    def rows(self, rows: Int64) -> Float32:
        """The vectors at given rows. (n,) -> (n, d)"""
        if len(rows) > _KEPT:
            return to_single(self._read(rows.tolist()).view(np.int16))
        recent = self._recent
        new = [row for row in rows.tolist() if row not in recent]
        if new:
            recent = recent | dict(zip(new, self._read(new), strict=True))
            self._recent = recent if len(recent) <= _KEPT else {row: recent[row] for row in new}
        found = [recent[row] for row in rows.tolist()]
        return to_single(np.stack(found).view(np.int16)) if found else np.zeros((0, self.dimension), np.float32)

    def _read(self, rows: list[int]) -> Float16:
        take, times = partial(self._table.take, rows, columns=[COLUMN]), 1 + len(rows) // _KEPT
        return halves(self._place.ask(lambda: take()[COLUMN], name=self.segment.file, times=times), self.dimension)

    def _best(self, queries: Float32, rows: Int64, n: int) -> TopKResult:
        """Compare each query with its candidates, as they are stored. (q, d), (q, m) -> (q, n)"""
        owners, columns = np.nonzero(rows >= 0)
        own = rows[owners, columns]
        read = distinct(own)
        scores = np.full(rows.shape, -np.inf, np.float32)
        scores[owners, columns] = inner_products(queries, owners, self.rows(read), np.searchsorted(read, own))
        ids = np.where(rows >= 0, self.segment.id_ranges.ids(np.maximum(rows, 0)), -1)
        order = np.lexsort((ids, -scores))[:, :n]
        return TopKResult(np.take_along_axis(scores, order, axis=1), np.take_along_axis(ids, order, axis=1))

    def _mask(self, allowed: Bool | None) -> dict[str, bytes]:
        """The row mask for Lance: the allowed rows, or the others if those are fewer."""
        if allowed is None:
            return {}
        from lance.dataset import serialize_row_addrs  # an optional package

        is_most = 2 * np.count_nonzero(allowed) > len(allowed)
        rows = np.flatnonzero(~allowed if is_most else allowed)
        fragments = np.searchsorted(self._starts, rows, side="right") - 1
        addresses = (fragments << 32) + rows - self._starts[fragments]
        return {f"row_addr_{'block' if is_most else 'allow'}list": serialize_row_addrs(addresses.tolist())}

    def _rows_at(self, addresses: UInt64) -> Int64:
        fragments = (addresses >> _OFFSET).astype(np.int64)
        return np.asarray(self._starts[fragments] + (addresses & np.uint64(0xFFFFFFFF)).astype(np.int64))


def halves(column: Any, dimension: int) -> Float16:
    """A column of vectors as an array. (n, d)"""
    chunks = [chunk.flatten().to_numpy(zero_copy_only=True) for chunk in column.chunks]
    return np.concatenate([np.zeros(0, np.float16), *chunks]).reshape(-1, dimension)


def batches(table: Any) -> Iterator[Float16]:
    """The vectors of a table, in its order, some at a time. (n, d)"""
    dimension = table.schema.field(COLUMN).type.list_size
    for batch in table.to_batches(columns=[COLUMN]):
        yield batch.column(COLUMN).flatten().to_numpy(zero_copy_only=True).reshape(-1, dimension)


def make_lists(table: Any, lists: int) -> None:
    """Put the vectors of a table into lists."""
    table.create_index(COLUMN, "IVF_FLAT", metric="dot", num_partitions=lists, sample_rate=_TRAINING, filter_nan=False)


def measured(vectors: ListedVectors, table: Any, lists: int, target: float, questions: Float32) -> Scan:
    """Choose the number of lists to search for a recall, and measure it, with questions (q, d).

    If there are too few questions to measure with, some of the vectors are used as questions.
    """
    count = len(vectors.segment.id_ranges)
    if len(questions) < FEW:
        questions = vectors.rows(evenly(count, QUESTIONS))
    nearest, first = TopK(len(questions), min(K, count)), 0
    for batch in batches(table):
        nearest.add(questions @ to_single(batch.view(np.int16)).T, np.arange(first, first + len(batch)))
        first += len(batch)
    answers = nearest.best().ids

    def shares(probes: int, part: slice) -> Float32:
        return shares_found(vectors.candidates(questions[part], K, probes=probes), answers[part])

    least = least_step(_ladder(lists), shares, target)
    return Scan(f"IVF{lists},SQfp16", count, lists, least.step, least.recall, least.questions)


def _ladder(lists: int) -> list[int]:
    """The numbers of lists to try, each about a quarter larger, up to all."""
    steps = [1]
    while steps[-1] < lists:
        steps.append(min(lists, max(steps[-1] + 1, steps[-1] * 5 // 4)))
    return steps
