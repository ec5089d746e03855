"""Operations that show an index: indexes, documents, facets, status, unreadable files, passages, PDF pages, the map.

Computing a map needs no token: it changes no answer, and keeps only what can be computed again; it queues with the
writes, one at a time. Its points are bytes, in this order, all little-endian:

    "semmap 1"        8 bytes
    count             uint32
    generation        uint32, of the index
    ids               count float64, of the passages (whole numbers)
    x and y           count pairs of float32, from -1 to 1; y points up
    groups            count uint8 each: by folder, by type, by document (numbers of the groups of GET /v1/map)
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from itertools import islice
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
from fastapi import APIRouter, Query, Request, Response
from pydantic import Field

from semsearch import __version__
from semsearch.errors import SemsearchError, SourceError
from semsearch.index import Index
from semsearch.results.documents import (
    DocumentInfo,
    DocumentPassages,
    DocumentText,
    Facets,
    MapPassage,
    MapProgress,
    MapRegion,
    MapState,
    PdfPage,
)
from semsearch.results.reports import Checkup, Problem, Status
from semsearch.server.open_indexes import OpenIndexes
from semsearch.server.operations import (
    BYTES_TYPE,
    DocumentId,
    FilterParameters,
    IndexParameters,
    PageParameters,
    Parameters,
    ReportedWork,
    answer,
    answer_long,
    engine_of,
)

if TYPE_CHECKING:
    from semsearch.mapping.mapper import ColouredMap  # SciPy: half a second, which only makers of maps need

router = APIRouter()

# -- Indexes and documents ---------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class IndexEntry:
    """An index of the server. `problem` says why the other fields are unknown; empty if they are known."""

    name: str
    documents: int = 0
    passages: int = 0
    sentences: int = 0
    size_bytes: int = 0  # of all files
    generation: int = 0  # number of writes
    roots: tuple[str, ...] = ()  # the folders and files that it indexes
    problem: str = ""


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

    known_words: bool = Field(False, description="Look up words of each language in the word vectors.")
    stale: bool = Field(False, description="Count the files that have changed.")


@router.get("/v1/indexes", response_model=IndexesAnswer)
async def list_indexes(request: Request, _: Annotated[Parameters, Query()]) -> Response:
    """List the indexes of the server"""
    return await answer(
        request, lambda indexes: IndexesAnswer(tuple(_entry(indexes, name) for name in indexes.names()))
    )


def _entry(indexes: OpenIndexes, name: str) -> IndexEntry:
    try:
        status = indexes.get(name).status(known_words=False, stale=False)
    except SemsearchError as error:
        return IndexEntry(name, problem=str(error))
    counts = (status.documents, status.passages, status.sentences, status.size_bytes, status.generation)
    return IndexEntry(name, *counts, roots=tuple(status.roots))


@router.get("/v1/documents", response_model=DocumentsAnswer)
async def list_documents(request: Request, asked: Annotated[DocumentsParameters, Query()]) -> Response:
    """List the documents of an index, without their text"""

    def work(indexes: OpenIndexes) -> DocumentsAnswer:
        documents = indexes.get(asked.index).documents(asked.filters)
        page = tuple(islice(documents, asked.offset, asked.offset + asked.limit + 1))
        return DocumentsAnswer(indexes.name_of(asked.index), page[: asked.limit], asked.next_of(page))

    return await answer(request, work)


@router.get("/v1/facets", response_model=Facets)
async def get_facets(request: Request, asked: Annotated[FacetsParameters, Query()]) -> Response:
    """Count the documents that pass all filters by folder, format, date and metadata, each value with its filter"""
    return await answer(
        request,
        lambda indexes: indexes.get(asked.index).facets(asked.filters, values=asked.values),
    )


@router.get("/v1/documents/{id:any}", response_model=DocumentText)
async def get_document(request: Request, id: DocumentId, asked: Annotated[IndexParameters, Query()]) -> Response:
    """Return a document of an index, with its indexed text"""
    return await answer(request, lambda indexes: indexes.get(asked.index).document(id))


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
        request, lambda indexes: indexes.get(asked.index).status(known_words=asked.known_words, stale=asked.stale)
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
    return await answer(request, lambda indexes: indexes.get(asked.index).checkup(stale=asked.stale))


@router.get("/v1/problems", response_model=ProblemsAnswer)
async def list_problems(request: Request, asked: Annotated[PageParameters, Query()]) -> Response:
    """List the files that were not fully read, each with the reason and what to do"""

    def work(indexes: OpenIndexes) -> ProblemsAnswer:
        problems = indexes.get(asked.index).problems()
        rest = problems[asked.offset :]
        return ProblemsAnswer(
            indexes.name_of(asked.index), tuple(rest[: asked.limit]), len(problems), asked.next_of(rest)
        )

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
    return await answer(request, lambda indexes: indexes.get(asked.index).passages(id, **options))


@router.get("/v1/pages/{id:any}", response_model=PdfPage)
async def get_page(request: Request, id: DocumentId, asked: Annotated[PdfPageParameters, Query()]) -> Response:
    """Return a page of a PDF: its size, and the positions of its sentences"""
    drawing = engine_of(request).drawing
    return await answer(request, lambda indexes: indexes.get(asked.index).page(id, asked.page), pool=drawing)


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


# -- The map -----------------------------------------------------------------------------------------------------------

MAGIC = b"semmap 1"


class MapPassagesParameters(IndexParameters):
    """Passages of a map."""

    ids: tuple[Annotated[int, Field(ge=0, le=1 << 53)], ...] = Field(max_length=200, description="Ids of passages.")


@dataclass(frozen=True, slots=True)
class MapGroup:
    """A group of points of one colour."""

    name: str
    passages: int


@dataclass(frozen=True, slots=True)
class MapColouring:
    """A division of the points by folder, type or document. The groups of points are numbers of these."""

    by: str
    groups: tuple[MapGroup, ...]


@dataclass(frozen=True, slots=True)
class MapAnswer:
    """The map of an index, without its points. Colourings and regions are empty if there is no map."""

    index: str
    state: MapState
    passages: int  # on the map
    of: int  # passages in the index
    generation: int | None  # of the index when the map was made
    progress: MapProgress | None
    seen: int  # current generation of the index; the points name their own
    colourings: tuple[MapColouring, ...]
    regions: tuple[MapRegion, ...]


@dataclass(frozen=True, slots=True)
class MapPassagesAnswer:
    """Passages behind points of a map, in the requested order."""

    index: str
    passages: tuple[MapPassage, ...]


@router.get("/v1/map", response_model=MapAnswer)
async def get_map(request: Request, asked: Annotated[IndexParameters, Query()]) -> Response:
    """Return the state of an index's map, its colours and its regions"""
    return await answer(request, lambda indexes: _described(indexes.get(asked.index), indexes.name_of(asked.index)))


