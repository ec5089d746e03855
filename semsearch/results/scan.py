"""The scan of a segment of vectors: its method and its recall. Plain frozen data."""

from __future__ import annotations

from dataclasses import dataclass

from semsearch.results.codec import Record


@dataclass(frozen=True, slots=True)
class Scan(Record):
    """How a segment is scanned, and the recall of its ten best, measured when it was written."""

    factory: str  # the index type, as FAISS calls it
    vectors: int
    lists: int  # 0: none, because all vectors or their codes are compared, or there is a graph
    probes: int  # lists searched for a query; of a graph, candidates kept (ef); of codes, candidates for each result
    recall: float  # of the ten best
    questions: int  # queries on which recall was measured
