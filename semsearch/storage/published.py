"""An index that is published somewhere and read at a URI, which another distribution fetches and follows.

    [project.entry-points."semsearch.snapshots"]
    s3 = "semsearch_scale.snapshots.followed_database:follow"    # or `any`, for every other scheme

What an entry point names takes a URI and returns an `IndexDatabase` that is only read.
"""

from __future__ import annotations

from pathlib import Path
from urllib.parse import unquote

from semsearch.errors import UsageError
from semsearch.storage.database import IndexDatabase
from semsearch.storage.schema import DATABASE
from semsearch.system import plugins
from semsearch.system.locations import expanded, split_uri, uri_scheme, usable_path

GROUP = "semsearch.snapshots"
MARKER = "semsearch.json"  # a folder with this file and without a database holds published snapshots


def published_at(path: str | Path) -> str | None:
    """The URI of a published index: as given, or that of a folder with snapshots; None for the folder of an index."""
    if isinstance(path, str) and uri_scheme(path):
        return path
    folder = expanded(usable_path(path))
    try:
        is_published = (folder / MARKER).is_file() and not (folder / DATABASE).exists()
    except OSError:
        return None
    return folder.absolute().as_uri() if is_published else None


def open_published(uri: str) -> IndexDatabase:
    """Open the database of a published index. Raises UsageError where no distribution reads its scheme.

    And IndexNotFound where nothing is published, StorageError where its store cannot be reached.
    """
    follow = plugins.load(GROUP, uri_scheme(uri), "any")
    if follow is None:
        raise UsageError(f"{uri} is the place of a published index; to read it, {plugins.SCALE}")
    database: IndexDatabase = follow(uri)
    return database


def name_of(uri: str) -> str:
    """The name of what lies at a URI: the last part of its path, or its host."""
    parts = split_uri(uri)
    return unquote(parts.path).rstrip("/").rpartition("/")[2] or parts.netloc or uri
