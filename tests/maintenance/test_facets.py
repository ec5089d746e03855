"""Facets count what their filters select: checked on an index by asking for the documents of each."""

from __future__ import annotations

import os
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path

import pytest

from semsearch.errors import UsageError
from semsearch.index import Index
from semsearch.readers.document import Text
from semsearch.results.documents import DateFacet, Facet, Facets, FacetValue
from semsearch.word_vectors.table import VectorTable

FILES = {
    "start.md": "---\nauthor: Ada\nyear: 2021\ntags: [setup, first steps]\ndate: 2024-05-01\n---\n# A ship\n",
    "guide/keys.md": '---\nauthor: grace\nyear: "2021"\nsite: {lang: en}\ndate: 2024-05-31T10:00:00\n---\n# A star\n',
    "guide/deep/bread.md": "---\nAuthor: Grace\nyear: 2019\ntags: setup\ndate: 2023-11\n---\n# Bread\n",
    "guide/deep/rose.txt": "A rose in the garden.\n",
    "docs/a[1]/x|y/judge.md": '---\nauthor: "  A|B..C "\n"my key": "*"\ndate: 2024\n---\n# The judge\n',
    "docs/a[1]/court.html": "<html><head><meta name='author' content='Ada'></head><body>The court.</body></html>",
}
TIMES = {"start.md": datetime(2020, 2, 1), "guide/keys.md": datetime(2020, 3, 31, 23, 59)}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("faceted") / "docs"
    for name, text in FILES.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
        if name in TIMES:
            os.utime(folder / name, (TIMES[name].timestamp(),) * 2)
    return folder


@pytest.fixture(scope="module")
def index(folder: Path, tmp_path_factory: pytest.TempPathFactory, small_vectors: VectorTable) -> Iterator[Index]:
    with Index.create(tmp_path_factory.mktemp("index") / "index", vectors=small_vectors) as index:
        index.sync(folder)
        index.add([Text("guide/added", "A violin.", metadata={"author": "Ada", "modified": "2024-06-30"})])
        yield index


def every_value(facets: Facets) -> Iterator[tuple[tuple[str, ...], FacetValue]]:
    """Each value of each facet, with the filters that it replaces."""
    for folder in (*facets.folders.path, *facets.folders.values):
        yield facets.folders.own, folder
    for facet in (facets.formats, *facets.metadata):
        for value in facet.values:
            yield facet.own, value
    for date in facets.dates:
        for value in (*date.years, *date.months):
            yield date.own, value


GIVEN = [
    [],
    ["format=markdown"],
    ["author=grace"],
    ["./guide/"],
    ["guide/", "format=text"],
    ["date=2024"],
    ["date=2024-05", "author=Ada"],
    ["year>=2020", "year<=2021", "format=markdown"],
    ["tags=setup", "modified=2020-03"],
    ["author!=Ada", "title~*"],
    ["*.md", "./docs/"],
    ["missing=1"],
]


