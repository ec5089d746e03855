"""The vector store in PostgreSQL: a table of half-precision vectors for each segment, by the numbers of its rows.

A row's number is the position of its id among the ids of the segment, which are kept in the manifest, as they are for
files (semsearch.arrays.id_ranges). A finished table has its digest as a comment, so that a reader can tell that it is
the one that the manifest names.
"""

from __future__ import annotations

import errno
import hashlib
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, TypeVar

from semsearch.arrays.id_ranges import IdRanges
from semsearch.dense.store import Questions
from semsearch.errors import IndexDamaged, rebuild_command
from semsearch.storage.segments import Segment
from semsearch.stores.engine import Engine, StoreLocation
from semsearch.stores.postgres.address import Address, located, parsed
from semsearch.stores.postgres.claims import claim, owner_of, release, table, tables
from semsearch.stores.postgres.connection_pool import Session, Work, get_database, quoted
from semsearch.stores.postgres.copy_format import Records, records_in
from semsearch.stores.postgres.failures import NO_TABLE, sqlstate
from semsearch.stores.postgres.segment_table import SegmentTable

if TYPE_CHECKING:
    from semsearch.stores.postgres.table_reader import PostgresReader
    from semsearch.stores.postgres.table_writer import PostgresWriter

T = TypeVar("T")
INDEXED = 1 << 14  # vectors from which a table has a graph: comparing them all takes some 20 ms
_CHUNK = 1 << 13  # vectors read at a time
_COMMENTS = """
    SELECT relname, obj_description(pg_class.oid, 'pg_class') AS comment, atttypmod AS dimension
    FROM pg_class JOIN pg_attribute ON attrelid = pg_class.oid AND attname = 'embedding'
    WHERE relnamespace = to_regnamespace($1) AND relkind = 'r'
"""


class PostgresStore:
    """A store of vectors of one kind in the tables of a schema. Threads may share it."""

    def __init__(self, location: StoreLocation) -> None:
        self.location = location
        self.address: Address = parsed(location.uri)
        self.database = get_database(self.address)
        self.largest = location.largest
        self._known: dict[str, SegmentTable] = {}

    @property
    def indexed(self) -> int | None:
        """The number of vectors from which a table has a graph; None if it never has."""
        scanning = self.location.scanning
        return None if scanning is None or scanning.exact else min(scanning.listed, INDEXED)

    @property
    def gathering(self) -> int | None:
        """The number of vectors from which a segment is searched faster."""
        return self.indexed

    def open(self, segments: Sequence[Segment], removed: IdRanges) -> PostgresReader:
        """Open a reader of tables, which are looked for if they are not known yet.

        Raises FileNotFoundError if one is gone, IndexDamaged if it is not the one that was written.
        """
        from semsearch.stores.postgres.table_reader import PostgresReader  # start-up time: a write needs none

        known = self._known
        digests = {name: one.segment.digest for name, one in known.items()}
        if any(digests.get(segment.file) != segment.digest for segment in segments):
            known = self._look_up(segments)
        self._known = {segment.file: known[segment.file] for segment in segments}
        return PostgresReader(self, [known[segment.file] for segment in segments], removed)

    def writer(self, generation: int, *, questions: Questions | None = None) -> PostgresWriter:
        """Make a writer of new tables."""
        from semsearch.stores.postgres.table_writer import PostgresWriter  # start-up time: a search writes nothing

        return PostgresWriter(self, generation, questions=questions)

    def merge(
        self, segments: Sequence[Segment], removed: IdRanges, *, generation: int, questions: Questions | None = None
    ) -> list[Segment]:
        """Merge segments into new tables, without removed ids."""
        from semsearch.dense.copying import merge_by_copying  # start-up time: a search writes nothing

        return merge_by_copying(self, segments, removed, generation=generation, questions=questions)

    def check(self, segment: Segment) -> list[str]:
        """Read a table and compare its digest; its problems. Raises FileNotFoundError."""
        try:
            (one,) = self.open([segment], IdRanges.of(())).tables
        except IndexDamaged as error:
            return [str(error)]
        digest, count = hashlib.blake2b(digest_size=16), 0
        for records in self.records(one):
            digest.update(records.tobytes())
            count += len(records)
        if count != len(segment.id_ranges):
            return [f"{segment.file} has {count} vectors, not {len(segment.id_ranges)}"]
        is_same = digest.hexdigest() == segment.digest
        return [] if is_same else [f"{segment.file} is not as it was written: its digest differs"]

    def names(self) -> Iterable[str]:
        """The names of all tables of this kind, finished or not; none if the schema is not the index's any more."""

        async def work(session: Session) -> list[str]:
            is_own = await owner_of(session.connection, self.address) == self.location.owner
            return await tables(session.connection, self.address) if is_own else []

        return {name for name in self.database.ask(work) if name.startswith(f"{self.location.kind}-")}

    def drop(self, name: str) -> None:
        """Drop a table; wait for those who read it, for as long as a question may take."""

        async def work(session: Session) -> None:
            await session.connection.execute(f"DROP TABLE IF EXISTS {table(self.address, name)}")

        self.database.tell(work)
        self._known = {known: one for known, one in self._known.items() if known != name}

    def records(self, one: SegmentTable) -> Iterator[Records]:
        """Read all vectors of a table, by the numbers of their rows. Raises FileNotFoundError."""
        for first in range(0, len(one.segment.id_ranges), _CHUNK):
            yield self.fetch(one, "number BETWEEN $1 AND $2", first, first + _CHUNK - 1)

    def fetch(self, one: SegmentTable, where: str, *arguments: object) -> Records:
        """Read the vectors of the rows of a table that fulfil a condition in SQL, sorted. Raises FileNotFoundError."""
        sql = (
            "SELECT string_agg(int4send(number) || halfvec_send(embedding), ''::bytea ORDER BY number)"  # noqa: S608 (quoted)
            f" FROM {one.name} WHERE {where}"
        )

        async def work(session: Session) -> Records:
            return records_in(await session.connection.fetchval(sql, *arguments), one.dimension)

        return self.ask_each([one], [(work, 1)])[0]

    def ask_each(self, some: Sequence[SegmentTable], works: Sequence[tuple[Work[T], int]]) -> list[T]:
        """Ask the database things about tables, so many questions each, side by side.

        Raises FileNotFoundError with the name of a table that is gone.
        """
        try:
            return self.database.ask_each(works)
        except Exception as error:
            if sqlstate(error) != NO_TABLE:
                raise
            self._known = {}
            self._look_up([one.segment for one in some])
            raise

    def _look_up(self, segments: Sequence[Segment]) -> dict[str, SegmentTable]:
        async def work(session: Session) -> dict[str, tuple[str | None, int]]:
            rows = await session.connection.fetch(_COMMENTS, quoted(self.address.schema))
            return {row["relname"]: (row["comment"], row["dimension"]) for row in rows}

        there = self.database.ask(work)
        for segment in segments:
            if segment.file not in there:
                raise FileNotFoundError(errno.ENOENT, f"no such table in {self.address.place}", segment.file)
            if there[segment.file][0] != segment.digest:
                raise IndexDamaged(
                    f"the table {segment.file} in {self.address.place} is not the one that the index wrote; "
                    f"run: {rebuild_command(self.location.folder)}"
                )
        return {
            segment.file: SegmentTable(segment, table(self.address, segment.file), there[segment.file][1])
            for segment in segments
        }


ENGINE = Engine(PostgresStore, located, claim, release)
