"""What it costs to read files in another process: indexing with it and without, in turn, in processor time.

Run: python tests/benchmarks/reading_apart.py FOLDER [ROUNDS]
"""

from __future__ import annotations

import os
import statistics
import sys
import tempfile
import time
from pathlib import Path

from semsearch import Index
from semsearch.readers import read
from semsearch.readers.document import Document
from semsearch.readers.reader_process import end_reader_processes
from semsearch.readers.records import Columns
from semsearch.readers.registry import Format
from semsearch.word_vectors.loading import open_vectors

_APART = read._read_apart


def here(kind: Format, source: str | bytes, name: str, columns: Columns) -> Document:
    """Read a file in this process."""
    return read._read_here(kind, source, name, columns)


def spent() -> float:
    """Processor time of this process and of those that have ended."""
    others = os.times()
    return time.process_time() + others.children_user + others.children_system


def indexing(folder: str) -> float:
    """Index a folder in one process, with the start and end of the one that reads."""
    began = spent()
    with tempfile.TemporaryDirectory() as place, Index.create(Path(place, "index"), vectors=VECTORS) as index:
        index.sync(folder, processes=1)
        end_reader_processes()
        return spent() - began


if __name__ == "__main__":
    VECTORS = open_vectors("english")
    folder, rounds = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 5
    took: dict[str, list[float]] = {"here": [], "apart": []}
    indexing(folder)  # what is loaded once
    for _ in range(rounds):
        for name, way in (("here", here), ("apart", _APART)):
            read._read_apart = way
            took[name].append(indexing(folder))
    for name, seconds in took.items():
        print(f"{name}: {statistics.median(seconds):.2f} s of processor time, least {min(seconds):.2f}")
    print(f"apart / here: {statistics.median(b / a for a, b in zip(took['here'], took['apart'], strict=True)):.3f}")
