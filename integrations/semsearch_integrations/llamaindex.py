"""LlamaIndex: an index as a retriever, as an embedding, and as a vector store. Needs the extra `llamaindex`.

Asynchronous methods run in a thread, so that the event loop continues.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeAlias

from semsearch import Hit, Index, Mode, Searchable, SearchOptions
from semsearch.errors import MissingExtra, UsageError
from semsearch_integrations import adapted_index as adapted
from semsearch_integrations.conditions import Condition, compared, filters_of

try:
    from llama_index.core.base.embeddings.base import BaseEmbedding
    from llama_index.core.bridge.pydantic import PrivateAttr, field_serializer
    from llama_index.core.callbacks import CallbackManager
    from llama_index.core.retrievers import BaseRetriever
    from llama_index.core.schema import (
        BaseNode,
        MetadataMode,
        NodeRelationship,
        NodeWithScore,
        QueryBundle,
        RelatedNodeInfo,
        TextNode,
    )
    from llama_index.core.vector_stores import MetadataFilter, MetadataFilters, VectorStoreQuery, VectorStoreQueryResult
    from llama_index.core.vector_stores.types import BasePydanticVectorStore
    from llama_index.core.vector_stores.utils import metadata_dict_to_node, node_to_metadata_dict
except ModuleNotFoundError as error:
    raise MissingExtra("llama-index-core", "llamaindex", distribution="./integrations") from error

_NODE = "_node_content"  # metadata key of LlamaIndex for the whole node
_SHOWN = ("source", "title", "headings")  # metadata that a language model reads before a passage's text
_LEXICAL: Mode = "lexical"
_MODES: dict[str, Mode] = {"hybrid": "hybrid", "semantic_hybrid": "hybrid", "sparse": _LEXICAL, "text_search": _LEXICAL}
_OPERATORS = {"contains": "==", "any": "in", "nin": "not in"}  # of a list, any element may be equal
_UNSUPPORTED = ("alpha", "sparse_top_k", "embedding_field", "output_fields", "mmr_threshold")

Filters: TypeAlias = Any  # MetadataFilters, a mapping, or filters in semsearch's form


class SemsearchNodeRetriever(BaseRetriever):
    """A retriever over anything searchable: passages as nodes, best first.

    `index` is the path of an index, the URL of a server, or an open index. Options are those of a search, as an object
    or by keyword; `filters` may also be LlamaIndex's `MetadataFilters`, or a mapping. Raises UsageError for invalid
    options, and what opening the index raises.
    """

    def __init__(
        self,
        index: adapted.IndexLike,
        k: int | None = None,
        *,
        options: SearchOptions | None = None,
        filters: Filters = None,
        callback_manager: CallbackManager | None = None,
        verbose: bool = False,
        **keywords: Any,
    ) -> None:
        super().__init__(callback_manager=callback_manager, verbose=verbose)
        given: Any = keywords if filters is None else {**keywords, "filters": _filters(filters)}
        self.options = SearchOptions.chosen(options, k, given)
        self._searched = adapted.searchable(index)

    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        hits = self._searched.search(query_bundle.query_str, options=self.options)
        return [NodeWithScore(node=_passage(hit, self._searched), score=hit.score) for hit in hits]

    _aretrieve = adapted.in_thread(_retrieve)


class SemsearchEmbedding(BaseEmbedding):
    """An embedding by an index, as it embeds its own sentences, or by a fitted `SentenceEmbedder`.

    Vectors have length one. That of a text of OOV words only is zero. Queries are embedded like texts.
    """

    embedder: Any
    _embed: adapted.Embed = PrivateAttr()

    def __init__(self, embedder: adapted.EmbedderLike, **keywords: Any) -> None:
        super().__init__(embedder=embedder, **{"model_name": "semsearch", **keywords})
        self._embed = adapted.embedder_of(embedder)

    @classmethod
    def class_name(cls) -> str:
        """The class's name in LlamaIndex."""
        return cls.__name__

    @field_serializer("embedder")
    def _written(self, embedder: adapted.EmbedderLike) -> str:
        return str(embedder) if isinstance(embedder, str | Path) else repr(embedder)

    def _get_text_embeddings(self, texts: list[str]) -> list[list[float]]:
        return self._embed(texts)

    def _get_text_embedding(self, text: str) -> list[float]:
        return self._get_text_embeddings([text])[0]

    def _get_query_embedding(self, query: str) -> list[float]:
        return self._get_text_embeddings([query])[0]

    _aget_text_embeddings = adapted.in_thread(_get_text_embeddings)
    _aget_text_embedding = adapted.in_thread(_get_text_embedding)
    _aget_query_embedding = adapted.in_thread(_get_query_embedding)


