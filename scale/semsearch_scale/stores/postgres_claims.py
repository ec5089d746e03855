"""The claim on a schema in PostgreSQL, which belongs to one index: a row in it names the owner."""

from __future__ import annotations

from typing import TYPE_CHECKING

from semsearch.errors import UsageError
from semsearch_scale.stores.postgres_address import Address, parsed
from semsearch_scale.stores.postgres_connections import NO_RIGHT, Session, get_database, quoted, sqlstate

if TYPE_CHECKING:
    from asyncpg import Connection

CLAIM = "semsearch_index"  # the table with the owner
LEAST = (0, 8)  # pgvector: filters keep their recall since then
_NOT_THERE = ("58P01", "0A000")  # undefined_file, feature_not_supported: no such extension on this machine

_MAY_READ = """
    SELECT has_schema_privilege(relnamespace, 'USAGE') AND has_table_privilege(oid, 'SELECT') FROM pg_class
    WHERE relnamespace = to_regnamespace($1) AND relname = $2
"""
_MAY_WRITE = """
    SELECT schema IS NULL AS is_new,
        CASE WHEN schema IS NULL THEN has_database_privilege(current_database(), 'CREATE')
        ELSE has_schema_privilege(schema, 'USAGE') AND has_schema_privilege(schema, 'CREATE') END AS may
    FROM (SELECT to_regnamespace($1)::oid AS schema) AS given
"""


def claim(uri: str, owner: str) -> None:
    """Claim the schema at a URI for an owner. Raises UsageError if it is another's or not allowed; StorageError."""
    address = parsed(uri)

    async def work(session: Session) -> bool:
        connection = session.connection
        async with connection.transaction():
            await connection.execute("SELECT pg_advisory_xact_lock(hashtextextended($1, 0))", address.schema)
            is_new = await _provide_pgvector(connection, address)
            await _provide_claim(connection, address, owner)
        return is_new

    if get_database(address).write(work):
        get_database(address).close()  # connections made before the extension do not know its types


def release(uri: str, owner: str) -> None:
    """Delete all that an owner has in the schema at a URI, if it is the owner's. Raises StorageError."""
    address = parsed(uri)

    async def work(session: Session) -> None:
        connection = session.connection
        async with connection.transaction():
            await connection.execute("SELECT pg_advisory_xact_lock(hashtextextended($1, 0))", address.schema)
            if await owner_of(connection, address) != owner:
                return
            is_made = await connection.fetchval(f"SELECT is_made FROM {table(address, CLAIM)}")  # noqa: S608 (quoted)
            for name in [*await tables(connection, address), CLAIM]:
                await connection.execute(f"DROP TABLE {table(address, name)}")
            if is_made and not await relations(connection, address):
                await connection.execute(f"DROP SCHEMA {quoted(address.schema)}")

    get_database(address).write(work)


async def owner_of(connection: Connection, address: Address) -> str | None:
    """The owner of a schema; None if there is none."""
    if await connection.fetchval("SELECT to_regclass($1)", table(address, CLAIM)) is None:
        return None
    owner = await connection.fetchval(f"SELECT owner FROM {table(address, CLAIM)}")  # noqa: S608 (quoted)
    return None if owner is None else str(owner)


async def tables(connection: Connection, address: Address) -> list[str]:
    """The names of all segments' tables in a schema."""
    return [name for name in await relations(connection, address) if name.startswith(("passage-", "sentence-"))]


def table(address: Address, name: str) -> str:
    """The name of a table for SQL."""
    return f"{quoted(address.schema)}.{quoted(name)}"


async def relations(connection: Connection, address: Address) -> list[str]:
    """The names of all tables and other relations in a schema, except indexes; none if the schema does not exist."""
    rows = await connection.fetch(
        "SELECT relname FROM pg_class WHERE relnamespace = to_regnamespace($1) AND relkind NOT IN ('i', 'I', 't')",
        quoted(address.schema),
    )
    return [row["relname"] for row in rows]


async def _provide_pgvector(connection: Connection, address: Address) -> bool:
    """Return whether the extension was created; checks its version."""
    version = is_there = await connection.fetchval("SELECT extversion FROM pg_extension WHERE extname = 'vector'")
    if version is None:
        try:
            async with connection.transaction():
                await connection.execute("CREATE EXTENSION vector")
        except Exception as error:
            if sqlstate(error) in _NOT_THERE:
                raise UsageError(f"{address.server} does not have pgvector; install it there: {error}") from error
            if sqlstate(error) != NO_RIGHT:
                raise
            raise UsageError(
                f"{await _role(connection)} may not create the extension in {address.server}; ask an administrator of "
                f"the database {address.database} to run: CREATE EXTENSION vector;"
            ) from error
        version = await connection.fetchval("SELECT extversion FROM pg_extension WHERE extname = 'vector'")
    if tuple(int(part) for part in version.split(".")[:2]) < LEAST:
        raise UsageError(
            f"{address.server} has pgvector {version}, but {'.'.join(map(str, LEAST))} or later is required; "
            "install it there, and ask an administrator to run: ALTER EXTENSION vector UPDATE;"
        )
    return is_there is None


async def _provide_claim(connection: Connection, address: Address, owner: str) -> None:
    if CLAIM in await relations(connection, address):
        if not await connection.fetchval(_MAY_READ, quoted(address.schema), CLAIM):
            raise _another(address)
        if await owner_of(connection, address) != owner:
            raise _another(address)
        return
    is_new = await provide_schema(connection, address)
    name = table(address, CLAIM)
    await connection.execute(f"CREATE TABLE {name} (owner text PRIMARY KEY, is_made boolean NOT NULL)")
    await connection.execute(
        f"COMMENT ON TABLE {name} IS 'semsearch: this schema is an index, its tables are segments'"
    )
    await connection.execute(f"INSERT INTO {name} VALUES ($1, $2)", owner, is_new)  # noqa: S608 (quoted)


async def provide_schema(connection: Connection, address: Address) -> bool:
    """Create a schema in which tables can be created, and return whether it is new.

    Raises UsageError if it has tables that are not an index's, or if the role may not make it or tables in it.
    """
    found = await relations(connection, address)
    if found and CLAIM not in found:
        raise UsageError(f"{address.place} contains tables of another program; choose another schema: ?schema=NAME")
    row = await connection.fetchrow(_MAY_WRITE, quoted(address.schema))
    if not row["may"]:
        role, schema = await _role(connection), quoted(address.schema)
        sql = f"CREATE SCHEMA {schema} AUTHORIZATION" if row["is_new"] else f"GRANT USAGE, CREATE ON SCHEMA {schema} TO"
        raise UsageError(
            f"{role} may not {'create' if row['is_new'] else 'use'} {address.place}; ask an administrator of the "
            f"database {address.database} to run: {sql} {role};"
        )
    if row["is_new"]:
        await connection.execute(f"CREATE SCHEMA {quoted(address.schema)}")
    return bool(row["is_new"])


def _another(address: Address) -> UsageError:
    return UsageError(f"{address.place} belongs to another index; choose another schema: ?schema=NAME")


async def _role(connection: Connection) -> str:
    return quoted(str(await connection.fetchval("SELECT current_user")))
