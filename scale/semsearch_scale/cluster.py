"""Work spread over the workers of a Dask cluster. The only module that imports Dask, and only when a cluster is used.

A worker opens the work once, and applies it to each item that it is sent. Results come in the order of the items, and
are the same whatever the number and speed of the workers. Dask repeats what a lost worker had. The versions of all that
a result depends on must be the same on every machine.

Work and items are pickled, by Dask's own serialisation: whoever may talk to a worker may run programs there. Nothing
of an index folder or of a document is ever unpickled.
"""

from __future__ import annotations

import gc
import re
import socket
import sys
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from functools import lru_cache
from importlib.metadata import PackageNotFoundError, entry_points, version
from socket import getaddrinfo
from threading import Event
from typing import TYPE_CHECKING, Any, TypeVar

import semsearch
from semsearch.errors import MissingExtra, SemsearchError, UsageError
from semsearch.system.locations import split_uri

if TYPE_CHECKING:
    from distributed import Client, Future


class ClusterError(SemsearchError):
    """A cluster cannot be reached or used, or it has lost all its workers."""


# -- Versions ----------------------------------------------------------------------------------------------------------

_PACKAGES = (
    "numpy", "scipy",  # numbers
    "sentencex", "PyStemmer", "stopwordsiso", "chardet",  # text
    "pyromark", "turbohtml", "lxml", "PyYAML", "tree-sitter", "pypdfium2", "python-calamine",  # readers
    "distributed", "cloudpickle",  # transport
)  # fmt: skip
_PLUGINS = "semsearch.readers"  # the entry point of packages with readers of their own
_NONE = "none"


@lru_cache(maxsize=1)
def versions_here() -> dict[str, str]:
    """The version of each package in this process, "none" for one that is not installed."""
    python = f"{sys.version_info.major}.{sys.version_info.minor}"
    plugins = {point.dist.name for point in entry_points(group=_PLUGINS) if point.dist is not None}
    names = [*_PACKAGES, *sorted(plugins)]
    return {"semsearch": semsearch.__version__, "Python": python, **{name: _version(name) for name in names}}


def differences(expected: Mapping[str, str], found: Mapping[str, str]) -> str:
    """Describe how the versions found differ from those expected; empty if they do not."""
    names = [*expected, *(name for name in found if name not in expected)]
    return ", ".join(
        f"{name} {found.get(name, _NONE)}, not {expected.get(name, _NONE)}"
        for name in names
        if found.get(name, _NONE) != expected.get(name, _NONE)
    )


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return _NONE


# -- Work on a worker --------------------------------------------------------------------------------------------------


def carry_out(work: bytes, item: bytes, expected: Mapping[str, str]) -> Any:
    """Apply some work to an item. Raises ClusterError if this worker has other versions than expected."""
    if different := differences(expected, versions_here()):
        raise ClusterError(f"the worker on {socket.gethostname()} has {different}; install the same versions there")
    return _opened(work)(_loads(item))


@lru_cache(maxsize=1)
def _opened(work: bytes) -> Callable[[Any], Any]:
    """The work, which may have large tables: opened once."""
    opened: Callable[[Any], Any] = _loads(work)
    return opened


def _loads(data: bytes) -> Any:
    from distributed.protocol.pickle import loads  # an optional dependency

    return loads(data)


# -- Dask cluster ------------------------------------------------------------------------------------------------------

Item = TypeVar("Item")
Result = TypeVar("Result")

_ADDRESS = re.compile(r"(tcp|tls|ws|wss|inproc)://\S+")
DEADLINE = 30.0  # seconds without a worker, or without an answer of the scheduler
_AHEAD = 3  # items for each thread of a worker that are sent before they are needed
_LOOK = 0.5  # seconds between two checks whether there are still workers
_ANSWER = 5.0  # seconds for the scheduler to list the workers


