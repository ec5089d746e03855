"""Columns of tables and records, chosen for a root: kept with it, read again when they change, there for filters."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from console import semsearch

from semsearch.errors import UsageError
from semsearch.index import Index
from semsearch.word_vectors.table import VectorTable

ROWS = """title,body,year,author
Ships,The captain of a ship sails.,1999,Ann
Storms,A storm and a wave at sea.,2003,Ben
Bread,Bread from the oven.,2010,Ann
Flour,Flour and butter in the dough.,,Cid
"""
OTHER = "planet,moons\nMars,2\n"
TITLE_AND_BODY = {"text_columns": ["title", "body"], "metadata_columns": ["year", "author"]}


@pytest.fixture
def docs(tmp_path: Path) -> Path:
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "works.csv").write_text(ROWS, encoding="utf-8")
    return tmp_path / "docs"


@pytest.fixture
def index(tmp_path: Path, small_vectors: VectorTable) -> Iterator[Index]:
    with Index.create(tmp_path / "index", vectors=small_vectors.folder) as made:
        yield made
        assert made.verify() == []


def titles(index: Index, query: str = "captain storm bread flour", *filters: str) -> set[str]:
    return {hit.passage.split("\n")[0] for hit in index.search(query, 10, filters=filters, duplicates=True)}


def test_a_hit_is_a_record_with_its_metadata(index: Index, docs: Path) -> None:
    index.sync(docs, **TITLE_AND_BODY)
    hit = index.search("captain of a ship")[0]
    assert hit.passage == "Ships\n\nThe captain of a ship sails."
    assert (hit.metadata, hit.place, hit.line) == ({"year": "1999", "author": "Ann"}, "row 2", 2)
    assert index.status().passages == 4


@pytest.mark.parametrize(
    ("filters", "found"),
    [
        (["year>=2003"], {"Storms", "Bread"}),
        (["author=ann"], {"Ships", "Bread"}),
        (["author=Ann", "year>2000"], {"Bread"}),
        (["author!=Ann"], {"Storms", "Flour", "mars"}),
        (["year!=1999"], {"Storms", "Bread", "Flour", "mars"}),
        (["format=table", "author~B*"], {"Storms"}),
        (["*.md"], {"mars"}),
        (["year<1"], set()),
    ],
)
def test_filters_are_tried_on_each_record(index: Index, docs: Path, filters: list[str], found: set[str]) -> None:
    (docs / "other.md").write_text("---\nauthor: Dan\n---\nmars\n", encoding="utf-8")
    index.sync(docs, **TITLE_AND_BODY)
    assert titles(index, "captain storm bread flour mars", *filters) == found


def test_a_documents_own_metadata_is_there_beside_the_records(index: Index, docs: Path) -> None:
    (docs / "works.csv").unlink()
    (docs / "works.jsonl").write_text(
        json.dumps({"body": "A ship.", "year": 7, "by": {"name": "Ann"}}), encoding="utf-8"
    )
    index.sync(docs, text_columns=["body"], metadata_columns=["by", "year"])
    assert index.search("ship", filters=["by.name=Ann", "year=7"])[0].metadata == {"by.name": "Ann", "year": 7}
    assert index.search("ship", filters=["year=8"]) == []


def test_columns_stay_with_their_root(index: Index, docs: Path) -> None:
    index.sync(docs, **TITLE_AND_BODY)
    (docs / "works.csv").write_text(ROWS + "Mars,A planet with moon.,2020,Dan\n", encoding="utf-8")
    assert index.sync().changed == 1
    assert titles(index, "planet", "author=Dan") == {"Mars"}
    (docs / "more.csv").write_text("title,body\nSun,The sun is a star.\n", encoding="utf-8")
    assert index.sync(docs / "more.csv").added == 1
    assert "Sun" in titles(index, "sun star")


def test_other_columns_have_tables_read_again_and_nothing_else(index: Index, docs: Path) -> None:
    (docs / "notes.md").write_text("A violin.\n", encoding="utf-8")
    index.sync(docs, **TITLE_AND_BODY)
    done = index.sync(docs, text_columns=["body"], metadata_columns=["title"])
    assert (done.changed, done.unchanged) == (1, 1)
    assert index.search("captain")[0].metadata == {"title": "Ships"}
    assert index.sync(docs, text_columns=["body"], metadata_columns=["title"]).changed == 0
    assert index.sync(docs, text_columns=["*"]).changed == 1
    assert index.search("captain")[0].metadata == {}
    assert index.status().passages == 2


def test_a_removed_table_leaves_no_metadata(index: Index, docs: Path) -> None:
    index.sync(docs, **TITLE_AND_BODY)
    index.remove(docs / "works.csv")
    with index._database.reading() as db:
        assert db.execute("SELECT count(*) FROM record_metadata").fetchone() == (0,)


def test_a_column_that_no_file_has_changes_nothing(index: Index, docs: Path) -> None:
    (docs / "other.csv").write_text(OTHER, encoding="utf-8")
    with pytest.raises(UsageError, match=r"no file in .* has a column 'titel'; the columns are .*title, body, year"):
        index.sync(docs, text_columns=["titel", "body"])
    assert index.status().documents == 0
    index.sync(docs, **TITLE_AND_BODY)
    with pytest.raises(UsageError, match="has a column 'when'"):
        index.sync(docs, text_columns=["body"], metadata_columns=["when"])
    assert index.search("captain")[0].metadata == {"year": "1999", "author": "Ann"}


def test_a_table_without_these_columns_is_read_as_it_is(index: Index, docs: Path) -> None:
    (docs / "other.csv").write_text(OTHER, encoding="utf-8")
    index.sync(docs, **TITLE_AND_BODY)
    hit = index.search("planet Mars moon")[0]
    assert (hit.passage, hit.metadata) == ("planet: Mars\nmoons: 2", {})


def test_columns_are_chosen_for_a_root_and_for_all_of_it(index: Index, docs: Path) -> None:
    with pytest.raises(UsageError, match="columns has an empty text"):
        index.sync(docs, text_columns=[" "])
    index.sync(docs)
    with pytest.raises(UsageError, match=r"works\.csv is inside .*docs, which is indexed as a whole"):
        index.sync(docs / "works.csv", **TITLE_AND_BODY)
    with pytest.raises(UsageError, match="give its path as well"):
        index.sync(**TITLE_AND_BODY)
    index.sync(docs, **TITLE_AND_BODY)
    assert titles(index, "captain", "author=Ann") == {"Ships", "Bread"}


def test_a_root_that_becomes_part_of_another_takes_its_columns(index: Index, docs: Path) -> None:
    index.sync(docs / "works.csv", **TITLE_AND_BODY)
    done = index.sync(docs)
    assert any("its chosen columns are dropped" in text for text in done.warnings)
    assert index.search("captain")[0].metadata == {}
    assert index.status().passages == 1


def test_a_rebuild_and_a_refit_keep_the_metadata(index: Index, docs: Path) -> None:
    index.sync(docs, **TITLE_AND_BODY)
    index.refit()
    index.rebuild()
    assert titles(index, "captain", "author=Ann") == {"Ships", "Bread"}


def test_the_command_line_takes_names_with_commas_between_them(
    docs: Path, small_vectors: VectorTable, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(docs.parent)
    monkeypatch.delenv("SEMSEARCH_INDEXES", raising=False)
    options = ["--text-columns", "title, body", "--metadata-columns", "year", "--metadata-columns", "author"]
    assert semsearch("index", "docs", *options, "--vectors", small_vectors.folder).status == 0
    (hit,) = semsearch("query", "ship", "--filter", "author=Ann", "--filter", "year<2000", "--json").json["hits"]
    assert hit["metadata"] == {"year": "1999", "author": "Ann"}
    wrong = semsearch("index", "docs", "--text-columns", "nothing")
    assert wrong.status == 2
    assert wrong.err.startswith("semsearch: no file in ")
