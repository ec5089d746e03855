"""Documents within documents: convert the offsets of a part's blocks to offsets in the whole source."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from dataclasses import replace

from semsearch.readers.align import Anchors
from semsearch.readers.document import Block


def lifted(block: Block, outer: Anchors, place: str | None = None) -> Block:
    """Convert a block whose offsets are in a part's text to offsets in the whole; `outer` are the part's anchors.

    Both mappings are piecewise: the result has a step wherever the block's mapping or the part's has one.
    """
    inner = block.anchors or ((0, block.start),)
    steps = [part for part, _ in outer]
    anchors: list[tuple[int, int]] = []
    for number, (clean, part) in enumerate(inner):
        end = inner[number + 1][0] if number + 1 < len(inner) else len(block.text)
        anchors.append((clean, source_offset(outer, part)))
        for step in range(bisect_right(steps, part), bisect_left(steps, part + end - clean)):
            anchors.append((clean + outer[step][0] - part, outer[step][1]))
    return replace(block, start=anchors[0][1], anchors=tuple(anchors), place=place or block.place)


def source_offset(anchors: Anchors, offset: int) -> int:
    """The offset in the source of an offset in the text."""
    text, source = anchors[max(0, bisect_right(anchors, (offset, 1 << 62)) - 1)]
    return source + offset - text
