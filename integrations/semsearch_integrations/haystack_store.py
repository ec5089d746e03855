"""Haystack's document store in an index; import it from semsearch_integrations.haystack."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from semsearch import Index, Text
from semsearch.errors import MissingExtra, UsageError
from semsearch_integrations.adapted_index import AddedDocuments, in_thread, writable, written

try:
    from haystack import Document, default_from_dict, default_to_dict
    from haystack.document_stores.errors import DuplicateDocumentError
    from haystack.document_stores.types import DuplicatePolicy
    from haystack.utils.filters import document_matches_filter
except ModuleNotFoundError as error:
    raise MissingExtra("haystack-ai", "haystack", distribution="./integrations") from error

_DOCUMENT = "_document"  # metadata key that keeps a document's other fields
_LEFT_OUT = ("meta", "score", "embedding", "sparse_embedding")  # fields kept elsewhere, or not at all


class SemsearchDocumentStore:
    """A document store in an index: written documents are returned whole, without embeddings.

    `index` is an open index or a path, created if it does not exist. The index computes its own embeddings.
    """

    def __init__(self, index: Index | str | Path) -> None:
        self.index = index
        self.documents = AddedDocuments(writable(index), _DOCUMENT)

    def to_dict(self) -> dict[str, Any]:
        """Serialise the store. Raises UsageError if it was given an open index."""
        found: dict[str, Any] = default_to_dict(self, index=written(self.index))
        return found

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> SemsearchDocumentStore:
        """Create a serialised store."""
        store: SemsearchDocumentStore = default_from_dict(cls, data)
        return store

    def count_documents(self) -> int:
        """The number of documents."""
        return len(self.documents.where())

    def filter_documents(self, filters: dict[str, Any] | None = None) -> list[Document]:
        """The documents that pass filters, compared as Haystack compares. Reads all of them."""
        found = [given_document(each.document, each.metadata) for each in self.documents.where()]
        return [each for each in found if document_matches_filter(filters, each)] if filters else found

    def write_documents(self, documents: list[Document], policy: DuplicatePolicy = DuplicatePolicy.NONE) -> int:
        """Write documents, all or none; returns their number. Without a policy, existing ids are refused."""
        if not isinstance(documents, list) or not all(isinstance(each, Document) for each in documents):
            raise UsageError(f"write_documents takes a list of Documents, not {documents!r}")
        texts = {document.id: _text(document) for document in documents}
        known = {text.document for text in self.documents.get([*texts])}
        if policy == DuplicatePolicy.OVERWRITE:
            self.documents.put(texts.values())
            return len(documents)
        if policy != DuplicatePolicy.SKIP and (known or len(texts) < len(documents)):
            raise DuplicateDocumentError(f"ids that exist already, or are given twice: {', '.join(sorted(known))}")
        return len(self.documents.put([text for id_, text in texts.items() if id_ not in known]))

    def delete_documents(self, document_ids: list[str]) -> None:
        """Delete documents by id. Unknown ids are ignored."""
        self.documents.remove(document_ids)

    def delete_all_documents(self) -> None:
        """Delete all documents that were written. Files of the index stay."""
        self.documents.remove([each.document for each in self.documents.where()])

    def delete_by_filter(self, filters: dict[str, Any]) -> int:
        """Delete the documents that pass filters; returns their number."""
        return self.documents.remove([document.id for document in self.filter_documents(filters)])

    def update_by_filter(self, filters: dict[str, Any], meta: dict[str, Any]) -> int:
        """Change metadata of the documents that pass filters; returns their number."""
        found = [replace(document, meta={**document.meta, **meta}) for document in self.filter_documents(filters)]
        return len(self.documents.put([_text(document) for document in found]))

    count_documents_async = in_thread(count_documents)
    filter_documents_async = in_thread(filter_documents)
    write_documents_async = in_thread(write_documents)
    delete_documents_async = in_thread(delete_documents)
    delete_all_documents_async = in_thread(delete_all_documents)
    delete_by_filter_async = in_thread(delete_by_filter)
    update_by_filter_async = in_thread(update_by_filter)


def _text(document: Document) -> Text:
    kept = {key: value for key, value in document.to_dict(flatten=False).items() if key not in _LEFT_OUT}
    title = document.meta.get("title")
    return Text(
        document.id,
        document.content or "",
        title=title if isinstance(title, str) else "",
        metadata={**document.meta, _DOCUMENT: kept},
    )


def given_document(id_: str, metadata: Mapping[str, Any], score: float | None = None) -> Document:
    """A document as written, with its score in a search."""
    meta = {key: value for key, value in metadata.items() if key != _DOCUMENT}
    return Document.from_dict({**metadata[_DOCUMENT], "id": id_, "meta": meta, "score": score})
