"""Files as blocks named by their digests: only what has changed travels.

A write touches pages here and there in the database, so its blocks are small; segments never change, and theirs are
large, since each is a request.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import islice
from pathlib import Path
from typing import TypeVar

from semsearch.errors import IndexDamaged
from semsearch.published.manifest import PublishedFile, digest_of
from semsearch.published.naming import BLOCKS
from semsearch.published.places import Place

Given = TypeVar("Given")
Made = TypeVar("Made")

DATABASE_BLOCK = 1 << 18  # bytes
SEGMENT_BLOCK = 1 << 22  # bytes
_AT_ONCE = 8  # blocks that travel


def block_name(digest: str) -> str:
    """The name of a block in a place."""
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


def fetch_block(place: Place, digest: str, length: int) -> bytes:
    """Fetch a block and check it; one that is damaged on its way is fetched once more. Raises IndexDamaged."""
    for _ in range(2):
        try:
            data = place.get(block_name(digest), length)
        except FileNotFoundError:
            found = "is missing"
            break
        if len(data) == length and digest_of(data) == digest:
            return data
        found = "is damaged"
    raise IndexDamaged(
        f"the block {digest[:12]} {found} there; run this where the index is written: semsearch publish --whole"
    )


def each_at_once(call: Callable[[Given], Made], given: Iterable[Given]) -> Iterator[Made]:
    """Call with each of many, some at a time, and yield what comes, in order: no more is held than a few of them."""
    waiting = iter(given)
    with ThreadPoolExecutor(_AT_ONCE, thread_name_prefix="semsearch-blocks") as pool:
        while several := list(islice(waiting, 2 * _AT_ONCE)):
            yield from pool.map(call, several)


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
