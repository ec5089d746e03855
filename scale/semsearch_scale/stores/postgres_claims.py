"""The claim on a schema in PostgreSQL, which belongs to one index: a row in it names the owner."""

from __future__ import annotations

from semsearch.errors import UsageError
from semsearch_scale.stores.addresses import PostgresAddress, postgres_address
from semsearch_scale.stores.postgres_connections import NO_RIGHT, Connection, get_database, quoted, sqlstate

CLAIM = "semsearch_index"  # the table with the owner
LEAST = (0, 8)  # pgvector: filters keep their recall since then
_NOT_THERE = ("58P01", "0A000")  # undefined_file, feature_not_supported: no such extension on this machine
_LOCK = "SELECT pg_advisory_xact_lock(hashtextextended($1, 0))"
_VERSION = "SELECT extversion FROM pg_extension WHERE extname = 'vector'"


def claim(uri: str, owner: str) -> None:
    """Claim the schema at a URI for an owner. Raises UsageError if it is another's or not allowed; StorageError."""
    address = postgres_address(uri)

    async def work(connection: Connection) -> bool:
        async with connection.transaction():
            await connection.execute(_LOCK, address.schema)
            is_new = await _provide_pgvector(connection, address)
            await _provide_claim(connection, address, owner)
        return is_new

    if get_database(address).write(work):
        get_database(address).renew()  # connections made before the extension do not know its types


def release(uri: str, owner: str) -> None:
    """Delete all that an owner has in the schema at a URI, if it is the owner's. Raises StorageError."""
    address = postgres_address(uri)

    async def work(connection: Connection) -> None:
        async with connection.transaction():
            await connection.execute(_LOCK, address.schema)
            if await owner_of(connection, address) != owner:
                return
            is_made = await connection.fetchval(f"SELECT is_made FROM {table(address, CLAIM)}")  # noqa: S608 (quoted)
            for name in [*await tables(connection, address), CLAIM]:
                await connection.execute(f"DROP TABLE {table(address, name)}")
            if is_made and not await _relations(connection, address):
                await connection.execute(f"DROP SCHEMA {quoted(address.schema)}")

    get_database(address).write(work)


async def owner_of(connection: Connection, address: PostgresAddress) -> str | None:
    """The owner of a schema; None if there is none."""
    if await connection.fetchval("SELECT to_regclass($1)", table(address, CLAIM)) is None:
        return None
    owner = await connection.fetchval(f"SELECT owner FROM {table(address, CLAIM)}")  # noqa: S608 (quoted)
    return None if owner is None else str(owner)


async def tables(connection: Connection, address: PostgresAddress) -> list[str]:
    """The names of all segments' tables in a schema."""
    return [name for name in await _relations(connection, address) if name.startswith(("passage-", "sentence-"))]


def table(address: PostgresAddress, name: str) -> str:
    """The name of a table for SQL."""
    return f"{quoted(address.schema)}.{quoted(name)}"


async def _relations(connection: Connection, address: PostgresAddress) -> list[str]:
    """The names of all tables and other relations in a schema, except indexes; none if the schema does not exist."""
    rows = await connection.fetch(
        "SELECT relname FROM pg_class WHERE relnamespace = to_regnamespace($1) AND relkind NOT IN ('i', 'I', 't')",
        quoted(address.schema),
    )
    return [row["relname"] for row in rows]


async def _provide_pgvector(connection: Connection, address: PostgresAddress) -> bool:
    """Return whether the extension was created; checks its version."""
    is_new = await connection.fetchval(_VERSION) is None
    if is_new:
        role = await connection.fetchval("SELECT current_user")
        try:
            await connection.execute("CREATE EXTENSION vector")
        except Exception as error:
            if sqlstate(error) in _NOT_THERE:
                raise UsageError(f"{address.server} does not have pgvector; install it there: {error}") from error
            if sqlstate(error) != NO_RIGHT:
                raise
            raise UsageError(
                f"{quoted(role)} may not create the extension in {address.server}; ask an administrator of "
                f"the database {address.database} to run: CREATE EXTENSION vector;"
            ) from error
    version = await connection.fetchval(_VERSION)
    if tuple(int(part) for part in version.split(".")[:2]) < LEAST:
        raise UsageError(
            f"{address.server} has pgvector {version}, but {'.'.join(map(str, LEAST))} or later is required; "
            "install it there, and ask an administrator to run: ALTER EXTENSION vector UPDATE;"
        )
    return is_new


async def _provide_claim(connection: Connection, address: PostgresAddress, owner: str) -> None:
    relations = await _relations(connection, address)
    if CLAIM in relations:
        if not await _is_own(connection, address, owner):
            raise UsageError(f"{address.place} belongs to another index; choose another schema: ?schema=NAME")
        return
    if relations:
        raise UsageError(f"{address.place} contains tables of another program; choose another schema: ?schema=NAME")
    schema, name = quoted(address.schema), table(address, CLAIM)
    user, is_new = await connection.fetchrow("SELECT current_user::text, to_regnamespace($1) IS NULL", schema)
    try:
        if is_new:
            await connection.execute(f"CREATE SCHEMA {schema}")
        await connection.execute(f"CREATE TABLE {name} (owner text PRIMARY KEY, is_made boolean NOT NULL)")
    except Exception as error:
        if sqlstate(error) != NO_RIGHT:
            raise
        role = quoted(user)
        sql = f"CREATE SCHEMA {schema} AUTHORIZATION" if is_new else f"GRANT USAGE, CREATE ON SCHEMA {schema} TO"
        raise UsageError(
            f"{role} may not {'create' if is_new else 'use'} {address.place}; ask an administrator of the "
            f"database {address.database} to run: {sql} {role};"
        ) from error
    await connection.execute(
        f"COMMENT ON TABLE {name} IS 'semsearch: this schema is an index, its tables are segments'"
    )
    await connection.execute(f"INSERT INTO {name} VALUES ($1, $2)", owner, is_new)  # noqa: S608 (quoted)


async def _is_own(connection: Connection, address: PostgresAddress, owner: str) -> bool:
    try:
        return await owner_of(connection, address) == owner
    except Exception as error:
        if sqlstate(error) != NO_RIGHT:
            raise
        return False
