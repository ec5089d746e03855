"""What LangChain gets from an index beyond what its standard suites ask for."""

from __future__ import annotations

import json
import logging
import pickle
from collections.abc import Iterator
from pathlib import Path

import pytest
from langchain_core.documents import Document
from langchain_core.embeddings import DeterministicFakeEmbedding
from langchain_core.indexing import InMemoryRecordManager, index as index_documents
from langchain_core.load import dumps, loads
from langchain_core.runnables import ConfigurableField
from waiting_index import WaitingIndex, goes_on

from semsearch.embedding.embedder import SentenceEmbedder
from semsearch.errors import UsageError
from semsearch.index import Index
from semsearch.searchable import Searchable
from semsearch.word_vectors.table import WordVectors
from semsearch_integrations.langchain import SemsearchEmbeddings, SemsearchRetriever, SemsearchVectorStore

QUERIES = ["a ship in the storm", "how do I rotate the keys?", "bread"]
SEA = [
    Document(id="ship", page_content="A ship\n  in the storm.", metadata={"year": 2020, "title": "Ships"}),
    Document(id="sail", page_content="A sail in the wind.", metadata={"year": 2021, "tags": ["sea", "air"]}),
    Document(id="bread", page_content="Bread is baked in the oven.", metadata={"year": 2022}),
]


@pytest.fixture
def store(tmp_path: Path, english: WordVectors) -> Iterator[SemsearchVectorStore]:
    with Index.create(tmp_path / "store", vectors=english) as index:
        store = SemsearchVectorStore(index)
        store.add_documents(SEA)
        yield store


@pytest.mark.parametrize("mode", ["hybrid", "dense", "lexical"])
def test_documents_are_the_hits_in_their_order(mode: str, asked: Searchable | Path, ships: Path) -> None:
    retriever = SemsearchRetriever(asked, mode=mode, k=6)
    with Index.open(ships) as index:
        for query in QUERIES:
            hits, documents = index.search(query, 6, mode=mode), retriever.invoke(query)
            assert [each.page_content for each in documents] == [hit.passage for hit in hits]
            assert [each.metadata["score"] for each in documents] == [hit.score for hit in hits]
            assert [each.metadata["path"] for each in documents] == [hit.path for hit in hits]


async def test_options_are_those_of_a_search_and_hold_for_one_query(ships: Path) -> None:
    retriever = SemsearchRetriever(ships, filters={"year": {"$gte": 2024}})
    (found,) = retriever.invoke("rotate the keys", context=1)
    assert (found.metadata["title"], found.metadata["source"]) == ("Keys", "https://example.org/keys")
    assert found.metadata["before"] or found.metadata["after"]
    assert await retriever.ainvoke("rotate the keys", filters="sea*", k=2) == retriever.invoke(
        "rotate the keys", filters=["sea*"], k=2
    )
    assert len(retriever.invoke("rotate the keys", filters=None)) == 10
    assert SemsearchRetriever(ships, per_document=1).options == {"per_document": 1}
    paths = [each.metadata["path"] for each in SemsearchRetriever(ships, per_document=1).invoke("a ship", k=5)]
    assert len(paths) == len({*paths}) == 5


def test_a_retriever_is_written_down_and_made_again(ships: Path) -> None:
    retriever = SemsearchRetriever(ships, k=3, filters=["*.md"], tags=["mine"], per_document=2)
    text = dumps(retriever)
    with pytest.warns(match="`loads` is in beta"):
        again = loads(text, valid_namespaces=["semsearch_integrations"], allowed_objects=[SemsearchRetriever])
    assert json.loads(text)["kwargs"]["k"] == 3
    for same in (again, pickle.loads(pickle.dumps(retriever)), retriever.model_copy()):  # noqa: S301  # just made
        assert same.invoke("ship") == retriever.invoke("ship")
        assert (same.k, [*same.filters], same.tags, same.options) == (3, ["*.md"], ["mine"], {"per_document": 2})


