"""Files of documents, one a row, as `Index.export` and other programs write them: JSON Lines, CSV, Parquet, .npz."""

from __future__ import annotations

import io
import json
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, nullcontext, suppress
from pathlib import Path
from typing import IO, Any

from semsearch.errors import MissingExtra, SourceError

_OBJECTS = ("metadata", "passages")  # JSON in the cells of tables


def read_records(path: str | Path) -> Iterator[Mapping[str, Any]]:
    """Read the records of a file, by its ending; "-" is the standard input, as JSON Lines. Raises SourceError."""
    name = str(path)
    read = _READERS.get(Path(path).suffix.lower(), _jsonl) if name != "-" else _jsonl
    try:
        with _opened(name) as file:
            yield from read(file, name)
    except OSError as error:
        raise SourceError(f"{name} cannot be read: {error.strerror or error}") from error


def _opened(name: str) -> AbstractContextManager[IO[bytes]]:
    return nullcontext(sys.stdin.buffer) if name == "-" else Path(name).open("rb")


def _jsonl(file: IO[bytes], name: str) -> Iterator[Mapping[str, Any]]:
    for number, line in enumerate(file, start=1):
        if not line.strip():
            continue
        try:
            record = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise SourceError(f"{name}, line {number}, is no JSON ({error}); give a JSON object a line") from error
        if not isinstance(record, dict):
            raise SourceError(f"{name}, line {number}, is {type(record).__name__}, not an object with an id and a text")
        yield record


def _csv(file: IO[bytes], name: str) -> Iterator[Mapping[str, Any]]:
    import csv  # start-up time

    text = io.TextIOWrapper(file, encoding="utf-8-sig", newline="")
    limit = csv.field_size_limit(sys.maxsize if sys.maxsize < 1 << 31 else (1 << 31) - 1)
    try:
        for row in csv.DictReader(text, strict=True):
            if None in row or None in row.values():
                raise SourceError(f"{name}, row {row}: there are more or fewer cells than the header has names")
            yield _with_objects(row)
    except (csv.Error, UnicodeDecodeError) as error:
        raise SourceError(f"{name} is not CSV in UTF-8: {error}") from error
    finally:
        csv.field_size_limit(limit)
        text.detach()  # the file is closed by whoever opened it


def _parquet(file: IO[bytes], name: str) -> Iterator[Mapping[str, Any]]:
    try:
        import pyarrow  # optional dependency
        import pyarrow.parquet
    except ImportError as error:
        raise MissingExtra("pyarrow", "arrow") from error
    try:
        table = pyarrow.parquet.ParquetFile(file)
        columns = [column for column in table.schema_arrow.names if column != "vector"]
        for batch in table.iter_batches(batch_size=100, columns=columns):
            yield from map(_with_objects, batch.to_pylist())
    except pyarrow.ArrowException as error:
        raise SourceError(f"{name} is not a Parquet file, or damaged: {error}") from error


def _npz(file: IO[bytes], name: str) -> Iterator[Mapping[str, Any]]:
    import numpy as np

    try:
        with np.load(file, allow_pickle=False) as arrays:
            lines = arrays["rows"].tobytes()
    except Exception as error:  # whatever zipfile and NumPy make of damaged bytes
        raise SourceError(f"{name} is not an export of an index, or damaged: {error}") from error
    yield from _jsonl(io.BytesIO(lines), name)


def _with_objects(row: Mapping[str, Any]) -> Mapping[str, Any]:
    """A row of a table whose cells are read as JSON where an export has JSON."""
    found = dict(row)
    for key in _OBJECTS:
        if isinstance(found.get(key), str):
            with suppress(ValueError, RecursionError):
                found[key] = json.loads(found[key])
    return found


_READERS: dict[str, Callable[[IO[bytes], str], Iterator[Mapping[str, Any]]]] = {
    ".csv": _csv,
    ".parquet": _parquet,
    ".npz": _npz,
}
