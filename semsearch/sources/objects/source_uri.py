"""The URIs that a user gives for what is to be indexed: `s3://bucket/docs?endpoint=http://localhost:9000`.

Documents' paths are the URI without its options, a slash and the rest of the object's name, as it is. So nothing in a
name is escaped, and options are kept apart from the path.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from semsearch.errors import UsageError
from semsearch.system.remote_files import S3
from semsearch.system.uris import divided, has_password, shown, uri_scheme

_OPTIONS = re.compile(r"\?\w+=[^&]*(?:&\w+=[^&]*)*")
_WEB = ("http", "https")


@dataclass(frozen=True, slots=True)
class SourceUri:
    """A folder or object in a store: its path, which begins with a scheme, and the options that reach it, or ""."""

    path: str  # without a slash at the end
    options: str = ""  # with their question mark

    @property
    def whole(self) -> str:
        """The URI by which the store is opened."""
        return self.path + self.options


def parse_source(uri: str) -> SourceUri:
    """Parse the URI that a user gives. Raises UsageError for one with a password, or that names no folder."""
    if has_password(uri):
        raise UsageError(
            f"{shown(divided(uri)[0])} has a password, which the index would keep for all to read; give it in the "
            "environment, as the store's own tools take it"
        )
    scheme = uri_scheme(uri)
    if scheme in _WEB:
        raise UsageError(f"{uri} is a web page, and a web site cannot be listed; download it and index the folder")
    address, options = divided(uri) if scheme in S3 else (uri, "")
    if options and not _OPTIONS.fullmatch(options):  # a question mark in a name
        address, options = uri, ""
    path = address[: len(scheme)].lower() + address[len(scheme) :].rstrip("/")
    if path.endswith(":"):
        raise UsageError(f"{uri} names no folder; give one such as {scheme}://bucket/docs")
    if "::" in path or "\0" in path or {".", ".."} & {*path.split("/")}:
        raise UsageError(f"{uri!r} cannot be indexed; give a folder of a store such as s3://bucket/docs")
    return SourceUri(path, options)
