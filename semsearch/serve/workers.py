"""Processes that search for a server: Python computes in one thread of a process at a time, whatever the cores.

The server's own process keeps all that there is one of: the socket, the limits of clients and connections, access,
metrics and writes. It hands a batch of searches to a worker that is free, and gets the bodies of the answers. So load
is spread evenly, and a worker that dies takes no connection with it. Sockets shared by servers, as by SO_REUSEPORT,
would be simpler, but each would count clients for itself, and one could get all connections while another waits.

Workers read the same mapped files, and see what others write with their next transaction. A worker is a fresh
interpreter (spawned). It ignores signals, since those of a terminal or of a service manager reach it too while the
server still answers, and ends when its pipe is closed, as it is by the system if the server is killed.
"""

from __future__ import annotations

import logging
import signal
import threading
import traceback
from collections.abc import Callable, Sequence
from contextlib import suppress
from http import HTTPStatus
from multiprocessing import get_context, resource_tracker
from multiprocessing.connection import Connection
from queue import Empty, SimpleQueue

from semsearch.errors import SemsearchError
from semsearch.serve.open_indexes import OpenIndexes
from semsearch.serve.operation import Operation, bodies_together
from semsearch.serve.problem_details import ProblemDetails, RequestRefused, problem_of, refused
from semsearch.serve.request_parameters import Given
from semsearch.serve.search_routes import ASKING

_LOG = logging.getLogger(__name__)
_TRIES = 2  # workers that a batch may be given to, if they end instead of answering
_AGAIN = 1.0  # seconds until another start after one that failed
_START = 30.0  # seconds until one is free, or replaces one that has ended; then a client is refused anyway
_GRACE = 5.0  # seconds for a worker that still searches when the server ends

Opened = Callable[[], OpenIndexes]  # makes the indexes of a worker; it is sent to another interpreter
_Answer = list[bytes] | ProblemDetails | str  # bodies; why there are none; the traceback of a bug


class Workers:
    """So many processes that answer searches, each with indexes of its own. Threads may share them.

    A process that ends is replaced. Nothing is started before `start`.
    """

    def __init__(self, number: int, opened: Opened) -> None:
        self.number = number
        self._opened = opened
        self._idle: SimpleQueue[_Worker] = SimpleQueue()
        self.ready = threading.Event()  # set once one has started; until then the server searches by itself
        self._closing = threading.Event()
        self._lock = threading.Lock()
        self._running: set[_Worker] = set()
        self._keepers = [threading.Thread(target=self._keep, name="semsearch-worker") for _ in range(number)]

    def start(self) -> None:
        """Start the processes, each in a thread that watches over it, and return at once."""
        for keeper in self._keepers:
            keeper.start()

    def bodies(self, operation: Operation, several: Sequence[Given]) -> list[bytes]:
        """Let the next free process answer searches that differ in their query only.

        Raises RequestRefused with the problem that the answer is, or if processes end while they search, as they would
        for lack of memory.
        """
        tries = 0
        while tries < _TRIES and not self._closing.is_set():
            try:
                worker = self._idle.get(timeout=_START)
            except Empty:
                break
            if not worker.is_alive:
                continue
            answer = worker.ask(operation.name, several)
            if answer is None:
                tries += 1
                continue
            self._idle.put(worker)
            if isinstance(answer, ProblemDetails):
                raise RequestRefused(answer)
            if isinstance(answer, str):
                raise RuntimeError(f"a process that searches failed\n{answer}")
            return answer
        detail = "the process that searched has ended; try again"
        raise refused(HTTPStatus.SERVICE_UNAVAILABLE, detail, retry_after="1")

    def _keep(self) -> None:
        """Start a process, again and again when it ends, until `close`."""
        _block_signals()
        pause = 0.0
        while not self._closing.wait(pause):
            pause = _AGAIN
            try:
                worker = _Worker(self._opened)
            except OSError as error:
                _LOG.warning("a process that searches cannot be started: %s", error)
                continue
            with self._lock:
                self._running.add(worker)
                if self._closing.is_set():
                    worker.end()
            if worker.is_started():
                pause = 0.0
                self._idle.put(worker)
                self.ready.set()
            status = worker.wait()
            with self._lock:
                self._running.remove(worker)
            if not self._closing.is_set():
                _LOG.warning("a process that searches has ended (status %s); another one is started", status)

    def close(self) -> None:
        """End all processes. To be called when nothing is asked any more."""
        self._closing.set()
        started = [keeper for keeper in self._keepers if keeper.ident is not None]
        for end in (_Worker.end, _Worker.kill):
            with self._lock:
                for worker in self._running:
                    end(worker)
            for keeper in started:
                keeper.join(_GRACE)


class _Worker:
    """A process, and the pipe to it."""

    def __init__(self, opened: Opened) -> None:
        context = get_context("spawn")
        self._pipe, theirs = context.Pipe()
        self._process = context.Process(target=_work, args=(opened, theirs), daemon=True, name="semsearch-worker")
        try:
            self._process.start()
        except BaseException:
            self._pipe.close()
            raise
        finally:
            theirs.close()  # or its end is never noticed

    @property
    def is_alive(self) -> bool:
        return self._process.is_alive()

    def is_started(self) -> bool:
        """Wait until it is ready to answer; False if it ends before."""
        try:
            self._pipe.recv()
        except (EOFError, OSError):
            return False
        return True

    def ask(self, name: str, several: Sequence[Given]) -> _Answer | None:
        """The answer to searches; None if the process has ended."""
        try:
            self._pipe.send((name, several))
            answer: _Answer = self._pipe.recv()
        except (EOFError, OSError):
            return None
        return answer

    def end(self) -> None:
        """Ask it to end."""
        with suppress(OSError):
            self._pipe.send(None)

    def kill(self) -> None:
        """End it at once."""
        self._process.kill()

    def wait(self) -> int | None:
        """Wait until it ends, and return its status."""
        self._process.join()
        return self._process.exitcode


_SIGNALS = ("SIGINT", "SIGTERM", "SIGHUP", "SIGBREAK")


def _block_signals() -> None:
    """Block signals in this thread and the processes that it starts, from their first instruction on."""
    if hasattr(signal, "pthread_sigmask"):
        resource_tracker.ensure_running()  # or it would unblock them when it is started
        known = [getattr(signal, name) for name in _SIGNALS if hasattr(signal, name)]
        signal.pthread_sigmask(signal.SIG_BLOCK, known)


# -- In the process ----------------------------------------------------------------------------------------------------


def _work(opened: Opened, pipe: Connection) -> None:
    """Answer batches until the pipe is closed. What the log has to say of the indexes, the server's process says."""
    for name in _SIGNALS:  # on Windows none is blocked
        if hasattr(signal, name):
            signal.signal(getattr(signal, name), signal.SIG_IGN)
    logging.getLogger("semsearch").addHandler(logging.NullHandler())
    operations = {operation.name: operation for operation in ASKING}
    indexes = opened()
    indexes.warm_up()
    try:
        pipe.send(None)  # ready
        while (asked := pipe.recv()) is not None:
            name, several = asked
            pipe.send(_answer(operations[name], indexes, several))
    except (EOFError, OSError):  # the server was killed
        pass
    indexes.close()


def _answer(operation: Operation, indexes: OpenIndexes, several: Sequence[Given]) -> _Answer:
    try:
        return bodies_together(operation, indexes, several)
    except SemsearchError as error:
        return problem_of(error)
    except Exception:
        return traceback.format_exc()
