"""Operations that show an index: indexes, documents, facets, status, health, unreadable files, passages, PDF pages."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import islice
from typing import Annotated, Any

from fastapi import APIRouter, Query, Request, Response
from pydantic import Field

from semsearch import __version__
from semsearch.errors import SemsearchError
from semsearch.results.documents import DocumentInfo, DocumentPassages, DocumentText, Facets, PdfPage
from semsearch.results.reports import Checkup, Problem, Status
from semsearch.server.open_indexes import OpenIndexes, checked_filters
from semsearch.server.operations import (
    BYTES_TYPE,
    DocumentId,
    FilterParameters,
    IndexParameters,
    PageParameters,
    Parameters,
    answer,
    engine_of,
)

router = APIRouter()

# -- Indexes and documents ---------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class IndexEntry:
    """An index of the server. `problem` says why the other fields are unknown; empty if they are known."""

    name: str
    documents: int
    passages: int
    sentences: int
    size_bytes: int  # of all files
    generation: int  # number of writes
    roots: tuple[str, ...]  # the folders and files that it indexes
    problem: str


@dataclass(frozen=True, slots=True)
class IndexesAnswer:
    """All indexes of the server, by name."""

    indexes: tuple[IndexEntry, ...]


@dataclass(frozen=True, slots=True)
class DocumentsAnswer:
    """A page of an index's documents. `next` is the offset of the next page; null at the end."""

    index: str
    documents: tuple[DocumentInfo, ...]
    next: int | None


@dataclass(frozen=True, slots=True)
class Health:
    """The server is up."""

    status: str
    version: str


class DocumentsParameters(PageParameters, FilterParameters):
    """A page of the documents that match filters."""


class FacetsParameters(FilterParameters):
    """The facets of the documents that match filters."""

    values: int = Field(10, ge=0, le=1000, description="Maximum number of values per key.")


class StatusParameters(IndexParameters):
    """What the status of an index includes."""

    drift: bool = Field(False, description="Compute the drift, which needs the word vectors.")
    stale: bool = Field(False, description="Count the files that have changed.")


@router.get("/v1/indexes", response_model=IndexesAnswer)
async def list_indexes(request: Request, _: Annotated[Parameters, Query()]) -> Response:
    """List the indexes of the server"""
    return await answer(request, lambda indexes: {"indexes": [_entry(indexes, name) for name in indexes.names()]})


def _entry(indexes: OpenIndexes, name: str) -> dict[str, Any]:
    counts = ("documents", "passages", "sentences", "size_bytes", "generation")
    try:
        status = indexes.get(name).status(drift=False, stale=False)
    except SemsearchError as error:
        return {"name": name, **dict.fromkeys(counts, 0), "roots": [], "problem": str(error)}
    return {
        "name": name,
        **{key: getattr(status, key) for key in counts},
        "roots": list(status.roots),
        "problem": "",
    }


@router.get("/v1/documents", response_model=DocumentsAnswer)
async def list_documents(request: Request, asked: Annotated[DocumentsParameters, Query()]) -> Response:
    """List the documents of an index, without their text"""

    def work(indexes: OpenIndexes) -> dict[str, Any]:
        documents = indexes.get(asked.index).documents(checked_filters(asked.filters))
        page = [document.to_dict() for document in islice(documents, asked.offset, asked.offset + asked.limit + 1)]
        return {"index": indexes.name_of(asked.index), "documents": page[: asked.limit], "next": asked.next_of(page)}

    return await answer(request, work)


@router.get("/v1/facets", response_model=Facets)
async def get_facets(request: Request, asked: Annotated[FacetsParameters, Query()]) -> Response:
    """Count the documents that pass all filters by folder, format, date and metadata, each value with its filter"""
    return await answer(
        request,
        lambda indexes: indexes.get(asked.index).facets(checked_filters(asked.filters), values=asked.values).to_dict(),
    )


@router.get("/v1/documents/{id:any}", response_model=DocumentText)
async def get_document(request: Request, id: DocumentId, asked: Annotated[IndexParameters, Query()]) -> Response:
    """Return a document of an index, with its indexed text"""
    return await answer(request, lambda indexes: indexes.get(asked.index).document(id).to_dict())


