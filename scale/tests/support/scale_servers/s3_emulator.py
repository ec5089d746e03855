"""An emulator of S3: the server of moto (Apache-2.0), in this process, with one bucket, which is empty at first."""

from __future__ import annotations

import atexit
import importlib.util
import logging
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from typing import TYPE_CHECKING

import pytest

from scale_servers.tcp_proxy import TcpProxy

if TYPE_CHECKING:
    from moto.server import ThreadedMotoServer


class S3Server:
    """The emulator on a free port, with the bucket `bucket`. What it holds is this process's, and outlives `kill`."""

    def __init__(self) -> None:
        logging.getLogger("werkzeug").setLevel(logging.ERROR)  # not a line for each request
        self.port = 0
        self._server: ThreadedMotoServer | None = None
        self.start()
        make = urllib.request.Request(f"http://127.0.0.1:{self.port}/bucket", method="PUT")
        urllib.request.urlopen(make).close()

    def start(self) -> None:
        """Start it, unless it runs, on the port it had."""
        from moto.server import ThreadedMotoServer  # a hundred megabytes, which few have

        if self._server is None:
            self._server = ThreadedMotoServer(ip_address="127.0.0.1", port=self.port, verbose=False)
            self._server.start()
            self.port = self._server.get_host_and_port()[1]

    def kill(self) -> None:
        """Stop listening; requests that have come are answered still, if somebody waits for that."""
        if self._server is not None:
            self._server.stop()
            self._server = None

    def remove(self) -> None:
        """Stop it for good."""
        self.kill()


@lru_cache(maxsize=1)
def shared_emulator() -> S3Server:
    """The emulator that the tests of a process share. Skips where moto is not installed."""
    if importlib.util.find_spec("moto") is None:
        pytest.skip("moto is not installed: pip install 'moto[s3]' flask flask-cors")
    emulator = S3Server()
    atexit.register(emulator.remove)
    return emulator


@contextmanager
def emulator_behind_proxy() -> Iterator[TcpProxy]:
    """The shared emulator behind a proxy, with credentials for it in the environment, while the block runs."""
    with pytest.MonkeyPatch.context() as patched, TcpProxy(shared_emulator().port) as proxy:
        for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
            patched.setenv(name, "test")
        yield proxy
