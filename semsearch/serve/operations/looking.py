"""The operations that say what there is: indexes, documents, status, health."""

from __future__ import annotations

from itertools import islice
from typing import Any

from semsearch import __version__
from semsearch.errors import SemsearchError
from semsearch.results.contents.documents import DocumentText
from semsearch.results.contents.facets import Facets
from semsearch.results.state.reports import Status
from semsearch.serve.open_indexes import OpenIndexes
from semsearch.serve.operations.answers import DocumentsAnswer, Health, IndexesAnswer
from semsearch.serve.operations.asking import FILTERS, INDEX, checked_filters
from semsearch.serve.operations.operation import Operation
from semsearch.serve.operations.parameters import Given, Parameter

DOCUMENT = Parameter(
    "id", "text", "The path of a document, as hits have it, or the id of an added text.", is_required=True, most=4000
)
_COUNTS = ("documents", "passages", "sentences", "size_bytes", "generation")


def list_indexes(indexes: OpenIndexes, _: Given) -> dict[str, Any]:
    """List the indexes of the server."""
    return {"indexes": [_entry(indexes, name) for name in indexes.names()]}


def _entry(indexes: OpenIndexes, name: str) -> dict[str, Any]:
    try:
        status = indexes.get(name).status(drift=False, stale=False)
    except SemsearchError as error:
        return {"name": name, **dict.fromkeys(_COUNTS, 0), "roots": [], "problem": str(error)}
    counts = {key: getattr(status, key) for key in _COUNTS}
    return {"name": name, **counts, "roots": list(status.roots), "problem": ""}


def list_documents(indexes: OpenIndexes, given: Given) -> dict[str, Any]:
    """List the documents of an index, without their text."""
    offset, limit = given["offset"], given["limit"]
    found = indexes.get(given["index"]).documents(checked_filters(given))
    page = [document.to_dict() for document in islice(found, offset, offset + limit + 1)]
    return {
        "index": indexes.name_of(given["index"]),
        "documents": page[:limit],
        "next": offset + limit if len(page) > limit else None,
    }


def get_facets(indexes: OpenIndexes, given: Given) -> dict[str, Any]:
    """Count the documents that pass all filters by folder, format, date and metadata, each value with its filter."""
    return indexes.get(given["index"]).facets(checked_filters(given), values=given["values"]).to_dict()


def get_document(indexes: OpenIndexes, given: Given) -> dict[str, Any]:
    """Return a document of an index, with its text as it is searched."""
    return indexes.get(given["index"]).document(given["id"]).to_dict()


def get_status(indexes: OpenIndexes, given: Given) -> dict[str, Any]:
    """Return counts, settings and size of an index."""
    return indexes.get(given["index"]).status(drift=given["drift"], stale=given["stale"]).to_dict()


def get_health(_: OpenIndexes, __: Given) -> dict[str, Any]:
    """Say that the server is up."""
    return {"status": "ok", "version": __version__}


LOOKING = (
    Operation("GET", "/v1/indexes", "list_indexes", list_indexes.__doc__ or "", list_indexes, IndexesAnswer),
    Operation(
        "GET",
        "/v1/documents",
        "list_documents",
        list_documents.__doc__ or "",
        list_documents,
        DocumentsAnswer,
        (
            INDEX,
            FILTERS,
            Parameter("offset", "whole number", "How many to leave out.", default=0, least=0, most=10**9),
            Parameter("limit", "whole number", "How many at most.", default=100, least=1, most=1000),
        ),
        {"filters": ["year>=2020"], "limit": 20},
    ),
    Operation(
        "GET",
        "/v1/facets",
        "get_facets",
        get_facets.__doc__ or "",
        get_facets,
        Facets,
        (
            INDEX,
            FILTERS,
            Parameter("values", "whole number", "How many values of each key at most.", default=10, least=0, most=1000),
        ),
        {"filters": ["guide/*.md"], "values": 5},
    ),
    Operation(
        "GET",
        "/v1/documents/{id}",
        "get_document",
        get_document.__doc__ or "",
        get_document,
        DocumentText,
        (DOCUMENT, INDEX),
        {"id": "notes/keys.md"},
    ),
    Operation(
        "GET",
        "/v1/status",
        "get_status",
        get_status.__doc__ or "",
        get_status,
        Status,
        (
            INDEX,
            Parameter("drift", "true or false", "Compute the drift, which needs the word vectors.", default=False),
            Parameter("stale", "true or false", "Count the files that a sync would look at.", default=False),
        ),
    ),
    Operation("GET", "/health", "get_health", get_health.__doc__ or "", get_health, Health),
)
