"""The address of a place in Milvus: its URI taken apart, checked and completed. Pure."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from urllib.parse import parse_qsl, urlencode, urlsplit

from semsearch.errors import UsageError

SECONDS = 10.0  # that a question may take
_PORT = 19530
_LONGEST = 200  # letters of a name: Milvus allows 255, and what follows it takes some
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_FORM = "milvus:http[s]://host[:port][/database][?collection=NAME&timeout=SECONDS]"


@dataclass(frozen=True, slots=True)
class CollectionAddress:
    """The address of an index's collections in Milvus, and how long a question there may take."""

    scheme: str  # http, or https for TLS
    host: str
    port: int
    database: str  # "" for the default one
    collection: str  # with which the names of the index's collections begin
    seconds: float = SECONDS

    @property
    def server(self) -> str:
        """The URI of the server, as its client takes it."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{self.scheme}://{host}:{self.port}"

    @property
    def place(self) -> str:
        """The place as messages name it."""
        return f"the collection {self.collection} of Milvus at {self.server}"

    @property
    def uri(self) -> str:
        """The URI in full."""
        options = {"collection": self.collection}
        if self.seconds != SECONDS:
            options["timeout"] = f"{self.seconds:g}"
        return f"milvus:{self.server}{self.database and '/'}{self.database}?{urlencode(options)}"


def located(uri: str, name: str) -> str:
    """Complete the URI of a place for an index of some name. Raises UsageError if it is none."""
    words = re.sub(r"[^A-Za-z0-9]+", "_", name).strip("_") or "index"
    return parsed(uri, default=f"semsearch_{words}"[:_LONGEST]).uri


def parsed(uri: str, *, default: str = "semsearch") -> CollectionAddress:
    """Take a URI apart; `default` is the collection that it means if it names none. Raises UsageError."""
    parts = urlsplit(uri.partition(":")[2])
    try:
        port = parts.port or _PORT
    except ValueError as error:
        raise UsageError(f"{uri!r} is no address: {error}") from error
    if parts.scheme not in ("http", "https") or not parts.hostname or parts.fragment:
        raise UsageError(f"{uri!r} is no address of a Milvus server; give {_FORM}")
    if parts.username is not None:
        raise UsageError(f"{uri!r} names a user; give user:password or a key in the environment, as MILVUS_TOKEN")
    options = dict(parse_qsl(parts.query, keep_blank_values=True))
    if unknown := sorted(options.keys() - {"collection", "timeout"}):
        raise UsageError(f"{uri!r} has an option {unknown[0]!r} that is not known; give {_FORM}")
    address = CollectionAddress(
        parts.scheme,
        parts.hostname,
        port,
        parts.path.strip("/"),
        options.get("collection", default),
        _seconds(uri, options.get("timeout")),
    )
    for kind, value in (("database", address.database), ("collection", address.collection)):
        if (value or kind == "collection") and (not _NAME.fullmatch(value) or len(value) > _LONGEST):
            raise UsageError(
                f"{value!r} is no name of a {kind} in Milvus: it has at most {_LONGEST} letters, digits and "
                "underscores, and begins with no digit"
            )
    return address


def _seconds(uri: str, text: str | None) -> float:
    try:
        seconds = SECONDS if text is None else float(text)
    except ValueError:
        seconds = math.nan
    if not 0 < seconds < math.inf:
        raise UsageError(f"the timeout in {uri!r} must be a number of seconds above 0, not {text!r}")
    return seconds
