"""What Haystack gets from an index: its pipelines run the components, and are written down with them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import haystack.telemetry._telemetry as telemetry
import pytest
from haystack import Document, Pipeline
from haystack.components.retrievers.in_memory import InMemoryEmbeddingRetriever
from haystack.components.writers import DocumentWriter
from haystack.core.serialization import component_from_dict
from haystack.document_stores.in_memory import InMemoryDocumentStore
from haystack.document_stores.types import DuplicatePolicy, FilterPolicy
from waiting_index import WaitingIndex, goes_on

from semsearch.embedding.embedder import SentenceEmbedder
from semsearch.errors import IndexNotFound, UsageError
from semsearch.index import Index
from semsearch.searchable import Searchable
from semsearch.word_vectors.table import WordVectors
from semsearch_integrations.haystack import (
    SemsearchDocumentEmbedder,
    SemsearchDocumentRetriever,
    SemsearchDocumentStore,
    SemsearchTextEmbedder,
)

QUERIES = ["a ship in the storm", "how do I rotate the keys?", "bread"]
SEA = [
    Document(id="ship", content="A ship\n  in the storm.", meta={"year": 2020, "title": "Ships"}),
    Document(id="sail", content="A sail in the wind.", meta={"year": 2021, "tags": ["sea", "air"]}),
    Document(id="bread", content="Bread is baked in the oven.", meta={"year": 2022}),
]


@pytest.fixture
def store(tmp_path: Path, english: WordVectors) -> Iterator[SemsearchDocumentStore]:
    with Index.create(tmp_path / "store", vectors=english) as index:
        store = SemsearchDocumentStore(index)
        assert store.write_documents(SEA) == 3
        yield store


def test_nothing_is_sent_to_anybody() -> None:
    assert not telemetry.telemetry


@pytest.mark.parametrize("mode", ["hybrid", "dense", "lexical"])
def test_documents_are_the_hits_in_their_order(mode: str, asked: Searchable | Path, ships: Path) -> None:
    retriever = SemsearchDocumentRetriever(asked, 6, mode=mode)
    with Index.open(ships) as index:
        for query in QUERIES:
            hits, documents = index.search(query, 6, mode=mode), retriever.run(query)["documents"]
            assert [each.content for each in documents] == [hit.passage for hit in hits]
            assert [each.score for each in documents] == [hit.score for hit in hits]
            assert [each.meta["path"] for each in documents] == [hit.path for hit in hits]


def where(field: str, operator: str, value: Any) -> dict[str, Any]:
    return {"field": field, "operator": operator, "value": value}


def both(operator: str, *conditions: dict[str, Any]) -> dict[str, Any]:
    return {"operator": operator, "conditions": list(conditions)}


@pytest.mark.parametrize(
    ("filters", "expected"),
    [
        (None, {"ship", "sail", "bread"}),
        ({}, {"ship", "sail", "bread"}),
        (where("meta.year", "==", 2020), {"ship"}),
        (where("meta.year", "in", [2020, 2022]), {"ship", "bread"}),
        (where("id", "==", "bread"), {"bread"}),
        (["year>=2021", "tags=sea"], {"sail"}),
        (both("AND", where("meta.year", ">", 2020), where("meta.year", "not in", [2022])), {"sail"}),
        (both("OR", where("meta.title", "==", "Ships"), where("meta.year", ">=", 2022)), {"ship", "bread"}),
        (both("NOT", where("meta.year", "==", 2020)), {"sail", "bread"}),
    ],
)
def test_documents_are_filtered_before_they_are_ranked(
    filters: Any, expected: set[str], store: SemsearchDocumentStore
) -> None:
    found = SemsearchDocumentRetriever(store).run("a ship", filters=filters)["documents"]
    assert {each.id for each in found} == expected
    if isinstance(filters, dict):
        assert {each.id for each in store.filter_documents(filters)} == expected


def test_filters_of_a_run_replace_or_join_those_of_the_retriever(store: SemsearchDocumentStore) -> None:
    for policy, expected in ((FilterPolicy.REPLACE, ["sail", "bread"]), ("merge", ["sail"])):
        retriever = SemsearchDocumentRetriever(store, filters=["year<=2021"], filter_policy=policy)
        found = retriever.run("sail", filters=where("meta.year", ">=", 2021))["documents"]
        assert [each.id for each in found] == expected
        assert {each.id for each in retriever.run("sail")["documents"]} == {"ship", "sail"}


def test_documents_come_back_as_they_were_written(store: SemsearchDocumentStore) -> None:
    found = SemsearchDocumentRetriever(store, 3).run("a ship in the storm")["documents"]
    assert found[0].id == "ship"
    scores = [each.score or 0 for each in found]
    assert scores == sorted(scores, reverse=True)
    assert {each.id: replace(each, score=None) for each in found} == {each.id: each for each in SEA}
    assert SemsearchDocumentRetriever(store).run("ship", top_k=0) == {"documents": []}


def test_files_of_the_index_are_found_and_stay(store: SemsearchDocumentStore, tmp_path: Path) -> None:
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "captain.md").write_text("# Captains\n\nThe captain sails the ship.\n", encoding="utf-8")
    index = store.documents.index
    index.sync(tmp_path / "docs")
    query = "the captain sails"
    assert SemsearchDocumentRetriever(store, 1).run(query) == SemsearchDocumentRetriever(index, 1).run(query)
    store.delete_all_documents()
    assert (store.count_documents(), len(SemsearchDocumentRetriever(store).run(query)["documents"])) == (0, 1)


def test_a_pipeline_writes_and_one_that_was_read_from_its_text_finds(tmp_path: Path) -> None:
    store = SemsearchDocumentStore(tmp_path / "index")
    indexing = Pipeline()
    indexing.add_component("writer", DocumentWriter(store, policy=DuplicatePolicy.OVERWRITE))
    assert indexing.run({"writer": {"documents": SEA}}) == {"writer": {"documents_written": 3}}
    asking = Pipeline()
    asking.add_component("retriever", SemsearchDocumentRetriever(store, 2, filters=["year>=2020"], mode="dense"))
    text = asking.dumps()
    again = Pipeline.loads(text, allowed_modules=["semsearch_integrations.*"])
    expected = asking.run({"retriever": {"query": "a ship"}})
    assert again.run({"retriever": {"query": "a ship"}}) == expected
    assert again.dumps() == text
    assert len(expected["retriever"]["documents"]) == 2


def test_embedders_serve_another_store(ships: Path) -> None:
    store = InMemoryDocumentStore()
    indexing = Pipeline()
    indexing.add_component("embedder", SemsearchDocumentEmbedder(str(ships), meta_fields_to_embed=["title"]))
    indexing.add_component("writer", DocumentWriter(store))
    indexing.connect("embedder", "writer")
    indexing.run({"embedder": {"documents": SEA}})
    asking = Pipeline()
    asking.add_component("embedder", SemsearchTextEmbedder(str(ships)))
    asking.add_component("retriever", InMemoryEmbeddingRetriever(store, top_k=1))
    asking.connect("embedder.embedding", "retriever.query_embedding")
    for pipeline in (asking, Pipeline.loads(asking.dumps(), allowed_modules=["semsearch_integrations.*"])):
        (found,) = pipeline.run({"embedder": {"text": "Ships\na ship in the storm"}})["retriever"]["documents"]
        assert found.id == "ship"
    again = Pipeline.loads(indexing.dumps(), allowed_modules=["semsearch_integrations.*"])
    assert again.get_component("embedder").meta_fields_to_embed == ["title"]


def test_embeddings_are_those_of_the_index_or_embedder(ships: Path, english: WordVectors) -> None:
    embedder = SentenceEmbedder(english).fit(["A ship.", "A sail in the wind."])
    with Index.open(ships) as index:
        for given, embed in ((ships, index.embed), (index, index.embed), (embedder, embedder.transform)):
            assert SemsearchTextEmbedder(given).run("bread")["embedding"] == embed(["bread"])[0].tolist()
            embedded = SemsearchDocumentEmbedder(given).run(SEA)["documents"]
            assert [each.embedding for each in embedded] == embed([str(each.content) for each in SEA]).tolist()
    assert SEA[0].embedding is None
    assert SemsearchDocumentEmbedder(ships).run([]) == {"documents": []}
    for wrong in ("text", [1]):
        with pytest.raises(UsageError, match="list of Documents"):
            SemsearchDocumentEmbedder(ships).run(wrong)
    with pytest.raises(UsageError, match="SemsearchDocumentEmbedder"):
        SemsearchTextEmbedder(ships).run(SEA)


def test_a_component_is_made_where_there_is_no_index_and_says_so_when_it_is_run(tmp_path: Path) -> None:
    for made in (SemsearchDocumentRetriever(tmp_path / "no"), SemsearchTextEmbedder(tmp_path / "no")):
        assert component_from_dict(type(made), made.to_dict(), "made").to_dict() == made.to_dict()
        with pytest.raises(IndexNotFound):
            made.run("ship")


async def test_the_event_loop_goes_on_while_an_index_is_asked(ships: Path) -> None:
    waiting = WaitingIndex()
    retriever = SemsearchDocumentRetriever(waiting)
    assert await goes_on(retriever.run_async("ship"), waiting.released) == {"documents": []}
    for made, given in (
        (SemsearchDocumentRetriever(ships), "ship"),
        (SemsearchTextEmbedder(ships), "ship"),
        (SemsearchDocumentEmbedder(ships), SEA),
    ):
        assert await made.run_async(given) == made.run(given)
