"""A document is a file, or a text that a program added, wherever documents are counted; its records are parts."""

from __future__ import annotations

import mailbox
import zipfile
from collections.abc import Iterator
from email.message import EmailMessage
from pathlib import Path

import pytest

pytest.importorskip("fastapi", reason="an optional dependency")

from serving import running

from semsearch.index import Index
from semsearch.maintenance.index_folders import summarize
from semsearch.readers.document import Text
from semsearch.results.documents import Facets, FacetValue
from semsearch.server.open_indexes import OpenIndexes
from semsearch.word_vectors.table import VectorTable

FILTERS = [
    [],
    ["year=1999"],
    ["year=1999", "shop=b"],
    ["year!=2001"],
    ["from~ada*"],
    ["format=mail"],
    ["*.md"],
    ["no=1"],
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory, small_vectors: VectorTable) -> Path:
    """A folder with the index `mixed`: an archive, a mailbox, a table of records, two notes and an added text."""
    folder = tmp_path_factory.mktemp("counted")
    files = folder / "files"
    files.mkdir()
    (files / "a.md").write_text("---\nyear: 1999\nshop: b\n---\nA rose.\n", encoding="utf-8")
    (files / "empty.md").write_text("---\nyear: 2001\n---\n", encoding="utf-8")
    (files / "works.csv").write_text("title,year,shop\nA ship,1999,a\nA star,2001,b\nBread,1999,a\n", encoding="utf-8")
    with zipfile.ZipFile(files / "old.zip", "w") as archive:
        archive.writestr("one.md", "A violin.\n")
        archive.writestr("two.md", "The court and the judge.\n")
    letters = mailbox.mbox(files / "letters.mbox")
    for sender in ("ada@example.org", "bo@example.org", "ada@example.org"):
        letter = EmailMessage()
        letter["From"], letter["Subject"] = sender, "Bread"
        letter.set_content("Bread in the oven.")
        letters.add(letter)
    letters.close()
    with Index.create(folder / "indexes" / "mixed", vectors=small_vectors) as index:
        index.sync(files / "works.csv", text_columns=["title"], metadata_columns=["year", "shop"])
        index.sync(*(path for path in files.iterdir() if path.suffix != ".csv"))
        index.add([Text("added", "A garden.", metadata={"year": 2001})])
    return folder


def every_value(facets: Facets) -> Iterator[tuple[tuple[str, ...], FacetValue]]:
    """Each value of each facet, with the filters that it replaces."""
    for facet in (facets.formats, *facets.metadata):
        yield from ((facet.own, value) for value in facet.values)
    for date in facets.dates:
        yield from ((date.own, value) for value in (*date.years, *date.months))


@pytest.mark.parametrize("filters", FILTERS, ids=" ".join)
def test_facets_count_the_documents_that_are_listed(filters: list[str], folder: Path) -> None:
    with Index.open(folder / "indexes" / "mixed") as index:
        facets = index.facets(filters, values=100)
        assert facets.documents == len(list(index.documents(filters)))
        for own, value in every_value(facets):
            selected = [text for text in filters if text not in own] + [value.filter]
            assert value.count == len(list(index.documents(selected))), value


@pytest.mark.parametrize("filters", FILTERS, ids=" ".join)
def test_what_is_listed_under_filters_is_what_a_search_under_them_can_find(filters: list[str], folder: Path) -> None:
    with Index.open(folder / "indexes" / "mixed") as index:
        listed = {document.path for document in index.documents(filters) if document.passages}
        hits = index.search("rose ship star bread violin court garden", 100, filters=filters, duplicates=True)
        assert {hit.path for hit in hits} == listed


def test_status_list_facets_and_server_count_the_same_documents(folder: Path) -> None:
    with Index.open(folder / "indexes" / "mixed") as index:
        counts = [len(index), len(list(index.documents())), index.status().documents, index.facets().documents]
        counts += [sum(index.checkup().formats.values())]
        counts += [sum(value.count for value in index.facets(values=100).formats.values)]
    counts += [summary.documents for path in (folder / "indexes").iterdir() if (summary := summarize(path))]
    with running(OpenIndexes(folder=folder / "indexes")) as asker:
        counts += [entry["documents"] for entry in asker.get("/v1/indexes").json["indexes"]]
        counts += [asker.get("/v1/facets").json["documents"], asker.get("/v1/status").json["documents"]]
        counts += [len(asker.get("/v1/documents").json["documents"])]
    assert set(counts) == {6}, counts
