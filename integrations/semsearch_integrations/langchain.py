"""LangChain: an index as a retriever, as embeddings, and as a vector store. Needs the extra `langchain`.

Asynchronous methods run in a thread, so that the event loop continues.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from semsearch import Hit, Index, Mode, Searchable, SearchOptions
from semsearch.errors import MissingExtra, UsageError
from semsearch_integrations import adapted_index as adapted
from semsearch_integrations.conditions import filters_of

try:
    from langchain_core.documents import Document
    from langchain_core.embeddings import Embeddings
    from langchain_core.retrievers import BaseRetriever
    from langchain_core.vectorstores import VectorStore
    from langchain_core.vectorstores.utils import maximal_marginal_relevance
    from pydantic import ConfigDict, Field, PrivateAttr
except ModuleNotFoundError as error:
    raise MissingExtra("langchain-core", "langchain", distribution="./integrations") from error

if TYPE_CHECKING:
    from langchain_core.callbacks import CallbackManagerForRetrieverRun

_TEXT = "_page_content"  # metadata key that keeps a document's original text


class SemsearchRetriever(BaseRetriever):
    """A retriever over anything searchable: passages as documents, best first.

    `index` is the path of an index, the URL of a server, or an open index. The other fields are those of
    `SearchOptions`, the rarer ones in `options`; `invoke(query, k=3)` changes them for one query. `filters` may also be
    a mapping (the module `conditions`). With a path or URL, a retriever can be dumped, loaded and pickled. Raises
    UsageError for invalid options, and what opening the index raises.
    """

    model_config = ConfigDict(arbitrary_types_allowed=True, extra="forbid")

    index: Any
    k: int = 10
    mode: Mode = "hybrid"
    min_score: float | None = None
    filters: Any = ()
    context: int = 0
    duplicates: bool = False
    options: dict[str, Any] = Field(default_factory=dict)
    _searched: Searchable = PrivateAttr()

    def __init__(self, index: adapted.IndexLike, *, options: Mapping[str, Any] | None = None, **keywords: Any) -> None:
        own = {name: value for name, value in keywords.items() if name in type(self).model_fields}
        others = {name: value for name, value in keywords.items() if name not in own}
        place = str(index) if isinstance(index, Path) else index
        super().__init__(index=place, options={**(options or {}), **others}, **own)

    def model_post_init(self, context: Any, /) -> None:
        """Open the index, and check the options."""
        super().model_post_init(context)
        self._searched = adapted.searchable(self.index)
        self._options({})

    @classmethod
    def is_lc_serializable(cls) -> bool:
        """Tell LangChain that its `dumps` can serialise this."""
        return True

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle only the fields: unpickling opens the index again."""
        return partial(type(self), **vars(self)), ()

    def _options(self, keywords: Mapping[str, Any]) -> SearchOptions:
        fields = {name: getattr(self, name) for name in SearchOptions.__slots__ if name in type(self).model_fields}
        options: Any = {**fields, **self.options, **keywords}
        return SearchOptions.chosen(None, None, options | {"filters": filters_of(options["filters"])})

    def _get_relevant_documents(
        self,
        query: str,
        *,
        run_manager: CallbackManagerForRetrieverRun,  # noqa: ARG002  # given by LangChain
        **keywords: Any,
    ) -> list[Document]:
        hits = self._searched.search(query, options=self._options(keywords))
        return [_passage(hit, self._searched) for hit in hits]

    _aget_relevant_documents = adapted.in_thread(_get_relevant_documents)


class SemsearchEmbeddings(Embeddings):
    """Embeddings by an index, as it embeds its own sentences, or by a fitted `SentenceEmbedder`.

    Vectors have length one. That of a text of OOV words only is zero. Queries are embedded like documents.
    """

    def __init__(self, embedder: adapted.EmbedderLike) -> None:
        self.embedder = embedder
        self._embed = adapted.embedder_of(embedder)

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        """Embed texts. (n) -> (n, d)"""
        return self._embed(texts)

    def embed_query(self, text: str) -> list[float]:
        """Embed a query. (d,)"""
        return self._embed([text])[0]