def _described(index: Index, name: str) -> MapAnswer:
    status, coloured = index.map_status(), index.map_coloured()
    return MapAnswer(
        name,
        **{field.name: getattr(status, field.name) for field in fields(status)},
        seen=0 if coloured is None else coloured.generation,
        colourings=tuple(
            MapColouring(colouring.by, tuple(map(MapGroup, colouring.names, map(int, colouring.sizes()))))
            for colouring in (() if coloured is None else coloured.colourings)
        ),
        regions=() if coloured is None else tuple(coloured.map.regions),
    )


@router.get(
    "/v1/map/points",
    response_class=Response,
    responses={200: {"description": "The points.", "content": {BYTES_TYPE: {}}}},
)
async def get_map_points(request: Request, asked: Annotated[IndexParameters, Query()]) -> Response:
    """Return the points of an index's map, as bytes; docs/developers/server.md describes them"""

    def work(indexes: OpenIndexes) -> bytes:
        coloured = indexes.get(asked.index).map_coloured()
        if coloured is None:
            raise SourceError("this index has no map yet; compute it with POST /v1/map")
        return to_bytes(coloured)

    return await answer(request, work, media=BYTES_TYPE)


def to_bytes(coloured: ColouredMap) -> bytes:
    """The points of a map as they are sent."""
    passages = coloured.map
    numbers = np.array([len(passages), coloured.generation % (1 << 32)], dtype="<u4").tobytes()
    groups = b"".join(colouring.numbers.tobytes() for colouring in coloured.colourings)
    return MAGIC + numbers + passages.ids.astype("<f8").tobytes() + passages.points.astype("<f4").tobytes() + groups


@router.get("/v1/map/passages", response_model=MapPassagesAnswer)
async def get_map_passages(request: Request, asked: Annotated[MapPassagesParameters, Query()]) -> Response:
    """Return the passages behind points of a map, without those that no longer exist"""

    return await answer(
        request,
        lambda indexes: MapPassagesAnswer(
            indexes.name_of(asked.index), tuple(indexes.get(asked.index).map_passages(asked.ids))
        ),
    )


@router.post("/v1/map", response_model=MapAnswer)
async def make_map(request: Request, body: IndexParameters) -> Response:
    """Compute the map of an index, if there is none of its newest state

    With `Accept: text/event-stream`, progress is sent as server-sent events, and at the end the answer, as `report`.
    """

    def prepare(indexes: OpenIndexes) -> ReportedWork:
        mapped, name = indexes.get(body.index), indexes.name_of(body.index)

        def work(report: Any) -> MapAnswer:
            mapped.map(progress=report)
            return _described(mapped, name)

        return work

    return await answer_long(request, prepare)
