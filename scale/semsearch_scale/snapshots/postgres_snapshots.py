"""A table of named objects in an index's schema: a snapshot store in PostgreSQL (semsearch_scale.snapshots).

Each object is a row, written by one statement, so a reader sees the earlier one or the new one and nothing between; and
a reader of a standby sees no pointer before the blocks that it leads to. Readers need only the right to read this table
and those of the segments.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from semsearch.errors import UsageError
from semsearch_scale.stores.postgres_address import Address, parsed
from semsearch_scale.stores.postgres_claims import SNAPSHOTS, provide_schema, relations, table
from semsearch_scale.stores.postgres_connections import NO_TABLE, Database, Session, get_database, sqlstate

if TYPE_CHECKING:
    from asyncpg import Connection

_LONGEST = 2**31 - 1  # bytes that SQL can ask for
_SCHEMAS = """
    SELECT nspname FROM pg_class JOIN pg_namespace ON pg_namespace.oid = relnamespace
    WHERE relname = $1 AND relkind = 'r' ORDER BY nspname
"""


@dataclass(frozen=True, slots=True)
class SnapshotTable:
    """A snapshot store in a database. If the address names no schema, it is the only one with a published index.

    Its methods raise StorageError if the database cannot be reached, refuses, or takes longer than the address allows.
    """

    address: Address

    @classmethod
    def at(cls, uri: str) -> SnapshotTable:
        """The store at a URI. Raises UsageError if the URI is invalid."""
        return cls(parsed(uri, default=""))

    def get(self, name: str, most: int) -> bytes:
        """Read an object, or its first `most + 1` bytes. Raises FileNotFoundError, UsageError."""

        async def work(connection: Connection, objects: str) -> Any:
            sql = f"SELECT substring(data FROM 1 FOR $2) FROM {objects} WHERE name = $1"  # noqa: S608 (quoted)
            return await connection.fetchval(sql, name, min(most + 1, _LONGEST))

        data = self._ask(work)
        if data is None:
            raise FileNotFoundError(name)
        return bytes(data)

    def put(self, name: str, data: bytes) -> None:
        """Write an object; the transaction is on the disk once this returns."""

        async def work(connection: Connection, objects: str) -> None:
            await connection.execute(
                f"INSERT INTO {objects} VALUES ($1, $2) ON CONFLICT (name) DO UPDATE SET data = excluded.data",  # noqa: S608 (quoted)
                name,
                data,
            )

        self._ask(work)

    def create(self, name: str, data: bytes) -> bool:
        """Write an object unless there is one, and before it the schema and the table if need be.

        Raises UsageError if these may not be made, or the schema has tables of something else.
        """
        address = self.address
        if not address.schema:
            raise UsageError(f"{address.uri} names no schema to publish to; append ?schema=NAME")

        async def work(session: Session) -> bool:
            connection = session.connection
            async with connection.transaction():
                await connection.execute("SELECT pg_advisory_xact_lock(hashtextextended($1, 0))", address.schema)
                if SNAPSHOTS not in await relations(connection, address):
                    await _make_table(connection, address)
                objects = table(address, SNAPSHOTS)
                sql = f"INSERT INTO {objects} VALUES ($1, $2) ON CONFLICT DO NOTHING RETURNING true"  # noqa: S608
                return await connection.fetchval(sql, name, data) is True

        return self._database.write(work)

    def replace(self, name: str, data: bytes) -> None:
        """Write an object in place of another, in one statement."""
        self.put(name, data)

    def names(self, prefix: str) -> list[str]:
        """The names of all objects that begin with a prefix."""

        async def work(connection: Connection, objects: str) -> Any:
            return await connection.fetch(f"SELECT name FROM {objects} WHERE starts_with(name, $1)", prefix)  # noqa: S608

        try:
            return [row["name"] for row in self._ask(work)]
        except FileNotFoundError:
            return []

    def delete(self, name: str) -> None:
        """Delete an object, if it is there."""

        async def work(connection: Connection, objects: str) -> None:
            await connection.execute(f"DELETE FROM {objects} WHERE name = $1", name)  # noqa: S608 (quoted)

        self._ask(work)

    @property
    def _database(self) -> Database:
        return get_database(self.address)

    def _ask(self, work: Callable[[Connection, str], Awaitable[Any]]) -> Any:
        """Do some work with the table; twice, if the connection broke, which comes to the same.

        Raises FileNotFoundError if there is no table.
        """

        async def asked(session: Session) -> Any:
            schema = self.address.schema or await _only_schema(session.connection, self.address)
            return await work(session.connection, table(replace(self.address, schema=schema), SNAPSHOTS))

        try:
            return self._database.read(asked)
        except Exception as error:
            if sqlstate(error) != NO_TABLE and not isinstance(error, LookupError):
                raise
            raise FileNotFoundError(f"no snapshot is published in {self.address.place}") from error


async def _only_schema(connection: Connection, address: Address) -> str:
    """The schema of the one index that is published in a database.

    Raises LookupError if there is none, UsageError where there are several.
    """
    schemas = [str(row["nspname"]) for row in await connection.fetch(_SCHEMAS, SNAPSHOTS)]
    if not schemas:
        raise LookupError("no index is published")  # a FileNotFoundError would be taken for a broken connection
    if len(schemas) > 1:
        named = ", ".join(f"?schema={schema}" for schema in schemas)
        raise UsageError(f"more than one index is published in {address.server}; append one of {named} to the address")
    return schemas[0]


async def _make_table(connection: Connection, address: Address) -> None:
    await provide_schema(connection, address)
    objects = table(address, SNAPSHOTS)
    await connection.execute(f"CREATE TABLE {objects} (name text PRIMARY KEY, data bytea NOT NULL)")
    await connection.execute(f"ALTER TABLE {objects} ALTER data SET STORAGE EXTERNAL")  # compressing takes longer
    await connection.execute(f"COMMENT ON TABLE {objects} IS 'semsearch: what is published of an index, as objects'")
