"""An opened segment of postings, with the ids of its passages."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import numpy.typing as npt

from semsearch.errors import IndexDamaged, rebuild_command
from semsearch.lexical.postings import Postings
from semsearch.storage.segments import Segment

Int64 = npt.NDArray[np.int64]
Float32 = npt.NDArray[np.float32]
Float64 = npt.NDArray[np.float64]
Bool = npt.NDArray[np.bool_]


class LexicalSegment:
    """An opened segment of postings. Raises FileNotFoundError if the file has gone, IndexDamaged if it is another."""

    def __init__(self, path: Path, segment: Segment) -> None:
        self.id_ranges = segment.id_ranges
        self.postings = Postings(path, segment.sums)
        if len(self.postings) != len(segment.id_ranges):
            raise IndexDamaged(
                f"{path} has {len(self.postings)} passages, not {len(segment.id_ranges)}; "
                f"run: {rebuild_command(path.parents[1])}"
            )
