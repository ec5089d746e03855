"""Haystack: an index as a retriever, as embedders, and as a document store. Needs the extra `haystack`.

Components open the index at the first run or warm-up, so that a pipeline can be loaded without it.
Asynchronous methods run in a thread, so that the event loop continues.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import Any, TypeAlias

from semsearch import Hit, Index, Searchable, SearchOptions, Text
from semsearch.errors import MissingExtra, UsageError
from semsearch_integrations import adapted_index as adapted
from semsearch_integrations.conditions import Condition, compared, filters_of

try:
    from haystack import Document, component, default_to_dict
    from haystack.document_stores.errors import DuplicateDocumentError
    from haystack.document_stores.types import DuplicatePolicy, FilterPolicy
    from haystack.utils.filters import document_matches_filter
except ModuleNotFoundError as error:
    raise MissingExtra("haystack-ai", "haystack", distribution="./integrations") from error

Filters: TypeAlias = dict[str, Any] | list[str] | None  # in the form of Haystack or semsearch
_DOCUMENT = "_document"  # metadata key that keeps a document's other fields
_LEFT_OUT = ("meta", "score", "embedding", "sparse_embedding")  # fields kept elsewhere, or not at all


class SemsearchDocumentStore:
    """A document store in an index: written documents are returned whole, without embeddings.

    `index` is an open index or a path, created if it does not exist. The index computes its own embeddings.
    """

    def __init__(self, index: Index | str | Path) -> None:
        self.index = index
        self.documents = adapted.AddedDocuments(adapted.writable(index), _DOCUMENT)

    def to_dict(self) -> dict[str, Any]:
        """Serialise the store. Raises UsageError if it was given an open index."""
        return dict(default_to_dict(self, index=adapted.written(self.index)))

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> SemsearchDocumentStore:
        """Create a serialised store."""
        return cls(**data["init_parameters"])

    def count_documents(self) -> int:
        """The number of documents."""
        return len(self.documents.where())

    def filter_documents(self, filters: dict[str, Any] | None = None) -> list[Document]:
        """The documents that pass filters, compared as Haystack compares. Reads all of them."""
        found = [_original(each.document, each.metadata) for each in self.documents.where()]
        return [each for each in found if document_matches_filter(filters, each)] if filters else found

    def write_documents(self, documents: list[Document], policy: DuplicatePolicy = DuplicatePolicy.NONE) -> int:
        """Write documents, all or none; returns their number. Without a policy, existing ids are refused."""
        _check_documents(documents)
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
        self.documents.clear()

    def delete_by_filter(self, filters: dict[str, Any]) -> int:
        """Delete the documents that pass filters; returns their number."""
        return self.documents.remove([document.id for document in self.filter_documents(filters)])

    def update_by_filter(self, filters: dict[str, Any], meta: dict[str, Any]) -> int:
        """Change metadata of the documents that pass filters; returns their number."""
        found = [replace(document, meta={**document.meta, **meta}) for document in self.filter_documents(filters)]
        return len(self.documents.put([_text(document) for document in found]))

    count_documents_async = adapted.in_thread(count_documents)
    filter_documents_async = adapted.in_thread(filter_documents)
    write_documents_async = adapted.in_thread(write_documents)
    delete_documents_async = adapted.in_thread(delete_documents)
    delete_all_documents_async = adapted.in_thread(delete_all_documents)
    delete_by_filter_async = adapted.in_thread(delete_by_filter)
    update_by_filter_async = adapted.in_thread(update_by_filter)


@component
class SemsearchDocumentRetriever:
    """A retriever over anything searchable: passages as documents, best first.

    `index` is the path of an index, the URL of a server, an open index, or a `SemsearchDocumentStore`, whose documents
    it returns whole. `options` are those of a search (`mode`, `min_score`, `context`, ...). `filters` have Haystack's
    form or semsearch's; filters of a run replace them, or are added if `filter_policy` is "merge".
    """

    def __init__(
        self,
        index: adapted.IndexLike | SemsearchDocumentStore,
        top_k: int = 10,
        *,
        filters: Filters = None,
        filter_policy: str | FilterPolicy = FilterPolicy.REPLACE,
        **options: Any,
    ) -> None:
        self.index = index
        self.top_k = top_k
        self.filters = filters
        self.filter_policy = FilterPolicy(filter_policy)
        self.options = options
        if "k" in options:
            raise UsageError("use top_k, Haystack's name, instead of k")
        self._options(top_k, filters)

    @cached_property
    def _searched(self) -> Searchable:
        index = self.index
        return adapted.searchable(index.documents.index if isinstance(index, SemsearchDocumentStore) else index)

    def warm_up(self) -> None:
        """Open the index."""
        _ = self._searched

    def to_dict(self) -> dict[str, Any]:
        """Serialise the component. Raises UsageError if it was given an open index."""
        index = self.index if isinstance(self.index, SemsearchDocumentStore) else adapted.written(self.index)
        given = {"top_k": self.top_k, "filters": self.filters, "filter_policy": self.filter_policy.value}
        return dict(default_to_dict(self, index=index, **given, **self.options))

    @component.output_types(documents=list[Document])
    def run(self, query: str, filters: Filters = None, top_k: int | None = None) -> dict[str, list[Document]]:
        """Find the best passages or documents for a query. `top_k` 0 finds none."""
        k = self.top_k if top_k is None else top_k
        return {"documents": self._hits(query, self._options(k, filters)) if k else []}

    run_async = component.output_types(documents=list[Document])(adapted.in_thread(run))

    def _hits(self, query: str, options: SearchOptions) -> list[Document]:
        if not isinstance(self.index, SemsearchDocumentStore):
            return [_passage(hit, self._searched) for hit in self._searched.search(query, options=options)]
        kept = self.index.documents
        return [
            _original(hit.document, hit.metadata, hit.score) if kept.has(hit) else _passage(hit, kept.index)
            for hit in kept.search(query, options)
        ]

    def _options(self, top_k: int, filters: Filters) -> SearchOptions:
        wanted = _filters(filters)
        if self.filter_policy == FilterPolicy.MERGE or not wanted:
            wanted = [*dict.fromkeys([*_filters(self.filters), *wanted])]
        options: Any = {**self.options, "filters": wanted}
        plain = adapted.PLAIN if isinstance(self.index, SemsearchDocumentStore) else None
        return SearchOptions.chosen(plain, top_k, options)


class _Embedder:
    """The base of the embedders of texts and of documents."""

    embedder: adapted.EmbedderLike
    _others: Mapping[str, Any] = {}  # arguments of the component, never changed

    @cached_property
    def _embed(self) -> adapted.Embed:
        return adapted.embedder_of(self.embedder)

    def warm_up(self) -> None:
        """Open the index."""
        _ = self._embed

    def to_dict(self) -> dict[str, Any]:
        """Serialise the component. Raises UsageError if it was given anything but a path."""
        return dict(default_to_dict(self, embedder=adapted.written(self.embedder), **self._others))


@component
class SemsearchTextEmbedder(_Embedder):
    """An embedder of queries by an index, as it embeds its own sentences, or by a fitted `SentenceEmbedder`.

    Vectors have length one. That of a text of OOV words only is zero.
    """

    def __init__(self, embedder: adapted.EmbedderLike) -> None:
        self.embedder = embedder

    @component.output_types(embedding=list[float])
    def run(self, text: str) -> dict[str, list[float]]:
        """Embed a text. (d,)"""
        if not isinstance(text, str):
            raise UsageError(f"expected a text, not {text!r}; for documents use SemsearchDocumentEmbedder")
        return {"embedding": self._embed([text])[0]}

    run_async = component.output_types(embedding=list[float])(adapted.in_thread(run))


@component
class SemsearchDocumentEmbedder(_Embedder):
    """An embedder of documents, for stores other than an index; queries have `SemsearchTextEmbedder`.

    The values of `meta_fields_to_embed` precede a document's text, each followed by the separator.
    """

    def __init__(
        self,
        embedder: adapted.EmbedderLike,
        *,
        meta_fields_to_embed: list[str] | None = None,
        embedding_separator: str = "\n",
    ) -> None:
        self.embedder = embedder
        self.meta_fields_to_embed = meta_fields_to_embed or []
        self.embedding_separator = embedding_separator
        self._others = {"meta_fields_to_embed": self.meta_fields_to_embed, "embedding_separator": embedding_separator}

    @component.output_types(documents=list[Document])
    def run(self, documents: list[Document]) -> dict[str, list[Document]]:
        """Return copies of the documents with embeddings. (n) -> (n, d)"""
        _check_documents(documents)
        vectors = self._embed([self._embedded_text(document) for document in documents])
        pairs = zip(documents, vectors, strict=True)
        return {"documents": [replace(document, embedding=vector) for document, vector in pairs]}

    run_async = component.output_types(documents=list[Document])(adapted.in_thread(run))

    def _embedded_text(self, document: Document) -> str:
        values = [document.meta.get(key) for key in self.meta_fields_to_embed]
        texts = [str(value) for value in values if value is not None]
        return self.embedding_separator.join([*texts, document.content or ""])


def _check_documents(documents: object) -> None:
    if not isinstance(documents, list) or not all(isinstance(document, Document) for document in documents):
        raise UsageError(f"expected a list of Documents, not {documents!r}")


def _text(document: Document) -> Text:
    kept = {key: value for key, value in document.to_dict(flatten=False).items() if key not in _LEFT_OUT}
    return adapted.added_text(document.id, document.content or "", {**document.meta, _DOCUMENT: kept})


def _original(id_: str, metadata: Mapping[str, Any], score: float | None = None) -> Document:
    """A document as written, with its score in a search."""
    meta = {key: value for key, value in metadata.items() if key != _DOCUMENT}
    return Document.from_dict({**metadata[_DOCUMENT], "id": id_, "meta": meta, "score": score})


def _passage(hit: Hit, index: Searchable) -> Document:
    meta = {key: value for key, value in adapted.passage_metadata(hit, index).items() if key != "score"}
    return Document(id=adapted.passage_id(hit), content=hit.passage, meta=meta, score=hit.score)


def _filters(filters: Filters) -> list[str]:
    """Filters in semsearch's form. Raises UsageError for what they cannot express."""
    return [*filters_of(_condition(filters) if isinstance(filters, Mapping) and filters else filters)]


def _condition(condition: object) -> Condition:
    match condition:
        case {"field": str(field), "operator": str(operator), "value": value}:
            return compared("path" if field == "id" else field.removeprefix("meta."), operator, value)
        case {"operator": "AND" | "OR" as operator, "conditions": Sequence() as conditions}:
            return {f"${operator.lower()}": [_condition(each) for each in conditions]}
        case {"operator": "NOT", "conditions": Sequence() as conditions}:
            return {"$not": {"$and": [_condition(each) for each in conditions]}}
    raise UsageError(
        f"a filter must have field, operator and value, or operator (AND, OR, NOT) and conditions, not {condition!r}"
    )
