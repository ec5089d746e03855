"""File systems of fsspec by their URIs: `s3://`, `gs://`, `az://`, `sftp://`, `memory://`. Only here is it imported.

Keys and endpoints come from the configuration of fsspec, or of the package that it uses, in files and environment
variables; for a store that speaks S3 also from the URI: `s3://bucket/docs?endpoint=http://localhost:9000&region=x`, as
for tables of Lance.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar
from urllib.parse import parse_qsl

from semsearch.errors import MissingExtra, SemsearchError, StorageError, UsageError
from semsearch.system.locations import divided, shown_uri, uri_scheme

Result = TypeVar("Result")

SECONDS = 30.0  # that a store may take for one answer
S3 = ("s3", "s3a")  # whose URIs may have options


@dataclass(frozen=True, slots=True)
class RemoteFiles:
    """A file system of fsspec, and the path of the URI in it."""

    files: Any  # an fsspec.AbstractFileSystem
    root: str
    timeout: float = 0  # seconds that its URI allows for one answer; 0 if it does not say


def open_files(uri: str) -> RemoteFiles:
    """Open the file system of a URI. Most send no request yet.

    Raises MissingExtra without fsspec, UsageError for a scheme that it lacks, an invalid URI, or an unknown option,
    StorageError if it must be reached at once and cannot be.
    """
    try:
        from fsspec.core import url_to_fs
    except ImportError as error:
        raise MissingExtra("fsspec", "remote-files", distribution="./scale") from error
    try:
        address, options, timeout = _with_options(uri)
        files, root = url_to_fs(address, **options)
    except ImportError as error:
        raise UsageError(f"{shown_uri(uri)} needs another package: {error}") from error
    except SemsearchError:
        raise
    except (OSError, EOFError) as error:
        raise StorageError(
            f"{shown_uri(uri)} cannot be reached: {error}; check that it exists and that access is allowed"
        ) from error
    except Exception as error:  # each file system has its own errors for invalid URIs
        raise UsageError(f"{shown_uri(uri)} cannot be opened: {error or type(error).__name__}") from error
    return RemoteFiles(files, str(root).rstrip("/"), timeout)


def reached(uri: str, answer: Callable[[], Result], *, passing: tuple[type[Exception], ...] = ()) -> Result:
    """Return the answer of a store. Raises StorageError if it cannot be reached, whatever its package raises.

    Errors of semsearch, and those `passing`, are raised as they are.
    """
    try:
        return answer()
    except SemsearchError:
        raise
    except Exception as error:  # each store has errors of its own
        if isinstance(error, passing):
            raise
        said = str(error).strip() or type(error).__name__
        raise StorageError(
            f"{shown_uri(uri)} cannot be reached: {said}; check that it exists and that access is allowed"
        ) from error


def _with_options(uri: str) -> tuple[str, dict[str, Any], float]:
    """The address of a URI, the options of the file system, and the seconds for an answer; 0 if it names none."""
    address, query = divided(uri)
    if uri_scheme(uri) not in S3 or not query:
        return uri, {}, 0
    given = dict(parse_qsl(query[1:]))
    if unknown := given.keys() - {"endpoint", "region", "timeout"}:
        raise UsageError(
            f"{shown_uri(uri)} has the unknown option {min(unknown)!r}; the options are endpoint, region and timeout"
        )
    options: dict[str, Any] = {"endpoint_url": given["endpoint"]} if "endpoint" in given else {}
    if "region" in given:
        options["client_kwargs"] = {"region_name": given["region"]}
    try:
        return address, options, float(given.get("timeout", 0))
    except ValueError:
        raise UsageError(f"the timeout of {shown_uri(uri)} is not a number of seconds") from None
