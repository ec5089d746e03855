"""The names of places: `s3://bucket/docs`, `file:///mnt/shared/docs`, a folder that an index was published to.

A URI of an engine whose place can hold snapshots too names that place: `lance:s3://bucket/vectors`.
"""

from __future__ import annotations

import re
from pathlib import Path
from urllib.parse import unquote, urlsplit

CLAIM = "semsearch.json"  # who publishes to a place
POINTER = "current.json"  # which manifest is the newest
MANIFESTS = "manifests/"
BLOCKS = "blocks/"

LOOK_EVERY = 5.0  # seconds after which a reader that is asked looks for a newer generation

_URI = re.compile(r"([a-z][a-z0-9+.-]+):(.*)", re.IGNORECASE | re.DOTALL)
_BESIDE = {"lance": "/snapshot"}  # engines that keep vectors in a place as ours are, and where a snapshot lies there
_SECRET = re.compile(r"(?<=//)([^/@:]*):[^/@]*@")


def scheme_of(text: str) -> str:
    """The scheme of a URI of a place; empty for what is none, such as a path."""
    found = _URI.fullmatch(text)
    return found[1].lower() if found and (found[2].startswith("//") or found[1].lower() in _BESIDE) else ""


def is_uri(given: str | Path) -> bool:
    """Return whether a text is the URI of a place. The path of a folder is none."""
    return isinstance(given, str) and bool(scheme_of(given))


def place_named(given: str | Path) -> str | None:
    """The URI of the place that is named, be it a folder that was published to; None for the folder of an index."""
    if is_uri(given):
        return canonical(str(given))
    folder = Path(given).expanduser()
    try:
        is_place = (folder / CLAIM).is_file() and not (folder / "index.sqlite").exists()
    except (OSError, ValueError):
        return None
    return folder.absolute().as_uri() if is_place else None


def canonical(given: str | Path) -> str:
    """The URI of a place, always spelled alike: a path becomes a `file:` URI, an engine's URI that of its snapshots."""
    text = str(given)
    scheme = scheme_of(text)
    if not scheme:
        return Path(text).expanduser().absolute().as_uri()
    if scheme in _BESIDE:
        inside = text.partition(":")[2]
        address, options = _divided(inside) if scheme_of(inside) else (inside, "")
        return canonical(address.rstrip("/") + _BESIDE[scheme] + options)
    address, options = _divided(text)
    return address.rstrip("/") + options


def _divided(uri: str) -> tuple[str, str]:
    """The address and the options, with their question mark, of a URI."""
    address, mark, options = uri.partition("?")
    return address, mark + options


def place_beside(engine: str) -> str | None:
    """The place that can hold the snapshots of an index whose vectors lie at this URI; None if it has none."""
    return canonical(engine) if scheme_of(engine) in _BESIDE else None


def name_of(uri: str) -> str:
    """The name for an index that is read from a place: the last part of its URI."""
    return unquote(urlsplit(uri).path).rstrip("/").rpartition("/")[2] or urlsplit(uri).netloc or uri


def has_password(uri: str) -> bool:
    """Return whether a URI has a password in it."""
    return _SECRET.search(uri) is not None


def shown(uri: str) -> str:
    """A URI as it may be printed: without the password that it may have."""
    return _SECRET.sub(r"\1:…@", uri)
