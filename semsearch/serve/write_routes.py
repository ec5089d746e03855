"""Operations that write to an index: put and delete a document, and sync files."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

from semsearch.errors import UsageError
from semsearch.index import Index
from semsearch.readers.document import Text
from semsearch.results.reports import Progress, SyncReport
from semsearch.serve.answers import RemovedAnswer
from semsearch.serve.index_routes import DOCUMENT
from semsearch.serve.open_indexes import OpenIndexes
from semsearch.serve.operation import Operation
from semsearch.serve.request_parameters import Given, Parameter
from semsearch.serve.search_routes import INDEX
from semsearch.system.locations import uri_scheme

_LARGEST = 4_000_000  # characters of a text
Report = Callable[[Progress], None]


def put_document(indexes: OpenIndexes, given: Given) -> dict[str, Any]:
    """Add a text that is not in a file, or replace the one of that id."""
    text = Text(given["id"], given["text"], given["title"] or "", given["metadata"] or {}, given["format"])
    return indexes.get(given["index"]).add([text]).to_dict()


def delete_document(indexes: OpenIndexes, given: Given) -> dict[str, Any]:
    """Remove a document from an index. Its file is not touched; the next sync adds it again."""
    index = indexes.get(given["index"])
    document = index.document(given["id"])
    if document.root:
        is_remote = bool(uri_scheme(document.root))
        return {"removed": index.remove(document.path if is_remote else Path(document.path).absolute())}
    if _names_files(index, document.document):
        raise UsageError(
            f"{document.document!r} is both the id of a text and a path of files; remove it with the Python API"
        )
    return {"removed": index.remove(document.document)}


def _names_files(index: Index, name: str) -> bool:
    """Return whether an id, taken for a path, would name files of the index, which `Index.remove` would remove too."""
    if "\0" in name:
        return False
    whole = _real(name)
    return any(_is_inside(root, whole) or _is_inside(whole, root) for root in map(_real, index.roots))


def prepare_sync(indexes: OpenIndexes, given: Given) -> Callable[[Report | None], dict[str, Any]]:
    """Check the paths of a sync; return the function that runs it."""
    index = indexes.get(given["index"])
    paths: tuple[str, ...] = given["paths"]
    roots = [_real(root) for root in index.roots]
    for path in paths:
        if not any(_is_inside(_real(path), root) for root in roots):
            raise UsageError(f"{path!r} is outside the roots of the index; add a root with semsearch index")
    return lambda report: index.sync(*paths, prune=given["prune"], progress=report).to_dict()


def sync(indexes: OpenIndexes, given: Given) -> dict[str, Any]:
    """Bring an index up to date with its files, or with some of them.

    With `Accept: text/event-stream`, progress is sent as server-sent events, and at the end the report.
    """
    return prepare_sync(indexes, given)(None)


def _real(path: str) -> str:
    if not path or "\0" in path:
        raise UsageError(f"{path!r} is not a valid path")
    return path if uri_scheme(path) else os.path.realpath(path)


def _is_inside(path: str, folder: str) -> bool:
    separator = "/" if uri_scheme(folder) else os.sep
    return path == folder or path.startswith(folder.rstrip(separator) + separator)


WRITING = (
    Operation(
        "PUT",
        "/v1/documents/{id}",
        "put_document",
        put_document.__doc__ or "",
        put_document,
        SyncReport,
        (
            DOCUMENT,
            INDEX,
            Parameter("text", "text", "The text.", is_required=True, most=_LARGEST),
            Parameter("title", "text", "Default: the title found in the text.", most=1000),
            Parameter("metadata", "object", "Metadata for filters."),
            Parameter("format", "text", "text, markdown, rst, html, ...", default="text", most=100),
        ),
        {"id": "tickets/17", "text": "The printer jams.", "title": "Printer", "metadata": {"year": 2024}},
        is_write=True,
    ),
    Operation(
        "DELETE",
        "/v1/documents/{id}",
        "delete_document",
        delete_document.__doc__ or "",
        delete_document,
        RemovedAnswer,
        (DOCUMENT, INDEX),
        {"id": "tickets/17"},
        is_write=True,
    ),
    Operation(
        "POST",
        "/v1/sync",
        "sync",
        sync.__doc__ or "",
        sync,
        SyncReport,
        (
            INDEX,
            Parameter(
                "paths",
                "texts",
                "Only these paths, within the roots of the index.",
                default=(),
                most=1000,
                longest=4000,
            ),
            Parameter("prune", "true or false", "Remove roots that no longer exist.", default=False),
        ),
        {"paths": ["notes"]},
        is_write=True,
        stream=prepare_sync,
    ),
)
