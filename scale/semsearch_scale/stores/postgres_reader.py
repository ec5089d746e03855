"""Tables of vectors in PostgreSQL: binary COPY of their rows, searched exactly or by their graphs, and fetched from.

A halfvec is its dimension, two unused bytes, and the numbers in half precision; all of it big-endian.

A graph (HNSW: Malkov and Yashunin 2020) is searched with half-precision numbers, and what it finds is scored with
single precision, as in an exact search. The allowed rows are sent as bits: a lookup takes no time, however many there
are. Few rows are compared one by one: a graph would pass many others on its way to them. If a graph finds fewer than
there are, all rows are compared.

A filter lowers a graph's recall. pgvector scans on (hnsw.iterative_scan) only until LIMIT rows are allowed: with a
tenth allowed it stops after some 10 n rows, and the n best of the allowed, which are among the 10 n best of all, are
partly beyond what it has seen. So more than n are requested, of which the n best are kept: `ef` more where a tenth is
allowed, twice as many where a hundredth is (`_from_graph`). Of 100,000 vectors, with an ef of 40, recall of the ten
best was .985 without a filter; of a tenth it was .956 when ten were requested, and is .993.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from semsearch.arrays.types import Bool, Float32, Int64, Records
from semsearch.dense.vector_store import TopKResult, no_results, stacked
from semsearch.errors import IndexDamaged
from semsearch.storage.segments import Segment

if TYPE_CHECKING:
    from semsearch_scale.stores.postgres_connections import Connection
    from semsearch_scale.stores.postgres_store import PostgresStore


# -- Copy format -------------------------------------------------------------------------------------------------------


_BEGIN, _END = b"PGCOPY\n\xff\r\n\0" + struct.pack(">ii", 0, 0), struct.pack(">h", -1)


def record_type(dimension: int) -> np.dtype[Any]:
    """The bytes of `int4send(number) || halfvec_send(embedding)`."""
    return np.dtype([("number", ">i4"), ("dimension", ">i2"), ("unused", ">i2"), ("vector", ">f2", (dimension,))])


def records_of(numbers: Int64, vectors: Float32) -> Records:
    """Records of vectors (n, d) in half precision at rows with some numbers (n,)."""
    records = np.zeros(len(numbers), record_type(vectors.shape[1]))
    records["number"], records["dimension"], records["vector"] = numbers, vectors.shape[1], vectors
    return records


def records_in(data: bytes | None, dimension: int) -> Records:
    """The records that an answer consists of; none if it is null."""
    return np.frombuffer(data or b"", record_type(dimension))


def vectors_of(records: Records) -> Float32:
    """The vectors of records. (n, d)"""
    return np.asarray(records["vector"], dtype=np.float32)


def copied(parts: Sequence[Records]) -> bytes:
    """The bytes that COPY ... FROM STDIN (FORMAT binary) reads."""
    return b"".join([_BEGIN, *map(_rows, parts), _END])


def _rows(records: Records) -> bytes:
    """Rows of COPY: for each the number of columns, and each column with its length before it."""
    length = 4 + 2 * records["vector"].shape[1]
    rows = np.zeros(
        len(records),
        [("columns", ">i2"), ("four", ">i4"), ("number", ">i4"), ("length", ">i4"), ("vector", f"V{length}")],
    )
    rows["columns"], rows["four"], rows["length"], rows["number"] = 2, 4, length, records["number"]
    rows["vector"] = records.view([("number", ">i4"), ("vector", f"V{length}")])["vector"]
    return rows.tobytes()


# -- A table -----------------------------------------------------------------------------------------------------------

_CANDIDATES = 200  # that a search of a graph keeps (ef)
_SPACING = 10.0  # a row that a graph visits takes as long as so many that are compared
_SCATTERED = 8  # rows scanned in the time of one that is looked up
_QUESTION = "WITH asked AS MATERIALIZED (SELECT $1::float4[]::vector AS whole, $1::float4[]::halfvec AS half) "
_DISTANCE = "embedding::vector <#> (SELECT whole FROM asked) AS distance"  # less the inner product


@dataclass(frozen=True, slots=True)
class SegmentTable:
    """A segment's table, which is searched and fetched from (an `OpenedSegment`). Threads may share it."""

    rounding: ClassVar[float] = 2e-3  # the error of a number in half precision, at most

    store: PostgresStore
    segment: Segment
    name: str  # for SQL
    dimension: int
    has_graph: bool

    def scan(self, queries: Float32, n: int, *, allowed: Bool | None = None) -> TopKResult:
        """Find the n best allowed rows for each query; by the graph, if there is one. (q, d), (rows,) -> (q, n)"""
        size = len(self.segment.id_ranges)
        count = size if allowed is None else int(np.count_nonzero(allowed))
        n = min(n, count)
        if not len(queries) or not n:
            return no_results(len(queries))
        wanted = _from_graph(n, count, size) if self.has_graph else 0
        condition, rows = "", list[object]()
        if allowed is not None and count < size // _SCATTERED and not wanted:
            condition, rows = "WHERE number = ANY($3::int4[])", [np.flatnonzero(allowed).tolist()]
        elif allowed is not None:
            bits = np.packbits(allowed, bitorder="little").tobytes()
            condition, rows = "WHERE get_bit($3::bytea, number) = 1", [bits]

        async def work(connection: Connection) -> list[TopKResult]:
            if wanted:
                await connection.execute(f"SET hnsw.ef_search = {_CANDIDATES}")
            results = []
            for query in queries:
                arguments = [query.tolist(), wanted, *rows]
                near = await connection.fetch(self._by_graph(condition), *arguments) if wanted else []
                if len(near) < min(wanted, count) or not wanted:
                    arguments[1] = n
                    near = await connection.fetch(self._by_comparison(condition), *arguments)
                results.append(self._best(near, n))
            return results

        return stacked(self.store.read(self, work, len(queries)))

    def release(self) -> None:
        """Nothing stays in memory."""

    def rows(self, rows: Int64) -> Float32:
        """The vectors at given rows. (n,) -> (n, d)"""
        numbers = np.unique(rows)
        if not len(numbers):
            return np.zeros((0, self.dimension), np.float32)
        first, last = int(numbers[0]), int(numbers[-1])
        if last - first + 1 == len(numbers):
            records = self.store.fetch(self, "number BETWEEN $1 AND $2", first, last)
        else:
            records = self.store.fetch(self, "number = ANY($1::int4[])", numbers.tolist())
        if len(records) != len(numbers):
            raise IndexDamaged(f"the table {self.segment.file} lacks rows; run: semsearch index --rebuild")
        return vectors_of(records[np.searchsorted(numbers, rows)])

    def _by_graph(self, condition: str) -> str:
        nearest = "ORDER BY embedding <#> (SELECT half FROM asked) LIMIT $2"
        near = f"SELECT number, embedding FROM {self.name} {condition} {nearest}"  # noqa: S608 (quoted)
        return f"{_QUESTION} SELECT number, {_DISTANCE} FROM ({near}) AS near"  # noqa: S608

    def _by_comparison(self, condition: str) -> str:
        return f"{_QUESTION} SELECT number, {_DISTANCE} FROM {self.name} {condition} ORDER BY distance LIMIT $2"  # noqa: S608

    def _best(self, rows: Sequence[Any], n: int) -> TopKResult:
        """The n best of the rows that were found. -> (1, n)"""
        ids = self.segment.id_ranges.ids(np.array([row[0] for row in rows], dtype=np.int64))
        scores = np.array([-row[1] for row in rows], dtype=np.float32)
        best = np.lexsort((ids, -scores))[:n]
        return TopKResult(scores[best][None], ids[best][None])


def _from_graph(n: int, count: int, size: int) -> int:
    """The rows to request from a graph to find the n best of `count` allowed ones, of `size`.

    0 if comparing the allowed one by one takes less time: the graph passes by size / count rows for each of them.
    """
    wanted = min(n + round(_CANDIDATES * math.log10(size / count)), count)
    return wanted if count * count > _SPACING * wanted * size else 0
