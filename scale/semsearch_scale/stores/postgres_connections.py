"""Connections to PostgreSQL for threads: asyncpg's pool with a deadline for each call, and its errors explained.

asyncpg works in an event loop, which has a thread of its own here, one for the process. A connection on which something
failed is closed. A query that meets a broken connection is repeated once over a new one, so that it finds a restarted
server. Errors are explained by SQLSTATE, whatever the server's language.
"""

from __future__ import annotations

import asyncio
import atexit
import logging
import os
import threading
from collections.abc import Awaitable, Callable, Coroutine
from dataclasses import replace
from functools import partial
from ipaddress import ip_address
from typing import Any, TypeAlias, TypeVar

from semsearch.errors import MissingExtra, StorageError
from semsearch_scale.stores.addresses import PostgresAddress

logger = logging.getLogger(__name__)

T = TypeVar("T")
Connection: TypeAlias = Any  # asyncpg's, an optional dependency
Work: TypeAlias = Callable[[Connection], Awaitable[T]]

NO_TABLE = "42P01"
NO_RIGHT = "42501"
_LATE = ("57014", "55P03")  # query_canceled by statement_timeout, lock_not_available
_LOST = ("08", "57P")  # connection exceptions; the server stops, crashed or starts
_FULL = ("53",)  # no disk, memory or connection left
_REFUSED = ("28", "3D", NO_RIGHT)  # password, role, database, right

MOST = 8  # connections to a database at a time
_LOOK_EVERY = 5.0  # seconds between two checks whether a long statement is still running
_IDLE_SECONDS = 60.0  # that a connection stays open after its last statement
_SETTINGS = {
    "jit": "off",  # compiling takes longer than a query
    "enable_seqscan": "off",  # an index is used if there is one; a table without one is still scanned
    "plan_cache_mode": "force_generic_plan",  # each statement has only one sensible plan
    "hnsw.iterative_scan": "relaxed_order",  # a filter does not reduce the number of answers
    "hnsw.scan_mem_multiplier": "8",  # times work_mem, 4 MB: a scan that needs more ends, and all rows are compared
}
_CONFIGURE = """
    SELECT set_config(name, value, false) FROM unnest($1::text[], $2::text[]) AS settings (name, value)
    UNION ALL
    SELECT set_config('search_path', quote_ident(nspname), false)
    FROM pg_extension JOIN pg_namespace ON pg_namespace.oid = extnamespace WHERE extname = 'vector'
    UNION ALL  -- commits wait for the disk even if this database does not ask for it
    SELECT set_config('synchronous_commit', 'on', false) WHERE current_setting('synchronous_commit') = 'off'
"""
_WITHOUT_TLS = ("disable", "allow", "prefer")  # modes in which a connection may have none; the last is the default


class Database:
    """A database, for any number of threads. Its methods raise StorageError if it cannot be reached or takes too long;
    what PostgreSQL says of a statement's names is raised as asyncpg does.
    """

    def __init__(self, address: PostgresAddress) -> None:
        self.address = address
        self._loop = _running_loop()
        self._pool: Any = None  # made in the loop

    def read(self, work: Work[T], queries: int = 1) -> T:
        """Read over any connection, within the time of so many queries; once more if the connection was broken."""
        return self._run(self._timed(self._repeated(work), queries))

    def write(self, work: Work[T]) -> T:
        """Write once, over a connection that answers, within the deadline."""
        return self._run(self._timed(self._written(work)))

    def run_long(self, work: Work[T]) -> T:
        """Do work that may take long, over a new connection, as long as the server is still running it."""
        return self._run(self._watched(work))

    def renew(self) -> None:
        """Use new connections from now on."""
        self._run(self._expired())

    def close(self) -> None:
        """Close all connections."""
        self._run(self._terminated())

    def _run(self, work: Coroutine[Any, Any, T]) -> T:
        future = asyncio.run_coroutine_threadsafe(work, self._loop)
        try:
            return future.result()
        except Exception as error:
            explained = storage_error(error, self.address)
            if explained is None:
                raise
            raise explained from error
        finally:
            future.cancel()  # the caller was interrupted, if it is not done

    async def _timed(self, work: Coroutine[Any, Any, T], queries: int = 1) -> T:
        try:
            return await asyncio.wait_for(work, self.address.seconds * queries)
        except TimeoutError:
            await self._expired()  # the other connections may lead nowhere too
            raise

    async def _repeated(self, work: Work[T]) -> T:
        try:
            return await self._attempt(work)
        except Exception as error:
            if not is_lost(error):
                raise
            await self._expired()  # the others are broken too
            return await self._attempt(work)

    async def _written(self, work: Work[T]) -> T:
        await self._repeated(_answers)  # what was broken is gone now
        return await self._attempt(work)

    async def _watched(self, work: Work[T]) -> T:
        """Check over another connection, repeatedly, whether the server is still running it."""
        connection = await asyncio.wait_for(self._connect(seconds=0.0), self.address.seconds)
        task = asyncio.ensure_future(work(connection))
        try:
            while not (await asyncio.wait({task}, timeout=_LOOK_EVERY))[0]:
                is_running = partial(_is_running, connection.get_server_pid())
                if not await self._timed(self._repeated(is_running)) and not task.done():
                    raise StorageError(
                        f"{self.address.server} lost a connection during a write; see its log, and write again"
                    )
            return await task
        finally:
            task.cancel()
            connection.terminate()

    async def _attempt(self, work: Work[T]) -> T:
        if self._pool is None:
            self._pool = driver().create_pool(
                min_size=0,
                max_size=MOST,
                max_inactive_connection_lifetime=_IDLE_SECONDS,
                connect=lambda _, **keywords: self._connect(seconds=self.address.seconds, **keywords),
                reset=_nothing_to_reset,
            )
            await self._pool
        async with self._pool.acquire() as connection:
            try:
                return await work(connection)
            except BaseException:
                connection.terminate()
                raise

    async def _expired(self) -> None:
        if self._pool is not None:
            await self._pool.expire_connections()

    async def _terminated(self) -> None:
        pool, self._pool = self._pool, None
        if pool is not None:
            pool.terminate()

    async def _connect(self, *, seconds: float, **keywords: Any) -> Connection:
        """A connection whose statements may take some seconds, or as long as they like if that is 0."""
        connection = await self._opened(command_timeout=seconds or None, **keywords)
        milliseconds = str(int(1000 * seconds))
        settings = _SETTINGS | {"statement_timeout": milliseconds, "lock_timeout": milliseconds}
        try:
            await connection.fetch(_CONFIGURE, [*settings], [*settings.values()])
        except BaseException:
            connection.terminate()
            raise
        return connection

    async def _opened(self, **keywords: Any) -> Connection:
        """A connection; to another machine only over TLS, unless the user's PGSSLMODE says otherwise.

        An address is stored in an index, and says little of what its user wants.
        """
        address = self.address
        connect = partial(
            driver().connect,
            host=address.host,
            port=address.port,
            user=address.user,
            database=address.database,
            timeout=address.seconds,
            server_settings={"application_name": "semsearch"},
            **keywords,
        )
        users = os.environ.get("PGSSLMODE", "")
        is_tls = (address.sslmode or users or _WITHOUT_TLS[-1]) not in _WITHOUT_TLS
        if is_tls or users in _WITHOUT_TLS or _is_this_machine(address.host):
            return await connect(**({} if address.sslmode is None else {"ssl": address.sslmode}))
        try:
            return await connect(ssl="require")
        except ConnectionError as error:
            if type(error) is not ConnectionError:  # the server is not there, or went away
                raise
            raise StorageError(
                f"{address.server} has no TLS; set up TLS there, or, if you trust the network, set PGSSLMODE=prefer in "
                "the environment"
            ) from error


