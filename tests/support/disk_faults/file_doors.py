"""The doors through which a process changes files: a test may count, record or fail what passes them.

Python's files pass through `open`, `os.fsync` and the audit events of the interpreter; SQLite's, through its own
interface to the operating system, the methods of its default VFS, which are replaced by ctypes. Only files below one
folder count. That needs an SQLite that is a library of its own, as on Linux.
"""

from __future__ import annotations

import _sqlite3
import builtins
import ctypes
import io
import os
import sys
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

Kind = Literal["open", "map", "mkdir", "write", "truncate", "sync", "sync folder", "rename", "remove"]


@dataclass(frozen=True, slots=True)
class Operation:
    """What is about to be done. `offset` and `data` of a write; `offset` is the new size where a file is cut."""

    kind: Kind
    path: str
    sqlite: bool = False
    offset: int = 0
    data: bytes = field(default=b"", repr=False)
    to: str = ""  # of a rename
    creating: bool = False  # a file is opened that is not there, or is emptied


@dataclass(frozen=True, slots=True)
class Fault:
    """How an operation fails. Of a write, `written` bytes are written before it does."""

    number: int  # of the operating system
    of_sqlite: int  # what SQLite's VFS returns for it
    written: int = 0


Watcher = Callable[[Operation], Fault | None]


class Doors:
    """The doors of this process to files below a folder, while a `with` statement runs. Nobody watches at first."""

    def __init__(self, folder: Path) -> None:
        self.folder = str(folder.resolve())
        self.watcher: Watcher | None = None
        self._inside = threading.local()

    def __enter__(self) -> Doors:
        self._put_back = (_watch_python(self), _watch_sqlite(self))
        return self

    def __exit__(self, *_: object) -> None:
        self.watcher = None
        for put_back in self._put_back:
            put_back()

    def passes(self, operation: Operation) -> Fault | None:
        """Tell the watcher of an operation; how it shall fail, if it shall."""
        if self.watcher is None or not operation.path.startswith(self.folder) or getattr(self._inside, "it", False):
            return None
        self._inside.it = True  # what the watcher itself does is not watched
        try:
            return self.watcher(operation)
        finally:
            self._inside.it = False

    def check(self, operation: Operation) -> None:
        """Raise the OSError of an operation that shall fail."""
        if (fault := self.passes(operation)) is not None:
            raise OSError(fault.number, os.strerror(fault.number), operation.path)


_OPTIONS = ("encoding", "errors", "newline", "closefd", "opener")  # of open, after file, mode and buffering


def _watch_python(doors: Doors) -> Callable[[], None]:
    real_open, real_fsync = io.open, os.fsync

    class WatchedFile(io.FileIO):
        def write(self, data: Any, /) -> int:
            view = memoryview(data).cast("B")
            offset = os.fstat(self.fileno()).st_size if "a" in self.mode else self.tell()
            operation = Operation("write", _path_of(self.fileno()), offset=offset, data=bytes(view))
            if (fault := doors.passes(operation)) is not None:
                super().write(view[: fault.written])
                raise OSError(fault.number, os.strerror(fault.number), operation.path)
            return super().write(view)

        def truncate(self, size: int | None = None, /) -> int:
            doors.check(Operation("truncate", _path_of(self.fileno()), offset=self.tell() if size is None else size))
            return super().truncate(size)

    def watched_open(file: Any, mode: str = "r", buffering: int = -1, *others: Any, **named: Any) -> Any:
        if doors.watcher is None or not any(sign in mode for sign in "wax+"):
            return real_open(file, mode, buffering, *others, **named)
        given = {**dict(zip(_OPTIONS, others, strict=False)), **named}
        raw_mode = mode.replace("b", "").replace("t", "")
        raw = WatchedFile(file, raw_mode, closefd=given.pop("closefd", True), opener=given.pop("opener", None))
        if buffering == 0:
            return raw
        binary = io.BufferedRandom(raw) if "+" in mode else io.BufferedWriter(raw)
        return binary if "b" in mode else io.TextIOWrapper(binary, **given)

    def watched_fsync(descriptor: Any) -> None:
        number = descriptor if isinstance(descriptor, int) else descriptor.fileno()
        path = _path_of(number)
        doors.check(Operation("sync folder" if Path(path).is_dir() else "sync", path))
        real_fsync(descriptor)

    def audited(event: str, arguments: tuple[Any, ...]) -> None:
        if doors.watcher is not None and event in _AUDITED:
            for operation in _AUDITED[event](arguments):
                doors.check(operation)

    def put_back() -> None:
        builtins.open = io.open = real_open
        os.fsync = real_fsync

    builtins.open = io.open = watched_open
    os.fsync = watched_fsync
    sys.addaudithook(audited)  # it stays, and does nothing
    return put_back


