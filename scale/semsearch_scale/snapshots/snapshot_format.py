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
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import Annotated, Literal, Self, TypeVar

import msgspec
from filelock import FileLock, Timeout
from msgspec import Meta

from semsearch.errors import IndexDamaged, IndexLocked
from semsearch_scale.snapshots.snapshot_store import BLOCKS, SnapshotStore

# -- Manifest, pointer and claim ---------------------------------------------------------------------------------------

MOST_MANIFEST = 1 << 28  # bytes of a manifest: of some ten terabytes of blocks
MOST_FILES = 1 << 12  # of segments: each has up to a million vectors, and is flushed to the disk
MOST_POINTER = 1 << 16  # bytes of the pointer, and of the claim
MOST_TEXT = 1 << 12  # characters of what is shown to people

Format = Literal["semsearch published 1"]
Name = Annotated[str, Meta(pattern=r"\A[A-Za-z0-9_][A-Za-z0-9._-]{0,199}\Z")]
Digest = Annotated[str, Meta(pattern=r"\A[0-9a-f]{64}\Z")]
IndexId = Annotated[str, Meta(pattern=r"\A[0-9a-f]{32}\Z")]
Text = Annotated[str, Meta(max_length=MOST_TEXT)]
Generation = Annotated[int, Meta(ge=0, le=1 << 53)]


def digest_of(data: bytes | memoryview) -> str:
    """The digest by which bytes are named: BLAKE2b of 256 bits."""
    return hashlib.blake2b(data, digest_size=32).hexdigest()


class Published(msgspec.Struct, frozen=True, kw_only=True):
    """A JSON object of a store."""

    format: Format = "semsearch published 1"

    def to_bytes(self) -> bytes:
        """Convert to the JSON that is kept, always the same."""
        return msgspec.json.encode(self, order="sorted")

    @classmethod
    def from_bytes(cls, data: bytes) -> Self:
        """Read it. Raises IndexDamaged for what no publisher writes."""
        try:
            return msgspec.json.decode(data, type=cls)
        except (msgspec.MsgspecError, RecursionError, UnicodeDecodeError) as error:
            raise IndexDamaged(
                f"what is published is damaged, or of another version of semsearch ({cls.__name__}: {error})"
            ) from error


class PublishedFile(msgspec.Struct, frozen=True):
    """A file of a generation, as the blocks that it is made of."""

    name: Name
    size: Annotated[int, Meta(ge=0, le=1 << 44)]  # bytes
    block: Annotated[int, Meta(ge=1 << 12, le=1 << 26)]  # bytes of each block but the last
    digests: tuple[Digest, ...]  # of the blocks, in their order

    def __post_init__(self) -> None:
        if len(self.digests) != -(-self.size // self.block):
            raise ValueError(f"{self.size:,} bytes and {len(self.digests):,} blocks do not agree")

    def length(self, number: int) -> int:
        """The bytes of a block."""
        return min(self.block, self.size - number * self.block)


class PublishedManifest(Published, frozen=True, kw_only=True):
    """All that a generation consists of."""

    index: IndexId
    generation: Generation
    written_at: Text  # the machine and folder of the index, for people
    database: PublishedFile
    segments: Annotated[tuple[PublishedFile, ...], Meta(max_length=MOST_FILES)]  # none of what an engine keeps

    def __post_init__(self) -> None:
        _check_printable(self.written_at)
        names = {file.name.casefold() for file in self.segments}
        if len(names) != len(self.segments):
            raise ValueError("a file is listed twice")

    def blocks(self) -> set[str]:
        """The digests of all blocks."""
        return {digest for file in (self.database, *self.segments) for digest in file.digests}


class CurrentPointer(Published, frozen=True, kw_only=True):
    """The pointer to the newest generation of a store."""

    index: IndexId
    generation: Generation
    manifest: Digest
    size: Annotated[int, Meta(ge=0, le=MOST_MANIFEST)]  # of the manifest, in bytes


class StoreClaim(Published, frozen=True, kw_only=True):
    """Which index publishes to a store."""

    index: IndexId
    written_at: Text  # the machine and folder of the index, for people

    def __post_init__(self) -> None:
        _check_printable(self.written_at)


def _check_printable(text: str) -> None:
    if not text.isprintable():  # it is shown to people
        raise ValueError("a text is not printable")


# -- Blocks ------------------------------------------------------------------------------------------------------------

Item = TypeVar("Item")
Result = TypeVar("Result")

DATABASE_BLOCK = 1 << 18  # bytes
SEGMENT_BLOCK = 1 << 22  # bytes
_PATIENCE = 600.0  # seconds to wait for another process that publishes or fetches
_AT_ONCE = 8  # blocks that are transferred in parallel


def block_name(digest: str) -> str:
    """The name of a block in a store."""
    return f"{BLOCKS}{digest[:2]}/{digest}"


def describe_file(path: Path, name: str, block: int) -> PublishedFile:
    """Divide a file into blocks. Raises FileNotFoundError."""
    with path.open("rb") as file:
        digests = [digest_of(data) for data in iter(lambda: file.read(block), b"")]
        return PublishedFile(name, file.tell(), block, tuple(digests))


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
            break
        if len(data) == length and digest_of(data) == digest:
            return data
    raise IndexDamaged(
        f"the published block {digest[:12]} is missing or damaged; run where the index is written: "
        "semsearch publish --whole"
    )


def each_at_once(call: Callable[[Item], Result], items: Iterable[Item]) -> Iterator[Result]:
    """Call with each of many, some in parallel, and yield the results in order; only a few are held at a time."""
    waiting = iter(items)
    with ThreadPoolExecutor(_AT_ONCE, thread_name_prefix="semsearch-blocks") as pool:
        while batch := list(islice(waiting, 2 * _AT_ONCE)):
            yield from pool.map(call, batch)


@contextmanager
def patient_lock(path: Path, busy: str) -> Iterator[None]:
    """Hold a lock between processes. Raises IndexLocked, saying `busy`, if another has it for long."""
    try:
        with FileLock(path, timeout=_PATIENCE):
            yield
    except Timeout:
        raise IndexLocked(busy) from None
