"""Operations of maps: the state of a map, its points, the passages behind points, and computing a map.

Computing a map needs no token: it changes no answer, and keeps only what can be computed again; it queues with the
writes, one at a time. The points are bytes, in this order, all little-endian:

    "semmap 1"        8 bytes
    count             uint32
    generation        uint32, of the index
    ids               count float64, of the passages (whole numbers)
    x and y           count pairs of float32, from -1 to 1; y points up
    groups            count uint8 each: by folder, by type, by document (numbers of the groups of GET /v1/map)
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
from fastapi import APIRouter, Query, Request, Response
from pydantic import Field

from semsearch.errors import SourceError
from semsearch.index import Index
from semsearch.results.documents import MapPassage, MapProgress, MapRegion, MapState
from semsearch.server.open_indexes import OpenIndexes
from semsearch.server.operations import BYTES_TYPE, IndexParameters, ReportedWork, answer, answer_long

if TYPE_CHECKING:
    from semsearch.mapping.mapper import ColouredMap  # SciPy: half a second, which only makers of maps need

router = APIRouter()

# -- Parameters and answers --------------------------------------------------------------------------------------------


class MapBody(IndexParameters):
    """How a map is computed."""

    anew: bool = Field(False, description="Compute the whole map again.")


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
    seen: int  # current generation of the index; the points name their own
    progress: MapProgress | None
    colourings: tuple[MapColouring, ...]
    regions: tuple[MapRegion, ...]


@dataclass(frozen=True, slots=True)
class MapPassagesAnswer:
    """Passages behind points of a map, in the requested order."""

    index: str
    passages: tuple[MapPassage, ...]


# -- Operations --------------------------------------------------------------------------------------------------------

MAGIC = b"semmap 1"


@router.get("/v1/map", response_model=MapAnswer)
async def get_map(request: Request, asked: Annotated[IndexParameters, Query()]) -> Response:
    """Return the state of an index's map, its colours and its regions"""
    return await answer(request, lambda indexes: _described(indexes.get(asked.index), indexes.name_of(asked.index)))


def _described(index: Index, name: str) -> dict[str, Any]:
    status, coloured = index.map_status(), index.map_coloured()
    colourings = () if coloured is None else coloured.colourings
    return {
        "index": name,
        **status.to_dict(),
        "seen": 0 if coloured is None else coloured.generation,
        "colourings": [
            {
                "by": colouring.by,
                "groups": [
                    {"name": group, "passages": size}
                    for group, size in zip(colouring.names, colouring.sizes(), strict=True)
                ],
            }
            for colouring in colourings
        ],
        "regions": [] if coloured is None else [region.to_dict() for region in coloured.map.regions],
    }


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

    def work(indexes: OpenIndexes) -> dict[str, Any]:
        passages = indexes.get(asked.index).map_passages(asked.ids)
        return {"index": indexes.name_of(asked.index), "passages": [passage.to_dict() for passage in passages]}

    return await answer(request, work)


@router.post("/v1/map", response_model=MapAnswer)
async def make_map(request: Request, body: MapBody) -> Response:
    """Compute the map of an index, or bring it up to date

    With `Accept: text/event-stream`, progress is sent as server-sent events, and at the end the answer, as `report`.
    """

    def prepare(indexes: OpenIndexes) -> ReportedWork:
        mapped, name = indexes.get(body.index), indexes.name_of(body.index)

        def work(report: Any) -> dict[str, Any]:
            mapped.map(anew=body.anew, progress=report)
            return _described(mapped, name)

        return work

    return await answer_long(request, prepare)
