"""Connections to PostgreSQL as threads use them: statements with a deadline over a few open connections, and errors.

asyncpg works in an event loop, which has a thread of its own here, one for the process. A connection that breaks, or
whose statement takes too long, is closed and never used again. A query that meets a broken connection is repeated once
over a new one, so that it finds a restarted server. Errors are explained by SQLSTATE, whatever the server's language.
"""

from __future__ import annotations

import asyncio
import atexit
import logging
import os
import threading
from collections.abc import Awaitable, Callable, Coroutine
from dataclasses import dataclass, field, replace
from functools import partial
from ipaddress import ip_address
from typing import TYPE_CHECKING, Any, TypeVar

from semsearch.errors import MissingExtra, StorageError

if TYPE_CHECKING:
    from asyncpg import Connection

    from semsearch_scale.stores.postgres_address import Address

NO_TABLE = "42P01"
NO_RIGHT = "42501"
_LATE = ("57014", "55P03")  # query_canceled by statement_timeout, lock_not_available
_LOST = ("08", "57P")  # connection exceptions; the server stops, crashed or starts
_FULL = ("53",)  # no disk, memory or connection left
_REFUSED = ("28", "3D", NO_RIGHT)  # password, role, database, right


def sqlstate(error: BaseException) -> str:
    """The SQLSTATE of an error; empty if it is not the server's."""
    return str(getattr(error, "sqlstate", None) or "")


def is_lost(error: BaseException) -> bool:
    """Return whether a connection was broken, or could not be made."""
    if isinstance(error, TimeoutError):  # which is an OSError
        return False
    is_client = type(error).__module__.startswith("asyncpg") and not sqlstate(error)  # such as InterfaceError
    return isinstance(error, OSError) or is_client or sqlstate(error).startswith(_LOST)


def unheard(address: Address) -> StorageError:
    """The error of a server that lost its connection during a write."""
    return StorageError(f"{address.server} lost a connection during a write; see its log, and write again")


def storage_error(error: BaseException, address: Address) -> StorageError | None:
    """The explained error; None for one that is not the server's, or is about names in SQL."""
    state = sqlstate(error)
    if isinstance(error, TimeoutError) or state in _LATE:
        return StorageError(
            f"{address.server} took longer than {address.seconds:g} seconds; check whether it is busy, or allow "
            f"more time in its address: ?timeout={6 * address.seconds:g}"
        )
    if state.startswith(_FULL):
        return StorageError(f"{address.server} is out of space: {_said(error)}")
    if state.startswith(_REFUSED):
        return StorageError(
            f"{address.server} refused the connection: {_said(error)}; check user and database in the "
            "address, and the password in "
            "PGPASSWORD or ~/.pgpass"
        )
    if is_lost(error):
        return StorageError(f"{address.server} cannot be reached: {_said(error)}; check that it runs")
    return None


def _said(error: BaseException) -> str:
    return " ".join(str(error).split()) or type(error).__name__


# -- Connection pool ---------------------------------------------------------------------------------------------------

logger = logging.getLogger(__name__)

T = TypeVar("T")
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
_WITHOUT_TLS = ("disable", "allow", "prefer")  # modes in which a connection may have none; the last is the default
_VECTOR = """
    SELECT nspname, extversion FROM pg_extension JOIN pg_namespace ON pg_namespace.oid = extnamespace
    WHERE extname = 'vector'
"""


@dataclass(slots=True, eq=False)
class Session:
    """A connection, and its settings."""

    connection: Connection
    settings: dict[str, str] = field(default_factory=dict)
    uses: int = 0  # how often it was given back

    async def set(self, settings: dict[str, str]) -> None:
        """Change the settings that differ."""
        new = {name: value for name, value in settings.items() if self.settings.get(name) != value}
        if new:
            calls = ", ".join(f"set_config(${2 * i + 1}, ${2 * i + 2}, false)" for i in range(len(new)))
            await self.connection.fetchrow(f"SELECT {calls}", *[each for pair in new.items() for each in pair])
            self.settings |= new


Work = Callable[[Session], Awaitable[T]]