class SemsearchVectorStore(VectorStore):
    """A vector store in an index: added documents are returned whole and unchanged, with their metadata.

    `index` is an open index or a path, created if it does not exist. The index computes its own embeddings, and
    searches by meaning and by words unless a `mode` is given. Passages of files in the index are found too, in the form
    of `SemsearchRetriever`. `filter` is as in the module `conditions`; the other options of a search are those of
    `SearchOptions`. A document replaces an earlier one of the same id.
    """

    def __init__(self, index: Index | str | Path, *, mode: Mode = "hybrid") -> None:
        self.index = adapted.writable(index)
        self.mode = mode
        self._documents = adapted.AddedDocuments(self.index, _TEXT)

    @property
    def embeddings(self) -> SemsearchEmbeddings:
        """The index's own embeddings."""
        return SemsearchEmbeddings(self.index)

    def add_texts(
        self,
        texts: Iterable[str],
        metadatas: Sequence[Mapping[str, Any]] | None = None,
        *,
        ids: Sequence[str | None] | None = None,
        batch_size: int | None = None,  # noqa: ARG002  # given by LangChain's `index`; here all is one write
    ) -> list[str]:
        """Add texts with metadata; those without an id get one. Returns the ids."""
        contents = [*texts]
        if any(given is not None and len(given) != len(contents) for given in (metadatas, ids)):
            raise UsageError(f"got {len(contents)} texts; give as many metadatas and ids, or none of them")
        triples = zip(ids or [None] * len(contents), contents, metadatas or [{}] * len(contents), strict=True)
        return self._documents.put(
            adapted.added_text(id_ or str(uuid4()), text, {**metadata, _TEXT: text}) for id_, text, metadata in triples
        )

    def delete(self, ids: list[str] | None = None, **_: Any) -> bool:
        """Delete documents by id, or all added ones. Files of the index stay; unknown ids are ignored."""
        self._documents.clear() if ids is None else self._documents.remove(ids)
        return True

    def get_by_ids(self, ids: Sequence[str], /) -> list[Document]:
        """The documents with these ids, in their order, without missing ones."""
        return [_original(text.document, text.metadata) for text in self._documents.get(ids)]

    def similarity_search(self, query: str, k: int = 4, *, filter: Any = None, **options: Any) -> list[Document]:
        """Find the best documents for a query."""
        return [self._document(hit) for hit in self._hits(query, k, filter, options)]

    def similarity_search_with_score(
        self, query: str, k: int = 4, *, filter: Any = None, **options: Any
    ) -> list[tuple[Document, float]]:
        """Find documents with their scores: the larger the better, and comparable within one answer only."""
        return [(self._document(hit), hit.score) for hit in self._hits(query, k, filter, options)]

    def max_marginal_relevance_search(
        self, query: str, k: int = 4, fetch_k: int = 20, lambda_mult: float = 0.5, *, filter: Any = None, **options: Any
    ) -> list[Document]:
        """Of the first `fetch_k`, choose k that are near the query and unlike each other, by the cosines of vectors."""
        hits = self._hits(query, max(k, fetch_k), filter, options)
        if not hits:
            return []
        wanted, *found = self.index.embed([query, *(hit.passage for hit in hits)])
        chosen = maximal_marginal_relevance(wanted, found, lambda_mult=lambda_mult, k=k)
        return [self._document(hits[number]) for number in chosen]

    @classmethod
    def from_texts(
        cls,
        texts: list[str],
        embedding: Embeddings | None = None,
        metadatas: list[dict[str, Any]] | None = None,
        *,
        ids: list[str] | None = None,
        index: Index | str | Path | None = None,
        mode: Mode = "hybrid",
    ) -> SemsearchVectorStore:
        """Create a store in an index, by default a new one, and add texts. The index computes its own embeddings.

        Raises UsageError for embeddings other than `SemsearchEmbeddings`, and without an index.
        """
        if embedding is not None and not isinstance(embedding, SemsearchEmbeddings):
            raise UsageError(
                f"the index computes its own embeddings; pass embedding=None instead of {type(embedding).__name__}"
            )
        if index is None:
            raise UsageError("an index is needed: pass index='indexes/notes', or an open Index")
        store = cls(index, mode=mode)
        store.add_texts(texts, metadatas, ids=ids)
        return store

    def _similarity_search_with_relevance_scores(
        self, query: str, k: int = 4, *, filter: Any = None, **options: Any
    ) -> list[tuple[Document, float]]:
        """Find documents with their relevance, 0 to 1: the cosine with the query, comparable between answers.

        Raises UsageError in mode "lexical", whose scores have no such scale.
        """
        if options.get("mode", self.mode) == "lexical":
            raise UsageError(
                "relevance scores need vectors, which the mode 'lexical' does not use; use 'hybrid' or 'dense'"
            )
        hits = self._hits(query, k, filter, options)
        return [(self._document(hit), min(1.0, max(0.0, hit.dense or 0.0))) for hit in hits]

    _asimilarity_search_with_relevance_scores = adapted.in_thread(_similarity_search_with_relevance_scores)

    def _hits(self, query: str, k: int, filter: Any, options: Mapping[str, Any]) -> list[Hit]:
        filters = (*filters_of(filter), *filters_of(options.get("filters")))
        keywords: Any = {"mode": self.mode, **options, "filters": filters}
        return self._documents.search(query, SearchOptions.chosen(adapted.PLAIN, k, keywords))

    def _document(self, hit: Hit) -> Document:
        return _original(hit.document, hit.metadata) if self._documents.has(hit) else _passage(hit, self.index)


def _passage(hit: Hit, index: Searchable) -> Document:
    return Document(id=adapted.passage_id(hit), page_content=hit.passage, metadata=adapted.passage_metadata(hit, index))


def _original(id_: str, metadata: Mapping[str, Any]) -> Document:
    """A document in its original form."""
    own = {key: value for key, value in metadata.items() if key != _TEXT}
    return Document(id=id_, page_content=metadata[_TEXT], metadata=own)
