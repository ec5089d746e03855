"""The formats of exported files: JSON Lines, CSV, Parquet and NumPy's .npz. Each writes rows as they come."""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Literal

import numpy as np

from semsearch.errors import MissingExtra, UsageError
from semsearch.maintenance.exporting.rows import ExportRow, Unit

if TYPE_CHECKING:
    import pyarrow

ExportFormat = Literal["jsonl", "csv", "parquet", "npz"]

_WHOLE = {"line", "page", "characters", "passage_id", "sentence_id"}  # columns of whole numbers; others are texts
_AT_ONCE = 1000  # rows of a group in a Parquet file


def format_of(path: Path) -> ExportFormat:
    """The format that a file's ending names. Raises UsageError."""
    for name in WRITERS:
        if path.suffix.lower() == f".{name}":
            return name
    endings = ", ".join(f".{name}" for name in WRITERS)
    raise UsageError(f"{path} does not say its format; end it with one of {endings}, or give the format")


def _jsonl(rows: Iterable[ExportRow], out: IO[bytes], _unit: Unit, _vectors: bool) -> int:
    count = 0
    for row in rows:
        given = row.columns if row.vector is None else {**row.columns, "vector": _numbers(row)}
        out.write(json.dumps(given, ensure_ascii=False).encode("utf-8", "replace") + b"\n")
        count += 1
    return count


def _csv(rows: Iterable[ExportRow], out: IO[bytes], unit: Unit, vectors: bool) -> int:
    from csv import writer  # start-up time

    if vectors:
        raise UsageError(
            "a table of comma-separated values has no room for vectors; export them as jsonl, parquet or npz"
        )
    text = io.StringIO()
    table = writer(text, lineterminator="\n")
    columns, count = [name for name in _COLUMNS[unit] if name != "passages"], 0
    table.writerow(columns)
    for row in rows:
        table.writerow([_cell(row.columns[name]) for name in columns])
        out.write(text.getvalue().encode("utf-8", "replace"))
        text.seek(0)
        text.truncate()
        count += 1
    out.write(text.getvalue().encode("utf-8", "replace"))  # the header alone, if there are no rows
    return count


def _parquet(rows: Iterable[ExportRow], out: IO[bytes], unit: Unit, vectors: bool) -> int:
    try:
        import pyarrow  # optional dependency
        import pyarrow.parquet
    except ImportError as error:
        raise MissingExtra("pyarrow", "arrow") from error
    kinds = [(name, pyarrow.int64() if name in _WHOLE else pyarrow.string()) for name in _COLUMNS[unit]]
    kinds += [("vector", pyarrow.list_(pyarrow.float32()))] if vectors else []
    schema, count = pyarrow.schema(kinds), 0
    with pyarrow.parquet.ParquetWriter(out, schema, compression="zstd") as file:
        for group in _groups(rows):
            file.write_table(_table(group, schema))
            count += len(group)
    return count


def _table(rows: list[ExportRow], schema: pyarrow.Schema) -> pyarrow.Table:
    import pyarrow  # optional dependency

    cells = [{**{name: _cell(value) for name, value in row.columns.items()}, "vector": row.vector} for row in rows]
    return pyarrow.Table.from_pylist(cells, schema=schema)


def _npz(rows: Iterable[ExportRow], out: IO[bytes], _unit: Unit, _vectors: bool) -> int:
    lines, vectors = list[str](), list[Any]()
    for row in rows:
        lines.append(json.dumps(row.columns, ensure_ascii=False))
        if row.vector is not None:
            vectors.append(row.vector)
    arrays = {"rows": np.frombuffer("\n".join(lines).encode("utf-8", "replace"), dtype=np.uint8)}
    if vectors:
        arrays["vectors"] = np.stack(vectors)
    buffer = io.BytesIO()
    np.savez(buffer, **arrays)  # type: ignore[arg-type]  # stubs see allow_pickle among the names
    out.write(buffer.getvalue())
    return len(lines)


def _groups(rows: Iterable[ExportRow]) -> Iterator[list[ExportRow]]:
    rest = iter(rows)
    while group := list(islice(rest, _AT_ONCE)):
        yield group


def _cell(value: Any) -> Any:
    """A value for one cell of a table: what has parts is JSON."""
    return json.dumps(value, ensure_ascii=False) if isinstance(value, dict | list) else value


def _numbers(row: ExportRow) -> list[float]:
    return [] if row.vector is None else [round(float(number), 7) for number in row.vector]


_COLUMNS: dict[Unit, tuple[str, ...]] = {
    "documents": (
        "id", "root", "title", "format", "modified", "indexed", "characters", "metadata", "text", "passages",
    ),
    "passages": ("passage_id", "document", "title", "headings", "line", "page", "place", "metadata", "text"),
    "sentences": ("sentence_id", "passage_id", "document", "line", "page", "place", "text"),
}  # fmt: skip
WRITERS: dict[ExportFormat, Callable[[Iterable[ExportRow], IO[bytes], Unit, bool], int]] = {
    "jsonl": _jsonl,
    "csv": _csv,
    "parquet": _parquet,
    "npz": _npz,
}
