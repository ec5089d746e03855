"""Haystack's own suites for document stores: the basic, the extended and the asynchronous ones."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from haystack import Document
from haystack.document_stores.errors import DuplicateDocumentError
from haystack.testing.document_store import DocumentStoreBaseExtendedTests
from haystack.testing.document_store_async import (
    CountDocumentsAsyncTest,
    DeleteAllAsyncTest,
    DeleteByFilterAsyncTest,
    DeleteDocumentsAsyncTest,
    UpdateByFilterAsyncTest,
    WriteDocumentsAsyncTest,
)

from semsearch.index import Index
from semsearch.word_vectors.table import WordVectors
from semsearch_integrations.haystack import SemsearchDocumentStore


def without_embeddings(documents: list[Document]) -> list[Document]:
    """Documents as a store in an index gives them back, in any order."""
    return sorted((replace(each, embedding=None) for each in documents), key=lambda each: each.id)


class TestDocumentStore(
    DocumentStoreBaseExtendedTests,
    CountDocumentsAsyncTest,
    WriteDocumentsAsyncTest,
    DeleteDocumentsAsyncTest,
    DeleteAllAsyncTest,
    DeleteByFilterAsyncTest,
    UpdateByFilterAsyncTest,
):
    @pytest.fixture
    def document_store(self, tmp_path: Path, english: WordVectors) -> Iterator[SemsearchDocumentStore]:
        with Index.create(tmp_path / "index", vectors=english) as index:
            yield SemsearchDocumentStore(index)

    @staticmethod
    def assert_documents_are_equal(received: list[Document], expected: list[Document]) -> None:
        assert without_embeddings(received) == without_embeddings(expected)

    def test_write_documents(self, document_store: SemsearchDocumentStore) -> None:
        document = Document(content="test doc")
        assert document_store.write_documents([document]) == 1
        with pytest.raises(DuplicateDocumentError):
            document_store.write_documents([document])
        assert document_store.filter_documents() == [document]

    async def test_write_documents_async(self, document_store: SemsearchDocumentStore) -> None:
        document = Document(content="test doc")
        assert await document_store.write_documents_async([document]) == 1
        with pytest.raises(DuplicateDocumentError):
            await document_store.write_documents_async([document])
        assert await document_store.filter_documents_async() == [document]
