"""Results that took long, kept: the same question of the same program is not computed twice.

A result is found by a digest of its name, its inputs and the package's own program text and tables (or those parts that
decide it), so that it is computed anew as soon as any of them changes. Inputs say everything else that it depends on:
settings, the digests of files and word vectors, and the versions of libraries that do the work. A result is JSON in the
user's cache folder, a file each; all of them can be deleted.
"""

from __future__ import annotations

import hashlib
import json
import logging
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from functools import lru_cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from semsearch.errors import SourceError
from semsearch.system.durable import file_digest
from semsearch.system.user_folders import cache_folder

_PACKAGE = Path(__file__).parents[1]
_log = logging.getLogger(__name__)


def cached(
    name: str, inputs: Mapping[str, Any], compute: Callable[[], Any], *, fresh: bool = False, program: str | None = None
) -> Any:
    """The result of `compute`, from the last time that it had this name and these inputs; `fresh`: computed anew.

    `program` is the digest of the program text that decides it, by default of all of the package.
    Inputs and result are what JSON can say. A result is always as JSON gives it back, lists for tuples, whether it was
    computed now or then. An entry that is damaged is computed anew; where nothing can be written, nothing is kept.
    """
    key = _digest(json.dumps([name, inputs, program or _program()], sort_keys=True))
    path = cache_folder("evaluate") / f"{name}-{key}.json"
    if not fresh and (kept := _read(path)) is not None:
        _log.info("%s: taken from %s", name, path)
        return json.loads(kept)
    result = json.dumps(compute())
    _write(path, {"name": name, "inputs": inputs, "digest": _digest(result), "result": result})
    return json.loads(result)


def digest_of(paths: Iterable[Path]) -> str:
    """The digest of files by their names and contents, in this order; of a folder, all files below it.

    Raises SourceError where one cannot be read.
    """
    digest = hashlib.blake2b(digest_size=16)
    for path in paths:
        try:
            for file in _files(path):
                digest.update(f"{file.name}\0{file_digest(file)}\n".encode("utf-8", "surrogateescape"))
        except OSError as error:
            raise SourceError(f"{path} cannot be read: {error.strerror or error}; give another path") from error
    return digest.hexdigest()


def versions(*packages: str) -> dict[str, str]:
    """The versions of installed packages by their names, for the inputs; empty for one that is not installed."""
    return {package: _version(package) for package in packages}


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return ""


def _files(path: Path) -> Iterator[Path]:
    if path.is_dir():
        yield from sorted(file for file in path.rglob("*") if file.is_file())
    else:
        yield path


@lru_cache(maxsize=1)
def _program() -> str:
    """The digest of the package's own program text and tables."""
    files = (file for file in _PACKAGE.rglob("*") if file.suffix in (".py", ".tsv"))
    return digest_of(sorted(files))


def _digest(text: str) -> str:
    return hashlib.blake2b(text.encode(), digest_size=16).hexdigest()


def _read(path: Path) -> str | None:
    """The result that is kept, as JSON; None where there is none, or a damaged one."""
    try:
        entry = json.loads(path.read_text(encoding="utf-8"))
        result = entry["result"]
        whole = _digest(result) == entry["digest"]
    except FileNotFoundError:
        return None
    except (OSError, ValueError, TypeError, KeyError, AttributeError, RecursionError):
        whole = False
    if not whole:
        _log.info("%s is damaged; the result is computed anew", path)
        return None
    return str(result)


def _write(path: Path, entry: Mapping[str, Any]) -> None:
    """Write an entry under a name of its own process, then rename it. Where that fails, it is only not kept."""
    temporary = path.with_name(f"{path.name}.{os.getpid()}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        temporary.write_text(json.dumps(entry), encoding="utf-8")
        temporary.replace(path)
    except OSError as error:
        _log.info("%s cannot be written: %s", path, error)
    finally:
        with suppress(OSError):
            temporary.unlink(missing_ok=True)
