"""A real Milvus server for tests: the one in the wheel `milvus`, or one that runs already.

It takes ten to sixty seconds to start and runs as root only, so its tests are run by hand:

    SEMSEARCH_TEST_MILVUS=wheel python -m pytest -n 0 tests/stores/test_milvus_server.py
    SEMSEARCH_TEST_MILVUS=http://host:19530 python -m pytest -n 0 tests/laws/test_vector_store.py -k milvus
"""

from __future__ import annotations

import atexit
import json
import os
import secrets
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from functools import cache
from pathlib import Path

import pytest

from semsearch.dense.engines import StoreLocation
from semsearch.dense.scan_plan import ScanOptions
from semsearch.storage.segments import LARGEST
from semsearch_scale.stores.milvus_server import claim
from semsearch_scale.stores.milvus_store import MilvusStore

VARIABLE = "SEMSEARCH_TEST_MILVUS"
_QUICKER = {  # milliseconds: a server that somebody waits for
    "queryCoord.checkHandoffInterval": 200,
    "queryCoord.checkInterval": 200,
    "queryCoord.distPullInterval": 100,
    "proxy.timeTickInterval": 50,
}
_RUNNING = """
import json, socket, sys, time, urllib.request
from milvus import MilvusServer, MilvusServerConfig

class Config(MilvusServerConfig):
    def try_bind_port(self, port):
        tried = socket.socket()
        tried.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)  # connections of one that was killed linger
        try:
            tried.bind(("127.0.0.1", port))
            tried.listen()
        except OSError:
            tried.close()
            return None
        return tried

folder, port, settings = json.loads(sys.argv[1])
config = Config(data_dir=folder, proxy_port=port)
for key, value in settings.items():
    config.set(key, value)
server = MilvusServer(config, wait_for_started=False)
server.start()
while True:
    if server.server_proc.poll() is not None:
        sys.exit("Milvus stopped; see " + folder + "/logs")
    try:
        if b"OK" in urllib.request.urlopen(f"http://127.0.0.1:{server.webservice_port}/healthz", timeout=9).read():
            break
    except OSError:
        pass
    time.sleep(0.1)
print(server.server_proc.pid, flush=True)
sys.stdin.read()
server.stop()
"""


class MilvusProcess:
    """The server of the wheel, which can be killed and started again with the same data at the same port.

    It is run by a process of its own, which stops it when this one ends, however that ends. There can be only one on a
    machine: its etcd always takes the port 2380.
    """

    def __init__(self, folder: Path, *, quicker: bool = True) -> None:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = int(free.getsockname()[1])
        self._folder = folder
        self._arguments = json.dumps([str(folder), self.port, _QUICKER if quicker else {}])
        self._keeper: subprocess.Popen[str] | None = None
        self.pid = 0

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def start(self) -> None:
        """Start it, and wait until it says that it is well."""
        command = [sys.executable, "-c", _RUNNING, self._arguments]
        self._keeper = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
        )
        assert self._keeper.stdout is not None
        told = self._keeper.stdout.readline()
        assert told, "Milvus did not start; another one on this machine has the port 2380"
        self.pid = int(told)

    def kill(self) -> None:
        """Kill it without a warning."""
        os.kill(self.pid, signal.SIGKILL)
        self.stop()

    def wait_until_loaded(self) -> None:
        """Wait until all collections answer that did before it was killed."""
        from pymilvus import MilvusClient, MilvusException  # an optional package

        client = MilvusClient(self.url, timeout=60)
        for name in client.list_collections(timeout=60):
            while client.list_indexes(name, timeout=60):
                try:
                    client.query(name, filter="", output_fields=["count(*)"], timeout=60)
                    break
                except MilvusException:
                    time.sleep(0.2)

    def remove(self) -> None:
        """Stop it and delete its data."""
        self.stop()
        shutil.rmtree(self._folder, ignore_errors=True)

    def stop(self) -> None:
        """Stop what is left of it."""
        if self._keeper is not None:
            self._keeper.communicate()
            self._keeper, self.pid = None, 0


def needed() -> str:
    """What the variable says; the test is skipped without it."""
    how = os.environ.get(VARIABLE)
    if not how:
        pytest.skip(f"set {VARIABLE} to wheel, or to the URL of a Milvus server: it takes up to a minute to start")
    return how


@cache
def server_of_wheel() -> MilvusProcess:
    """The server of the wheel, started once, and stopped and deleted at the end."""
    server = MilvusProcess(Path(tempfile.mkdtemp(prefix="milvus-")))
    server.start()
    atexit.register(server.remove)
    return server


def url() -> str:
    """The URL of a server; the test is skipped where none is wanted."""
    how = needed()
    return server_of_wheel().url if how == "wheel" else how


def fresh_uri(**options: str) -> str:
    """The URI of a place that nobody has used."""
    more = "".join(f"&{key}={value}" for key, value in options.items())
    return f"milvus:{url()}?collection=test_{secrets.token_hex(4)}{more}"


def milvus_store(folder: Path, scanning: ScanOptions) -> MilvusStore:
    """An empty store at a place of its own."""
    uri = fresh_uri(timeout="30")
    claim(uri, "test")
    return MilvusStore(StoreLocation(uri, folder, "passage", scanning, LARGEST, owner="test"))
