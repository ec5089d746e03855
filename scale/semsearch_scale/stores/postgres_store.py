"""Vectors in PostgreSQL, with pgvector: a table for each segment, written once, in a schema that is the index's own.

    postgres://[user@]host[:port]/database[?schema=NAME&timeout=SECONDS&sslmode=MODE]

The password comes from PGPASSWORD or a file of passwords (PGPASSFILE, ~/.pgpass), as with every client of PostgreSQL,
and goes to another machine only over TLS.

A row has the position of its id among the ids of the segment, which the manifest has, as for files
(semsearch.arrays.id_ranges), and a half-precision vector. Rows are written by COPY, a chunk in each transaction; then
the key and, for many, the graph. The table is committed before its first chunk: one transaction for all of it would be
open for as long as embedding takes, and if the server died in it, files would be left that nobody finds. Before a
segment is reported, its table is read back and compared with what was sent. A finished table has its digest as a
comment, so that a reader can tell that it is the one the manifest names.

The driver is asyncpg (Apache-2.0). Compared with pg8000 (BSD-3) it finds the hundred nearest in half the time and a
quarter of the processor time (0.85 to 1.69 ms, 0.12 to 0.50 ms; the same rate of COPY), and has sslmode, files of
passwords and cancelling, which would be ours to write otherwise. psycopg is under the LGPL.

Of pgvector's two kinds of indexes it is the graph (HNSW): of 100,000 vectors of sentences on two busy cores it was
built in 31 s, and found .975 of the ten best in 1.4 ms; inverted lists (IVFFlat) took 3 s, and found .898 in 8.8 ms.
"""

from __future__ import annotations

import errno
import hashlib
import io
from collections.abc import Iterable, Sequence
from typing import TypeVar

import numpy as np

from semsearch.arrays.id_ranges import IdRanges
from semsearch.arrays.types import Float32, Int64, Records
from semsearch.dense.engines import Engine, StoreLocation
from semsearch.dense.vector_store import RunInThreads, SegmentsReader, SegmentsWriter
from semsearch.errors import IndexDamaged, SemsearchError, StorageError, rebuild_command
from semsearch.storage.segments import Segment, segment_name
from semsearch_scale.publication import in_use
from semsearch_scale.stores.addresses import located_in_postgres, postgres_address
from semsearch_scale.stores.postgres_claims import claim, owner_of, release, table, tables
from semsearch_scale.stores.postgres_connections import MOST, NO_TABLE, Connection, Work, get_database, quoted, sqlstate
from semsearch_scale.stores.postgres_reader import SegmentTable, copied, records_in, records_of

# -- Table writer ------------------------------------------------------------------------------------------------------


_CHUNK = 1 << 13  # vectors in a transaction
_M, _EF_CONSTRUCTION = 16, 64  # of the graph, as pgvector has them by default
_GRAPH_BYTES = 1000  # of a vector's neighbours while the graph is built, about
_MOST_MEMORY = 1 << 21  # kilobytes for building a graph: without room it takes many times as long
_NO_SHARED_MEMORY = ("53100", "53200")  # as in containers with little of it, which building side by side needs


