"""The table of a segment."""

from __future__ import annotations

from dataclasses import dataclass

from semsearch.storage.segments import Segment


@dataclass(frozen=True, slots=True)
class SegmentTable:
    """A segment's table: its name for SQL, and the length of its vectors."""

    segment: Segment
    name: str
    dimension: int

    @property
    def ef(self) -> int:
        """The number of candidates that a search of its graph keeps (ef_search); 0 without a graph."""
        return self.segment.scan.probes if self.segment.scan is not None else 0
