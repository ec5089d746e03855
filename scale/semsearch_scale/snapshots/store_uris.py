"""The URIs of snapshot stores: `s3://bucket/docs`, `file:///mnt/shared/docs` or a folder, `postgres://host/database`.

Vectors that an engine keeps may lie beside the snapshots: in the same schema of a database, or, for `lance:FOLDER`,
in the folder above a store at `FOLDER/snapshot`. Then a reader finds both with its own address of the store.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from urllib.parse import parse_qsl
from urllib.request import url2pathname

from semsearch.errors import UsageError
from semsearch.system.locations import divided, expanded, shown_uri, split_uri, uri_scheme
from semsearch_scale.stores.postgres_address import located, parsed

CLAIM = "semsearch.json"  # the index that publishes to a store
POINTER = "current.json"  # which manifest is the newest
MANIFESTS = "manifests/"
BLOCKS = "blocks/"

LOOK_EVERY = 5.0  # seconds between two checks of a reader for a newer generation

_DATABASES = ("postgres", "postgresql")
_LANCE, _BESIDE_LANCE = "lance:", "/snapshot"


def canonical(place: str | Path) -> str:
    """The canonical URI of a store; a path becomes a `file:` URI. Raises UsageError for an invalid address."""
    text = str(place)
    scheme = uri_scheme(text)
    if not scheme:
        return expanded(text).absolute().as_uri()
    if scheme in _DATABASES:
        return parsed(text, default="").uri
    address, options = divided(text)
    if not address.partition("://")[2].strip("/") and scheme != "file":
        raise UsageError(f"{text} names no folder; give one such as {scheme}://bucket/docs")
    return address.rstrip("/") + options


def completed(place: str | Path, name: str) -> str:
    """The URI of a store for an index of some name, which names a database's schema if none is given."""
    return located(str(place), name) if uri_scheme(str(place)) in _DATABASES else canonical(place)


def is_beside(store: str | None, engine: str) -> bool:
    """Return whether the vectors at an engine's URI lie beside the snapshots of a store.

    In a database: in one schema, whatever user and options the two URIs have.
    """
    if store is None:
        return False
    if engine.startswith(_LANCE):
        address, options = divided(engine.removeprefix(_LANCE))
        return store == canonical(address.rstrip("/") + _BESIDE_LANCE + options)
    if uri_scheme(store) not in _DATABASES or uri_scheme(engine) not in _DATABASES:
        return False
    one, other = (replace(parsed(uri), user=None, seconds=0.0, sslmode=None) for uri in (store, engine))
    return one == other


def vectors_beside(store: str, engine: str) -> str:
    """The URI at which a reader of a store finds the vectors that lie beside it.

    `engine`: their URI as the writer has it, which may name another user, host or folder.
    """
    if uri_scheme(engine) in _DATABASES:
        return replace(parsed(store), schema=parsed(engine).schema).uri
    address, options = divided(store)
    address = address.removesuffix(_BESIDE_LANCE)
    if uri_scheme(address) == "file":
        address = url2pathname(split_uri(address).path)
    return f"{_LANCE}{address}{options}"


def timeout_of(uri: str) -> float:
    """The seconds that the URI of a bucket or a database allows for an answer; 0 if it has none.

    Raises UsageError if it is not a number.
    """
    if uri_scheme(uri) not in ("s3", "s3a", *_DATABASES):
        return 0.0
    try:
        return float(dict(parse_qsl(split_uri(uri).query)).get("timeout", 0))
    except ValueError:
        raise UsageError(f"the timeout of {shown_uri(uri)} is not a number of seconds") from None
