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

import gzip
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from semsearch.errors import SourceError
from semsearch.frozen import dataclass
from semsearch.index import Index
from semsearch.results.documents import MapPassage, MapProgress, MapRegion, MapState
from semsearch.serve.open_indexes import OpenIndexes
from semsearch.serve.operation import Operation, Report
from semsearch.serve.request_parameters import Given, Parameter
from semsearch.serve.search_routes import INDEX

if TYPE_CHECKING:
    from semsearch.mapping.mapper import ColouredMap  # start-up time: SciPy

# -- Answers -----------------------------------------------------------------------------------------------------------


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

POINTS_TYPE = "application/octet-stream"
MAGIC = b"semmap 1"
_QUICK = 1  # of gzip's levels: points hardly get smaller by more work


def get_map(indexes: OpenIndexes, given: Given) -> dict[str, Any]:
    """Return the state of an index's map, its colours and its regions."""
    return _described(indexes.get(given["index"]), indexes.name_of(given["index"]))


def _described(index: Index, name: str) -> dict[str, Any]:
    status, found = index.map_status(), index.map_coloured()
    colours = () if found is None else found.colourings
    return {
        "index": name,
        **status.to_dict(),
        "seen": 0 if found is None else found.generation,
        "colourings": [
            {
                "by": each.by,
                "groups": [
                    {"name": group, "passages": size} for group, size in zip(each.names, each.sizes(), strict=True)
                ],
            }
            for each in colours
        ],
        "regions": [] if found is None else [region.to_dict() for region in found.map.regions],
    }


def get_points(indexes: OpenIndexes, given: Given) -> bytes:
    """Return the points of an index's map, as bytes; docs/developers/server.md describes them."""
    found = indexes.get(given["index"]).map_coloured()
    if found is None:
        raise SourceError("this index has no map yet; compute it with POST /v1/map")
    points = to_bytes(found)
    return gzip.compress(points, _QUICK, mtime=0) if given["compress"] else points


def to_bytes(found: ColouredMap) -> bytes:
    """The points of a map as they are sent."""
    made = found.map
    numbers = np.array([len(made), found.generation % (1 << 32)], dtype="<u4").tobytes()
    groups = b"".join(each.numbers.tobytes() for each in found.colourings)
    return MAGIC + numbers + made.ids.astype("<f8").tobytes() + made.points.astype("<f4").tobytes() + groups


def get_map_passages(indexes: OpenIndexes, given: Given) -> dict[str, Any]:
    """Return the passages behind points of a map, without those that no longer exist."""
    found = indexes.get(given["index"]).map_passages(given["ids"])
    return {"index": indexes.name_of(given["index"]), "passages": [passage.to_dict() for passage in found]}


def prepare_map(indexes: OpenIndexes, given: Given) -> Callable[[Report | None], dict[str, Any]]:
    """Find the index; return the function that computes its map."""
    index, name = indexes.get(given["index"]), indexes.name_of(given["index"])

    def make(report: Report | None) -> dict[str, Any]:
        index.map(anew=given["anew"], progress=report)
        return _described(index, name)

    return make


def make_map(indexes: OpenIndexes, given: Given) -> dict[str, Any]:
    """Compute the map of an index, or bring it up to date.

    With `Accept: text/event-stream`, progress is sent as server-sent events, and at the end the answer, as `report`.
    """
    return prepare_map(indexes, given)(None)


MAPPING = (
    Operation("GET", "/v1/map", "get_map", get_map.__doc__ or "", get_map, MapAnswer, (INDEX,)),
    Operation(
        "POST",
        "/v1/map",
        "make_map",
        make_map.__doc__ or "",
        make_map,
        MapAnswer,
        (INDEX, Parameter("anew", "true or false", "Compute the whole map again.", default=False)),
        {"anew": False},
        is_long=True,
        stream=prepare_map,
    ),
    Operation(
        "GET",
        "/v1/map/points",
        "get_map_points",
        get_points.__doc__ or "",
        get_points,
        bytes,
        (INDEX, Parameter("compress", "true or false", "Compress the bytes by gzip.", default=False)),
        media=POINTS_TYPE,
    ),
    Operation(
        "GET",
        "/v1/map/passages",
        "get_map_passages",
        get_map_passages.__doc__ or "",
        get_map_passages,
        MapPassagesAnswer,
        (INDEX, Parameter("ids", "whole numbers", "Ids of passages.", is_required=True, most=200)),
        {"ids": [17, 18]},
    ),
)
