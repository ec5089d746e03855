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
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

import numpy as np

from semsearch.arrays.id_ranges import IdRanges
from semsearch.arrays.top_k import TopKResult, nothing_found, stacked
from semsearch.arrays.types import Bool, Float32, Int64, Records
from semsearch.dense.stored_vectors import StoredVectors, nothing_stored
from semsearch.dense.vector_store import check_dimension
from semsearch.storage.segments import Segment

if TYPE_CHECKING:
    from semsearch_scale.stores.postgres_connections import Session, Work


@dataclass(frozen=True, slots=True)
class SegmentTable:
    """A segment's table: its name for SQL, and the length of its vectors."""

    segment: Segment
    name: str
    dimension: int

    @property
    def ef(self) -> int:
        """The number of candidates that a search of its graph keeps (ef_search); 0 without a graph."""
        return self.segment.scan.probes if self.segment.scan is not None else 0


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
    """What COPY ... FROM STDIN (FORMAT binary) reads."""
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


# -- Table reader ------------------------------------------------------------------------------------------------------

T = TypeVar("T")

_ROUNDING = 2e-3  # the error of a number in half precision, at most
_AT_ONCE = 4  # connections for many queries
_FEWEST, _MOST = 40, 1000  # candidates of a graph, as pgvector has them
_SPACING = 10.0  # a row that a graph visits takes as long as so many that are compared
_SCATTERED = 8  # rows scanned in the time of one that is looked up
_QUESTION = (  # `$2`, the number to find, is used here so that it has a type even where no part uses it
    "WITH asked AS MATERIALIZED (SELECT $1::float4[]::vector AS whole, $1::float4[]::halfvec AS half, $2::int8 AS n) "
)
_DISTANCE = "embedding::vector <#> (SELECT whole FROM asked)"


@dataclass(frozen=True, slots=True)
class Part:
    """The part of a search in one table: the allowed rows, their number, and how they are searched."""

    table: SegmentTable
    rows: Bool | None  # None: all
    count: int
    from_graph: int  # rows requested from its graph; 0: rows are compared one by one

    def sql(self, number: int, first: int) -> str:
        """The statement, as a part of one for several tables. `$2` is how many to find, `$first` begins `arguments`."""
        condition = ""
        if self.rows is not None:
            condition = (
                f"WHERE number = ANY(${first}::int4[])"
                if self._is_few
                else f"WHERE get_bit(${first}::bytea, number) = 1"
            )
        if self.from_graph:
            limit = "$2" if self.rows is None else f"${first + 1}"
            nearest = f"ORDER BY embedding <#> (SELECT half FROM asked) LIMIT {limit}"  # noqa: S608
            near = f"SELECT number, embedding FROM {self.table.name} {condition} {nearest}"  # noqa: S608 (quoted)
            return f"(SELECT {number} AS part, number, {_DISTANCE} AS distance FROM ({near}) AS near)"  # noqa: S608
        every = f"SELECT {number} AS part, number, {_DISTANCE} AS distance FROM {self.table.name} {condition}"  # noqa: S608
        return f"({every} ORDER BY distance LIMIT $2)"

    @property
    def arguments(self) -> list[object]:
        """Its own arguments of the statement: the rows, by their numbers or as bits, and their number."""
        if self.rows is None:
            return []
        if self._is_few:
            return [np.flatnonzero(self.rows).tolist()]
        bits = np.packbits(self.rows, bitorder="little").tobytes()
        return [bits, self.from_graph] if self.from_graph else [bits]

    @property
    def _is_few(self) -> bool:
        return self.rows is not None and self.count < len(self.rows) // _SCATTERED and not self.from_graph


class TableAccess(Protocol):
    """The methods of a store that its readers need."""

    def read_each(self, some: Sequence[SegmentTable], works: Sequence[tuple[Work[T], int]]) -> list[T]:
        """Read from tables in parallel; each work may take the time of so many queries."""

    def fetch(self, one: SegmentTable, where: str, *arguments: object) -> Records:
        """Read the vectors of the rows of a table that fulfil a condition in SQL."""