class SemsearchNodeStore(BasePydanticVectorStore):
    """A vector store in an index: added nodes are returned whole and unchanged.

    `index` is an open index or a path, created if it does not exist. The index computes its own embeddings and ignores
    those of nodes; it searches by meaning and by words unless a `mode` is given. Passages of files in the index are
    found too, in the form of `SemsearchNodeRetriever`.
    """

    stores_text: bool = True
    is_embedding_query: bool = False  # queries are texts
    mode: Mode = "hybrid"
    _documents: adapted.AddedDocuments = PrivateAttr()

    def __init__(self, index: Index | str | Path, *, mode: Mode = "hybrid") -> None:
        super().__init__(mode=mode)
        self._documents = adapted.AddedDocuments(adapted.writable(index), _NODE)

    @classmethod
    def class_name(cls) -> str:
        """The class's name in LlamaIndex."""
        return cls.__name__

    @property
    def client(self) -> Index:
        """The index."""
        return self._documents.index

    def add(self, nodes: Sequence[BaseNode], **_: Any) -> list[str]:
        """Add or replace nodes by id. Returns the ids."""
        texts = ((node.node_id, node.get_content(MetadataMode.NONE), node_to_metadata_dict(node)) for node in nodes)
        return self._documents.put(adapted.added_text(*text) for text in texts)

    def delete(self, ref_doc_id: str, **_: Any) -> None:
        """Delete the nodes of a document."""
        found = [each.document for each in self._documents.where() if each.metadata.get("ref_doc_id") == ref_doc_id]
        self._documents.remove(found)

    def delete_nodes(self, node_ids: list[str] | None = None, filters: Filters = None, **_: Any) -> None:
        """Delete the nodes with these ids that pass the filters. Raises UsageError if neither is given."""
        if node_ids is None and filters is None:
            raise UsageError("give node_ids or filters of the nodes to delete; clear() deletes all")
        self._documents.remove([node.node_id for node in self.get_nodes(node_ids, filters)])

    def clear(self) -> None:
        """Delete all nodes. Files of the index stay."""
        self._documents.clear()

    def get_nodes(self, node_ids: list[str] | None = None, filters: Filters = None) -> list[BaseNode]:
        """The nodes with these ids that pass the filters, without missing ones."""
        if filters is None:
            return [metadata_dict_to_node(text.metadata) for text in self._documents.get(node_ids)]
        found = self._documents.where(_filters(filters))
        wanted = None if node_ids is None else {*node_ids}
        return [metadata_dict_to_node(each.metadata) for each in found if wanted is None or each.document in wanted]

    def query(self, query: VectorStoreQuery, **_: Any) -> VectorStoreQueryResult:
        """Find the best nodes for a query, with scores: larger is better.

        The query's mode "default" is the store's. Raises UsageError for what an index does not support: a query by
        vector only, other modes, and weights (`alpha`).
        """
        if query.query_str is None:
            raise UsageError("a search needs a text, not a vector; give query_str")
        hits = self._documents.search(query.query_str, self._options(query)) if query.doc_ids != [] else []
        nodes = [self._node(hit) for hit in hits]
        return VectorStoreQueryResult(
            nodes=nodes, similarities=[hit.score for hit in hits], ids=[node.node_id for node in nodes]
        )

    def _node(self, hit: Hit) -> BaseNode:
        return metadata_dict_to_node(hit.metadata) if self._documents.has(hit) else _passage(hit, self.client)

    def _options(self, query: VectorStoreQuery) -> SearchOptions:
        mode = self.mode if query.mode.value == "default" else _MODES.get(query.mode.value)
        if mode is None:
            raise UsageError(f"unsupported query mode {query.mode.value!r}; supported: default, {', '.join(_MODES)}")
        for name in _UNSUPPORTED:
            if getattr(query, name) is not None:
                raise UsageError(f"an index does not support {name}; leave it out")
        filters = _filters(query.filters)
        for key, ids in (("ref_doc_id", query.doc_ids), ("path", query.node_ids)):
            filters += filters_of(compared(key, "in", ids)) if ids else []  # no node_ids: of a VectorStoreIndex
        k = query.similarity_top_k if query.hybrid_top_k is None else query.hybrid_top_k
        return replace(adapted.PLAIN, k=k, mode=mode, filters=filters)

    async_add = adapted.in_thread(add)
    adelete = adapted.in_thread(delete)
    adelete_nodes = adapted.in_thread(delete_nodes)
    aclear = adapted.in_thread(clear)
    aget_nodes = adapted.in_thread(get_nodes)
    aquery = adapted.in_thread(query)


def _passage(hit: Hit, index: Searchable) -> TextNode:
    """A passage as a node. Language models read its position from the metadata; embeddings read none of it."""
    metadata = adapted.passage_metadata(hit, index)
    source = RelatedNodeInfo(node_id="/".join(filter(None, (hit.root, hit.document))))
    return TextNode(
        id_=adapted.passage_id(hit),
        text=hit.passage,
        metadata=metadata,
        excluded_llm_metadata_keys=[key for key in metadata if key not in _SHOWN],
        excluded_embed_metadata_keys=[*metadata],
        relationships={NodeRelationship.SOURCE: source},
    )


def _filters(filters: Filters) -> list[str]:
    """Filters in semsearch's form. Raises UsageError for what they cannot express."""
    return [*filters_of(_condition(filters) if isinstance(filters, MetadataFilters) else filters)]


def _condition(condition: MetadataFilters | MetadataFilter) -> Condition:
    if isinstance(condition, MetadataFilters):
        conditions = [_condition(each) for each in condition.filters]
        match getattr(condition.condition, "value", "and"):
            case "not":
                return {"$not": {"$and": conditions}}
            case joining:
                return {f"${joining}": conditions}
    operator = condition.operator.value
    if operator == "all":
        return {"$and": [compared(condition.key, "==", value) for value in condition.value or []]}
    return compared(condition.key, _OPERATORS.get(operator, operator), condition.value)
