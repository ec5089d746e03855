"""A passage has one id wherever it is indexed, and metadata that say where it stands."""

from __future__ import annotations

import json
from pathlib import Path

from small import write_articles

from semsearch.index import Index
from semsearch.multi_index import MultiIndex
from semsearch.readers.document import Text
from semsearch.word_vectors.table import VectorTable
from semsearch_integrations.adapted_index import passage_id, passage_metadata, searchable

GUIDE = "---\nyear: 2024\nsource: https://example.org\n---\n# Ships\n\nThe captain sails the ship.\n"


def ids(index: Index) -> set[str]:
    """The ids of all passages of files."""
    return {passage_id(hit) for hit in index.search("ship", 100, filters=["*.md"], duplicates=True)}


def test_an_id_lasts_from_index_to_index_and_through_a_rebuild(tmp_path: Path, small_vectors: VectorTable) -> None:
    write_articles(tmp_path / "docs", 6)
    with Index.create(tmp_path / "first", vectors=small_vectors) as index:
        index.sync(tmp_path / "docs")
        expected = ids(index)
        assert len(expected) == index.status().passages == 18
        index.rebuild()
        assert ids(index) == expected
    with Index.create(tmp_path / "second", vectors=small_vectors) as index:
        index.add([Text("before", "Bread is baked.")])
        index.sync(tmp_path / "docs")
        assert ids(index) == expected


def test_metadata_say_where_a_passage_stands(tmp_path: Path, small_vectors: VectorTable) -> None:
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "ships.md").write_text(GUIDE)
    (tmp_path / "docs" / "bread.txt").write_text("The flour.\n\nBread is baked in the oven.\n")
    with Index.create(tmp_path / "index", vectors=small_vectors) as index:
        index.sync(tmp_path / "docs")
        (ship,) = index.search("captain", 1)
        (bread,) = index.search("oven", 1, context=1)
        guide, text = passage_metadata(ship, index), passage_metadata(bread, index)
    assert json.loads(json.dumps(guide)) == guide
    assert (guide["source"], guide["year"], guide["score"]) == ("https://example.org", 2024, ship.score)
    assert (guide["line"], guide["headings"], guide["page"]) == (7, ["Ships"], None)
    assert guide["citation"] == f"{ship.path}:7"
    assert (guide["sentence"], guide["index"]) == ("The captain sails the ship.", str(tmp_path / "index"))
    assert (text["source"], text["before"], text["after"]) == (f"{bread.path}:3", ["The flour."], [])
    assert "before" not in guide
    assert "also_in" not in guide


def test_metadata_name_the_documents_that_say_the_same(tmp_path: Path, small_vectors: VectorTable) -> None:
    with Index.create(tmp_path / "index", vectors=small_vectors) as index:
        index.add([Text("one", "A ship in the storm."), Text("two", "A ship in the storm.")])
        (hit,) = index.search("ship")
        assert {hit.path, *passage_metadata(hit, index)["also_in"]} == {"one", "two"}


def test_of_several_indexes_each_passage_names_its_own(tmp_path: Path, small_vectors: VectorTable) -> None:
    for name, text in (("sea", "A ship in the storm."), ("land", "The ship is at the coast.")):
        with Index.create(tmp_path / name, vectors=small_vectors) as index:
            index.add([Text("one", text)])
    with MultiIndex.open(tmp_path / "sea", tmp_path / "land", vectors=small_vectors) as several:
        found = [passage_metadata(hit, several) for hit in searchable(several).search("ship")]
    assert {each["index"] for each in found} == {"sea", "land"}