def test_fields_may_be_configured_for_a_run(ships: Path) -> None:
    retriever = SemsearchRetriever(ships).configurable_fields(k=ConfigurableField(id="many"))
    assert len(retriever.invoke("ship", config={"configurable": {"many": 2}})) == 2
    assert len(retriever.batch(["ship", "bread"])) == 2


async def test_the_event_loop_goes_on_while_a_retriever_searches() -> None:
    waiting = WaitingIndex()
    assert await goes_on(SemsearchRetriever(waiting).ainvoke("ship"), waiting.released) == []


async def test_the_event_loop_goes_on_while_a_store_searches(store: SemsearchVectorStore) -> None:
    for ask in (
        lambda: store.asimilarity_search("ship"),
        lambda: store.asimilarity_search_with_score("ship"),
        lambda: store.asimilarity_search_with_relevance_scores("ship"),
        lambda: store.amax_marginal_relevance_search("ship"),
        lambda: store.as_retriever().ainvoke("ship"),
    ):
        waiting = WaitingIndex()
        store._documents.index = waiting  # type: ignore[assignment]  # only searched
        assert await goes_on(ask(), waiting.released) == []


def test_embeddings_are_those_of_the_index_or_embedder(ships: Path, english: WordVectors) -> None:
    with Index.open(ships) as index:
        expected = index.embed(["a ship", "bread"]).tolist()
        for embeddings in (SemsearchEmbeddings(index), SemsearchEmbeddings(ships)):
            assert embeddings.embed_documents(["a ship", "bread"]) == expected
    assert SemsearchEmbeddings(ships).embed_documents([]) == []
    embedder = SentenceEmbedder(english).fit(["A ship.", "A sail in the wind."])
    assert SemsearchEmbeddings(embedder).embed_query("a ship") == embedder.transform(["a ship"])[0].tolist()
    with pytest.raises(UsageError, match="expected a local index or a fitted SentenceEmbedder"):
        SemsearchEmbeddings("http://127.0.0.1:9/")


def test_documents_come_back_as_they_were_given(store: SemsearchVectorStore) -> None:
    assert sorted(store.similarity_search("a ship in the wind", k=3), key=lambda each: str(each.metadata)) == SEA
    assert store.get_by_ids(["bread", "nowhere", "ship"]) == [SEA[2], SEA[0]]
    store.delete()
    assert store.similarity_search("ship") == []


def test_documents_are_filtered_before_they_are_ranked(store: SemsearchVectorStore) -> None:
    def ids(**options: object) -> list[str | None]:
        return [each.id for each in store.similarity_search("a ship", k=4, **options)]

    assert ids(filter={"year": {"$gt": 2020}, "tags": "sea"}) == ["sail"]
    assert ids(filter=["year<=2020"]) == ["ship"]
    assert ids(filter={"year": {"$gt": 2020}}, filters=["year<2022"]) == ["sail"]
    assert ids(filter={"title": "Ships"}) == ["ship"]
    assert {*ids(filter={"year": {"$in": [2020, 2021]}})} == {"ship", "sail"}
    assert {*ids(filter={"$or": [{"title": "Ships"}, {"year": 2022}]})} == {"ship", "bread"}
    with pytest.raises(UsageError, match="no option 'score_threshold'"):
        ids(score_threshold=0.5)


def test_any_text_may_be_asked_for(store: SemsearchVectorStore) -> None:
    (found,) = store.similarity_search('a "ship at anchor" -storm', k=1)
    assert found.id == "ship"
    assert store.similarity_search("ship -storm", k=1, syntax="full")[0].id != "ship"


