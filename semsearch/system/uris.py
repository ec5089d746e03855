"""URIs of object stores and other file systems, as fsspec names them: `s3://bucket/docs`, `memory://docs`."""

from __future__ import annotations

import re
from urllib.parse import unquote, urlsplit

from semsearch.errors import UsageError

_SCHEME = re.compile(r"([a-z][a-z0-9+.-]+)://", re.IGNORECASE)
_SECRET = re.compile(r"(?<=//)([^/@:]*):[^/@]*@")


def uri_scheme(text: str) -> str:
    """The scheme of a text that begins as a URI does, in lower case; empty for what is none, such as a path."""
    found = _SCHEME.match(text)
    return found[1].lower() if found else ""


def divided(uri: str) -> tuple[str, str]:
    """The address and the options, with their question mark, of a URI."""
    address, mark, options = uri.partition("?")
    return address, mark + options


def local_path(path: str) -> str:
    """A path, or the one that a `file:` URI names. Raises UsageError for the file of another machine."""
    if uri_scheme(path) != "file":
        return path
    parts = urlsplit(path)
    if parts.netloc not in ("", "localhost"):
        raise UsageError(f"{path} names the machine {parts.netloc!r}; a folder is file:///folder, with three slashes")
    from urllib.request import url2pathname  # start-up time: it brings http and ssl, and few paths are URIs

    return url2pathname(parts.path)


def has_password(uri: str) -> bool:
    """Return whether a URI has a password in it, or in the address of an endpoint among its options."""
    return _SECRET.search(uri) is not None or _SECRET.search(unquote(uri)) is not None


def shown(uri: str) -> str:
    """A URI as it may be printed: without the password that it may have."""
    return _SECRET.sub(r"\1:…@", uri)
