"""The answers of the server about maps."""

from __future__ import annotations

from dataclasses import dataclass

from semsearch.results.contents.map_passage import MapPassage
from semsearch.results.contents.map_status import MapProgress, MapRegion, MapState


@dataclass(frozen=True, slots=True)
class MapGroup:
    """A group of points that have one colour."""

    name: str
    passages: int


@dataclass(frozen=True, slots=True)
class MapColouring:
    """A division of the points by folder, type or document. The groups of points are numbers of these."""

    by: str
    groups: tuple[MapGroup, ...]


@dataclass(frozen=True, slots=True)
class MapAnswer:
    """The map of an index, without its points. Colourings and regions are empty where there is no map."""

    index: str
    state: MapState
    passages: int  # on the map
    of: int  # passages that the index has
    generation: int | None  # of the index when the map was made
    seen: int  # generation of the index now; the points say which one they are of
    progress: MapProgress | None
    colourings: tuple[MapColouring, ...]
    regions: tuple[MapRegion, ...]


@dataclass(frozen=True, slots=True)
class MapPassagesAnswer:
    """Passages behind points of a map, in the order in which they were asked for."""

    index: str
    passages: tuple[MapPassage, ...]
