"""Documents as programs have them, to texts: `Text`, tuples, records, the rows of a table."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Protocol

from semsearch.errors import UsageError
from semsearch.indexing.reading.exported_documents import ExportedDocument, exported_document, is_exported
from semsearch.readers.document import Text

Given = Text | tuple[str, str] | tuple[str, str, Mapping[str, Any]] | Mapping[str, Any]

_WAYS = "give Text(id, text), (id, text), (id, text, metadata) or a record with the keys {id!r} and {text!r}"
_OWN = ("title", "format")  # fields of a record that are no metadata, if they are texts


class DataTable(Protocol):
    """A table of pandas, Polars or Arrow, as far as the types say."""

    @property
    def columns(self) -> Any:
        """The columns, or their names."""


def as_texts(
    documents: Iterable[Given] | DataTable, *, id_key: str = "id", text_key: str = "text"
) -> Iterator[Text | ExportedDocument]:
    """Make a Text of each document: of a table (pandas, Polars, Arrow) each row, which is a record.

    A record that `Index.export` wrote has passages, which are taken as they are.

    All that a record has besides its id, text, title and format is metadata; what it has as `metadata` is so too, if
    that is a mapping. Raises UsageError for what is no document.
    """
    ways = _WAYS.format(id=id_key, text=text_key)
    rows = _rows(documents)
    if isinstance(rows, str | Mapping) or not isinstance(rows, Iterable):
        raise UsageError(f"add takes several documents, not one {type(documents).__name__}; {ways}, in a list")
    for number, given in enumerate(rows):
        if isinstance(given, Text):
            yield given
        elif isinstance(given, tuple) and len(given) in (2, 3):
            yield Text(given[0], given[1], metadata=_mapping(given[2] if len(given) == 3 else {}, number))
        elif isinstance(given, Mapping):
            yield _of_record(given, number, id_key, text_key)
        else:
            raise UsageError(f"document {number} is {type(given).__name__}, not a text with its id; {ways}")


def _rows(documents: Any) -> Any:
    """The rows of a table as records; anything else as it is."""
    if hasattr(documents, "to_pylist"):  # Arrow
        return documents.to_pylist()
    if hasattr(documents, "iter_rows"):  # Polars
        return documents.iter_rows(named=True)
    if hasattr(documents, "notna") and hasattr(documents, "columns"):  # pandas, which has NaN for what is missing
        return documents.astype(object).where(documents.notna(), None).to_dict("records")
    return documents


def _of_record(record: Mapping[str, Any], number: int, id_key: str, text_key: str) -> Text | ExportedDocument:
    if id_key in record and is_exported(record):
        return exported_document(record, record[id_key])
    for key in (id_key, text_key):
        if key not in record:
            raise UsageError(f"record {number} has no {key!r}; it has {', '.join(map(str, record)) or 'nothing'}")
    own = {key: record[key] for key in _OWN if isinstance(record.get(key), str)}
    rest = {key: value for key, value in record.items() if key not in (id_key, text_key, *own)}
    if isinstance(rest.get("metadata"), Mapping):
        rest |= rest.pop("metadata")
    return Text(_id(record[id_key]), record[text_key], metadata=rest, **own)


def _id(given: Any) -> Any:
    """A whole number becomes a text: tables number their rows."""
    return str(given) if isinstance(given, int) and not isinstance(given, bool) else given


def _mapping(given: Any, number: int) -> Mapping[str, Any]:
    if not isinstance(given, Mapping):
        raise UsageError(f"the metadata of document {number} is {given!r}, not a mapping such as {{'year': 2024}}")
    return given