@pytest.mark.parametrize("place", ["elsewhere", "above", "root", "inside"])
@pytest.mark.parametrize("filters", GIVEN, ids=" ".join)
def test_each_value_counts_the_documents_that_its_filter_selects(
    filters: list[str], place: str, index: Index, folder: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir({"elsewhere": tmp_path, "above": folder.parent, "root": folder, "inside": folder / "docs"}[place])
    facets = index.facets(filters, values=100)
    assert facets.documents == len(list(index.documents(filters)))
    for own, value in every_value(facets):
        selected = [text for text in filters if text not in own] + [value.filter]
        assert value.count == len(list(index.documents(selected))), value


def test_several_roots_are_the_topmost_folders(
    folder: Path, tmp_path: Path, small_vectors: VectorTable, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with Index.create(tmp_path / "index", vectors=small_vectors) as index:
        index.sync(folder / "guide", folder / "docs", folder / "start.md")
        index.add([Text("guide/added", "A violin.")])
        top = index.facets()
        assert [(each.value, each.count) for each in top.folders.values] == [
            ((folder / "guide").as_posix(), 3),
            ((folder / "docs").as_posix(), 2),
        ]
        assert top.folders.here == 2  # a file and a text, which lie in no folder
        for own, value in every_value(top):
            assert value.count == len(list(index.documents([*own, value.filter])))
        below = index.facets([top.folders.values[0].filter])
        assert [each.value for each in below.folders.path] == [(folder / "guide").as_posix()]
        assert [(each.value, each.count) for each in below.folders.values] == [("deep", 2)]


def test_a_tree_of_folders_can_be_walked(index: Index) -> None:
    top = index.facets().folders
    assert [(each.value, each.count) for each in top.values] == [("guide", 3), ("docs", 2)]
    assert (top.path, top.here, top.more) == ((), 2, 0)  # a text that a program added lies in no folder
    guide = index.facets([top.values[0].filter]).folders
    assert [each.value for each in guide.path] == ["guide"]
    assert [(each.value, each.count) for each in guide.values] == [("deep", 2)]
    assert guide.here == 1
    (odd,) = index.facets(["docs/"]).folders.values
    (odder,) = index.facets([odd.filter]).folders.values
    assert (odd.value, odder.value) == ("a[1]", "x|y")
    assert index.facets([odder.filter]).folders.here == 1
    assert [each.value for each in index.facets([odder.filter]).folders.path] == ["docs", "a[1]", "x|y"]


def facet(facets: Facets, key: str) -> Facet:
    return next(each for each in facets.metadata if each.key == key)


def date(facets: Facets, key: str) -> DateFacet:
    return next(each for each in facets.dates if each.key == key)


def test_values_are_counted_as_filters_compare_them(index: Index) -> None:
    facets = index.facets()
    assert [(each.value, each.count) for each in facet(facets, "author").values[:2]] == [("Ada", 3), ("grace", 2)]
    assert [(each.value, each.count) for each in facet(facets, "year").values] == [("2021", 2), ("2019", 1)]
    assert [(each.value, each.count) for each in facet(facets, "tags").values] == [("setup", 2), ("first steps", 1)]
    assert facet(facets, "site.lang").values == (FacetValue("en", 1, "site.lang=en"),)
    assert facet(facets, "my key").values[0].filter.startswith('"my key"')


def test_a_facet_counts_as_if_its_own_filters_were_not_there(index: Index) -> None:
    facets = index.facets(["author=Grace", "format=markdown"])
    assert facets.documents == 2
    assert facet(facets, "author").own == ("author=Grace",)
    assert {each.value for each in facet(facets, "author").values} >= {"Ada", "grace"}
    assert [each.count for each in facet(facets, "year").values] == [1, 1]


def test_dates_are_counted_by_year_and_by_month_of_the_year_that_is_chosen(index: Index) -> None:
    found = date(index.facets(), "date")
    assert [(each.value, each.count) for each in found.years] == [("2024", 3), ("2023", 1)]
    assert (found.year, found.months) == (None, ())
    found = date(index.facets(["date=2024"]), "date")
    assert found.year == "2024"
    assert [(each.value, each.count, each.filter) for each in found.months] == [("2024-05", 2, "date=2024-05")]
    assert date(index.facets(["date=2024-05-01"]), "date").year == "2024"


def test_the_time_of_a_file_is_its_date_unless_the_document_says_another(index: Index) -> None:
    found = date(index.facets(["modified=2020"]), "modified")
    assert [(each.value, each.count) for each in found.months] == [("2020-02", 1), ("2020-03", 1)]
    assert [each.count for each in date(index.facets(), "modified").years if each.value == "2024"] == [1]


def test_an_added_text_without_a_date_has_none(tmp_path: Path, small_vectors: VectorTable) -> None:
    with Index.create(tmp_path / "index", vectors=small_vectors) as index:
        index.add([Text("note", "A violin.")])
        assert [facet.years for facet in index.facets().dates] == [()]
        assert list(index.documents(["modified<2000"])) == []


def test_as_many_values_are_listed_as_asked_for_and_the_others_counted(index: Index) -> None:
    facets = index.facets(values=1)
    assert (len(facets.formats.values), facets.formats.more) == (1, 2)
    assert (len(facets.folders.values), facets.folders.more) == (1, 1)
    assert (len(facet(facets, "author").values), facet(facets, "author").more) == (1, 2)
    assert index.facets(values=0).formats.more == 3


@pytest.mark.parametrize("values", [-1, True, "3", None])
def test_a_number_of_values_that_is_none_is_refused(values: object, index: Index) -> None:
    with pytest.raises(UsageError, match="values must be"):
        index.facets(values=values)  # type: ignore[arg-type]  # on purpose
