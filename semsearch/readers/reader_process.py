"""Read files in another process, which has limits: the one door to readers that may take for ever, or crash.

A parser written in C may crash on a file that was made to harm, and a file of some hundred bytes may take hours and all
memory. So such readers run in a process of their own (semsearch.readers.reader_child), which is started for the first
file that needs it and kept for the next; a file that kills it is to blame, and no other.

What comes back may have been written by the file: it is bytes and JSON, limited in size, and whoever asks checks it.

| limit | Linux | macOS | Windows |
|---|---|---|---|
| processor time | yes | yes | no |
| time, ten times as much | yes | yes | yes |
| memory | yes, also of addresses | watched | no |
| files written, open files, processes, core dumps | yes | yes | no |
"""

from __future__ import annotations

import atexit
import logging
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from multiprocessing.spawn import get_executable
from pathlib import Path

from semsearch.errors import MissingExtra, SemsearchError, SourceError, UsageError, is_resource_exhaustion
from semsearch.readers.reader_child import OUT_OF_MEMORY, OUT_OF_TIME, MessageError, receive, send

_LOG = logging.getLogger(__name__)
_PROCESSES = 4  # at the same time, for all threads of this one
_TIMES = 10  # the time that a file may take on a busy machine, in its processor time
_START = 60.0  # seconds until a process has started
_LONGEST = 4000  # characters of an error
_GRACE = 1.0  # seconds for a process that is ending
_PIPE = 1 << 18  # bytes that a pipe holds, on Linux
_KEPT = (  # of the environment: what Python and its libraries need to be found, and no passwords
    "PATH", "PYTHONHOME", "PYTHONPATH", "PYTHONPYCACHEPREFIX", "PYTHONUTF8", "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH",
    "LANG", "LC_ALL", "LC_CTYPE", "TZ", "SYSTEMROOT",
)  # fmt: skip
_ONE_THREAD = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}  # whose stacks count as memory
_CODE = """
import sys
sys.path[:] = {folders}
from semsearch.readers.reader_child import main
main({parent})
"""


@dataclass(frozen=True, slots=True)
class Limits:
    """The time and memory that reading one file may take."""

    seconds: float  # of processor time
    memory: int  # bytes

    @classmethod
    def of(cls, size: int) -> Limits:
        """The limits for a file of so many bytes: many times what the slowest that is not made to harm takes."""
        return cls(30.0 + 10e-6 * size, (1 << 30) + 20 * size)


def in_reader_process(
    function: Callable[..., bytes],
    data: bytes,
    name: str,
    *arguments: object,
    limits: Limits | None = None,
    take_part: Callable[[bytes], None] | None = None,
) -> bytes:
    """Call a function of a module with data and arguments that JSON has, in another process; what it returns.

    `take_part` gets each part that the function sends (`reader_child.send_part`), as soon as it is there; an error may
    follow. The time counts anew from each part on.

    Raises SourceError if the function does, or fails, or takes more than its limits; UsageError and MissingExtra as it
    does. The error's cause is an OSError or ImportError if that may pass.
    """
    limits = limits or Limits.of(len(data))
    question = {
        "module": function.__module__, "function": function.__name__, "arguments": arguments,
        "seconds": limits.seconds, "memory": limits.memory,
    }  # fmt: skip
    try:
        with _processes.one(name) as process:
            answer, result = process.ask(question, data, limits, take_part)
            if answer.get("last"):
                process.end()
    except _Ended as ended:
        error = ended.error(name, limits)
        raise error from error.__cause__
    if "error" in answer:
        raise _error(answer, name, limits)
    return result


def end_reader_processes() -> None:
    """End the processes that wait for files: the next file starts another one."""
    _processes.end()


def _error(answer: dict[str, object], name: str, limits: Limits) -> SemsearchError:
    """The error of an answer, which is not trusted."""
    kind, message = str(answer["error"]), str(answer.get("message", ""))[:_LONGEST]
    match kind:
        case "SourceError":
            return SourceError(message)
        case "UsageError":
            return UsageError(message)
        case "MissingExtra":
            missing = MissingExtra("")
            missing.args = (message,)
            return missing
        case "RecursionError":
            return SourceError(f"{name} is nested too deeply to be read")
        case "MemoryError":
            return _too_large(name, limits)
    _LOG.warning("%s could not be parsed\n%s", name, str(answer.get("traceback", ""))[:8000])
    error = SourceError(f"{name} could not be parsed: {kind[:100]}: {message}")
    if kind in ("ImportError", "ModuleNotFoundError"):
        error.__cause__ = ImportError(message)
    return error


def _too_large(name: str, limits: Limits) -> SourceError:
    return SourceError(f"{name} takes more than {limits.memory // 1_000_000:,} MB of memory to read; split it")


# -- Processes ---------------------------------------------------------------------------------------------------------