class _GrowingTable:
    """A table in the making."""

    def __init__(self, store: PostgresStore, generation: int, dimension: int) -> None:
        kind = store.location.kind
        self.file = segment_name(kind, generation).rpartition(".")[0]
        self.name = table(store.address, self.file)
        self.dimension = dimension
        self.count = 0
        self._store = store
        self._ids: list[Int64] = []
        self._waiting: list[Records] = []
        self._digest = hashlib.blake2b(digest_size=16)
        store.database.write(self._create)

    def add(self, ids: Int64, vectors: Float32) -> None:
        self._ids.append(ids)
        for first in range(0, len(ids), _CHUNK):
            part = vectors[first : first + _CHUNK]
            records = records_of(np.arange(self.count, self.count + len(part)), part)
            self._digest.update(records.tobytes())
            self._waiting.append(records)
            self.count += len(part)
            if sum(map(len, self._waiting)) >= _CHUNK:
                self._send()

    def finish(self) -> Segment:
        """Send the last vectors, make the key and the graph, and say with a comment that all is there."""
        self._send()
        digest, kind = self._digest.hexdigest(), self._store.location.kind
        has_graph = self._store.gathering is not None and self.count >= self._store.gathering
        self._store.database.run_long(lambda connection: self._build(connection, has_graph=has_graph))
        ids = np.concatenate(self._ids)
        one = SegmentTable(
            self._store, Segment(kind, self.file, 0, IdRanges.of_ids(ids), digest), self.name, self.dimension, has_graph
        )
        if self._store.read_back(one) != digest:
            raise StorageError(
                f"{self._store.address.place} returned other vectors than were written to {self.file}; write again"
            )

        async def comment(connection: Connection) -> int:
            await connection.execute(f"COMMENT ON TABLE {self.name} IS '{digest}'")
            return int(await connection.fetchval("SELECT pg_total_relation_size($1::regclass)", self.name))

        size = self._store.database.write(comment)
        return Segment(kind, self.file, size, one.segment.id_ranges, digest)

    def discard(self) -> None:
        """Drop the table, if the database can be reached; else the next writer will."""
        try:
            self._store.drop(self.file)
        except SemsearchError:
            return

    def _send(self) -> None:
        if self._waiting:
            data = io.BytesIO(copied(self._waiting))
            self._waiting = []

            async def copy(connection: Connection) -> None:
                await connection.copy_to_table(
                    self.file, schema_name=self._store.address.schema, source=data, format="binary"
                )

            self._store.database.write(copy)

    async def _create(self, connection: Connection) -> None:
        address = self._store.address
        if await owner_of(connection, address) != self._store.location.owner:
            raise StorageError(
                f"{address.place} no longer belongs to this index; choose another store: semsearch index "
                "--rebuild --store URI"
            )
        await connection.execute(
            f"CREATE TABLE {self.name} (number int4 NOT NULL, embedding halfvec({self.dimension}) NOT NULL) "
            "WITH (toast_tuple_target = 8160)"  # long vectors stay in their rows, where a scan reads them
        )

    async def _build(self, connection: Connection, *, has_graph: bool) -> None:
        execute = connection.execute
        await execute(f"ALTER TABLE {self.name} ADD PRIMARY KEY (number)")
        if not has_graph:
            return
        kilobytes = min(self.count * (2 * self.dimension + _GRAPH_BYTES) // 1024, _MOST_MEMORY)
        now = await connection.fetchval("SELECT setting::bigint FROM pg_settings WHERE name = 'maintenance_work_mem'")
        await execute(f"SET maintenance_work_mem = '{max(kilobytes, now)}kB'")
        sql = (
            f"CREATE INDEX ON {self.name} USING hnsw (embedding halfvec_ip_ops) "
            f"WITH (m = {_M}, ef_construction = {_EF_CONSTRUCTION})"
        )
        try:
            await execute(sql)
        except Exception as error:
            if sqlstate(error) not in _NO_SHARED_MEMORY:
                raise
            await execute("SET max_parallel_maintenance_workers = 0")
            await execute(sql)


# -- Table store -------------------------------------------------------------------------------------------------------

T = TypeVar("T")
INDEXED = 1 << 14  # vectors from which a table has a graph: comparing them all takes some 20 ms
_COMMENTS = """
    SELECT relname, obj_description(pg_class.oid, 'pg_class') AS comment, atttypmod AS dimension,
        (SELECT count(*) > 1 FROM pg_index WHERE indrelid = pg_class.oid) AS has_graph
    FROM pg_class JOIN pg_attribute ON attrelid = pg_class.oid AND attname = 'embedding'
    WHERE relnamespace = to_regnamespace($1) AND relkind = 'r'
"""


class PostgresStore:
    """A store of vectors of one kind in the tables of a schema. Threads may share it."""

    def __init__(self, location: StoreLocation) -> None:
        self.location = location
        self.address = postgres_address(location.uri)
        self.database = get_database(self.address)
        self.largest = location.largest
        self._known: dict[str, SegmentTable] = {}
        self._run_tasks = RunInThreads(MOST, "semsearch-postgres-tables")

    @property
    def gathering(self) -> int | None:
        """The number of vectors from which a table has a graph; None if it never has."""
        return None if self.location.exact else INDEXED

    def open(self, segments: Sequence[Segment], removed: IdRanges) -> SegmentsReader:
        """Open a reader of tables, which are looked up if they are unknown.

        Raises FileNotFoundError if one is gone, IndexDamaged if it is not the one that was written.
        """
        known = self._known
        digests = {name: one.segment.digest for name, one in known.items()}
        if any(digests.get(segment.file) != segment.digest for segment in segments):
            known = self._look_up(segments)
        self._known = {segment.file: known[segment.file] for segment in segments}
        return SegmentsReader([known[segment.file] for segment in segments], removed, run_tasks=self._run_tasks)

    def writer(self, generation: int) -> SegmentsWriter:
        """Make a writer of new tables. It raises StorageError if the database is another index's."""
        return SegmentsWriter(lambda d: _GrowingTable(self, generation, d), self.largest)

    def check(self, segment: Segment) -> list[str]:
        """Read a table and compare its digest; its problems. Raises FileNotFoundError."""
        try:
            one = self._look_up([segment])[segment.file]
        except IndexDamaged as error:
            return [str(error)]
        return [] if self.read_back(one) == segment.digest else [f"{segment.file} does not match its digest"]

    def names(self) -> Iterable[str]:
        """The names of all tables of this kind, finished or not; none if the schema no longer belongs to the index."""

        async def work(connection: Connection) -> list[str]:
            is_own = await owner_of(connection, self.address) == self.location.owner
            return await tables(connection, self.address) if is_own else []

        return {name for name in self.database.read(work) if name.startswith(f"{self.location.kind}-")}

    def drop(self, name: str) -> None:
        """Drop a table; wait for its readers, for the time of a query."""

        async def work(connection: Connection) -> None:
            await connection.execute(f"DROP TABLE IF EXISTS {table(self.address, name)}")

        self.database.write(work)
        self._known = {known: one for known, one in self._known.items() if known != name}

    def read_back(self, one: SegmentTable) -> str:
        """Read all of a table: its digest. Raises FileNotFoundError."""
        digest = hashlib.blake2b(digest_size=16)
        for first in range(0, len(one.segment.id_ranges), _CHUNK):
            digest.update(self.fetch(one, "number BETWEEN $1 AND $2", first, first + _CHUNK - 1).tobytes())
        return digest.hexdigest()

    def fetch(self, one: SegmentTable, where: str, *arguments: object) -> Records:
        """Read the vectors of the rows of a table that fulfil a condition in SQL, sorted. Raises FileNotFoundError."""
        sql = (
            "SELECT string_agg(int4send(number) || halfvec_send(embedding), ''::bytea ORDER BY number)"  # noqa: S608 (quoted)
            f" FROM {one.name} WHERE {where}"
        )

        async def work(connection: Connection) -> Records:
            return records_in(await connection.fetchval(sql, *arguments), one.dimension)

        return self.read(one, work)

    def read(self, one: SegmentTable, work: Work[T], queries: int = 1) -> T:
        """Read from a table; it may take the time of so many queries.

        Raises FileNotFoundError with the name of a table that is gone.
        """
        try:
            return self.database.read(work, queries)
        except Exception as error:
            if sqlstate(error) != NO_TABLE:
                raise
            self._known = {}
            self._look_up([one.segment])
            raise

    def _look_up(self, segments: Sequence[Segment]) -> dict[str, SegmentTable]:
        async def work(connection: Connection) -> dict[str, tuple[str | None, int, bool]]:
            rows = await connection.fetch(_COMMENTS, quoted(self.address.schema))
            return {row["relname"]: (row["comment"], row["dimension"], row["has_graph"]) for row in rows}

        there = self.database.read(work)
        for segment in segments:
            if segment.file not in there:
                raise FileNotFoundError(errno.ENOENT, f"no such table in {self.address.place}", segment.file)
            if there[segment.file][0] != segment.digest:
                raise IndexDamaged(
                    f"the table {segment.file} in {self.address.place} is not the one that the index wrote; "
                    f"run: {rebuild_command(self.location.folder)}"
                )
        return {
            segment.file: SegmentTable(self, segment, table(self.address, segment.file), *there[segment.file][1:])
            for segment in segments
        }


ENGINE = Engine(open=PostgresStore, located=located_in_postgres, claim=claim, release=release, in_use=in_use)
