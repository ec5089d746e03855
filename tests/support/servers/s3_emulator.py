"""An emulator of S3: the server of moto (Apache-2.0), in this process, with one bucket, which is empty at first."""

from __future__ import annotations

import logging
import urllib.request

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
