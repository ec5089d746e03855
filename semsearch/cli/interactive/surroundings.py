"""The passages of a document before and after that of a hit, for the preview."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from semsearch.cli.asked_indexes import indexes_of
from semsearch.errors import SemsearchError
from semsearch.results.contents.passages import PlacedPassage
from semsearch.results.hits import Hit

if TYPE_CHECKING:
    from semsearch.cli.asked_indexes import Asked

_BEFORE, _AFTER = 3, 5  # passages


@dataclass(frozen=True, slots=True)
class Surroundings:
    """The passages before and after that of a hit, in their order."""

    hit: Hit
    before: tuple[PlacedPassage, ...] = ()
    after: tuple[PlacedPassage, ...] = ()


def surroundings_of(hit: Hit, opened: Asked) -> Surroundings:
    """Read the passages around that of a hit; none where they cannot be had: on a server, or when it has gone since."""
    index = indexes_of(opened).get(hit.index or "")
    if index is None:
        return Surroundings(hit)
    try:
        number = index.passages(hit.path, passage=hit.passage_id, limit=1).found
        if number is None:
            return Surroundings(hit)
        first = max(0, number - _BEFORE)
        found = index.passages(hit.path, offset=first, limit=number - first + 1 + _AFTER).passages
    except SemsearchError:
        return Surroundings(hit)
    before = number - first
    return Surroundings(hit, found[:before], found[before + 1 :])