class Database:
    """A database, for any number of threads. Its methods raise StorageError if it cannot be reached or takes too long;
    what PostgreSQL says of a statement's names is raised as asyncpg does.
    """

    def __init__(self, address: Address) -> None:
        self.address = address
        self._idle: list[Session] = []  # the latest last
        self._loop = _running_loop()
        self._room: asyncio.Semaphore | None = None  # made in the loop

    def read(self, work: Work[T], queries: int = 1) -> T:
        """Read over any connection, within the time of so many queries; once more if the connection was broken."""
        return self._run(self._timed(self._asked(work), queries))

    def write(self, work: Work[T]) -> T:
        """Write once, over a connection that answers, within the deadline."""
        return self._run(self._timed(self._told(work)))

    def run_long(self, work: Work[T]) -> T:
        """Do work that may take long, over a new connection, as long as the server is still running it."""
        return self._run(self._watched(work))

    def close(self) -> None:
        """Close the connections that are idle."""
        self._run(self._closed())

    def _run(self, work: Coroutine[Any, Any, T]) -> T:
        future = asyncio.run_coroutine_threadsafe(work, self._loop)
        try:
            return future.result()
        except Exception as error:
            mapped = storage_error(error, self.address)
            if mapped is None:
                raise
            raise mapped from error
        finally:
            future.cancel()  # the caller was interrupted, if it is not done

    async def _timed(self, work: Coroutine[Any, Any, T], count: int = 1) -> T:
        """Wait for some work for the time of so many queries; each statement may take the time of one.

        If it takes longer, the other connections may lead nowhere too.
        """
        try:
            return await asyncio.wait_for(work, self.address.seconds * count)
        except TimeoutError:
            await self._closed()
            raise

    async def _asked(self, work: Work[T]) -> T:
        try:
            return await self._attempt(work)
        except Exception as error:
            if not is_lost(error):
                raise
            await self._closed()  # they are broken too
            return await self._attempt(work)

    async def _told(self, work: Work[T]) -> T:
        await self._asked(_answers)  # what was broken is gone now
        return await self._attempt(work)

    async def _watched(self, work: Work[T]) -> T:
        """Check over another connection, repeatedly, whether the server is still running it."""
        session = await asyncio.wait_for(self._connected(is_timed=False), self.address.seconds)
        building = asyncio.ensure_future(work(session))
        try:
            while not (await asyncio.wait({building}, timeout=_LOOK_EVERY))[0]:
                is_running = await self._timed(self._asked(_is_running(session.connection.get_server_pid())))
                if not is_running and not building.done():
                    raise unheard(self.address)
            return await building
        finally:
            building.cancel()
            session.connection.terminate()

    async def _attempt(self, work: Work[T]) -> T:
        if self._room is None:
            self._room = asyncio.Semaphore(MOST)
        async with self._room:
            session, is_whole = await self._taken(), False
            try:
                result = await work(session)
                is_whole = True
            finally:
                if is_whole and not session.connection.is_closed():
                    self._keep(session)
                else:
                    session.connection.terminate()
        return result

    async def _taken(self) -> Session:
        while self._idle:
            session = self._idle.pop()
            if not session.connection.is_closed():
                return session
        return await self._connected()

    def _keep(self, session: Session) -> None:
        self._idle.append(session)
        session.uses += 1
        self._loop.call_later(_IDLE_SECONDS, self._thin, session, session.uses)

    def _thin(self, session: Session, uses: int) -> None:
        """Close a connection that was not used since."""
        if session in self._idle and session.uses == uses:
            self._idle.remove(session)
            session.connection.terminate()

    async def _closed(self) -> None:
        idle, self._idle = self._idle, []
        for session in idle:
            session.connection.terminate()

    async def _connected(self, *, is_timed: bool = True) -> Session:
        connection = await self._opened(is_timed=is_timed)
        session = Session(connection)
        try:
            await session.set(await self._settings(connection, self.address.seconds if is_timed else 0))
        except BaseException:
            connection.terminate()
            raise
        return session

    async def _opened(self, *, is_timed: bool) -> Connection:
        """A connection; to another machine only over TLS, unless the user's PGSSLMODE says otherwise.

        An address is stored in an index, and says little of what its user wants.
        """
        asyncpg, address = driver(), self.address
        connect = partial(
            asyncpg.connect,
            host=address.host,
            port=address.port,
            user=address.user,
            database=address.database,
            timeout=address.seconds,
            command_timeout=address.seconds if is_timed else None,
            server_settings={"application_name": "semsearch"},
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

    async def _settings(self, connection: Connection, seconds: float) -> dict[str, str]:
        """The settings of a session whose statements may take some seconds, or as long as they like if that is 0.

        Commits wait for the disk even if this database does not ask for it.
        """
        milliseconds = str(int(1000 * seconds))
        settings = _SETTINGS | {"statement_timeout": milliseconds, "lock_timeout": milliseconds}
        if await connection.fetchval("SHOW synchronous_commit") == "off":
            settings["synchronous_commit"] = "on"
        vector = await connection.fetchrow(_VECTOR)
        return settings if vector is None else settings | {"search_path": quoted(vector["nspname"])}


def get_database(address: Address) -> Database:
    """The database at an address: one for the process, for all its schemas."""
    with _lock:
        key = (os.getpid(), replace(address, schema=""))
        if key not in _databases:
            _databases[key] = Database(key[1])
        return _databases[key]


def close_databases() -> None:
    """Close all idle connections of this process."""
    with _lock:
        own = [database for (process, _), database in _databases.items() if process == os.getpid()]
    for database in own:
        database.close()


def _is_this_machine(host: str) -> bool:
    """Return whether what is sent to a host stays on this machine."""
    if host.startswith("/") or host == "localhost":
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:  # a name, of which the network says where it leads
        return False


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


async def _answers(session: Session) -> None:
    await session.connection.execute("SELECT 1")


def _is_running(process: int) -> Work[bool]:
    async def ask(session: Session) -> bool:
        return bool(await session.connection.fetchval("SELECT count(*) FROM pg_stat_activity WHERE pid = $1", process))

    return ask


_lock = threading.Lock()
_databases: dict[tuple[int, Address], Database] = {}
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
