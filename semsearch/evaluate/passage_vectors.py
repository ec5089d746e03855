"""The vectors of an index's passages as FAISS has them, without the search around: what a query costs at least."""

from __future__ import annotations

from pathlib import Path

from semsearch.dense.faiss_segment import Vectors
from semsearch.storage.database import SEGMENTS, IndexDatabase
from semsearch.storage.manifest import get_segments


def open_passage_vectors(folder: Path) -> list[Vectors]:
    """Open the segments that hold the vectors of passages in an index's folder. Raises as `IndexDatabase` does."""
    database = IndexDatabase(folder)
    try:
        with database.reading() as db:
            segments = [segment for segment in get_segments(db) if segment.kind == "passage"]
    finally:
        database.close()
    return [Vectors(folder / SEGMENTS / segment.file, segment) for segment in segments]
