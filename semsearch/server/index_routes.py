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
    Operations,
    PageParameters,
    Parameters,
    ReportedWork,
)

if TYPE_CHECKING:
    from semsearch.mapping.mapper import ColouredMap  # SciPy: half a second, which only makers of maps need

router = Operations()

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
    """The parts of an index's status."""

    known_words: bool = Field(False, description="Look up words of each language in the word vectors.")
    stale: bool = Field(False, description="Count the files that have changed.")


@router.operation("GET", "/v1/indexes")
def list_indexes(indexes: OpenIndexes, _: Parameters) -> IndexesAnswer:
    """List the indexes of the server"""
    return IndexesAnswer(tuple(_entry(indexes, name) for name in indexes.names()))


def _entry(indexes: OpenIndexes, name: str) -> IndexEntry:
    try:
        status = indexes.get(name).status(known_words=False, stale=False)
    except SemsearchError as error:
        return IndexEntry(name, problem=str(error))
    counts = (status.documents, status.passages, status.sentences, status.size_bytes, status.generation)
    return IndexEntry(name, *counts, roots=tuple(status.roots))


@router.operation("GET", "/v1/documents")
def list_documents(indexes: OpenIndexes, parameters: DocumentsParameters) -> DocumentsAnswer:
    """List the documents of an index, without their text"""
    documents = indexes.get(parameters.index).documents(parameters.filters)
    page = tuple(islice(documents, parameters.offset, parameters.offset + parameters.limit + 1))
    return DocumentsAnswer(indexes.name_of(parameters.index), page[: parameters.limit], parameters.next_of(page))


@router.operation("GET", "/v1/facets")
def get_facets(indexes: OpenIndexes, parameters: FacetsParameters) -> Facets:
    """Count the documents that pass all filters by folder, format, date and metadata, each value with its filter"""
    return indexes.get(parameters.index).facets(parameters.filters, values=parameters.values)


@router.operation("GET", "/v1/documents/{id:any}")
def get_document(indexes: OpenIndexes, id: DocumentId, parameters: IndexParameters) -> DocumentText:
    """Return a document of an index, with its indexed text"""
    return indexes.get(parameters.index).document(id)


@router.operation("GET", "/v1/files/{id:any}", media=BYTES_TYPE)
def get_file(indexes: OpenIndexes, id: DocumentId, parameters: IndexParameters) -> bytes:
    """Return the file of a document, if it is still the one that was indexed"""
    return indexes.get(parameters.index).file(id)


@router.operation("GET", "/v1/status")
def get_status(indexes: OpenIndexes, parameters: StatusParameters) -> Status:
    """Return counts, settings and size of an index"""
    return indexes.get(parameters.index).status(known_words=parameters.known_words, stale=parameters.stale)


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
    """The parts of a checkup."""

    stale: bool = Field(True, description="Count the files that have changed.")


@router.operation("GET", "/v1/checkup")
def get_checkup(indexes: OpenIndexes, parameters: CheckupParameters) -> Checkup:
    """Return the health of an index: status, disk use, and what to do"""
    return indexes.get(parameters.index).checkup(stale=parameters.stale)


@router.operation("GET", "/v1/problems")
def list_problems(indexes: OpenIndexes, parameters: PageParameters) -> ProblemsAnswer:
    """List the files that were not fully read, each with the reason and what to do"""
    problems = indexes.get(parameters.index).problems()
    rest = problems[parameters.offset :]
    return ProblemsAnswer(
        indexes.name_of(parameters.index), tuple(rest[: parameters.limit]), len(problems), parameters.next_of(rest)
    )


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


@router.operation("GET", "/v1/passages/{id:any}")
def list_passages(indexes: OpenIndexes, id: DocumentId, parameters: PassagesParameters) -> DocumentPassages:
    """List the passages of a document, a page at a time, with the positions of their sentences"""
    return indexes.get(parameters.index).passages(id, **parameters.model_dump(exclude={"index"}))


@router.operation("GET", "/v1/pages/{id:any}", pool="drawing")
def get_page(indexes: OpenIndexes, id: DocumentId, parameters: PdfPageParameters) -> PdfPage:
    """Return a page of a PDF: its size, and the positions of its sentences"""
    return indexes.get(parameters.index).page(id, parameters.page)


@router.operation("GET", "/v1/pictures/{id:any}", pool="drawing", media="image/png")
def get_picture(indexes: OpenIndexes, id: DocumentId, parameters: PictureParameters) -> bytes:
    """Return a page of a PDF as an image"""
    return indexes.get(parameters.index).page_picture(id, parameters.page, width=parameters.width)


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


@router.operation("GET", "/v1/map")
def get_map(indexes: OpenIndexes, parameters: IndexParameters) -> MapAnswer:
    """Return the state of an index's map, its colours and its regions"""
    return _described(indexes.get(parameters.index), indexes.name_of(parameters.index))


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


@router.operation("GET", "/v1/map/points", media=BYTES_TYPE)
def get_map_points(indexes: OpenIndexes, parameters: IndexParameters) -> bytes:
    """Return the points of an index's map, as bytes; docs/developers/server.md describes them"""
    coloured = indexes.get(parameters.index).map_coloured()
    if coloured is None:
        raise SourceError("this index has no map yet; compute it with POST /v1/map")
    return to_bytes(coloured)


def to_bytes(coloured: ColouredMap) -> bytes:
    """The points of a map as they are sent."""
    passages = coloured.map
    numbers = np.array([len(passages), coloured.generation % (1 << 32)], dtype="<u4").tobytes()
    groups = b"".join(colouring.numbers.tobytes() for colouring in coloured.colourings)
    return MAGIC + numbers + passages.ids.astype("<f8").tobytes() + passages.points.astype("<f4").tobytes() + groups


@router.operation("GET", "/v1/map/passages")
def get_map_passages(indexes: OpenIndexes, parameters: MapPassagesParameters) -> MapPassagesAnswer:
    """Return the passages behind points of a map, without those that no longer exist"""
    passages = indexes.get(parameters.index).map_passages(parameters.ids)
    return MapPassagesAnswer(indexes.name_of(parameters.index), tuple(passages))


@router.operation("POST", "/v1/map", MapAnswer, pool="writing", is_long=True)
def make_map(indexes: OpenIndexes, parameters: IndexParameters) -> ReportedWork:
    """Compute the map of an index, if there is none of its newest state

    With `Accept: text/event-stream`, progress is sent as server-sent events, and at the end the answer, as `report`.
    """
    mapped, name = indexes.get(parameters.index), indexes.name_of(parameters.index)

    def work(report: Any) -> MapAnswer:
        mapped.map(progress=report)
        return _described(mapped, name)

    return work
