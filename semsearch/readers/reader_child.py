"""The process that reads files for another one (semsearch.readers.reader_process), with limits on what it takes.

It is asked over a pipe, a question at a time: which function, with which arguments, for the bytes of which file. It
answers with bytes, or with the error; before these come the parts that the function yields, if it is a generator. What
does not stay within its processor time or memory ends the process; so does the end of the process that asks. It has no
environment but what Python needs, opens few files, writes none, starts no process, and leaves no core.

A process that has read a large file ends once it has answered, so that the next one finds all of its memory.
"""

from __future__ import annotations

import io
import json
import logging
import os
import signal
import struct
import sys
import threading
import time
import traceback
from collections.abc import Callable, Generator
from contextlib import suppress
from importlib import import_module
from typing import Any

OUT_OF_TIME = int(getattr(signal, "SIGPROF", 0))  # the signals that end a process, where there are signals
OUT_OF_MEMORY = int(getattr(signal, "SIGUSR1", 0))
_HEAD = struct.Struct(">IQ")  # bytes of the header, bytes of the data
_PIECE = 1 << 20  # bytes that are read at once: a length that is wrong takes no memory
_MOST_HEADER = 16_000_000  # bytes; a question has the sentences of a page
_LOOK = 0.05  # seconds between looks at the memory, and at whether the process that asks still runs
_IDLE = 60.0  # seconds without a question after which the process ends
_LARGE = 4  # a process that has taken this part of its memory ends once it has answered
_OVER = 1 << 28  # bytes of addresses beyond the memory: Linux counts those too, and the look at the memory says more
_RUNNING = threading.Event()
_FILES = 64  # that may be open at the same time: the modules of readers

# -- Messages ----------------------------------------------------------------------------------------------------------


class MessageError(Exception):
    """The other end of the pipe is closed, or has written what is no message."""


def send(descriptor: int, header: dict[str, Any], data: bytes = b"") -> None:
    """Write a message: a header, JSON, and data. Raises OSError."""
    text = json.dumps(header, ensure_ascii=False).encode("utf-8", "surrogatepass")
    head = _HEAD.pack(len(text), len(data)) + text
    for part in (head + data,) if len(data) < _PIECE else (head, data):
        rest = memoryview(part)
        while rest:
            rest = rest[os.write(descriptor, rest[: 1 << 30]) :]


def receive(descriptor: int, most: int) -> tuple[dict[str, Any], bytes]:
    """Read a message with at most this many bytes of data. Raises MessageError, OSError."""
    of_header, of_data = _HEAD.unpack(_exactly(descriptor, _HEAD.size))
    if of_header > _MOST_HEADER or of_data > most:
        raise MessageError(f"a message of {of_header:,} and {of_data:,} bytes is too long")
    try:
        header = json.loads(_exactly(descriptor, of_header).decode("utf-8", "surrogatepass"))
    except (ValueError, RecursionError) as error:
        raise MessageError(f"the header of a message is not JSON: {error}") from None
    if not isinstance(header, dict):
        raise MessageError("the header of a message is not an object")
    return header, _exactly(descriptor, of_data)


def _exactly(descriptor: int, count: int) -> bytes:
    found = io.BytesIO()  # its value is no copy
    while found.tell() < count:
        piece = os.read(descriptor, min(_PIECE, count - found.tell()))
        if not piece:
            raise MessageError("the other process has ended")
        found.write(piece)
    return found.getvalue()


# -- Limits ------------------------------------------------------------------------------------------------------------


def taken() -> tuple[int, int]:
    """The bytes of addresses and of memory that this process takes now; on macOS the most it ever took.

    0 where that is not known.
    """
    if sys.platform == "win32":
        return 0, 0
    try:
        with io.FileIO("/proc/self/statm") as file:
            addresses, memory = file.read(200).split()[:2]
    except (OSError, ValueError):
        import resource

        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        return 0, peak if sys.platform == "darwin" else 1024 * peak
    page = os.sysconf("SC_PAGE_SIZE")
    return int(addresses) * page, int(memory) * page


