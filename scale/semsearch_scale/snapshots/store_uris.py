"""The URIs of snapshot stores: `s3://bucket/docs`, `file:///mnt/shared/docs`, or the path of a folder.

Vectors in Lance may lie beside the snapshots: `lance:FOLDER` and a store at `FOLDER/snapshot`. Then a reader finds
both with its own address of the store.
"""

from __future__ import annotations

from pathlib import Path
from urllib.request import url2pathname

from semsearch.errors import UsageError
from semsearch.system.locations import divided, expanded, split_uri, uri_scheme

CLAIM = "semsearch.json"  # the index that publishes to a store
POINTER = "current.json"  # which manifest is the newest
MANIFESTS = "manifests/"
BLOCKS = "blocks/"

_LANCE, _BESIDE_LANCE = "lance:", "/snapshot"


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


def is_beside(store: str | None, engine: str) -> bool:
    """Return whether the vectors at an engine's URI lie beside the snapshots of a store."""
    if store is None or not engine.startswith(_LANCE):
        return False
    address, options = divided(engine.removeprefix(_LANCE))
    return store == canonical(address.rstrip("/") + _BESIDE_LANCE + options)


def vectors_beside(store: str) -> str:
    """The URI at which a reader of a store finds the vectors that lie beside it, whatever the writer's address was."""
    address, options = divided(store)
    address = address.removesuffix(_BESIDE_LANCE)
    if uri_scheme(address) == "file":
        address = url2pathname(split_uri(address).path)
    return f"{_LANCE}{address}{options}"
