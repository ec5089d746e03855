"""The URIs of snapshot stores: `s3://bucket/docs`, `file:///mnt/shared/docs`, or a folder.

A vector engine whose storage can hold snapshots too is named by its own URI: `lance:s3://bucket/vectors`,
`postgres://host/database?schema=vectors`.
"""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from urllib.parse import parse_qsl, unquote

from semsearch.errors import UsageError
from semsearch.system.locations import divided, expanded, shown_uri, split_uri

CLAIM = "semsearch.json"  # the index that publishes to a store
POINTER = "current.json"  # which manifest is the newest
MANIFESTS = "manifests/"
BLOCKS = "blocks/"

LOOK_EVERY = 5.0  # seconds between two checks of a reader for a newer generation

_URI = re.compile(r"([a-z][a-z0-9+.-]+):(.*)", re.IGNORECASE | re.DOTALL)
_BESIDE = {"lance": "/snapshot"}  # engines that keep vectors in a folder or bucket, and where a snapshot lies there
_DATABASES = ("postgres", "postgresql")  # engines whose databases can hold snapshots


def scheme_of(text: str) -> str:
    """The scheme of a store's URI; empty for anything else, such as a path."""
    found = _URI.fullmatch(text)
    return found[1].lower() if found and (found[2].startswith("//") or found[1].lower() in _BESIDE) else ""


def is_uri(given: str | Path) -> bool:
    """Return whether a text is the URI of a store. The path of a folder is not."""
    return isinstance(given, str) and bool(scheme_of(given))


def store_named(given: str | Path) -> str | None:
    """The URI of the store that is named, which may be a folder; None for the folder of an index."""
    if is_uri(given):
        return canonical(str(given))
    folder = expanded(given)
    try:
        is_place = (folder / CLAIM).is_file() and not (folder / "index.sqlite").exists()
    except (OSError, ValueError):
        return None
    return folder.absolute().as_uri() if is_place else None


def canonical(given: str | Path) -> str:
    """The canonical URI of a store: a path becomes a `file:` URI, an engine's URI that of its snapshots.

    Raises UsageError for what is no address in a database.
    """
    text = str(given)
    scheme = scheme_of(text)
    if not scheme:
        return expanded(text).absolute().as_uri()
    if scheme in _DATABASES:
        from semsearch.stores.postgres_address import parsed  # start-up time: few stores are databases

        return parsed(text, default="").uri
    if scheme in _BESIDE:
        inside = text.partition(":")[2]
        address, options = divided(inside) if scheme_of(inside) else (inside, "")
        return canonical(address.rstrip("/") + _BESIDE[scheme] + options)
    address, options = divided(text)
    if not address.partition("://")[2].strip("/") and scheme != "file":
        raise UsageError(f"{text} names no folder; give one such as {scheme}://bucket/docs")
    return address.rstrip("/") + options


def completed(given: str | Path, name: str) -> str:
    """The URI of a store for an index of some name, which names a database's schema if none is given."""
    if scheme_of(str(given)) in _DATABASES:
        from semsearch.stores.postgres_address import located  # start-up time, as above

        return located(str(given), name)
    return canonical(given)


def store_beside(engine: str) -> str | None:
    """The URI of the store that can hold snapshots beside the vectors at this URI; None if none can."""
    return canonical(engine) if scheme_of(engine) in (*_BESIDE, *_DATABASES) else None


def is_beside(store: str | None, engine: str) -> bool:
    """Return whether the vectors at an engine's URI lie beside the snapshots of a store.

    In a database: in one schema, whatever user and options the two URIs have.
    """
    if store is None or scheme_of(store) not in _DATABASES or scheme_of(engine) not in _DATABASES:
        return store is not None and store == store_beside(engine)
    from semsearch.stores.postgres_address import parsed  # start-up time, as above

    one, other = (replace(parsed(uri), user=None, seconds=0.0, sslmode=None) for uri in (store, engine))
    return one == other


def vectors_beside(store: str, engine: str) -> str:
    """The URI at which a reader of a store finds the vectors that lie beside it.

    `engine`: their URI as the writer has it, which may name another user, host or folder.
    """
    scheme = scheme_of(engine)
    if scheme in _DATABASES:
        from semsearch.stores.postgres_address import parsed  # start-up time, as above

        return replace(parsed(store), schema=parsed(engine).schema).uri
    address, options = divided(store)
    address = address.removesuffix(_BESIDE[scheme])
    if scheme_of(address) == "file":
        from urllib.request import url2pathname  # start-up time: it imports HTTP clients

        address = url2pathname(split_uri(address).path)
    return f"{scheme}:{address}{options}"


def name_of(uri: str) -> str:
    """The name for an index that is read from a store: the last part of its URI, or its schema in a database."""
    if scheme_of(uri) in _DATABASES and (schema := dict(parse_qsl(split_uri(uri).query)).get("schema")):
        return schema.removeprefix("semsearch_")
    return unquote(split_uri(uri).path).rstrip("/").rpartition("/")[2] or split_uri(uri).netloc or uri


def timeout_of(uri: str) -> float:
    """The seconds that the URI of a bucket or a database allows for an answer; 0 if it has none.

    Raises UsageError if it is not a number.
    """
    if scheme_of(uri) not in ("s3", "s3a", *_DATABASES):
        return 0.0
    try:
        return float(dict(parse_qsl(split_uri(uri).query)).get("timeout", 0))
    except ValueError:
        raise UsageError(f"the timeout of {shown_uri(uri)} is not a number of seconds") from None
