"""Documents that a framework keeps in an index are found whole, one hit each, and leave other texts alone."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from small import sentence

from semsearch.index import Index
from semsearch.readers.document import Text
from semsearch.results.options import SearchOptions
from semsearch.word_vectors.table import VectorTable
from semsearch_integrations.adapted_index import AddedDocuments


@pytest.fixture
def index(tmp_path: Path, small_vectors: VectorTable) -> Iterator[Index]:
    with Index.create(tmp_path / "index", vectors=small_vectors) as index:
        yield index


@pytest.fixture
def documents(index: Index) -> AddedDocuments:
    return AddedDocuments(index, "_mine")


def mine(id_: str, text: str) -> Text:
    return Text(id_, text, metadata={"_mine": text, "length": len(text)})


def long(topic: str) -> str:
    return "\n\n".join(" ".join(sentence(topic, 50 * part + number) for number in range(40)) for part in range(8))


def test_a_long_document_is_one_hit_however_many_of_its_passages_answer(documents: AddedDocuments) -> None:
    documents.put([mine("long", long("sea")), mine("wave", "A wave."), mine("tide", "The tide of the coast.")])
    hits = documents.index.search("a ship in the storm", 3, duplicates=True)
    assert {hit.document for hit in hits} == {"long"}
    found = documents.search("a ship in the storm", SearchOptions(k=3))
    assert {hit.document for hit in found} == {"long", "wave", "tide"}
    assert [hit.rank for hit in found] == [1, 2, 3]
    assert found[0].score == hits[0].score


def test_documents_that_say_the_same_are_each_found(documents: AddedDocuments) -> None:
    documents.put([mine("one", "A ship in the storm."), mine("two", "A ship in the storm.")])
    assert {hit.document for hit in documents.search("ship", SearchOptions(k=2))} == {"one", "two"}


def test_of_several_with_one_id_the_last_counts(documents: AddedDocuments) -> None:
    assert documents.put([mine("one", "A ship."), mine("one", "Bread.")]) == ["one", "one"]
    assert [text.metadata["_mine"] for text in documents.get()] == ["Bread."]
    assert documents.put([]) == []


def test_other_texts_are_passages_and_stay(documents: AddedDocuments) -> None:
    documents.index.add([Text("other", long("sea"))])
    documents.put([mine("one", "A ship.")])
    assert [text.document for text in documents.get()] == ["one"]
    assert documents.get(["other", "one", "one", "nowhere"]) == documents.get()
    assert [found.document for found in documents.where()] == ["one"]
    assert documents.where(["length>100"]) == []
    hits = documents.search("a ship in the storm", SearchOptions(k=4))
    assert len(hits) == 4
    assert len({hit.passage_id for hit in hits}) == 4


def test_threads_that_write_wait_for_each_other(documents: AddedDocuments) -> None:
    others = AddedDocuments(documents.index, "_mine")
    with ThreadPoolExecutor(4) as pool:
        for number in range(8):
            pool.submit((documents, others)[number % 2].put, [mine(str(number), "A ship.")])
    assert len(documents.get()) == 8
    assert documents.remove(["3", "nowhere"]) == 1
    assert len(others.get()) == 7
