"""Boosts for the hits of an index among several: `index=notes^0.1`. The others are for each index to give."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from semsearch.results.hits import Hit
from semsearch.results.options import SearchOptions
from semsearch.results.origin import Boosted
from semsearch.search.ranking.boosts import parse_boost

_INDEX = "index="


@dataclass(frozen=True, slots=True)
class DividedBoosts:
    """The options for each index, and the points for the hits of an index, by its name."""

    options: SearchOptions
    points: dict[str, float]

    @classmethod
    def of(cls, options: SearchOptions) -> DividedBoosts:
        """Divide the boosts of a search. Raises UsageError for one that makes no sense."""
        own = [parse_boost(text) for text in options.boosts if text.lstrip().startswith(_INDEX)]
        others = tuple(text for text in options.boosts if not text.lstrip().startswith(_INDEX))
        points: dict[str, float] = {}
        for boost in own:
            for name in boost.text.removeprefix(_INDEX).split("|"):
                points[name.strip()] = points.get(name.strip(), 0.0) + boost.points
        return cls(replace(options, boosts=others) if own else options, points)

    def given(self, hits: Sequence[Hit]) -> list[Hit]:
        """Hits with the points of their indexes, best first."""
        if not self.points:
            return list(hits)
        return sorted(map(self._with_points, hits), key=lambda hit: -hit.score)

    def _with_points(self, hit: Hit) -> Hit:
        points = self.points.get(str(hit.index), 0.0)
        if not points or hit.origin is None:
            return hit if not points else replace(hit, score=hit.score + points)
        part = Boosted(f"{_INDEX}{hit.index}", points, points, 1.0)
        origin = replace(hit.origin, boosts=(*(hit.origin.boosts or ()), part))
        return replace(hit, score=hit.score + points, origin=origin)
