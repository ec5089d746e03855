"""What LlamaIndex gets from an index: its own classes are given the adapters, and find what the index finds."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from llama_index.core import StorageContext, VectorStoreIndex
from llama_index.core.embeddings import MockEmbedding
from llama_index.core.ingestion import IngestionPipeline
from llama_index.core.schema import Document, ImageNode, MetadataMode, NodeRelationship, RelatedNodeInfo, TextNode
from llama_index.core.vector_stores import (
    FilterCondition,
    FilterOperator,
    MetadataFilter,
    MetadataFilters,
    VectorStoreQuery,
)
from llama_index.core.vector_stores.types import VectorStoreQueryMode
from waiting_index import WaitingIndex, goes_on

from semsearch.embedding.embedder import SentenceEmbedder
from semsearch.errors import UsageError
from semsearch.index import Index
from semsearch.searchable import Searchable
from semsearch.word_vectors.table import WordVectors
from semsearch_integrations.llamaindex import SemsearchEmbedding, SemsearchNodeRetriever, SemsearchNodeStore

QUERIES = ["a ship in the storm", "how do I rotate the keys?", "bread"]


def node(id_: str, text: str, document: str = "", **metadata: Any) -> TextNode:
    source = {NodeRelationship.SOURCE: RelatedNodeInfo(node_id=document)} if document else {}
    return TextNode(id_=id_, text=text, metadata=metadata, relationships=source)


NODES = [
    node("ship", "A ship\n  in the storm.", "sea.md", year=2020, title="Ships"),
    node("sail", "A sail in the wind.", "sea.md", year=2021, tags=["sea", "air"]),
    node("bread", "Bread is baked in the oven.", "bread.md", year=2022),
]


@pytest.fixture
def store(tmp_path: Path, english: WordVectors) -> Iterator[SemsearchNodeStore]:
    with Index.create(tmp_path / "store", vectors=english) as index:
        store = SemsearchNodeStore(index)
        assert store.add(NODES) == ["ship", "sail", "bread"]
        yield store


@pytest.mark.parametrize("mode", ["hybrid", "dense", "lexical"])
def test_nodes_are_the_hits_in_their_order(mode: str, asked: Searchable | Path, ships: Path) -> None:
    retriever = SemsearchNodeRetriever(asked, 6, mode=mode)
    with Index.open(ships) as index:
        for query in QUERIES:
            hits, nodes = index.search(query, 6, mode=mode), retriever.retrieve(query)
            assert [each.text for each in nodes] == [hit.passage for hit in hits]
            assert [each.score for each in nodes] == [hit.score for hit in hits]
            assert [each.metadata["path"] for each in nodes] == [hit.path for hit in hits]


def test_a_language_model_reads_where_a_passage_stands_and_no_scores(ships: Path) -> None:
    (found,) = SemsearchNodeRetriever(ships, 1, filters={"year": 2024}).retrieve("rotate the keys")
    assert found.node.ref_doc_id == str(ships.parent / "docs" / "keys.md")
    read = found.node.get_content(MetadataMode.LLM)
    assert "source: https://example.org/keys" in read
    assert "Rotation" in read
    assert "score" not in read
    assert found.node.get_content(MetadataMode.EMBED) == found.text


def test_what_makes_no_sense_is_refused_at_once(ships: Path) -> None:
    for wrong in ({"k": 0}, {"similarity_top_k": 3}, {"filters": {"a": {"$like": 1}}}):
        with pytest.raises(UsageError):
            SemsearchNodeRetriever(ships, **wrong)


async def test_the_event_loop_goes_on_while_a_retriever_searches(ships: Path) -> None:
    waiting = WaitingIndex()
    assert await goes_on(SemsearchNodeRetriever(waiting).aretrieve("ship"), waiting.released) == []
    retriever = SemsearchNodeRetriever(ships)
    assert await retriever.aretrieve("ship") == retriever.retrieve("ship")


async def test_embeddings_are_those_of_the_index_or_embedder(ships: Path, english: WordVectors) -> None:
    embedder = SentenceEmbedder(english).fit(["A ship.", "A sail in the wind."])
    with Index.open(ships) as index:
        for given, embed in ((ships, index.embed), (index, index.embed), (embedder, embedder.transform)):
            embedding, expected = SemsearchEmbedding(given), embed(["a ship", "bread"]).tolist()
            assert embedding.get_text_embedding_batch(["a ship", "bread"]) == expected
            assert await embedding.aget_text_embedding_batch(["a ship", "bread"]) == expected
            assert embedding.get_query_embedding("bread") == pytest.approx(expected[1], abs=1e-6)
            assert await embedding.aget_query_embedding("bread") == embedding.get_query_embedding("bread")
            assert await embedding.aget_text_embedding("a ship") == embedding.get_text_embedding("a ship")
    written = SemsearchEmbedding(ships, embed_batch_size=7).to_dict()
    again = SemsearchEmbedding.from_dict(written)
    assert (again.embedder, again.embed_batch_size) == (str(ships), 7)
    assert "SentenceEmbedder" in SemsearchEmbedding(embedder).to_dict()["embedder"]


def found(store: SemsearchNodeStore, text: str = "a ship", k: int = 9, **options: Any) -> list[str]:
    return list(store.query(VectorStoreQuery(query_str=text, similarity_top_k=k, **options)).ids or [])


def test_nodes_come_back_as_they_were_given(store: SemsearchNodeStore) -> None:
    result = store.query(VectorStoreQuery(query_str="a ship in the storm", similarity_top_k=3))
    assert {each.node_id: each for each in result.nodes or []} == {each.node_id: each for each in NODES}
    assert result.similarities == sorted(result.similarities or [], reverse=True)
    assert result.ids is not None
    assert result.ids[0] == "ship"
    assert store.get_nodes(["bread", "nowhere", "ship"]) == [NODES[2], NODES[0]]
    assert {each.node_id for each in store.get_nodes()} == {"ship", "sail", "bread"}
    assert store.get_nodes([]) == []


def test_nodes_of_other_kinds_come_back_too(store: SemsearchNodeStore) -> None:
    picture = ImageNode(id_="picture", text="A harbour at night.", image_url="harbour.png")
    store.add([picture])
    assert store.get_nodes(["picture"]) == [picture]
    assert found(store, "harbour", k=1) == ["picture"]


def where(*conditions: Any, how: FilterCondition = FilterCondition.AND) -> MetadataFilters:
    filters = [MetadataFilter(key=k, operator=o, value=v) for k, o, v in conditions]
    return MetadataFilters(filters=filters, condition=how)


@pytest.mark.parametrize(
    ("filters", "expected"),
    [
        (where(("year", FilterOperator.EQ, 2020)), {"ship"}),
        (where(("year", FilterOperator.GT, 2020), ("year", FilterOperator.LTE, 2021)), {"sail"}),
        (where(("year", FilterOperator.IN, [2020, 2022])), {"ship", "bread"}),
        (where(("year", FilterOperator.NIN, [2020, 2022])), {"sail"}),
        (where(("tags", FilterOperator.CONTAINS, "sea")), {"sail"}),
        (where(("tags", FilterOperator.ALL, ["sea", "air"])), {"sail"}),
        (where(("tags", FilterOperator.ALL, ["sea", "land"])), set()),
        (where(("tags", FilterOperator.ANY, ["land", "air"])), {"sail"}),
        (where(("title", FilterOperator.EQ, "Ships")), {"ship"}),
        (where(("year", FilterOperator.LT, 2021), ("year", FilterOperator.GT, 2021), how=FilterCondition.OR),
         {"ship", "bread"}),
        (where(("year", FilterOperator.LT, 2021), how=FilterCondition.NOT), {"sail", "bread"}),
        (MetadataFilters(filters=[where(("year", FilterOperator.EQ, 2020)), where(("tags", FilterOperator.EQ, "air"))],
                         condition=FilterCondition.OR), {"ship", "sail"}),
    ],
)  # fmt: skip
def test_nodes_are_filtered_before_they_are_ranked(
    filters: MetadataFilters, expected: set[str], store: SemsearchNodeStore
) -> None:
    assert {*found(store, filters=filters)} == expected
    assert {each.node_id for each in store.get_nodes(filters=filters)} == expected


def test_a_query_may_be_for_some_documents_or_nodes(store: SemsearchNodeStore) -> None:
    assert {*found(store, doc_ids=["sea.md"])} == {"ship", "sail"}
    assert {*found(store, doc_ids=["sea.md", "bread.md"])} == {"ship", "sail", "bread"}
    assert found(store, node_ids=["bread"]) == ["bread"]
    assert found(store, doc_ids=[]) == []
    assert len(found(store, node_ids=[])) == 3  # so asks a VectorStoreIndex that was asked for none in particular
    assert found(store, "the oven", mode=VectorStoreQueryMode.TEXT_SEARCH) == ["bread"]
    assert found(store, "the oven", k=1, mode=VectorStoreQueryMode.HYBRID) == ["bread"]


@pytest.mark.parametrize(
    "query",
    [
        VectorStoreQuery(query_embedding=[0.1, 0.2]),
        VectorStoreQuery(query_str="ship", mode=VectorStoreQueryMode.MMR),
        VectorStoreQuery(query_str="ship", mode=VectorStoreQueryMode.SVM),
        VectorStoreQuery(query_str="ship", mode=VectorStoreQueryMode.HYBRID, alpha=0.5),
        VectorStoreQuery(query_str="ship", filters=where(("title", FilterOperator.TEXT_MATCH, "Shi"))),
    ],
)
def test_what_an_index_cannot_do_is_refused(query: VectorStoreQuery, store: SemsearchNodeStore) -> None:
    with pytest.raises(UsageError):
        store.query(query)


def test_nodes_are_deleted_by_document_by_id_and_by_filter(store: SemsearchNodeStore) -> None:
    store.delete("sea")
    store.delete("SEA.md")
    store.delete_nodes(["ship"], filters=where(("year", FilterOperator.GT, 2020)))
    assert len(store.get_nodes()) == 3
    with pytest.raises(UsageError, match="give node_ids or filters of the nodes to delete"):
        store.delete_nodes()
    store.delete_nodes(["bread", "nowhere"])
    store.delete_nodes(filters={"year": 2021})
    assert store.get_nodes() == [NODES[0]]
    store.delete("sea.md")
    assert store.get_nodes() == []
    store.add(NODES)
    store.clear()
    assert found(store) == []


def test_files_of_the_index_are_found_and_stay(store: SemsearchNodeStore, tmp_path: Path) -> None:
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "captain.md").write_text("# Captains\n\nThe captain sails the ship.\n", encoding="utf-8")
    store.client.sync(tmp_path / "docs")
    (best, *_) = store.query(VectorStoreQuery(query_str="the captain sails", similarity_top_k=1)).nodes or []
    assert best == SemsearchNodeRetriever(store.client, 1).retrieve("the captain sails")[0].node
    store.clear()
    assert len(found(store)) == 1


async def test_the_event_loop_goes_on_while_a_store_works(store: SemsearchNodeStore) -> None:
    assert await store.async_add([node("tide", "The tide.")]) == ["tide"]
    assert [each.node_id for each in await store.aget_nodes(["tide"])] == ["tide"]
    await store.adelete_nodes(["tide"])
    await store.adelete("bread.md")
    assert len(await store.aget_nodes()) == 2
    await asyncio.gather(*(store.async_add([node(str(number), "A wave.")]) for number in range(4)))
    assert len(store.get_nodes()) == 6
    await store.aclear()
    waiting = WaitingIndex()
    store._documents.index = waiting  # type: ignore[assignment]  # only searched
    result = await goes_on(store.aquery(VectorStoreQuery(query_str="ship")), waiting.released)
    assert result.ids == []


async def test_llamaindexs_own_index_keeps_and_finds_documents_in_it(store: SemsearchNodeStore) -> None:
    store.clear()
    index = VectorStoreIndex.from_documents(
        [Document(id_="sea", text="A ship in the storm."), Document(id_="oven", text="Bread is baked in the oven.")],
        storage_context=StorageContext.from_defaults(vector_store=store),
        embed_model=MockEmbedding(embed_dim=1),
        transformations=[],
    )
    retriever = index.as_retriever(similarity_top_k=1)
    assert [each.node.ref_doc_id or each.node_id for each in retriever.retrieve("a ship")] == ["sea"]
    assert await retriever.aretrieve("a ship") == retriever.retrieve("a ship")
    again = VectorStoreIndex.from_vector_store(store, embed_model=MockEmbedding(embed_dim=1))
    assert again.as_retriever(similarity_top_k=1).retrieve("a ship") == retriever.retrieve("a ship")


def test_llamaindexs_ingestion_fills_it(store: SemsearchNodeStore, ships: Path) -> None:
    store.clear()
    pipeline = IngestionPipeline(transformations=[SemsearchEmbedding(ships)], vector_store=store)
    pipeline.run(documents=[Document(id_="sea", text="A ship in the storm.", metadata={"year": 2020})])
    (kept,) = store.get_nodes(filters={"year": 2020})
    assert kept.get_content() == "A ship in the storm."
    assert kept.embedding is None