def get_database(address: PostgresAddress) -> Database:
    """The database at an address: one for the process, for all its schemas."""
    with _lock:
        key = (os.getpid(), replace(address, schema=""))
        if key not in _databases:
            _databases[key] = Database(key[1])
        return _databases[key]


def close_databases() -> None:
    """Close all connections of this process."""
    with _lock:
        databases = [database for (process, _), database in _databases.items() if process == os.getpid()]
    for database in databases:
        database.close()


def quoted(name: str) -> str:
    """Quote a name for SQL."""
    return '"' + name.replace('"', '""') + '"'


def driver() -> Any:
    """The PostgreSQL driver. Raises MissingExtra."""
    try:
        import asyncpg  # an optional dependency
    except ImportError as error:
        raise MissingExtra("asyncpg", "postgres", distribution="./scale") from error
    return asyncpg


def _is_this_machine(host: str) -> bool:
    """Return whether what is sent to a host stays on this machine."""
    if host.startswith("/") or host == "localhost":
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:  # a name, of which the network says where it leads
        return False


async def _answers(connection: Connection) -> None:
    await connection.execute("SELECT 1")


async def _is_running(process: int, connection: Connection) -> bool:
    return bool(await connection.fetchval("SELECT count(*) FROM pg_stat_activity WHERE pid = $1", process))


async def _nothing_to_reset(connection: Connection) -> None:
    """Settings stay: asyncpg would reset them after each use."""


_lock = threading.Lock()
_databases: dict[tuple[int, PostgresAddress], Database] = {}
_loops: dict[int, asyncio.AbstractEventLoop] = {}  # by process: a fork has none of the threads


def _running_loop() -> asyncio.AbstractEventLoop:
    process = os.getpid()
    if process not in _loops:
        loop = asyncio.new_event_loop()
        loop.set_exception_handler(lambda _, context: logger.debug("%s", context))  # of connections that broke
        threading.Thread(target=loop.run_forever, name="semsearch-postgres", daemon=True).start()
        _loops[process] = loop
        atexit.register(close_databases)
    return _loops[process]


# -- Errors ------------------------------------------------------------------------------------------------------------


def sqlstate(error: BaseException) -> str:
    """The SQLSTATE of an error; empty if it is not the server's."""
    return str(getattr(error, "sqlstate", None) or "")


def is_lost(error: BaseException) -> bool:
    """Return whether a connection was broken, or could not be made."""
    if isinstance(error, TimeoutError):  # which is an OSError
        return False
    is_client = type(error).__module__.startswith("asyncpg") and not sqlstate(error)  # such as InterfaceError
    return isinstance(error, OSError) or is_client or sqlstate(error).startswith(_LOST)


def storage_error(error: BaseException, address: PostgresAddress) -> StorageError | None:
    """The explained error; None for one that is not the server's, or is about names in SQL."""
    state, text = sqlstate(error), " ".join(str(error).split()) or type(error).__name__
    if isinstance(error, TimeoutError) or state in _LATE:
        return StorageError(
            f"{address.server} took longer than {address.seconds:g} seconds; check whether it is busy, or allow "
            f"more time in its address: ?timeout={6 * address.seconds:g}"
        )
    if state.startswith(_FULL):
        return StorageError(f"{address.server} is out of space: {text}")
    if state.startswith(_REFUSED):
        return StorageError(
            f"{address.server} refused the connection: {text}; check user and database in the address, and the "
            "password in PGPASSWORD or ~/.pgpass"
        )
    if is_lost(error):
        return StorageError(f"{address.server} cannot be reached: {text}; check that it runs")
    return None
