"""The hits of an answer as a list, and as notebooks show them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from xml.etree import ElementTree

import pytest
from small import index_of_articles

from semsearch import Hits, Index, Text, VectorTable


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory, small_vectors: VectorTable) -> Iterator[Index]:
    with index_of_articles(tmp_path_factory.mktemp("hits"), 6, vectors=small_vectors) as made:
        made.add(
            [("twice", "A ship in the storm."), ("again", "A ship in the storm.", {"year": 2024, "tags": ["sea"]})]
        )
        yield made


@pytest.fixture(scope="module")
def hits(index: Index) -> Hits:
    return index.search("a ship in the storm", context=1)


def parsed(html: str) -> ElementTree.Element:
    return ElementTree.fromstring(html)  # our own


def texts(html: str) -> str:
    return "".join(parsed(html).itertext())


def test_a_slice_of_hits_is_hits(hits: Hits) -> None:
    assert type(hits[1:3]) is Hits
    assert hits[1:3] == [hits[1], hits[2]]
    assert type(hits[:0]) is Hits


def test_printed_hits_are_a_line_each_below_what_is_said_of_them(index: Index, hits: Hits) -> None:
    first = f"{hits[0].path}:{hits[0].line}  {hits[0].score:.3f}  A ship in the storm."
    assert (hits.verdict, str(hits[0])) == ("answers", first)
    assert str(hits).splitlines() == [str(hit) for hit in hits]
    assert str(index.search("zzyzx ship", filters=["nowhere/*"])).startswith("nothing answers this")
    nearest = Hits(hits[:1], verdict="not here", missing=("zzyzx",))
    assert str(nearest) == f"nothing answers this (no document has: zzyzx); nearest:\n{first}"


def test_a_notebook_shows_the_passage_with_its_sentence_marked(index: Index) -> None:
    hits = index.search("a ship in the storm", filters=["*.md"])
    html = parsed(hits._repr_html_())
    marks = ["".join(mark.itertext()) for mark in html.iter("mark")]
    assert marks == [hit.sentence for hit in hits]
    assert all(hit.passage in texts(hits._repr_html_()) for hit in hits)
    assert hits[0].path in texts(hits[0]._repr_html_())


def test_markup_in_documents_and_questions_stays_text(small_vectors: VectorTable, tmp_path: Path) -> None:
    evil = "<script>alert('ship')</script> & the ship <b>sails</b>."
    with Index.create(tmp_path / "index", vectors=small_vectors) as index:
        index.add([Text("<i>id</i>", evil, title="<u>t</u>"), Text("b", "Bread & <br> salt.")])
        hits = index.search("ship <img src=x>")
    for shown in (hits, hits[0]):
        html = shown._repr_html_()
        tags = {element.tag for element in parsed(html).iter()}
        assert tags <= {"div", "span", "strong", "mark", "table", "tr", "th", "td", "ol", "li", "em"}, tags
        assert "<script>alert('ship')</script>" in texts(html)


def test_no_hits_are_said_to_be_none() -> None:
    assert "no hits" in texts(Hits()._repr_html_())
