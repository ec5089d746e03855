"""Operations that show an index: indexes, documents, facets, status, health, unreadable files, passages, PDF pages."""

from __future__ import annotations

from itertools import islice
from typing import Any

from semsearch import __version__
from semsearch.errors import SemsearchError
from semsearch.frozen import dataclass
from semsearch.results.documents import DocumentPassages, DocumentText, Facets, PdfPage
from semsearch.results.omissions import FileCoverage, Problem
from semsearch.results.reports import Checkup, Status
from semsearch.serve.answers import DocumentsAnswer, Health, IndexesAnswer
from semsearch.serve.open_indexes import OpenIndexes
from semsearch.serve.operation import Operation
from semsearch.serve.request_parameters import Given, Parameter
from semsearch.serve.search_routes import FILTERS, INDEX, checked_filters

# -- Indexes and documents ---------------------------------------------------------------------------------------------

DOCUMENT = Parameter(
    "id", "text", "A document's path, as in hits, or the id of an added text.", is_required=True, most=4000
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
    """Return a document of an index, with its indexed text."""
    return indexes.get(given["index"]).document(given["id"]).to_dict()


def get_status(indexes: OpenIndexes, given: Given) -> dict[str, Any]:
    """Return counts, settings and size of an index."""
    return indexes.get(given["index"]).status(drift=given["drift"], stale=given["stale"]).to_dict()


def get_health(_: OpenIndexes, __: Given) -> dict[str, Any]:
    """Return that the server is up."""
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
            Parameter("offset", "whole number", "Number of entries to skip.", default=0, least=0, most=10**9),
            Parameter("limit", "whole number", "Maximum number of entries.", default=100, least=1, most=1000),
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
            Parameter("values", "whole number", "Maximum number of values per key.", default=10, least=0, most=1000),
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
            Parameter("stale", "true or false", "Count the files that have changed.", default=False),
        ),
    ),
    Operation("GET", "/health", "get_health", get_health.__doc__ or "", get_health, Health),
)


# -- Health ------------------------------------------------------------------------------------------------------------

_PAGE_OF_PROBLEMS = (
    Parameter("offset", "whole number", "Number of entries to skip.", default=0, least=0, most=10**9),
    Parameter("limit", "whole number", "Maximum number of entries.", default=100, least=1, most=1000),
)


@dataclass(frozen=True, slots=True)
class ProblemsAnswer:
    """A page of an index's problems. `next` is the offset of the next page; null at the end."""

    index: str
    problems: tuple[Problem, ...]
    total: int
    next: int | None


@dataclass(frozen=True, slots=True)
class CoverageAnswer:
    """A page of the documents' coverage. `next` as in ProblemsAnswer."""

    index: str
    coverage: tuple[FileCoverage, ...]
    next: int | None


def get_checkup(indexes: OpenIndexes, given: Given) -> dict[str, Any]:
    """Return the health of an index: status, disk use, and what to do."""
    return indexes.get(given["index"]).checkup(stale=given["stale"]).to_dict()


def list_problems(indexes: OpenIndexes, given: Given) -> dict[str, Any]:
    """List the files that were not fully read, each with the reason and what to do."""
    offset, limit = given["offset"], given["limit"]
    found = indexes.get(given["index"]).problems()
    return {
        "index": indexes.name_of(given["index"]),
        "problems": [problem.to_dict() for problem in found[offset : offset + limit]],
        "total": len(found),
        "next": offset + limit if len(found) > offset + limit else None,
    }


def list_coverage(indexes: OpenIndexes, given: Given) -> dict[str, Any]:
    """List how much of each document is indexed: characters, sentences, pages, words in the vocabulary."""
    offset, limit = given["offset"], given["limit"]
    page = indexes.get(given["index"]).coverage(offset=offset, limit=limit + 1)
    return {
        "index": indexes.name_of(given["index"]),
        "coverage": [each.to_dict() for each in page[:limit]],
        "next": offset + limit if len(page) > limit else None,
    }


CHECKING = (
    Operation(
        "GET",
        "/v1/checkup",
        "get_checkup",
        get_checkup.__doc__ or "",
        get_checkup,
        Checkup,
        (INDEX, Parameter("stale", "true or false", "Count the files that have changed.", default=True)),
    ),
    Operation(
        "GET",
        "/v1/problems",
        "list_problems",
        list_problems.__doc__ or "",
        list_problems,
        ProblemsAnswer,
        (INDEX, *_PAGE_OF_PROBLEMS),
        {"limit": 20},
    ),
    Operation(
        "GET",
        "/v1/coverage",
        "list_coverage",
        list_coverage.__doc__ or "",
        list_coverage,
        CoverageAnswer,
        (INDEX, *_PAGE_OF_PROBLEMS),
        {"limit": 20},
    ),
)


# -- Passages and pages ------------------------------------------------------------------------------------------------

PNG_TYPE = "image/png"
_MOST = 1 << 53
_PAGE_OF_PASSAGES = Parameter("page", "whole number", "Page number, from 1.", is_required=True, least=1, most=10**6)
_SOUGHT = (
    Parameter("sentence", "whole number", "Start at the passage of this sentence id.", least=0),
    Parameter("passage", "whole number", "Start at this passage id.", least=0),
    Parameter("line", "whole number", "Start at this line, if sentence and passage do not exist.", least=1),
    Parameter("page", "whole number", "Start at this page, if none of these exists.", least=1),
)


def list_passages(indexes: OpenIndexes, given: Given) -> dict[str, Any]:
    """List the passages of a document, a page at a time, with the positions of their sentences."""
    sought = given.only(parameter.name for parameter in _SOUGHT)
    return (
        indexes.get(given["index"])
        .passages(given["id"], offset=given["offset"], limit=given["limit"], **sought)
        .to_dict()
    )


def get_page(indexes: OpenIndexes, given: Given) -> dict[str, Any]:
    """Return a page of a PDF: its size, and the positions of its sentences."""
    return indexes.get(given["index"]).page(given["id"], given["page"]).to_dict()


def get_picture(indexes: OpenIndexes, given: Given) -> bytes:
    """Return a page of a PDF as an image."""
    return indexes.get(given["index"]).page_picture(given["id"], given["page"], width=given["width"])


VIEWING = (
    Operation(
        "GET",
        "/v1/passages/{id}",
        "list_passages",
        list_passages.__doc__ or "",
        list_passages,
        DocumentPassages,
        (
            DOCUMENT,
            INDEX,
            Parameter("offset", "whole number", "Number of entries to skip.", default=0, least=0, most=_MOST),
            Parameter("limit", "whole number", "Maximum number of entries.", default=100, least=1, most=1000),
            *_SOUGHT,
        ),
        {"id": "notes/keys.md", "limit": 20, "line": 8},
    ),
    Operation(
        "GET",
        "/v1/pages/{id}",
        "get_page",
        get_page.__doc__ or "",
        get_page,
        PdfPage,
        (DOCUMENT, INDEX, _PAGE_OF_PASSAGES),
        {"id": "notes/report.pdf", "page": 3},
        is_drawn=True,
    ),
    Operation(
        "GET",
        "/v1/pictures/{id}",
        "get_picture",
        get_picture.__doc__ or "",
        get_picture,
        bytes,
        (
            DOCUMENT,
            INDEX,
            _PAGE_OF_PASSAGES,
            Parameter(
                "width",
                "whole number",
                "Width in pixels.",
                default=1000,
                least=16,
                most=4000,
            ),
        ),
        {"id": "notes/report.pdf", "page": 3, "width": 1200},
        is_drawn=True,
        media=PNG_TYPE,
    ),
)