class PostgresReader:
    """A reader of tables that leaves out rows with removed ids. Threads may share it."""

    rounding = _ROUNDING

    def __init__(self, store: TableAccess, tables: Sequence[SegmentTable], removed: IdRanges) -> None:
        self.tables = tables
        self._store = store
        self._removed = removed

    def search(self, queries: Float32, n: int, *, allowed: IdRanges | None = None) -> TopKResult:
        """Find the n best ids for each query: exactly, except in tables with a graph. (q, d) -> (q, ≤ n)"""
        for one in self.tables[:1]:
            check_dimension(queries, one.dimension)
        parts = self._parts(n, allowed)
        n = min(n, sum(part.count for part in parts))
        if not parts or not len(queries):
            return nothing_found(len(queries))
        shares = [each for each in np.array_split(queries, _AT_ONCE) if len(each)]
        works = [(_Search(parts, n, share).done, len(share)) for share in shares]
        return stacked([each for found in self._store.read_each(self.tables, works) for each in found])

    def fetch(self, ids: Int64) -> StoredVectors:
        """Fetch the vectors of ids; those that are missing or removed are left out. (n,)"""
        is_gone = self._removed.has(ids)
        positions: list[Int64] = []
        vectors: list[Float32] = []
        for one in self.tables:
            id_ranges = one.segment.id_ranges
            inside = np.flatnonzero(id_ranges.has(ids) & ~is_gone)
            if not len(inside):
                continue
            wanted = id_ranges.below(ids[inside])
            records = self._store.fetch(one, *_condition(np.unique(wanted)))
            at = np.searchsorted(records["number"], wanted)
            is_there = at < len(records)
            is_there[is_there] = records["number"][at[is_there]] == wanted[is_there]
            positions.append(inside[is_there])
            vectors.append(vectors_of(records[at[is_there]]))
        if not positions:
            return nothing_stored(len(ids))
        return StoredVectors(np.concatenate(positions), np.concatenate(vectors), len(ids))

    @cached_property
    def _alive(self) -> list[Bool | None]:
        """The rows of each table that are not removed; None if none is removed."""
        removed = [one.segment.id_ranges.rows_in(self._removed) for one in self.tables]
        return [~rows if rows.any() else None for rows in removed]

    def _parts(self, n: int, allowed: IdRanges | None) -> list[Part]:
        parts = []
        for one, alive in zip(self.tables, self._alive, strict=True):
            rows = alive
            if allowed is not None:
                inside = one.segment.id_ranges.rows_in(allowed)
                rows = inside if alive is None else inside & alive
            size = len(one.segment.id_ranges)
            count = size if rows is None else int(rows.sum())
            if count:
                parts.append(Part(one, None if count == size else rows, count, _from_graph(one.ef, n, count, size)))
        return parts


def _from_graph(ef: int, n: int, count: int, size: int) -> int:
    """The rows to request from a graph to find the n best of `count` allowed ones, of `size`.

    0 if comparing the allowed one by one takes less time: the graph passes by size / count rows for each of them.
    """
    wanted = min(n + round(ef * math.log10(size / count)), count)
    return wanted if ef and count * count > _SPACING * wanted * size else 0


class _Search:
    """The search for some queries, over a few connections at a time."""

    def __init__(self, parts: Sequence[Part], n: int, queries: Float32) -> None:
        self._parts, self._n, self._queries = parts, n, queries
        self._sql, self._arguments = _statement(parts)
        self._ef = max((part.table.ef for part in parts if part.from_graph), default=0)

    async def done(self, session: Session) -> list[TopKResult]:
        """Run the queries one by one."""
        if self._ef:
            await session.set({"hnsw.ef_search": str(min(max(self._ef, _FEWEST), _MOST))})
        return [await self._asked(session, query) for query in self._queries]

    async def _asked(self, session: Session, query: Float32) -> TopKResult:
        numbers = query.tolist()
        rows = await session.connection.fetch(self._sql, numbers, self._n, *self._arguments)
        found = _by_part(rows, len(self._parts))
        short = [
            number
            for number, part in enumerate(self._parts)
            if len(found[number][0]) < min(part.from_graph, part.count)
        ]
        if short:
            sql, arguments = _statement([replace(self._parts[number], from_graph=0) for number in short])
            again = _by_part(await session.connection.fetch(sql, numbers, self._n, *arguments), len(short))
            for number, instead in zip(short, again, strict=True):
                found[number] = instead
        ids = [part.table.segment.id_ranges.ids(own) for part, (own, _) in zip(self._parts, found, strict=True)]
        return _filled(np.concatenate([scores for _, scores in found]), np.concatenate(ids), self._n)


def _statement(parts: Sequence[Part]) -> tuple[str, list[object]]:
    """The statement that searches some tables, and its arguments after the query and the number to find."""
    arguments: list[object] = []
    statements = []
    for number, part in enumerate(parts):
        statements.append(part.sql(number, 3 + len(arguments)))
        arguments += part.arguments
    return _QUESTION + " UNION ALL ".join(statements), arguments


def _by_part(rows: Sequence[Any], parts: int) -> list[tuple[Int64, Float32]]:
    """The rows' numbers and scores that were found in each part."""
    owners, numbers = np.array([(row[0], row[1]) for row in rows], dtype=np.int64).reshape(-1, 2).T
    scores = np.array([-row[2] for row in rows], dtype=np.float32)
    return [(numbers[own], scores[own]) for own in (owners == part for part in range(parts))]


def _filled(scores: Float32, ids: Int64, n: int) -> TopKResult:
    """The n best, filled up where there are fewer. (f,), (f,) -> (1, n)"""
    best = np.lexsort((ids, -scores))[:n]
    result = TopKResult(np.full((1, n), -np.inf, np.float32), np.full((1, n), -1, np.int64))
    result.scores[0, : len(best)], result.ids[0, : len(best)] = scores[best], ids[best]
    return result


def _condition(numbers: Int64) -> tuple[Any, ...]:
    """The condition for rows with some rising numbers, in SQL, and its arguments."""
    first, last = int(numbers[0]), int(numbers[-1])
    if last - first + 1 == len(numbers):
        return "number BETWEEN $1 AND $2", first, last
    return "number = ANY($1::int4[])", numbers.tolist()
