"""The map of an index: how complete it is, its regions, and its passages. Plain frozen data."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from semsearch.results.codec import Record

MapState = Literal["absent", "running", "outdated", "ready"]
MapPhase = Literal["reading", "comparing", "arranging", "naming", "writing"]


@dataclass(frozen=True, slots=True)
class MapProgress(Record):
    """The progress of making a map: its phase, and the finished part of it."""

    phase: MapPhase
    done: int = 0
    total: int = 0  # 0: unknown


@dataclass(frozen=True, slots=True)
class MapRegion(Record):
    """A region of a map, with the words that characterise its passages."""

    x: float
    y: float
    words: tuple[str, ...]
    passages: int
    level: int  # 0 for the few largest regions; higher ones are parts of these


@dataclass(frozen=True, slots=True)
class MapStatus(Record):
    """The state of the map of an index.

    It is outdated if the index was written to since: removed passages are left out, new ones are not in it.
    """

    state: MapState
    passages: int  # on the map; 0 if there is none
    of: int  # passages that the index has
    generation: int | None  # of the index when the map was made
    progress: MapProgress | None = None  # while it is being made


@dataclass(frozen=True, slots=True)
class MapPassage(Record):
    """A passage of an index, found by its id."""

    passage_id: int
    path: str  # as one would open it from here; the id, for a text that a program added
    root: str  # the root it was found under; "" for a text that a program added
    document: str  # the path below the root, or the id
    title: str  # of the document
    format: str
    headings: tuple[str, ...]  # outermost first
    line: int  # these of its first sentence
    page: int | None
    place: str | None
    start: int
    end: int
    text: str  # all of it
