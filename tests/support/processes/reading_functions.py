"""What the process that reads files is asked for: to fail, crash, take too much, or tell what it may do."""

from __future__ import annotations

import os
import signal
import threading
import time
from pathlib import Path

from semsearch.errors import UsageError
from semsearch.readers.reader_child import send_part


def echo(data: bytes, *arguments: object) -> bytes:
    return data + repr(arguments).encode()


def spin(data: bytes) -> bytes:
    while True:
        pass


def wait(data: bytes) -> bytes:
    threading.Event().wait(600)
    return data


def fill(data: bytes) -> bytes:
    filled = []
    while True:
        filled.append(bytearray(1 << 20))
        time.sleep(0.001)


def fill_at_once(data: bytes) -> bytes:
    return bytearray(1 << 40) and data


def crash(data: bytes) -> bytes:
    os.kill(os.getpid(), signal.SIGSEGV)
    return data


def fail(data: bytes) -> bytes:
    raise ZeroDivisionError("a parser's own bug")


def refuse(data: bytes) -> bytes:
    raise UsageError("no page 3")


def tell(data: bytes) -> bytes:
    """What this process may do."""
    import resource

    kinds = resource.RLIMIT_CORE, resource.RLIMIT_FSIZE, resource.RLIMIT_NOFILE
    return repr((os.environ.get("PGPASSWORD"), [resource.getrlimit(kind)[1] for kind in kinds])).encode()


def write(data: bytes) -> bytes:
    with Path(os.fsdecode(data)).open("wb") as file:
        file.write(b"trace")
    return b""


def start(data: bytes) -> bytes:
    return str(os.fork()).encode()


def count(data: bytes, most: int, last: str) -> bytes:
    """Parts, and what comes last: an answer, an error or the end."""
    for number in range(most):
        send_part(data + str(number).encode())
    if last == "error":
        raise UsageError("no more")
    if last == "crash":
        crash(data)
    return last.encode()