class _Ended(Exception):
    """The process has ended instead of an answer."""

    def __init__(self, status: int, *, is_late: bool) -> None:
        super().__init__(status)
        self._status, self._is_late = status, is_late

    def error(self, name: str, limits: Limits) -> SourceError:
        """The error of a file by the way in which its process ended."""
        if self._is_late and sys.platform != "win32":
            error = SourceError(f"{name} is not read after {_TIMES * limits.seconds:,.0f} seconds, on a busy machine")
            error.__cause__ = TimeoutError()  # another day it may be
            return error
        if self._is_late or self._status == -OUT_OF_TIME:
            return SourceError(f"{name} takes more than {limits.seconds:,.0f} seconds to read; split it")
        if self._status == -OUT_OF_MEMORY:
            return _too_large(name, limits)
        cause = f"status {self._status:#x}"
        if self._status < 0:
            with suppress(ValueError):
                cause = signal.Signals(-self._status).name
        return SourceError(
            f"{name} made its reader crash ({cause}), perhaps for lack of memory; it may be damaged: save it again"
        )


class _Process:
    """A process that reads files."""

    def __init__(self, name: str) -> None:
        folders = [str(Path(folder).absolute()) for folder in sys.path]  # "" too
        code = _CODE.format(folders=ascii(folders), parent=os.getpid())
        environment = {key: value for key, value in os.environ.items() if key in _KEPT} | _ONE_THREAD
        try:
            self._process = subprocess.Popen(
                [os.fsdecode(get_executable()), "-P", "-B", "-c", code],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                env=environment,
                pipesize=_PIPE,
                start_new_session=True,  # a signal for all processes of a terminal ends this one by ending its parent
            )
        except OSError as error:
            if is_resource_exhaustion(error):
                raise
            raise _not_started(name, error) from error
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._questions, self._answers = self._process.stdin, self._process.stdout
        self._is_late = False
        try:
            with self._until(_START):
                receive(self._answers, 0)
        except _Ended as ended:
            raise _not_started(name, OSError(f"it ended with {ended}")) from ended

    @property
    def has_ended(self) -> bool:
        """Whether the process has ended, as it does after a large file."""
        return self._process.poll() is not None

    def ask(
        self, question: dict[str, object], data: bytes, limits: Limits, take_part: Callable[[bytes], None] | None
    ) -> tuple[dict[str, object], bytes]:
        """Send a request, and wait for the answer. Raises _Ended; whatever is raised, the process has ended."""
        seconds = limits.seconds * (1 if sys.platform == "win32" else _TIMES)
        with self._until(seconds):
            send(self._questions, question, data)
            header, result = receive(self._answers, limits.memory)
        while "part" in header:
            with self._until(seconds):
                if take_part is None:
                    raise MessageError("an answer has parts that nobody has asked for")
                take_part(result)
                header, result = receive(self._answers, limits.memory)
        return header, result

    @contextmanager
    def _until(self, seconds: float) -> Iterator[None]:
        """What is done here takes some seconds at most; else, and when it fails, the process is ended."""
        self._is_late = False
        timer = threading.Timer(seconds, self._end_late)
        timer.daemon = True
        timer.start()
        try:
            yield
        except (OSError, MessageError):
            raise _Ended(self.end(_GRACE), is_late=self._is_late) from None
        except BaseException:  # an interruption, after which nobody reads the answer
            self.end()
            raise
        finally:
            timer.cancel()

    def _end_late(self) -> None:
        self._is_late = True
        self._process.kill()

    def end(self, grace: float = 0.0) -> int:
        """End the process, if it does not end by itself within some seconds; its status."""
        self._close()
        with suppress(subprocess.TimeoutExpired):
            if grace:
                return self._process.wait(grace)
        self._process.kill()
        return self._process.wait()

    def forget(self) -> None:
        """Forget a process that is the child of another one, after a fork."""
        self._close()
        self._process.returncode = 0  # there is nothing to wait for

    def _close(self) -> None:
        for pipe in (self._questions, self._answers):
            with suppress(OSError):
                pipe.close()


class _Processes:
    """The processes of this one: those that wait for a file, and turns for those that read one."""

    def __init__(self) -> None:
        self._turns = threading.Semaphore(_PROCESSES)
        self._waiting: list[_Process] = []

    @contextmanager
    def one(self, name: str) -> Iterator[_Process]:
        """A process for one file, kept for the next unless it has ended."""
        with self._turns:
            process = self._take() or _Process(name)
            yield process
            self._waiting.append(process)

    def _take(self) -> _Process | None:
        with suppress(IndexError):
            while True:
                process = self._waiting.pop()
                if not process.has_ended:
                    return process
                process.end()
        return None

    def end(self) -> None:
        """End those that wait."""
        while process := self._take():
            process.end()

    def forget(self) -> None:
        """Forget all processes, after a fork."""
        for process in self._waiting:
            process.forget()
        self.__init__()  # type: ignore[misc]


_processes = _Processes()
atexit.register(_processes.end)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_processes.forget)


def _not_started(name: str, error: OSError) -> SourceError:
    return SourceError(f"{name} cannot be read: the process for it cannot be started: {error}")
