"""Haystack: an index as a retriever, as embedders, and as a document store. Needs the extra `haystack`.

Components open the index at the first run or warm-up, so that a pipeline can be loaded without it.
Asynchronous methods run in a thread, so that the event loop continues.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeAlias

from semsearch import Hit, Searchable, SearchOptions, SentenceEmbedder
from semsearch.errors import MissingExtra, UsageError
from semsearch_integrations.adapted_index import (
    PLAIN,
    Embed,
    EmbedderLike,
    IndexLike,
    embedder_of,
    in_thread,
    passage_id,
    passage_metadata,
    rows,
    searchable,
    written,
)
from semsearch_integrations.conditions import Compared, Joined, MetadataCondition, filters_of, filters_where
from semsearch_integrations.haystack_store import SemsearchDocumentStore as SemsearchDocumentStore, given_document

try:
    from haystack import Document, component, default_to_dict
    from haystack.document_stores.types import FilterPolicy
except ModuleNotFoundError as error:
    raise MissingExtra("haystack-ai", "haystack", distribution="./integrations") from error

Filters: TypeAlias = dict[str, Any] | list[str] | None  # in the form of Haystack or semsearch


@component
class SemsearchDocumentRetriever:
    """A retriever over anything searchable: passages as documents, best first.

    `index` is the path of an index, the URL of a server, an open index, or a `SemsearchDocumentStore`, whose documents
    it returns whole. `options` are those of a search (`mode`, `min_score`, `context`, ...). `filters` have Haystack's
    form or semsearch's; filters of a run replace them, or are added if `filter_policy` is "merge".
    """

    def __init__(
        self,
        index: IndexLike | SemsearchDocumentStore,
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
        self._searched: Searchable | None = None
        if "k" in options:
            raise UsageError("use top_k, Haystack's name, instead of k")
        self._options(top_k, filters)

    def warm_up(self) -> None:
        """Open the index."""
        if self._searched is None:
            kept = self.index.documents.index if isinstance(self.index, SemsearchDocumentStore) else self.index
            self._searched = searchable(kept)

    def to_dict(self) -> dict[str, Any]:
        """Serialise the component. Raises UsageError if it was given an open index."""
        index = self.index if isinstance(self.index, SemsearchDocumentStore) else written(self.index)
        given = {"top_k": self.top_k, "filters": self.filters, "filter_policy": self.filter_policy.value}
        found: dict[str, Any] = default_to_dict(self, index=index, **given, **self.options)
        return found

    @component.output_types(documents=list[Document])
    def run(self, query: str, filters: Filters = None, top_k: int | None = None) -> dict[str, list[Document]]:
        """Find the best passages or documents for a query. `top_k` 0 finds none."""
        many = self.top_k if top_k is None else top_k
        return {"documents": self._found(query, filters, many) if many else []}

    run_async = component.output_types(documents=list[Document])(in_thread(run))

    def _found(self, query: str, filters: Filters, top_k: int) -> list[Document]:
        self.warm_up()
        assert self._searched is not None  # set by warm_up
        options = self._options(top_k, filters)
        if not isinstance(self.index, SemsearchDocumentStore):
            return [_passage(hit, self._searched) for hit in self._searched.search(query, options=options)]
        kept = self.index.documents
        return [
            given_document(hit.document, hit.metadata, hit.score) if kept.has(hit) else _passage(hit, kept.index)
            for hit in kept.search(query, options)
        ]

    def _options(self, top_k: int, filters: Filters) -> SearchOptions:
        wanted = _filters(filters)
        if self.filter_policy == FilterPolicy.MERGE or not wanted:
            wanted = [*dict.fromkeys([*_filters(self.filters), *wanted])]
        options: Any = {**self.options, "filters": wanted}
        return SearchOptions.chosen(PLAIN if isinstance(self.index, SemsearchDocumentStore) else None, top_k, options)


@component
class SemsearchTextEmbedder:
    """An embedder of queries by an index, as it embeds its own sentences, or by a fitted `SentenceEmbedder`.

    Vectors have length one. That of a text of OOV words only is zero.
    """

    def __init__(self, embedder: EmbedderLike) -> None:
        self.embedder = embedder
        self._embed: Embed | None = None

    def warm_up(self) -> None:
        """Open the index."""
        self._embed = self._embed or embedder_of(self.embedder)

    def to_dict(self) -> dict[str, Any]:
        """Serialise the component. Raises UsageError if it was given anything but a path."""
        found: dict[str, Any] = default_to_dict(self, embedder=_written(self.embedder))
        return found

    @component.output_types(embedding=list[float])
    def run(self, text: str) -> dict[str, list[float]]:
        """Embed a text. (d,)"""
        if not isinstance(text, str):
            raise UsageError(f"expected a text, not {text!r}; for documents use SemsearchDocumentEmbedder")
        self.warm_up()
        assert self._embed is not None  # set by warm_up
        return {"embedding": rows(self._embed, [text])[0]}

    run_async = component.output_types(embedding=list[float])(in_thread(run))


@component
class SemsearchDocumentEmbedder:
    """An embedder of documents, for stores other than an index; queries have `SemsearchTextEmbedder`.

    The values of `meta_fields_to_embed` precede a document's text, each followed by the separator.
    """

    def __init__(
        self,
        embedder: EmbedderLike,
        *,
        meta_fields_to_embed: list[str] | None = None,
        embedding_separator: str = "\n",
    ) -> None:
        self.embedder = embedder
        self.meta_fields_to_embed = meta_fields_to_embed or []
        self.embedding_separator = embedding_separator
        self._embed: Embed | None = None

    def warm_up(self) -> None:
        """Open the index."""
        self._embed = self._embed or embedder_of(self.embedder)

    def to_dict(self) -> dict[str, Any]:
        """Serialise the component. Raises UsageError if it was given anything but a path."""
        found: dict[str, Any] = default_to_dict(
            self,
            embedder=_written(self.embedder),
            meta_fields_to_embed=self.meta_fields_to_embed,
            embedding_separator=self.embedding_separator,
        )
        return found

    @component.output_types(documents=list[Document])
    def run(self, documents: list[Document]) -> dict[str, list[Document]]:
        """Return copies of the documents with embeddings. (n) -> (n, d)"""
        if not isinstance(documents, list) or not all(isinstance(each, Document) for each in documents):
            raise UsageError(f"expected a list of Documents, not {documents!r}")
        self.warm_up()
        assert self._embed is not None  # set by warm_up
        embeddings = rows(self._embed, [self._shown(document) for document in documents])
        pairs = zip(documents, embeddings, strict=True)
        return {"documents": [replace(document, embedding=embedding) for document, embedding in pairs]}

    run_async = component.output_types(documents=list[Document])(in_thread(run))

    def _shown(self, document: Document) -> str:
        values = [document.meta.get(key) for key in self.meta_fields_to_embed]
        return self.embedding_separator.join(
            [*(str(each) for each in values if each is not None), document.content or ""]
        )


def _written(embedder: EmbedderLike) -> str:
    if isinstance(embedder, SentenceEmbedder):
        raise UsageError("cannot serialise a SentenceEmbedder; create the component with the path of an index")
    return written(embedder)


def _passage(hit: Hit, index: Searchable) -> Document:
    meta = {key: value for key, value in passage_metadata(hit, index).items() if key != "score"}
    return Document(id=passage_id(hit), content=hit.passage, meta=meta, score=hit.score)


def _filters(given: Filters) -> list[str]:
    """Filters in semsearch's form. Raises UsageError for what they cannot express."""
    return filters_where(_condition(given)) if isinstance(given, Mapping) and given else [*filters_of(given)]


def _condition(given: object) -> MetadataCondition:
    match given:
        case {"field": str(field), "operator": str(operator), "value": value}:
            return Compared("path" if field == "id" else field.removeprefix("meta."), operator, value)
        case {"operator": "AND" | "OR" | "NOT" as operator, "conditions": Sequence() as conditions}:
            return Joined(operator.lower(), [_condition(each) for each in conditions])
    raise UsageError(
        f"a filter must have field, operator and value, or operator (AND, OR, NOT) and conditions, not {given!r}"
    )