def test_scores_fall_and_relevance_is_from_0_to_1(
    store: SemsearchVectorStore, caplog: pytest.LogCaptureFixture
) -> None:
    scores = [score for _, score in store.similarity_search_with_score("a ship", k=3)]
    assert scores == sorted(scores, reverse=True)
    relevant = store.similarity_search_with_relevance_scores("a ship in the storm", k=3)
    assert all(0 <= relevance <= 1 for _, relevance in relevant)
    assert relevant[0][1] > 0.9
    search = {"search_type": "similarity_score_threshold", "search_kwargs": {"score_threshold": 0.8}}
    assert [each.id for each in store.as_retriever(**search).invoke("a ship in the storm")] == ["ship"]
    with caplog.at_level(logging.ERROR):
        assert store.similarity_search_with_relevance_scores("a violin", score_threshold=0.99) == []
    with pytest.raises(UsageError, match="relevance scores need vectors"):
        store.similarity_search_with_relevance_scores("a ship", mode="lexical")


def test_of_documents_that_are_alike_one_is_chosen(store: SemsearchVectorStore) -> None:
    store.add_texts(["A ship in a storm.", "The ship in the storm."], ids=["ship2", "ship3"])
    first = [each.id for each in store.similarity_search("a ship in the storm", k=2)]
    assert all(str(id_).startswith("ship") for id_ in first)
    chosen = [each.id for each in store.max_marginal_relevance_search("a ship in the storm", k=2, lambda_mult=0.1)]
    assert chosen[0] in first
    assert chosen[1] in ("sail", "bread")
    assert len(store.as_retriever(search_type="mmr", search_kwargs={"k": 3}).invoke("ship")) == 3


def test_a_store_is_made_from_texts_in_a_new_index(tmp_path: Path) -> None:
    store = SemsearchVectorStore.from_texts(
        ["A ship.", "Bread."], metadatas=[{"a": 1}, {"a": 2}], ids=["1", "2"], index=tmp_path / "new"
    )
    (found,) = store.similarity_search("ship", k=1)
    assert found == Document(id="1", page_content="A ship.", metadata={"a": 1})
    again = SemsearchVectorStore.from_documents(SEA, store.embeddings, index=tmp_path / "new", mode="dense")
    assert len(again.similarity_search("ship", k=9)) == 5
    with pytest.raises(UsageError, match="computes its own embeddings"):
        SemsearchVectorStore.from_texts(["A ship."], DeterministicFakeEmbedding(size=3), index=tmp_path / "new")
    with pytest.raises(UsageError, match="an index is needed"):
        SemsearchVectorStore.from_texts(["A ship."])


def test_lists_that_do_not_belong_together_are_refused(store: SemsearchVectorStore) -> None:
    with pytest.raises(UsageError, match="2 texts"):
        store.add_texts(["A ship.", "Bread."], ids=["one"])
    with pytest.raises(UsageError, match="1 texts"):
        store.add_texts(["A ship."], [{}, {}])
    assert len(store.get_by_ids(store.add_texts(["A ship.", "Bread."], ids=["one", None]))) == 2


def test_langchains_own_indexing_adds_each_document_once_and_cleans_up(store: SemsearchVectorStore) -> None:
    records = InMemoryRecordManager(namespace="test")
    records.create_schema()
    store.delete()

    def run(documents: list[Document]) -> tuple[int, int, int]:
        given = [Document(page_content=each.page_content, metadata={"source": each.id}) for each in documents]
        done = index_documents(given, records, store, cleanup="full", source_id_key="source", key_encoder="sha256")
        return done["num_added"], done["num_skipped"], done["num_deleted"]

    assert run(SEA) == (3, 0, 0)
    assert run(SEA[:2]) == (0, 2, 1)
    assert {each.page_content for each in store.similarity_search("ship", k=9)} == {
        each.page_content for each in SEA[:2]
    }


def test_files_of_the_index_are_found_as_a_retriever_finds_them(store: SemsearchVectorStore, tmp_path: Path) -> None:
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "captain.md").write_text("# Captains\n\nThe captain sails the ship.\n", encoding="utf-8")
    store.index.sync(tmp_path / "docs")
    found = store.similarity_search("the captain sails", k=1)
    assert found == SemsearchRetriever(store.index, k=1).invoke("the captain sails")
    assert found[0].metadata["line"] == 3
    store.delete()
    assert len(store.similarity_search("ship", k=9)) == 1
