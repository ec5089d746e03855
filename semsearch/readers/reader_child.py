"""The process that reads files for another one (semsearch.readers.reader_process), with limits on what it takes.

It is asked a question at a time: which function, with which arguments, for the bytes of which file. It answers with
bytes, or with the error; the function may send parts before. What does not stay within its processor time or memory
ends the process; so does the end of the process that asks. It has no environment but what Python needs, opens few
files, writes none and leaves no core. One that has read a large file ends once it has answered, so that the next one
finds all of its memory.
"""

from __future__ import annotations

import gc
import json
import os
import signal
import struct
import sys
import threading
import time
import traceback
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import IO, Any

OUT_OF_TIME = int(getattr(signal, "SIGPROF", 0))  # the signals that end a process, where there are signals
OUT_OF_MEMORY = int(getattr(signal, "SIGUSR1", 0))
_LOOK = 0.05  # seconds between looks at the memory, and at whether the process that asks still runs
_LARGE = 4  # a process that has taken this part of its memory ends once it has answered
_OVER = 1 << 28  # bytes of addresses beyond the memory: Linux counts those too, and the look at the memory says more
_FILES = 64  # files that may be open at the same time: the modules of readers


# -- Messages ----------------------------------------------------------------------------------------------------------
# A header in JSON, and bytes, over a pipe.

_SIZES = struct.Struct(">IQ")  # bytes of the header, bytes of the data
_MOST_HEADER = 16_000_000  # bytes; a question has the sentences of a page


class MessageError(Exception):
    """The other end of the pipe is closed, or has written what is no message."""


def send(pipe: IO[bytes], header: dict[str, Any], data: bytes = b"") -> None:
    """Write a message. Raises OSError."""
    text = json.dumps(header, ensure_ascii=False).encode("utf-8", "surrogatepass")
    pipe.write(_SIZES.pack(len(text), len(data)) + text)
    pipe.write(data)
    pipe.flush()


def receive(pipe: IO[bytes], most: int) -> tuple[dict[str, Any], bytes]:
    """Read a message with at most this many bytes of data. Raises MessageError, OSError."""
    header_size, data_size = _SIZES.unpack(_exactly(pipe, _SIZES.size))
    if header_size > _MOST_HEADER or data_size > most:
        raise MessageError(f"a message of {header_size:,} and {data_size:,} bytes is too long")
    try:
        header = json.loads(_exactly(pipe, header_size).decode("utf-8", "surrogatepass"))
    except (ValueError, RecursionError) as error:
        raise MessageError(f"the header of a message is not JSON: {error}") from None
    if not isinstance(header, dict):
        raise MessageError("the header of a message is not an object")
    return header, _exactly(pipe, data_size)


def _exactly(pipe: IO[bytes], count: int) -> bytes:
    data = pipe.read(count)
    if len(data) < count:
        raise MessageError("the other process has ended")
    return data


# -- Limits ------------------------------------------------------------------------------------------------------------


def taken() -> tuple[int, int]:
    """The bytes of addresses and of memory that this process takes now; on macOS the most it ever took.

    0 where that is not known.
    """
    if sys.platform == "win32":
        return 0, 0
    try:
        with Path("/proc/self/statm").open("rb", buffering=0) as file:
            addresses, memory = file.read(200).split()[:2]
    except (OSError, ValueError):
        import resource  # not on Windows

        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        return 0, peak if sys.platform == "darwin" else 1024 * peak
    page = os.sysconf("SC_PAGE_SIZE")
    return int(addresses) * page, int(memory) * page


