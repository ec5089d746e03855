"""The URIs of snapshot stores: `s3://bucket/docs`, `file:///mnt/shared/docs`, or the path of a folder."""

from __future__ import annotations

from pathlib import Path

from semsearch.errors import UsageError
from semsearch.system.locations import divided, expanded, uri_scheme

CLAIM = "semsearch.json"  # the index that publishes to a store
POINTER = "current.json"  # which manifest is the newest
MANIFESTS = "manifests/"
BLOCKS = "blocks/"


def canonical(place: str | Path) -> str:
    """The canonical URI of a store; a path becomes a `file:` URI. Raises UsageError if it names no folder."""
    text = str(place)
    scheme = uri_scheme(text)
    if not scheme:
        return expanded(text).absolute().as_uri()
    address, options = divided(text)
    if not address.partition("://")[2].strip("/") and scheme != "file":
        raise UsageError(f"{text} names no folder; give one such as {scheme}://bucket/docs")
    return address.rstrip("/") + options
