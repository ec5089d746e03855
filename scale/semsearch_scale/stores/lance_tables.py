"""Tables of Lance in a folder or bucket: its address, calls with a deadline and helpful errors, its files.

    lance:FOLDER, relative to the current folder
    lance:s3://BUCKET/PREFIX[?endpoint=URL&region=NAME&timeout=SECONDS], any store that speaks S3

Credentials come from the environment. Every segment is a table of its own, a folder below the address.
"""

from __future__ import annotations

import errno
import math
import os
import re
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import parse_qsl, urlencode, urlsplit

from semsearch.errors import IndexDamaged, MissingExtra, StorageError, UsageError
from semsearch.storage.segments import Kind
from semsearch.system.durable import sync_file, sync_folder
from semsearch.system.locations import expanded, split_uri, working_folder
from semsearch_scale.deadline import begun
from semsearch_scale.stores.addresses import options_of, seconds_of

_FORM = "lance:s3://BUCKET/PREFIX[?endpoint=URL&region=NAME&timeout=SECONDS]"
_CONNECTING = 3.0  # of these, to connect
_TRIES = 3  # times that a request is sent again

SUFFIX = ".lance"
PACE = 1 << 24  # bytes that may take as long as a query on a slow store
_GONE = ("was not found", "Not found:", "not found: ", "No such file", "NoSuchKey")  # Lance's words for a missing file

Result = TypeVar("Result")


@dataclass(frozen=True)
class LancePlace:
    """A folder or bucket of tables, given by the complete URI (`located`) that an index keeps."""

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
        """Lance's options for the object store."""
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
        """The seconds that a query may take on an object store."""
        return seconds_of(self._given)

    def table(self, name: str) -> str:
        """The address of a table."""
        return f"{self.base}/{name}"

    def names(self, kind: Kind) -> set[str]:
        """The names of all tables of a kind, finished or not; none if the folder does not exist."""
        return {name for name in self.entries() if name.startswith(f"{kind}-") and name.endswith(SUFFIX)}

    def drop(self, name: str) -> None:
        """Delete a table, finished or not. What names its versions goes first: without it, the table is gone."""
        if self.folder is not None:
            shutil.rmtree(self.folder / name / "_versions", ignore_errors=True)
            with suppress(FileNotFoundError):
                shutil.rmtree(self.folder / name)
            return
        for path in sorted(self._objects(name), key=lambda path: "/_versions/" not in path):
            self.ask(partial(self._session.delete_file, path))

    def _objects(self, name: str) -> list[str]:
        """The paths of a table's objects, relative to the place."""
        listed = self._listed(name)
        return [*listed.objects, *(path for folder in listed.common_prefixes for path in self._objects(folder))]

    def flush(self, name: str) -> None:
        """Flush a table to the disk; what an object store has confirmed is durable."""
        if self.folder is None:
            return
        for path in [self.folder / name, *((self.folder / name).rglob("*"))]:
            with suppress(FileNotFoundError):  # deleted by another process meanwhile
                if path.is_dir():
                    sync_folder(path)
                else:
                    with path.open("rb+") as file:
                        sync_file(file.fileno())
        sync_folder(self.folder)

    def entries(self) -> set[str]:
        """The names of all that lies directly in the place."""
        if self.folder is not None:
            return {path.name for path in self.folder.iterdir()} if self.folder.is_dir() else set()
        found = self._listed(None)
        return {path.rstrip("/").rpartition("/")[2] for path in (*found.common_prefixes, *found.objects)}

    def ask(self, work: Callable[[], Result], *, name: str | None = None, times: float = 1) -> Result:
        """Do some work with the store, in `times` the time that a query may take on an object store.

        `name` is the table that is read. Lance repeats requests by itself, without a configurable limit. What is still
        running then ends in its thread, which must not be a daemon: Lance would abort a process that ends meanwhile.
        Errors: see `reached`.
        """
        with self.reached(name):
            if self.folder is not None:
                return work()
            try:
                return begun(work, daemon=False).result(self.seconds * times)
            except TimeoutError as error:
                raise StorageError(
                    f"{self.base} did not answer within {self.seconds * times:.3g} seconds; try again, or allow more "
                    "time with ?timeout=SECONDS at the end of its address"
                ) from error

    @contextmanager
    def reached(self, name: str | None = None) -> Iterator[None]:
        """Translate errors of Lance: StorageError, or what is wrong with a table that is read.

        That is FileNotFoundError, with its name, if it is gone, and IndexDamaged if the operating system read it and
        Lance does not understand it.
        """
        try:
            yield
        except (OSError, ValueError, RuntimeError) as error:
            is_lost = isinstance(error, FileNotFoundError)
            if is_lost and name is None:
                raise
            said = str(error)
            is_lost = is_lost or (any(text in said for text in _GONE) and "NoSuchBucket" not in said)
            if is_lost and name is not None:
                raise FileNotFoundError(errno.ENOENT, "no such segment", name) from error
            if self.folder is not None and name is not None and "os error" not in said:
                raise IndexDamaged(
                    f"{name} in {self.base} cannot be read: {_short(said)}; run: semsearch index --rebuild"
                ) from error
            what = "its disk" if self.folder is not None else "its address, the network and the credentials"
            raise StorageError(f"{self.base} cannot be read or written: {_short(said)}; check {what}") from error

    @cached_property
    def _session(self) -> Any:
        from lance.file import LanceFileSession  # an optional package

        return LanceFileSession(self.base, storage_options=self.options)

    def _listed(self, path: str | None) -> Any:
        """What lies directly below a path on an object store. Lance's recursive call sends eight requests."""
        return self.ask(lambda: self._session.list_with_delimiter(path))

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
        raise UsageError(f"{uri!r} names no folder or bucket; give lance:FOLDER or lance:s3://BUCKET/PREFIX")
    return f"{scheme}:{os.path.normpath(working_folder() / expanded(given))}"


def _bucket(address: str, name: str) -> str:
    parts = split_uri(address)
    if parts.scheme != "s3" or not parts.netloc or "@" in parts.netloc or parts.fragment:
        raise UsageError(f"{address!r} is not a bucket; give s3://BUCKET/PREFIX, with credentials in the environment")
    options = options_of(
        parts.query, {"endpoint", "region", "timeout"}, f"{_FORM}; credentials come from the environment"
    )
    if empty := [name for name, value in options.items() if not value]:
        raise UsageError(f"{address!r} has no value at {empty[0]}=; give {_FORM}")
    seconds_of(options)
    prefix = parts.path.strip("/") or name
    return f"s3://{parts.netloc}/{prefix}" + (f"?{urlencode(options, safe=':/')}" if options else "")


# -- Lance answers -----------------------------------------------------------------------------------------------------


def lance_package() -> Any:
    """Import Lance. Raises MissingExtra."""
    os.environ.setdefault("LANCE_LOG", "error")  # it warns on stderr of each repeated request
    try:
        import lance  # an optional package
    except ImportError as error:
        raise MissingExtra("pylance", "lance", distribution="./scale") from error
    return lance


def _short(said: str) -> str:
    """The beginning of an error of Lance, without the position in Lance's source."""
    if message := re.search(r"<Message>(.*?)</Message>", said):
        return message[1]
    first = said.partition("\n")[0].partition(", /")[0].removeprefix("LanceError(IO): ")
    return first if len(first) <= 300 else f"{first[:300]}..."