class _Watch:
    """Ends the process when it takes too much, or when the process that asks is gone."""

    def __init__(self, parent: int) -> None:
        self._parent = parent
        self._most = sys.maxsize
        self._seconds = 0.0
        threading.Thread(target=self._look, daemon=True, name="semsearch-watch").start()

    def begin(self, seconds: float, memory: int) -> None:
        """From now on, the process may take so many seconds of its processor and so many bytes more than it has."""
        addresses, before = taken()
        self._most, self._seconds = before + memory, seconds
        self.begin_again()
        if addresses:
            _lower("RLIMIT_AS", addresses + memory + _OVER, is_lasting=False)

    def begin_again(self) -> None:
        """The seconds count from now on."""
        if sys.platform != "win32":
            signal.setitimer(signal.ITIMER_PROF, self._seconds)  # OUT_OF_TIME ends the process, whatever it does

    def end(self) -> bool:
        """The answer is there. Return whether the process has taken a large part of what it may."""
        self._seconds = 0.0
        self.begin_again()
        most, self._most = self._most, sys.maxsize
        return taken()[1] > most // _LARGE

    def _look(self) -> None:
        while True:
            time.sleep(_LOOK)
            if os.name == "posix" and os.getppid() != self._parent:
                os._exit(0)
            if OUT_OF_MEMORY and taken()[1] > self._most:
                os.kill(os.getpid(), OUT_OF_MEMORY)


def _lower(name: str, most: int, *, is_lasting: bool = True) -> None:
    """Lower a limit, if the system has it and it is not lower already."""
    if sys.platform != "win32":
        import resource  # not on Windows

        with suppress(ValueError, OSError, AttributeError):
            kind = getattr(resource, name)
            _, hard = resource.getrlimit(kind)
            most = most if hard == resource.RLIM_INFINITY else min(most, hard)
            resource.setrlimit(kind, (most, most if is_lasting else hard))


# -- Questions ---------------------------------------------------------------------------------------------------------


_answers: IO[bytes] | None = None  # to the process that asks; None: this one does not read files for another
_watch: _Watch | None = None


def is_running() -> bool:
    """Return whether this process reads files for another one."""
    return _answers is not None


def send_part(data: bytes) -> None:
    """Send a part of the answer; the time for the question counts anew."""
    assert _answers is not None
    assert _watch is not None
    send(_answers, {"part": True}, data)
    _watch.begin_again()


def _serve(questions: IO[bytes], answers: IO[bytes], watch: _Watch) -> None:
    """Answer until there are no more questions, or a file has taken much memory."""
    send(answers, {"ready": True})
    is_last = False
    while not is_last:
        try:
            header, data = receive(questions, sys.maxsize)
        except MessageError:
            return
        watch.begin(header["seconds"], header["memory"])
        answer, result = _answer(header, data)
        answer["last"] = is_last = watch.end()
        del header, data
        send(answers, answer, result)


def _answer(header: dict[str, Any], data: bytes) -> tuple[dict[str, Any], bytes]:
    try:
        function = getattr(import_module(header["module"]), header["function"])
        return {}, function(data, *header["arguments"])
    except BaseException as error:
        shown = "".join(traceback.format_exception(error, limit=-20))
        return {"error": type(error).__name__, "message": str(error)[:4000], "traceback": shown[-8000:]}, b""


def main(parent: int) -> None:
    """Serve the process that has started this one, with this process id, over standard input and output."""
    global _answers, _watch  # this process has no other
    gc.set_threshold(100_000)  # a document is a tree that is all in use
    _answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what a library prints goes where errors go: nowhere
    for ignored in ("SIGINT", "SIGPIPE"):
        if hasattr(signal, ignored):
            signal.signal(getattr(signal, ignored), signal.SIG_IGN)
    _watch = _Watch(parent)
    _lower("RLIMIT_CORE", 0)
    _lower("RLIMIT_FSIZE", 0)
    _lower("RLIMIT_NOFILE", _FILES)
    _lower("RLIMIT_NPROC", 0, is_lasting=False)  # a library that needs threads lifts it
    with suppress(OSError):  # nobody listens any more
        _serve(sys.stdin.buffer, _answers, _watch)
    os._exit(0)
