"""Commands and programs in forks of one process that has imported what they need: for the guide's examples.

    python processes/command_server.py SOCKET

Each runs in a process of its own, with the arguments, folder, environment and standard streams of a client, which it
gives its exit status. It ends when its standard input does.
"""

from __future__ import annotations

import atexit
import contextlib
import importlib
import json
import os
import pkgutil
import select
import signal
import socket
import sys
import threading
import traceback
from typing import Any

PRELOADED = ("arrays", "cli", "dense", "embedding", "index", "indexing", "lexical", "maintenance", "mapping", "readers")
PRELOADED += ("results", "search", "sources", "storage", "system", "text", "topics", "word_vectors")
CLIENT = """#!{python} -IS
import json, os, socket, sys
with socket.socket(socket.AF_UNIX) as server:
    server.connect({address!r})
    request = json.dumps([os.path.basename(sys.argv[0]), sys.argv[1:], os.getcwd(), dict(os.environ)]).encode()
    socket.send_fds(server, [b"."], [0, 1, 2])
    server.sendall(request)
    server.shutdown(socket.SHUT_WR)
    status = server.recv(1)
sys.exit(status[0] if status else "it ended without an exit status")
"""


def run_programs(programs: str) -> None:
    """Run programs one after the other, which share what they import: JSON of (line in the page, code)."""
    for line, code in json.loads(programs):
        exec(compile(code, f"the block in line {line}", "exec"), {"__name__": "__main__"})


def carry_out(name: str, arguments: list[str], folder: str, environment: dict[str, str]) -> int:
    """Run a command, or programs; returns the exit status."""
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environment)
    sys.argv = [name, *arguments]
    sys.path.insert(0, folder)
    try:
        if name == "semsearch":
            from semsearch.__main__ import main

            main()
        else:
            run_programs(arguments[0])
    except SystemExit as end:
        if end.code is None or isinstance(end.code, int):
            return end.code or 0
        print(end.code, file=sys.stderr)
        return 1
    except BaseException:
        traceback.print_exc()
        return 1
    return 0


def answer(client: socket.socket) -> None:
    """Do what a client asks for, in a process that was forked for it."""
    _, streams, _, _ = socket.recv_fds(client, 1, 3)
    for number, stream in enumerate(streams):
        os.dup2(stream, number)
        os.close(stream)
    sys.stdin = open(0, encoding="utf-8", closefd=False)  # noqa: SIM115  # until the process ends
    sys.stdout = open(1, "w", encoding="utf-8", closefd=False)  # noqa: SIM115
    sys.stderr = open(2, "w", encoding="utf-8", errors="backslashreplace", buffering=1, closefd=False)  # noqa: SIM115
    request = b"".join(iter(lambda: client.recv(1 << 16), b""))
    status = carry_out(*json.loads(request))
    shutdown: Any = threading._shutdown  # type: ignore[attr-defined]  # waits for threads, as Python does at its end
    shutdown()
    atexit._run_exitfuncs()
    with contextlib.suppress(BrokenPipeError):
        sys.stdout.flush()
    client.sendall(bytes([status & 255]))


def reap(*_: object) -> None:
    """Take note of the children that have ended."""
    with contextlib.suppress(ChildProcessError):
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass


def preload() -> None:
    """Import what most commands need."""
    import semsearch.__main__
    import semsearch.index

    for module in pkgutil.walk_packages(semsearch.__path__, "semsearch."):
        if module.name.split(".")[1] in PRELOADED:
            with contextlib.suppress(ImportError):  # of an extra
                importlib.import_module(module.name)


def main(address: str) -> None:
    preload()
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(address)
        listening.listen()
        print("listening", flush=True)
        signal.signal(signal.SIGCHLD, reap)
        while sys.stdin not in (ready := select.select([listening, sys.stdin], [], [])[0]):
            assert ready
            client, _ = listening.accept()
            with client:
                if not os.fork():
                    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
                    listening.close()
                    try:
                        answer(client)
                    finally:
                        os._exit(0)


if __name__ == "__main__":
    main(*sys.argv[1:])
