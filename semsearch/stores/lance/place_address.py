"""The address of a place for tables of Lance: its URI taken apart, checked and completed.

lance:FOLDER, relative to the current folder, or lance:s3://BUCKET/PREFIX[?endpoint=URL&region=NAME&timeout=SECONDS];
credentials come from the environment.
"""

from __future__ import annotations

import math
import os
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from urllib.parse import parse_qsl, urlencode, urlsplit

from semsearch.errors import UsageError
from semsearch.system.working_folder import working_folder

_OPTIONS = ("endpoint", "region", "timeout")  # of an object store
_SECONDS = 10.0  # a question may take, unless `timeout` says otherwise
_CONNECTING = 3.0  # of them, until there is a connection
_TRIES = 3  # times that a request is sent again


@dataclass(frozen=True)
class LanceAddress:
    """The address of a place, given by the complete URI (`located`) that an index keeps."""

    uri: str

    @cached_property
    def folder(self) -> Path | None:
        """The folder; None on an object store."""
        return None if self._is_remote else Path(self._address)

    @cached_property
    def base(self) -> str:
        """The address that Lance takes: a path, or s3://bucket/prefix."""
        return self._address.partition("?")[0] if self._is_remote else self._address

    @cached_property
    def options(self) -> dict[str, str]:
        """What Lance is told about the object store."""
        if not self._is_remote:
            return {}
        given = {name: value for name, value in self._given.items() if name != "timeout"}
        return {
            **given,
            "allow_http": str(given.get("endpoint", "").startswith("http://")).lower(),
            "timeout": f"{self.seconds:g}s",
            "connect_timeout": f"{min(self.seconds, _CONNECTING):g}s",
            "client_max_retries": str(_TRIES),
            "client_retry_timeout": str(math.ceil(self.seconds)),
        }

    @cached_property
    def seconds(self) -> float:
        """How long a question may take on an object store."""
        return float(self._given.get("timeout", _SECONDS))

    def table(self, name: str) -> str:
        """The address of a table."""
        return f"{self.base}/{name}"

    @property
    def _address(self) -> str:
        return self.uri.partition(":")[2]

    @property
    def _is_remote(self) -> bool:
        return self._address.startswith("s3://")

    @property
    def _given(self) -> dict[str, str]:
        return dict(parse_qsl(urlsplit(self._address).query)) if self._is_remote else {}


def located(uri: str, name: str) -> str:
    """Complete the URI of a place: a folder's path is absolute, a bucket without a prefix gets the index's name.

    Raises UsageError for what is no address.
    """
    scheme, _, given = uri.partition(":")
    if "://" in given:
        return f"{scheme}:{_bucket(given, name)}"
    if not given:
        raise UsageError(
            f"{uri!r} names no place; give a folder or a bucket, as lance:FOLDER or lance:s3://BUCKET/PREFIX"
        )
    return f"{scheme}:{os.path.normpath(working_folder() / Path(given).expanduser())}"


def _bucket(address: str, name: str) -> str:
    parts = urlsplit(address)
    if parts.scheme != "s3" or not parts.netloc or "@" in parts.netloc or parts.fragment:
        raise UsageError(f"{address!r} is no bucket; give s3://BUCKET/PREFIX, with credentials in the environment")
    options = dict(parse_qsl(parts.query, keep_blank_values=True))
    unknown = options.keys() - {*_OPTIONS}
    if unknown or not all(options.values()):
        raise UsageError(
            f"{address!r} has the option {sorted(unknown)[0] if unknown else parts.query!r}; "
            f"there are {', '.join(f'{each}=...' for each in _OPTIONS)}, and credentials come from the environment"
        )
    try:
        if not 0 < float(options.get("timeout", _SECONDS)) < math.inf:
            raise ValueError
    except ValueError:
        raise UsageError(f"timeout is a number of seconds above 0, not {options['timeout']!r}") from None
    prefix = parts.path.strip("/") or name
    return f"s3://{parts.netloc}/{prefix}" + (f"?{urlencode(options, safe=':/')}" if options else "")
