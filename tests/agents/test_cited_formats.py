"""What a search cites, in any format, is what reading that citation shows."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from packages import needed
from sample_files.placed_files import KINDS, PlacedKind

from semsearch.index import Index
from semsearch.mcp import Tools, use
from semsearch.server.open_indexes import OpenIndexes
from semsearch.word_vectors.table import VectorTable

for library in ("docx", "pptx", "openpyxl", "nbformat", "pypdfium2", "reportlab"):
    needed(library)

UNITS = [[f"The captain of ship q{unit}{letter}z sails the wave." for letter in "abc"] for unit in "klmnop"]


@pytest.fixture(scope="module")
def indexes(tmp_path_factory: pytest.TempPathFactory, small_vectors: VectorTable) -> Iterator[OpenIndexes]:
    """An index of a file of each kind, all with the same sentences."""
    folder = tmp_path_factory.mktemp("formats")
    (folder / "docs").mkdir()
    for kind in KINDS:
        (folder / "docs" / kind.name).write_bytes(kind.write(UNITS))
    with Index.create(folder / "indexes" / "docs", vectors=small_vectors) as made:
        made.sync(folder / "docs")
    opened = OpenIndexes(folder=folder / "indexes")
    yield opened
    opened.close()


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
def test_a_citation_leads_back_to_its_sentence(indexes: OpenIndexes, kind: PlacedKind) -> None:
    name, tools = kind.name, Tools(lambda: indexes)
    for unit in UNITS[::2]:
        (hit,) = use(tools.search, query=unit[1], filters=[f"path={name}"], limit=1)["results"]
        assert name in hit["citation"]
        read = use(tools.read, citation=hit["citation"], around=0)
        assert hit["sentence"] in " ".join(passage["text"] for passage in read["passages"])
        again = use(tools.read, citation=read["passages"][0]["citation"], around=0)
        assert again["passages"][0] == read["passages"][0]
        assert use(tools.similar, citation=hit["citation"])["results"] is not None