class Watch:
    """Ends the process when it takes too much, or when the process that asks is gone."""

    def __init__(self, parent: int) -> None:
        self._parent = parent
        self._most = sys.maxsize
        threading.Thread(target=self._look, daemon=True, name="semsearch-watch").start()

    def begin(self, seconds: float, memory: int) -> None:
        """From now on, the process may take so many seconds of its processor and so many bytes more than it has."""
        addresses, before = taken()
        self._most = before + memory
        if sys.platform != "win32":
            import resource

            signal.setitimer(signal.ITIMER_PROF, seconds)  # OUT_OF_TIME ends the process, whatever it does
            if addresses:
                _lower(resource.RLIMIT_AS, addresses + memory + _OVER, is_lasting=False)

    def end(self) -> bool:
        """The answer is there. Return whether the process has taken a large part of what it may."""
        if sys.platform != "win32":
            signal.setitimer(signal.ITIMER_PROF, 0)
        most, self._most = self._most, sys.maxsize
        return taken()[1] > most // _LARGE

    def _look(self) -> None:
        while True:
            time.sleep(_LOOK)
            if os.name == "posix" and os.getppid() != self._parent:
                os._exit(0)
            if OUT_OF_MEMORY and taken()[1] > self._most:
                os.kill(os.getpid(), OUT_OF_MEMORY)


def _give_up_rights() -> None:
    """Open few files, write none, start no process, leave no core."""
    if sys.platform != "win32":
        import resource

        _lower(resource.RLIMIT_CORE, 0)
        _lower(resource.RLIMIT_FSIZE, 0)
        _lower(resource.RLIMIT_NOFILE, _FILES)
        _lower(resource.RLIMIT_NPROC, 0, is_lasting=False)  # a library that needs threads lifts it


def _lower(kind: int, most: int, *, is_lasting: bool = True) -> None:
    """Lower a limit, if the system has it and it is not lower already."""
    if sys.platform != "win32":
        import resource

        with suppress(ValueError, OSError):
            _, hard = resource.getrlimit(kind)
            most = most if hard == resource.RLIM_INFINITY else min(most, hard)
            resource.setrlimit(kind, (most, most if is_lasting else hard))


# -- Log ---------------------------------------------------------------------------------------------------------------

_RECORDS = 100  # for one file
_LONGEST = 2000  # characters of a record


class Log(logging.Handler):
    """What is logged while a question is answered, which goes with the answer."""

    def __init__(self) -> None:
        super().__init__()
        self._records: list[list[Any]] = []
        logging.getLogger().addHandler(self)

    def emit(self, record: logging.LogRecord) -> None:
        """Keep a record, unless there are too many."""
        if len(self._records) < _RECORDS:
            self._records.append([record.name, record.levelno, record.getMessage()[:_LONGEST]])

    def begin(self, level: int) -> None:
        """From now on, keep what is as severe as this."""
        logging.getLogger().setLevel(level)

    def take(self) -> list[list[Any]]:
        """What was kept: of each the logger's name, the level and the message."""
        found, self._records = self._records, []
        return found


# -- Questions ---------------------------------------------------------------------------------------------------------


def serve(questions: int, answers: int, watch: Watch) -> None:
    """Answer what is asked, until there are no more questions, for a long time or at all."""
    log = Log()
    while _is_asked(questions):
        try:
            header, data = receive(questions, sys.maxsize)
        except MessageError:
            return
        log.begin(header["log"])
        watch.begin(header["seconds"], header["memory"])
        answer, found = _answer(header, data, answers)
        answer["log"] = log.take()
        del header, data
        if is_last := watch.end():
            answer["last"] = True
        send(answers, answer, found)
        del answer, found
        if is_last:
            return


def _is_asked(questions: int) -> bool:
    if os.name != "posix":  # where only sockets can be waited for
        return True
    from select import select

    return bool(select([questions], [], [], _IDLE)[0])


def _answer(header: dict[str, Any], data: bytes, answers: int) -> tuple[dict[str, Any], bytes]:
    """The answer, whose parts have been sent."""
    try:
        module, _, name = header["function"].partition(":")
        function: Callable[..., bytes | Generator[bytes, None, bytes]] = getattr(import_module(module), name)
        found = function(data, *header["arguments"])
        if isinstance(found, bytes):
            return {}, found
        while True:
            try:
                part = next(found)
            except StopIteration as last:
                return {}, last.value
            send(answers, {"more": True}, part)
    except BaseException as error:
        shown = "".join(traceback.format_exception(error, limit=-20))
        return {"error": type(error).__name__, "message": str(error)[:4000], "traceback": shown[-8000:]}, b""


def is_running() -> bool:
    """Return whether this process reads files for another one."""
    return _RUNNING.is_set()


def main(parent: int) -> None:
    """Serve the process that has started this one, with this process id, over standard input and output."""
    _RUNNING.set()
    answers = os.dup(1)
    os.dup2(2, 1)  # what a library prints goes where errors go: nowhere
    for ignored in ("SIGINT", "SIGPIPE"):
        if hasattr(signal, ignored):
            signal.signal(getattr(signal, ignored), signal.SIG_IGN)
    watch = Watch(parent)
    _give_up_rights()
    with suppress(OSError):  # nobody listens any more
        send(answers, {"ready": True})
        serve(0, answers, watch)
    os._exit(0)
