"""LangChain's standard suites, as its package langchain-tests has them, for each adapter."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from langchain_core.embeddings import Embeddings
from langchain_core.retrievers import BaseRetriever
from langchain_core.vectorstores import VectorStore
from langchain_tests.integration_tests import (
    EmbeddingsIntegrationTests,
    RetrieversIntegrationTests,
    VectorStoreIntegrationTests,
)
from langchain_tests.unit_tests import EmbeddingsUnitTests

from semsearch.index import Index
from semsearch.word_vectors.table import WordVectors
from semsearch_integrations.langchain import SemsearchEmbeddings, SemsearchRetriever, SemsearchVectorStore


class TestRetriever(RetrieversIntegrationTests):
    @pytest.fixture(autouse=True)
    def _index(self, ships: Path) -> None:
        self.place = str(ships)

    @property
    def retriever_constructor(self) -> type[BaseRetriever]:
        return SemsearchRetriever

    @property
    def retriever_constructor_params(self) -> dict[str, Any]:
        return {"index": self.place}

    @property
    def retriever_query_example(self) -> str:
        return "a ship in the storm"


class _OfAnIndex:
    @pytest.fixture(autouse=True)
    def _index(self, ships: Path) -> None:
        self.place = str(ships)

    @property
    def embeddings_class(self) -> type[Embeddings]:
        return SemsearchEmbeddings

    @property
    def embedding_model_params(self) -> dict[str, Any]:
        return {"embedder": self.place}


class TestEmbeddings(_OfAnIndex, EmbeddingsIntegrationTests):
    pass


class TestEmbeddingsAsAUnit(_OfAnIndex, EmbeddingsUnitTests):
    pass


class TestVectorStore(VectorStoreIntegrationTests):
    @pytest.fixture
    def vectorstore(self, tmp_path: Path, english: WordVectors) -> Iterator[VectorStore]:
        with Index.create(tmp_path / "index", vectors=english) as index:
            yield SemsearchVectorStore(index)