@router.get(
    "/v1/files/{id:any}",
    response_class=Response,
    responses={200: {"description": "The file.", "content": {BYTES_TYPE: {}}}},
)
async def get_file(request: Request, id: DocumentId, asked: Annotated[IndexParameters, Query()]) -> Response:
    """Return the file of a document, if it is still the one that was indexed"""
    return await answer(request, lambda indexes: indexes.get(asked.index).file(id), media=BYTES_TYPE)


@router.get("/v1/status", response_model=Status)
async def get_status(request: Request, asked: Annotated[StatusParameters, Query()]) -> Response:
    """Return counts, settings and size of an index"""
    return await answer(
        request, lambda indexes: indexes.get(asked.index).status(drift=asked.drift, stale=asked.stale).to_dict()
    )


@router.get("/health", response_model=Health)
async def get_health() -> Health:
    """Return that the server is up"""
    return Health("ok", __version__)


# -- Health ------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class ProblemsAnswer:
    """A page of an index's problems. `next` is the offset of the next page; null at the end."""

    index: str
    problems: tuple[Problem, ...]
    total: int
    next: int | None


class CheckupParameters(IndexParameters):
    """What a checkup includes."""

    stale: bool = Field(True, description="Count the files that have changed.")


@router.get("/v1/checkup", response_model=Checkup)
async def get_checkup(request: Request, asked: Annotated[CheckupParameters, Query()]) -> Response:
    """Return the health of an index: status, disk use, and what to do"""
    return await answer(request, lambda indexes: indexes.get(asked.index).checkup(stale=asked.stale).to_dict())


@router.get("/v1/problems", response_model=ProblemsAnswer)
async def list_problems(request: Request, asked: Annotated[PageParameters, Query()]) -> Response:
    """List the files that were not fully read, each with the reason and what to do"""

    def work(indexes: OpenIndexes) -> dict[str, Any]:
        problems = indexes.get(asked.index).problems()
        rest = problems[asked.offset :]
        return {
            "index": indexes.name_of(asked.index),
            "problems": [problem.to_dict() for problem in rest[: asked.limit]],
            "total": len(problems),
            "next": asked.next_of(rest),
        }

    return await answer(request, work)


# -- Passages and pages ------------------------------------------------------------------------------------------------


class PassagesParameters(IndexParameters):
    """A page of the passages of a document, and where it starts."""

    offset: int = Field(0, ge=0, le=1 << 53, description="Number of entries to skip.")
    limit: int = Field(100, ge=1, le=1000, description="Maximum number of entries.")
    sentence: int | None = Field(None, ge=0, le=1 << 53, description="Start at the passage of this sentence id.")
    passage: int | None = Field(None, ge=0, le=1 << 53, description="Start at this passage id.")
    line: int | None = Field(
        None, ge=1, le=1 << 53, description="Start at this line, if sentence and passage do not exist."
    )
    page: int | None = Field(None, ge=1, le=1 << 53, description="Start at this page, if none of these exists.")


class PdfPageParameters(IndexParameters):
    """A page of a PDF."""

    page: int = Field(ge=1, le=10**6, description="Page number, from 1.")


class PictureParameters(PdfPageParameters):
    """The picture of a page."""

    width: int = Field(1000, ge=16, le=4000, description="Width in pixels.")


@router.get("/v1/passages/{id:any}", response_model=DocumentPassages)
async def list_passages(request: Request, id: DocumentId, asked: Annotated[PassagesParameters, Query()]) -> Response:
    """List the passages of a document, a page at a time, with the positions of their sentences"""
    options = asked.model_dump(exclude={"index"})
    return await answer(request, lambda indexes: indexes.get(asked.index).passages(id, **options).to_dict())


@router.get("/v1/pages/{id:any}", response_model=PdfPage)
async def get_page(request: Request, id: DocumentId, asked: Annotated[PdfPageParameters, Query()]) -> Response:
    """Return a page of a PDF: its size, and the positions of its sentences"""
    drawing = engine_of(request).drawing
    return await answer(request, lambda indexes: indexes.get(asked.index).page(id, asked.page).to_dict(), pool=drawing)


@router.get(
    "/v1/pictures/{id:any}",
    response_class=Response,
    responses={200: {"description": "The picture.", "content": {"image/png": {}}}},
)
async def get_picture(request: Request, id: DocumentId, asked: Annotated[PictureParameters, Query()]) -> Response:
    """Return a page of a PDF as an image"""
    return await answer(
        request,
        lambda indexes: indexes.get(asked.index).page_picture(id, asked.page, width=asked.width),
        pool=engine_of(request).drawing,
        media="image/png",
    )
