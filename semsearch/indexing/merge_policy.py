"""The rule by which segments are written anew. Pure.

A sync writes small segments and never touches large ones. Where there are too many, the smallest go together, and with
them every next larger one that is not larger than what goes together already, so that a vector is rewritten about as
often as the index doubles. A segment of which a quarter has been removed is rewritten without what was removed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from semsearch.storage.segments import LARGEST

MOST_SEGMENTS = 8
MOST_DEAD = 0.25


@dataclass(frozen=True, slots=True)
class Size:
    """How many vectors or passages a segment holds, and how many of them belong to removed documents."""

    count: int
    dead: int

    @property
    def alive(self) -> int:
        return self.count - self.dead


def to_merge(
    sizes: Sequence[Size], *, most: int = MOST_SEGMENTS, largest: int = LARGEST, listed: int | None = None
) -> list[int]:
    """Which segments to rewrite together, as positions in `sizes`; none where all is well.

    From `listed` vectors on a segment has lists, and is scanned faster: smaller ones that have twice as many together
    become one.
    """
    chosen = {place for place, size in enumerate(sizes) if size.dead > MOST_DEAD * size.count}
    without = {place for place, size in enumerate(sizes) if listed is not None and size.alive < listed}
    if listed is not None and sum(sizes[place].alive for place in without) >= 2 * listed:
        chosen |= without
    full = {place for place, size in enumerate(sizes) if size.alive > largest // 2}
    rest = sorted(
        (place for place in range(len(sizes)) if place not in chosen | full), key=lambda place: sizes[place].alive
    )
    excess = len(rest) + bool(chosen) - most
    if excess > 0:
        total = sum(sizes[place].alive for place in chosen)
        for number, place in enumerate(rest):
            if number > excess and sizes[place].alive > total:
                break
            chosen.add(place)
            total += sizes[place].alive
    return sorted(chosen)


def to_compact(sizes: Sequence[Size], *, largest: int = LARGEST) -> list[int]:
    """Which segments to rewrite so that nothing removed is left and there are as few as there need be."""
    chosen = [place for place, size in enumerate(sizes) if size.dead or size.alive < largest]
    fewest = -(-sum(sizes[place].alive for place in chosen) // largest)
    return chosen if len(chosen) > fewest or any(sizes[place].dead for place in chosen) else []