def _path_of(descriptor: int) -> str:
    return str(Path(f"/proc/self/fd/{descriptor}").readlink()).removesuffix(" (deleted)")


def _opened(arguments: tuple[Any, ...]) -> list[Operation]:
    name, _, flags = arguments
    if not isinstance(name, str | bytes | os.PathLike):
        return []
    path = str(Path(os.fsdecode(name)).absolute())
    if flags & getattr(os, "O_TMPFILE", 0) == getattr(os, "O_TMPFILE", -1):
        return [Operation("open", path)]
    is_new = bool(flags & os.O_CREAT) and (bool(flags & os.O_TRUNC) or not Path(path).exists())
    return [Operation("open", path, creating=is_new)]


def _mapped(arguments: tuple[Any, ...]) -> list[Operation]:
    return [Operation("map", _path_of(arguments[0]))] if arguments[0] >= 0 else []


def _named(kind: Kind) -> Callable[[tuple[Any, ...]], list[Operation]]:
    return lambda arguments: [Operation(kind, str(Path(os.fsdecode(arguments[0])).absolute()))]


def _renamed(arguments: tuple[Any, ...]) -> list[Operation]:
    source, target = (str(Path(os.fsdecode(name)).absolute()) for name in arguments[:2])
    return [Operation("rename", source, to=target)]


_AUDITED = {
    "open": _opened,
    "mmap.__new__": _mapped,
    "os.mkdir": _named("mkdir"),
    "os.remove": _named("remove"),
    "os.rmdir": _named("remove"),
    "os.rename": _renamed,
}


_Pointer, _Int, _Long = ctypes.c_void_p, ctypes.c_int, ctypes.c_int64
_METHODS = (  # of an open file, by the order of sqlite3_io_methods
    "xClose xRead xWrite xTruncate xSync xFileSize xLock xUnlock xCheckReservedLock xFileControl xSectorSize "
    "xDeviceCharacteristics xShmMap xShmLock xShmBarrier xShmUnmap xFetch xUnfetch"
).split()


class _Methods(ctypes.Structure):
    _fields_ = [("iVersion", _Int), *((name, _Pointer) for name in _METHODS)]


class _Vfs(ctypes.Structure):
    _fields_ = [
        ("iVersion", _Int),
        ("szOsFile", _Int),
        ("mxPathname", _Int),
        ("pNext", _Pointer),
        ("zName", ctypes.c_char_p),
        ("pAppData", _Pointer),
        ("xOpen", _Pointer),
        ("xDelete", _Pointer),
        ("xAccess", _Pointer),
    ]


_Open = ctypes.CFUNCTYPE(_Int, _Pointer, _Pointer, _Pointer, _Int, _Pointer)
_Delete = ctypes.CFUNCTYPE(_Int, _Pointer, ctypes.c_char_p, _Int)
_Access = ctypes.CFUNCTYPE(_Int, _Pointer, ctypes.c_char_p, _Int, ctypes.POINTER(_Int))
_Write = ctypes.CFUNCTYPE(_Int, _Pointer, _Pointer, _Int, _Long)
_Truncate = ctypes.CFUNCTYPE(_Int, _Pointer, _Long)
_Sync = ctypes.CFUNCTYPE(_Int, _Pointer, _Int)
_ShmMap = ctypes.CFUNCTYPE(_Int, _Pointer, _Int, _Int, _Int, _Pointer)
_CREATE, _DELETE_ON_CLOSE = 0x4, 0x8  # flags of SQLite's open


