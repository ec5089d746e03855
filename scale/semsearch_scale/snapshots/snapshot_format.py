"""The format of published snapshots: the manifest, the pointer to the newest one, the claim, and files as blocks.

    semsearch.json      the claim: which index publishes here
    current.json        the pointer: the generation, and its manifest by size and digest
    manifests/DIGEST    the manifest: the generation's files, each as blocks by their digests
    blocks/DI/DIGEST    a block, some bytes of a file

Anyone who may write to the store could have written these, so each is checked: names are those of files in one folder,
sizes agree with the numbers of blocks, and no more is read than they say.

Only changed blocks are transferred. A write changes pages all over the database, so its blocks are small; segments
never change, and theirs are large, since each is a request.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from itertools import islice
from pathlib import Path
from typing import Any, TypeVar

from semsearch.errors import IndexDamaged
from semsearch_scale.snapshots.snapshot_store import SnapshotStore
from semsearch_scale.snapshots.store_uris import BLOCKS

# -- Manifest, pointer and claim ---------------------------------------------------------------------------------------

FORMAT = "semsearch published 1"
MOST_MANIFEST = 1 << 28  # bytes of a manifest: of some ten terabytes of blocks
MOST_POINTER = 1 << 16  # bytes of the pointer, and of the claim
MOST_TEXT = 1 << 12  # characters of what is shown to people
MOST_FILE = 1 << 44  # bytes of a file
_BLOCKS = (1 << 12, 1 << 26)  # the smallest block and the largest, in bytes
_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._-]{0,199}")
_DIGEST = re.compile(r"[0-9a-f]{64}")
_ID = re.compile(r"[0-9a-f]{32}")


def digest_of(data: bytes | memoryview) -> str:
    """The digest by which bytes are named: BLAKE2b of 256 bits."""
    return hashlib.blake2b(data, digest_size=32).hexdigest()


@dataclass(frozen=True, slots=True)
class PublishedFile:
    """A file of a generation, as the blocks that it is made of."""

    name: str
    size: int  # bytes
    block: int  # bytes of each block but the last
    digests: tuple[str, ...]  # of the blocks, in their order

    def length(self, number: int) -> int:
        """The bytes of a block."""
        return min(self.block, self.size - number * self.block)


@dataclass(frozen=True, slots=True)
class PublishedManifest:
    """All that a generation consists of."""

    index: str  # the index's own id
    generation: int
    made: str  # date and time
    written_at: str  # the machine and folder of the index, for people
    database: PublishedFile
    segments: tuple[PublishedFile, ...]  # files; what an engine keeps is not among them

    def blocks(self) -> set[str]:
        """The digests of all blocks."""
        return {digest for file in (self.database, *self.segments) for digest in file.digests}

    def to_bytes(self) -> bytes:
        """Convert to the JSON that is kept, always the same."""
        return json.dumps({"format": FORMAT, **asdict(self)}, sort_keys=True).encode()

    @classmethod
    def from_bytes(cls, data: bytes) -> PublishedManifest:
        """Read a manifest. Raises IndexDamaged for invalid data."""
        card = _object(data, "a manifest")
        made = cls(
            _matching(card, "index", _ID),
            _count(card, "generation", 1 << 53),
            _text(card, "made"),
            _text(card, "written_at"),
            _file(card.get("database")),
            tuple(_file(each) for each in _list(card, "segments")),
        )
        names = [file.name.casefold() for file in made.segments]
        if len(set(names)) != len(names):
            raise IndexDamaged("the manifest lists a file twice")
        return made


@dataclass(frozen=True, slots=True)
class CurrentPointer:
    """The pointer to the newest generation of a store."""

    index: str
    generation: int
    manifest: str  # its digest
    size: int  # of the manifest, in bytes

    def to_bytes(self) -> bytes:
        """Convert to the JSON that is kept, with a digest of itself: not all stores write atomically."""
        card = asdict(self)
        return json.dumps({"format": FORMAT, **card, "check": _check(card)}).encode()

    @classmethod
    def from_bytes(cls, data: bytes) -> CurrentPointer:
        """Read a pointer. Raises IndexDamaged for invalid data."""
        card = _object(data, "the pointer")
        made = cls(
            _matching(card, "index", _ID),
            _count(card, "generation", 1 << 53),
            _matching(card, "manifest", _DIGEST),
            _count(card, "size", MOST_MANIFEST),
        )
        if card.get("check") != _check(asdict(made)):
            raise IndexDamaged("the pointer is incomplete; it may be in the middle of a write")
        return made


@dataclass(frozen=True, slots=True)
class StoreClaim:
    """Which index publishes to a store."""

    index: str
    written_at: str  # the machine and folder of the index, for people

    def to_bytes(self) -> bytes:
        """Convert to the JSON that is kept."""
        return json.dumps({"format": FORMAT, **asdict(self)}).encode()

    @classmethod
    def from_bytes(cls, data: bytes) -> StoreClaim:
        """Read a claim. Raises IndexDamaged for invalid data."""
        card = _object(data, "the claim")
        return cls(_matching(card, "index", _ID), _text(card, "written_at"))


def _check(card: Mapping[str, object]) -> str:
    return digest_of(json.dumps(card, sort_keys=True).encode())[:16]


def _object(data: bytes, what: str) -> dict[str, Any]:
    try:
        card = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise IndexDamaged(f"{what} is not JSON ({error})") from error
    if not isinstance(card, dict):
        raise IndexDamaged(f"{what} is not a JSON object")
    if card.get("format") != FORMAT:
        raise IndexDamaged(
            f"{what} has the format {card.get('format')!r}, but this semsearch reads {FORMAT!r}; use a newer semsearch"
        )
    return card


def _file(card: object) -> PublishedFile:
    if not isinstance(card, dict):
        raise IndexDamaged("the manifest has a file entry that is not a JSON object")
    size, block = _count(card, "size", MOST_FILE), _count(card, "block", _BLOCKS[1])
    digests = tuple(each for each in _list(card, "digests") if isinstance(each, str) and _DIGEST.fullmatch(each))
    if block < _BLOCKS[0] or len(digests) != -(-size // block) or len(digests) != len(card["digests"]):
        raise IndexDamaged(
            f"the manifest lists a file of {size:,} bytes with {len(digests):,} blocks, which do not agree"
        )
    return PublishedFile(_matching(card, "name", _NAME), size, block, digests)


def _matching(card: Mapping[str, Any], key: str, form: re.Pattern[str]) -> str:
    value = card.get(key)
    if not isinstance(value, str) or not form.fullmatch(value):
        raise IndexDamaged(f"the snapshot's {key} is invalid: {value!r}")
    return value


def _count(card: Mapping[str, Any], key: str, most: int) -> int:
    value = card.get(key)
    if type(value) is not int or not 0 <= value <= most:
        raise IndexDamaged(f"the snapshot's {key} is invalid: {value!r}")
    return value


def _text(card: Mapping[str, Any], key: str) -> str:
    value = card.get(key)
    if not isinstance(value, str) or len(value) > MOST_TEXT or not value.isprintable():  # it is shown to people
        raise IndexDamaged(f"the snapshot's {key} is not a printable string")
    return value


def _list(card: Mapping[str, Any], key: str) -> list[object]:
    value = card.get(key)
    if not isinstance(value, list):
        raise IndexDamaged(f"the snapshot's {key} is not a list")
    return value


# -- Blocks ------------------------------------------------------------------------------------------------------------

Given = TypeVar("Given")
Made = TypeVar("Made")

DATABASE_BLOCK = 1 << 18  # bytes
SEGMENT_BLOCK = 1 << 22  # bytes
_AT_ONCE = 8  # blocks that are transferred in parallel


def block_name(digest: str) -> str:
    """The name of a block in a store."""
    return f"{BLOCKS}{digest[:2]}/{digest}"


def describe_file(path: Path, name: str, block: int) -> PublishedFile:
    """Divide a file into blocks. Raises FileNotFoundError."""
    digests: list[str] = []
    size = 0
    with path.open("rb") as file:
        while data := file.read(block):
            digests.append(digest_of(data))
            size += len(data)
    return PublishedFile(name, size, block, tuple(digests))


def read_block(path: Path, file: PublishedFile, number: int) -> bytes:
    """Read a block of a file here. Raises FileNotFoundError."""
    with path.open("rb") as opened:
        opened.seek(number * file.block)
        return opened.read(file.length(number))


def fetch_block(store: SnapshotStore, digest: str, length: int) -> bytes:
    """Fetch a block and check it; a damaged one is fetched once more. Raises IndexDamaged."""
    for _ in range(2):
        try:
            data = store.get(block_name(digest), length)
        except FileNotFoundError:
            found = "is missing"
            break
        if len(data) == length and digest_of(data) == digest:
            return data
        found = "is damaged"
    raise IndexDamaged(
        f"the published block {digest[:12]} {found}; run where the index is written: semsearch publish --whole"
    )


def each_at_once(call: Callable[[Given], Made], given: Iterable[Given]) -> Iterator[Made]:
    """Call with each of many, some in parallel, and yield the results in order; only a few are held at a time."""
    waiting = iter(given)
    with ThreadPoolExecutor(_AT_ONCE, thread_name_prefix="semsearch-blocks") as pool:
        while batch := list(islice(waiting, 2 * _AT_ONCE)):
            yield from pool.map(call, batch)


def missing_blocks(
    files: Sequence[tuple[Path, PublishedFile]], known: set[str]
) -> Iterator[tuple[Path, PublishedFile, int]]:
    """Yield the blocks of some files that are not known, each once: its path, file and number."""
    seen = set(known)
    for path, file in files:
        for number, digest in enumerate(file.digests):
            if digest not in seen:
                seen.add(digest)
                yield path, file, number
