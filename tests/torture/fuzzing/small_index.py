"""A small index for targets that need one: three documents, a table, a list of omissions, a map."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from small import small_vectors, write_articles

from semsearch.index import Index
from semsearch.readers.document import Text
from semsearch.word_vectors.table import VectorTable


@cache
def made_index(folder: Path) -> Path:
    """An index, in a folder, with a row in every table that a sync fills, and a map."""
    docs, path = folder / "docs", folder / "indexes" / "docs"
    write_articles(docs, 3)
    (docs / "ships.md").write_text("---\nauthor: Ada\nyear: 2024\n---\n# Ships\n\nA ship in the storm. A captain.\n")
    (docs / "people.csv").write_text("name,year\nThe captain,1815\nThe judge,1900\n")
    (docs / "odd.bin").write_bytes(b"\x00\xff" * 50)
    with Index.create(path, vectors=small_vectors(folder)) as index:
        index.sync(docs, metadata_columns=["year"])
        (docs / "ships.md").write_text("---\nauthor: Ada\nyear: 2024\n---\n# Ships\n\nA ship in the storm. A sailor.\n")
        index.sync()
        index.add([Text("added", "A ship, and a <b>sailor</b>.", metadata={"year": 2021})])
        index.map()
    return path


def vectors_of(path: Path) -> VectorTable:
    """The word vectors of an index that was made here."""
    return VectorTable(path.parents[1] / "small")


def open_index(path: Path) -> Index:
    """Open an index that was made here, or a copy of it beside it."""
    return Index.open(path, vectors=vectors_of(path), trust=True)
