"""Hits as a table for pandas or Arrow: a row for each hit, a column for each field."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from semsearch.errors import MissingExtra
from semsearch.results.hits import Hit
from semsearch.results.location import location

if TYPE_CHECKING:
    import pandas
    import pyarrow

_KINDS = {  # in the order of the columns; names of Arrow's types
    "rank": "int64",
    "score": "float64",
    "dense": "float64",
    "lexical": "float64",
    "relevance": "float64",
    "path": "string",
    "line": "int64",
    "page": "int64",
    "place": "string",
    "title": "string",
    "headings": "texts",
    "sentence": "string",
    "passage": "string",
    "before": "texts",
    "after": "texts",
    "duplicates": "texts",
    "metadata": "string",
    "format": "string",
    "root": "string",
    "document": "string",
    "start": "int64",
    "end": "int64",
    "passage_id": "int64",
    "sentence_id": "int64",
    "stale": "bool",
    "index": "string",
}


def to_pandas(hits: Sequence[Hit]) -> pandas.DataFrame:
    """Convert hits to a DataFrame. Raises MissingExtra without pandas."""
    try:
        import pandas  # optional dependency
    except ImportError as error:
        raise MissingExtra("pandas", "pandas") from error
    return pandas.DataFrame(_columns(hits))


def to_arrow(hits: Sequence[Hit]) -> pyarrow.Table:
    """Convert hits to an Arrow table; metadata is JSON. Raises MissingExtra without pyarrow."""
    try:
        import pyarrow  # optional dependency
    except ImportError as error:
        raise MissingExtra("pyarrow", "arrow") from error
    columns = _columns(hits)
    columns["metadata"] = [json.dumps(found, ensure_ascii=False, default=str) for found in columns["metadata"]]
    texts = pyarrow.list_(pyarrow.string())
    kinds = [(name, texts if kind == "texts" else pyarrow.type_for_alias(kind)) for name, kind in _KINDS.items()]
    return pyarrow.table(columns, schema=pyarrow.schema(kinds))


def _columns(hits: Sequence[Hit]) -> dict[str, list[Any]]:
    columns = {name: [_cell(getattr(hit, name)) for hit in hits] for name in _KINDS}
    columns["duplicates"] = [
        [location(each.path, each.format, each.position) for each in hit.duplicates] for hit in hits
    ]
    return columns


def _cell(value: Any) -> Any:
    return list(value) if isinstance(value, tuple) else value