class DaskCluster:
    """Spreads work over a cluster: given the address of its scheduler, or a `distributed.Client` with its own options.

    It connects when it is first used. A client that was given stays open. Raises UsageError for what is no address.
    """

    def __init__(self, given: str | Client, *, deadline: float = DEADLINE) -> None:
        if isinstance(given, str) and not _ADDRESS.fullmatch(given):  # Dask waits for ever for an unknown scheme
            raise UsageError(f"{given!r} is not the address of a scheduler; give one such as tcp://scheduler:8786")
        self._given = given
        self._deadline = deadline
        self._client: Client | None = None

    def connect(self) -> Client:
        """Connect and check all workers, once.

        Raises MissingExtra without Dask; ClusterError if no scheduler answers, if it has no workers, or if a worker has
        other versions of semsearch and of what it depends on.
        """
        if self._client is None:
            client = self._connected()
            try:
                self._check(client)
            except BaseException:
                self._close(client)
                raise
            self._client = client
        return self._client

    def in_order(self, work: Callable[[Item], Result], items: Iterable[Item]) -> Iterator[Result]:
        """Like `map(work, items)`, on the workers; `work` and the items must pickle.

        Raises what the work raises, and ClusterError if the scheduler or all workers are lost, or if workers die at
        the same item again and again.
        """
        client = self.connect()
        from distributed.protocol.pickle import dumps  # an optional dependency, as below

        sent = client.submit(bytes, dumps(work), pure=False)
        ahead = max(_AHEAD, _AHEAD * self._threads())
        waiting: deque[Future] = deque()
        for item in items:
            waiting.append(client.submit(carry_out, sent, dumps(item), versions_here(), pure=False, retries=0))
            if len(waiting) > ahead:
                yield self._result(waiting.popleft())
        while waiting:
            yield self._result(waiting.popleft())

    def close(self) -> None:
        """Leave the cluster. It is connected again when it is used."""
        client, self._client = self._client, None
        if client is not None:
            self._close(client)

    def _close(self, client: Client) -> None:
        if client is not self._given:
            with suppress(Exception):  # of a scheduler that has gone
                client.close()

    def _connected(self) -> Client:
        try:
            from distributed import Client
        except ImportError as error:
            raise MissingExtra("distributed", "cluster", distribution="./scale") from error
        if not isinstance(self._given, str):
            return self._given
        try:
            if host := split_uri(self._given).hostname:
                getaddrinfo(host, None)  # an unknown name makes Dask's client fail twice
            gc.collect()  # a client that could not connect is closed then, not while Dask's loop starts: it would hang
            return Client(self._given, timeout=self._deadline, set_as_default=False, direct_to_workers=True)
        except OSError as error:
            raise ClusterError(
                f"no scheduler answers at {self._given} ({error}); start one with: dask scheduler"
            ) from error
        except (ValueError, TypeError) as error:  # raised by Dask for addresses, and for tls:// without certificates
            raise ClusterError(f"the cluster {self._given} cannot be used: {error}") from error

    def _check(self, client: Client) -> None:
        from distributed import TimeoutError as Late

        try:
            client.wait_for_workers(1, timeout=self._deadline)
        except Late as error:
            raise ClusterError(
                f"the scheduler {self._named} has no workers; start some with: dask worker {self._named} --nthreads 1"
            ) from error
        for worker, found in client.run(versions_here, on_error="return").items():
            if isinstance(found, Exception):
                raise ClusterError(
                    f"the worker {worker} cannot use semsearch ({type(found).__name__}: {found}); "
                    f"install version {versions_here()['semsearch']} there"
                )
            if different := differences(versions_here(), found):
                raise ClusterError(f"the worker {worker} has {different}; install the same versions there")

    @property
    def _named(self) -> str:
        return self._given if isinstance(self._given, str) else str(self._given.scheduler.address)

    def _threads(self) -> int:
        """The threads of all workers; 0 if the scheduler does not answer."""
        client = self.connect()
        if client.status != "running":
            return 0
        try:
            return sum(client.nthreads(callback_timeout=min(_ANSWER, self._deadline)).values())
        except Exception:  # Dask raises various errors for a broken connection
            return 0

    def _result(self, future: Future) -> Any:
        """Wait for a result. Raises what the work raised, ClusterError."""
        from distributed import CancelledError, KilledWorker, TimeoutError as Late

        done = Event()
        left_alone: float | None = None
        future.add_done_callback(lambda _: done.set())
        while True:
            try:
                if done.wait(_LOOK) or future.done():
                    return future.result(timeout=self._deadline)  # that long only to fetch it
            except SemsearchError:
                raise
            except Late:
                if future.status == "error":  # the work's own
                    raise
            except CancelledError as error:
                raise ClusterError(
                    f"the scheduler {self._named} no longer answers; nothing was changed. Run it again when it is "
                    "back, or without --cluster"
                ) from error
            except KilledWorker as error:
                raise ClusterError(
                    "more than one worker died at the same task, perhaps from lack of memory; nothing was "
                    "changed. Give workers more memory, or run it without --cluster"
                ) from error
            if self._threads():
                left_alone = None
                continue
            left_alone = time.monotonic() if left_alone is None else left_alone
            if time.monotonic() - left_alone >= self._deadline:
                raise ClusterError(
                    f"the cluster {self._named} has had no worker for {self._deadline:g} s; nothing was changed. Run "
                    "it again when it has workers, or without --cluster"
                )
