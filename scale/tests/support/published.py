"""What tests of snapshots share: publishing what was written, and readers that look when they are told."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from semsearch.index import Index
from semsearch.readers.document import Text
from semsearch_scale.snapshots.followed_database import FollowedDatabase, follow
from semsearch_scale.snapshots.publisher import publish

SELDOM = 10_000.0  # seconds from one look to the next


def add_published(index: Index, place: str | Path, texts: Iterable[Text]) -> None:
    """Add texts to an index, and publish it."""
    index.add([*texts])
    publish(index.path, place)


def reader_of(place: str | Path, *, look_every: float = SELDOM, timeout: float = 30.0, trust: bool = False) -> Index:
    """A reader of what is published at a place, which looks for something newer that often."""
    uri = place.absolute().as_uri() if isinstance(place, Path) else place
    return Index.over(follow(uri, every=look_every, seconds=timeout), trust=trust)


def followed(reader: Index) -> FollowedDatabase:
    """The database of a reader."""
    assert isinstance(reader._database, FollowedDatabase)
    return reader._database
