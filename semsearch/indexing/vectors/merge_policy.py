"""The merge policy: which segments to rewrite together. Pure.

A sync writes small segments and never touches large ones. If there are too many, the smallest are merged, and with them
each next larger one that is not larger than the merged ones so far, so that a vector is rewritten about as often as the
index doubles. A segment of which a quarter has been removed is rewritten without what was removed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from semsearch.storage.segments import LARGEST

MOST_SEGMENTS = 8
MOST_DEAD = 0.25


@dataclass(frozen=True, slots=True)
class SegmentSize:
    """The number of vectors or passages that a segment holds, and how many of these were removed."""

    count: int
    dead: int

    @property
    def alive(self) -> int:
        """The number of vectors or passages that were not removed."""
        return self.count - self.dead


def to_merge(
    sizes: Sequence[SegmentSize], *, most: int = MOST_SEGMENTS, largest: int = LARGEST, listed: int | None = None
) -> list[int]:
    """Choose the segments to merge, as indices into `sizes`; none if all is well.

    From `listed` vectors on a segment has lists, and is scanned faster: smaller ones are merged once they have twice as
    many together.
    """
    chosen = {index for index, size in enumerate(sizes) if size.dead > MOST_DEAD * size.count}
    without = {index for index, size in enumerate(sizes) if listed is not None and size.alive < listed}
    if listed is not None and sum(sizes[index].alive for index in without) >= 2 * listed:
        chosen |= without
    full = {index for index, size in enumerate(sizes) if size.alive > largest // 2}
    rest = sorted(
        (index for index in range(len(sizes)) if index not in chosen | full), key=lambda index: sizes[index].alive
    )
    excess = len(rest) + bool(chosen) - most
    if excess > 0:
        total = sum(sizes[index].alive for index in chosen)
        for number, index in enumerate(rest):
            if number > excess and sizes[index].alive > total:
                break
            chosen.add(index)
            total += sizes[index].alive
    return sorted(chosen)


def to_compact(sizes: Sequence[SegmentSize], *, largest: int = LARGEST) -> list[int]:
    """Choose the segments to rewrite so that nothing removed is left and there are as few as possible."""
    chosen = [index for index, size in enumerate(sizes) if size.dead or size.alive < largest]
    fewest = -(-sum(sizes[index].alive for index in chosen) // largest)
    return chosen if len(chosen) > fewest or any(sizes[index].dead for index in chosen) else []
