"""A cache of results that took long: the same inputs of the same program are not computed twice.

The key of a result is a digest of its name, its inputs and the program text and tables of both packages (or of those
modules that decide it), so that it is computed again as soon as any of them changes. The inputs are everything else
that it depends on: settings, the digests of files and word vectors, and the versions of libraries that do the work. An
entry is a NumPy archive without pickles in the user's cache folder. All entries can be deleted.
"""

from __future__ import annotations

import hashlib
import io
import json
import logging
import sys
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import numpy.typing as npt

import semsearch
from semsearch.errors import SourceError
from semsearch.system.durable import file_digest, write_durably
from semsearch.system.locations import cache_folder

_PACKAGES = (Path(__file__).parents[1], Path(semsearch.__file__).parent)  # all that a result may depend on
_TEXT = "json"  # the name of the part that is not an array
_log = logging.getLogger(__name__)
Arrays = dict[str, npt.NDArray[Any]]
Program = ModuleType | Callable[..., Any]  # a module, or what a module defines


def cached(
    name: str,
    inputs: Mapping[str, Any],
    compute: Callable[[], Any],
    *,
    fresh: bool = False,
    modules: Sequence[Program] = (),
) -> Any:
    """Return the cached result of `compute` for a name and inputs, or compute it, always if `fresh`, and cache it.

    `modules` are those whose program text decides the result, by default both packages; a class or function stands for
    its module. Inputs and result are values of JSON, but a dict as the result may have NumPy arrays among its
    values. A result is always as JSON gives it back, lists for tuples, whether it was computed now or before. A damaged
    entry is computed again; if the entry cannot be written, it is not cached.
    """
    key = json.dumps([name, inputs, program_digest(*modules)], sort_keys=True)
    path = cache_folder("evaluate") / f"{name}-{hashlib.blake2b(key.encode(), digest_size=16).hexdigest()}.npz"
    if not fresh and (entry := _read(path)) is not None:
        _log.info("%s: loaded from the cache %s", name, path)
        return _unpacked(entry)
    packed = _packed(compute())
    buffer = io.BytesIO()
    np.savez(buffer, **packed)  # type: ignore[arg-type]  # stubs see allow_pickle among the names
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        write_durably(path, lambda write: write(buffer.getvalue()))
    except OSError as error:
        _log.info("%s cannot be written: %s", path, error)
    return _unpacked(packed)


def digest_of(paths: Iterable[Path]) -> str:
    """The digest of files by their names and contents, in this order; for a folder, all files below it.

    Raises SourceError if one cannot be read.
    """
    digest = hashlib.blake2b(digest_size=16)
    for path in paths:
        files = sorted(file for file in path.rglob("*") if file.is_file()) if path.is_dir() else [path]
        try:
            for file in files:
                digest.update(f"{file.name}\0{file_digest(file)}\n".encode("utf-8", "surrogateescape"))
        except OSError as error:
            raise SourceError(f"{path} cannot be read: {error.strerror or error}; give another path") from error
    return digest.hexdigest()


@cache
def program_digest(*modules: Hashable) -> str:
    """The digest of the program text of modules, or of both packages with their tables."""
    parts = (one if isinstance(one, ModuleType) else sys.modules[one.__module__] for one in modules)
    files = [Path(str(part.__file__)) for part in parts]
    for package in () if modules else _PACKAGES:
        files += sorted(file for file in package.rglob("*") if file.suffix in (".py", ".tsv"))
    return digest_of(files)


def versions(*packages: str) -> dict[str, str]:
    """The versions of packages by their names, to be used as inputs; "" for one that is not installed."""
    return {package: _version(package) for package in packages}


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return ""


def _packed(result: Any) -> Arrays:
    """Pack a result as arrays: its own arrays, and the rest as JSON."""
    arrays: Arrays = {}
    if isinstance(result, dict):
        arrays = {key: value for key, value in result.items() if isinstance(value, np.ndarray)}
        result = {key: value for key, value in result.items() if key not in arrays}
    return {**arrays, _TEXT: np.frombuffer(json.dumps(result).encode(), dtype=np.uint8)}


def _unpacked(packed: Arrays) -> Any:
    result = json.loads(packed[_TEXT].tobytes())
    arrays = {key: value for key, value in packed.items() if key != _TEXT}
    return {**result, **arrays} if arrays else result


def _read(path: Path) -> Arrays | None:
    """Read a cached entry; None if there is none, or a damaged one: an archive has a checksum of each part."""
    try:
        with path.open("rb") as file, np.load(file, allow_pickle=False) as archive:
            found: Arrays = dict(archive)
        json.loads(found[_TEXT].tobytes())
    except FileNotFoundError:
        return None
    except Exception as error:  # whatever zipfile and NumPy make of damaged bytes
        _log.info("%s is damaged (%s); the result is computed again", path, error)
        return None
    return found
