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


class Words:
    """An opened segment. Raises FileNotFoundError where the file has gone, IndexDamaged where it is another one."""

    def __init__(self, path: Path, segment: Segment) -> None:
        self.segment = segment
        self.postings = Postings(path)
        if len(self.postings) != len(segment.runs):
            raise IndexDamaged(
                f"{path} has {len(self.postings)} passages, not {len(segment.runs)}; "
                f"run: {rebuild_command(path.parents[1])}"
            )