def _watch_sqlite(doors: Doors) -> Callable[[], None]:
    find = ctypes.CDLL(_sqlite3.__file__).sqlite3_vfs_find  # of the very library that Python's module uses
    find.restype = ctypes.POINTER(_Vfs)
    vfs = find(None).contents
    real_open, real_delete = _Open(vfs.xOpen), _Delete(vfs.xDelete)
    names: dict[int, str] = {}  # of open files, by their addresses
    tables: dict[int, _Methods] = {}  # the watched methods, by the address of the real ones
    kept: list[Any] = []

    def failing(operation: Operation) -> int:
        fault = doors.passes(operation)
        return 0 if fault is None else fault.of_sqlite

    def watched(real: _Methods) -> _Methods:
        table = _Methods.from_buffer_copy(real)
        real_write, real_cut = _Write(real.xWrite), _Truncate(real.xTruncate)
        real_sync, real_map = _Sync(real.xSync), _ShmMap(real.xShmMap or 0)  # some files are never shared

        def write(file: int, data: int, size: int, offset: int) -> int:
            path = names.get(file, "")
            if doors.watcher is not None and path:
                operation = Operation("write", path, True, offset, ctypes.string_at(data, size))
                if (fault := doors.passes(operation)) is not None:
                    if fault.written:
                        real_write(file, data, min(fault.written, size), offset)
                    return fault.of_sqlite
            return int(real_write(file, data, size, offset))

        def cut(file: int, size: int) -> int:
            return failing(Operation("truncate", names.get(file, ""), True, size)) or int(real_cut(file, size))

        def sync(file: int, flags: int) -> int:
            return failing(Operation("sync", names.get(file, ""), True)) or int(real_sync(file, flags))

        def shared(file: int, page: int, size: int, extend: int, address: int) -> int:
            failed = failing(Operation("map", names.get(file, ""), True)) if extend else 0
            return failed or int(real_map(file, page, size, extend, address))

        for name, function in (
            ("xWrite", _Write(write)),
            ("xTruncate", _Truncate(cut)),
            ("xSync", _Sync(sync)),
            ("xShmMap", _ShmMap(shared)),
        ):
            kept.append(function)
            if getattr(real, name):
                setattr(table, name, ctypes.cast(function, _Pointer).value)
        return table

    def open_(this: int, name: int, file: int, flags: int, given: int) -> int:
        path = os.fsdecode(ctypes.string_at(name)) if name else doors.folder + "/(temporary)"
        is_new = bool(flags & _CREATE) and not Path(path).exists()
        if failed := failing(Operation("open", path, True, creating=is_new)):
            ctypes.cast(file, ctypes.POINTER(_Pointer))[0] = None  # SQLite closes no file that has no methods
            return failed
        done = int(real_open(this, name, file, flags, given))
        slot = ctypes.cast(file, ctypes.POINTER(_Pointer))
        if done == 0 and slot[0]:
            names[file] = "" if flags & _DELETE_ON_CLOSE and not name else path
            if slot[0] not in tables:
                tables[slot[0]] = watched(_Methods.from_address(slot[0]))
            slot[0] = ctypes.addressof(tables[slot[0]])
        return done

    def delete(this: int, name: bytes, sync_folder: int) -> int:
        path = os.fsdecode(name)
        if Path(path).exists() and (failed := failing(Operation("remove", path, True))):
            return failed
        done = int(real_delete(this, name, sync_folder))
        if sync_folder and done == 0:
            doors.passes(Operation("sync folder", str(Path(path).parent), True))
        return done

    def put_back() -> None:
        vfs.xOpen, vfs.xDelete = (ctypes.cast(real, _Pointer).value for real in (real_open, real_delete))

    for name, function in (("xOpen", _Open(open_)), ("xDelete", _Delete(delete))):
        kept.append(function)
        setattr(vfs, name, ctypes.cast(function, _Pointer).value)
    _forever.extend([*kept, tables])
    return put_back


_forever: list[Any] = []  # what files of SQLite that are open have the addresses of
