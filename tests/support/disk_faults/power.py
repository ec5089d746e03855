"""What a disk holds after the power was lost: what was not flushed is gone, torn, or there without what came before it.

`Disk` is told of operations on files, as semsearch.tests' doors see them (file_doors), and can then be asked for what
may be left of them. A file's bytes last from its next fsync on, its name from the next fsync of its folder on; until
then each may be lost, but for the names in one folder, which come in their order, as in a file system with a journal.
SQLite flushes the folder of a new journal together with the journal, and that of a deleted one by itself.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from disk_faults.file_doors import Operation

Survival = Literal["what was flushed", "names without bytes", "bytes without names", "some of it, torn", "all of it"]
SURVIVALS: tuple[Survival, ...] = (
    "what was flushed",
    "names without bytes",
    "bytes without names",
    "some of it, torn",
    "all of it",
)
_SECTOR = 512
_FOLDER = -1  # stands for the content of a folder


@dataclass
class Content:
    """The content of a file: what has been flushed, and the writes since, each (offset, bytes) or (size, None)."""

    flushed: bytearray = field(default_factory=bytearray)
    since: list[tuple[int, bytes | None]] = field(default_factory=list)

    def flush(self) -> None:
        for offset, data in self.since:
            _apply(self.flushed, offset, data)
        self.since.clear()

    def left(self, survival: Survival, chance: random.Random) -> bytes:
        left = bytearray(self.flushed)
        for offset, data in self.since:
            if survival in ("bytes without names", "all of it"):
                _apply(left, offset, data)
            elif survival == "some of it, torn":
                for start, sector in _sectors(offset, data):
                    if chance.random() < 0.5:
                        _apply(left, start, sector)
        return bytes(left)


class Disk:
    """The files below a folder, from their state at the beginning, by operations told in order."""

    def __init__(self, folder: Path, *, as_was: Path) -> None:
        """Follow `folder`, whose files were those of the folder `as_was`, if there is one, and all flushed."""
        self._folder = str(folder)
        self._contents: list[Content] = []
        self._flushed: dict[str, int] = {}  # names that last, and the numbers of their contents
        self._named: dict[str, int] = {}  # names as the process sees them
        self._since: list[tuple[str, str, int | None]] = []  # (folder, name, content or None) not flushed yet
        if as_was.exists():
            self._flushed[self._folder] = _FOLDER
        for path in sorted(as_was.rglob("*")):
            content = _FOLDER if path.is_dir() else self._new(path.read_bytes())
            self._flushed[str(folder / path.relative_to(as_was))] = content
        self._named = dict(self._flushed)

    def tell(self, operation: Operation) -> None:
        """Follow an operation that has succeeded."""
        path = operation.path
        content = self._contents[self._named[path]] if self._named.get(path, _FOLDER) >= 0 else None
        if operation.kind == "open" and operation.creating:
            if content is None:
                self._name(path, self._new(b""))
            else:
                content.since.append((0, None))
        elif operation.kind == "mkdir":
            self._name(path, _FOLDER)
        elif operation.kind == "write" and content is not None:
            content.since.append((operation.offset, operation.data))
        elif operation.kind == "truncate" and content is not None:
            content.since.append((operation.offset, None))
        elif operation.kind == "sync" and content is not None:
            content.flush()
            if operation.sqlite and path.endswith(("-wal", "-journal")):
                self._flush_names(str(Path(path).parent))
        elif operation.kind == "sync folder":
            self._flush_names(path)
        elif operation.kind == "rename" and path in self._named:
            self._name(operation.to, self._named[path])
            self._name(path, None)
        elif operation.kind == "remove" and path in self._named:
            self._name(path, None)

    def leave(self, target: Path, survival: Survival, *, seed: object) -> None:
        """Write to a new folder what is left after a loss of power. Without a name of its own, nothing is."""
        chance = random.Random(str(seed))
        names = dict(self._flushed)
        waiting: dict[str, list[tuple[str, int | None]]] = {}
        for folder, name, content in self._since:
            waiting.setdefault(folder, []).append((name, content))
        for changes in waiting.values():
            count = {"what was flushed": 0, "bytes without names": 0}.get(survival, len(changes))
            count = chance.randint(0, count) if survival == "some of it, torn" else count
            for name, content in changes[:count]:
                _set(names, name, content)
        if self._folder not in names:
            return
        target.mkdir()
        for name, content in sorted(names.items()):
            if not name.startswith(self._folder + "/"):
                continue
            path = target / Path(name).relative_to(self._folder)
            if content == _FOLDER:
                path.mkdir(parents=True, exist_ok=True)
            elif str(Path(name).parent) in names:
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(self._contents[content].left(survival, chance))

    def _new(self, data: bytes) -> int:
        self._contents.append(Content(bytearray(data)))
        return len(self._contents) - 1

    def _name(self, path: str, content: int | None) -> None:
        _set(self._named, path, content)
        self._since.append((str(Path(path).parent), path, content))

    def _flush_names(self, folder: str) -> None:
        for _, name, content in [change for change in self._since if change[0] == folder]:
            _set(self._flushed, name, content)
        self._since = [change for change in self._since if change[0] != folder]


def _set(names: dict[str, int], name: str, content: int | None) -> None:
    if content is None:
        names.pop(name, None)
    else:
        names[name] = content


def _apply(content: bytearray, offset: int, data: bytes | None) -> None:
    if data is None:
        del content[offset:]
        content.extend(bytes(offset - len(content)))
    else:
        content.extend(bytes(max(0, offset - len(content))))
        content[offset : offset + len(data)] = data


def _sectors(offset: int, data: bytes | None) -> list[tuple[int, bytes | None]]:
    """A write as writes of the parts of it in single sectors."""
    if data is None:
        return [(offset, None)]
    starts = [offset, *range(offset // _SECTOR * _SECTOR + _SECTOR, offset + len(data), _SECTOR)]
    ends = [*starts[1:], offset + len(data)]
    return [(start, data[start - offset : end - offset]) for start, end in zip(starts, ends, strict=True)]
