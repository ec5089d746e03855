"""The operations that show a document: its passages with their places, and the pages of a PDF with their pictures."""

from __future__ import annotations

from typing import Any

from semsearch.results.contents.pages import PdfPage
from semsearch.results.contents.passages import DocumentPassages
from semsearch.serve.open_indexes import OpenIndexes
from semsearch.serve.operations.asking import INDEX
from semsearch.serve.operations.looking import DOCUMENT
from semsearch.serve.operations.operation import Operation
from semsearch.serve.operations.parameters import Given, Parameter

PNG_TYPE = "image/png"
_MOST = 1 << 53
_PAGE = Parameter(
    "page", "whole number", "The number of a page; the first is 1.", is_required=True, least=1, most=10**6
)
_SOUGHT = (
    Parameter("sentence", "whole number", "The id of a sentence: the part shall be the one with it.", least=0),
    Parameter("passage", "whole number", "Likewise, the id of a passage.", least=0),
    Parameter("line", "whole number", "Likewise, a line, if there is no such sentence or passage.", least=1),
    Parameter("page", "whole number", "Likewise, a page, if there is none of these.", least=1),
)


def list_passages(indexes: OpenIndexes, given: Given) -> dict[str, Any]:
    """List the passages of a document, a part at a time, with the places of their sentences."""
    sought = given.only(parameter.name for parameter in _SOUGHT)
    return (
        indexes.get(given["index"])
        .passages(given["id"], offset=given["offset"], limit=given["limit"], **sought)
        .to_dict()
    )


def get_page(indexes: OpenIndexes, given: Given) -> dict[str, Any]:
    """Return a page of a PDF: its size, and where its sentences stand on it."""
    return indexes.get(given["index"]).page(given["id"], given["page"]).to_dict()


def get_picture(indexes: OpenIndexes, given: Given) -> bytes:
    """Return a page of a PDF as a picture."""
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
            Parameter("offset", "whole number", "How many to leave out.", default=0, least=0, most=_MOST),
            Parameter("limit", "whole number", "How many at most.", default=100, least=1, most=1000),
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
        (DOCUMENT, INDEX, _PAGE),
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
            _PAGE,
            Parameter(
                "width",
                "whole number",
                "Pixels from left to right, if not too many.",
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
