"""semsearch: instant semantic search over your own documents.

    from semsearch import Index
    index = Index.create("indexes/notes")
    index.sync("notes/")
    for hit in index.search("how do I rotate the keys?"):
        print(hit.score, hit.path, hit.line, hit.sentence)

The names below are loaded when they are first used, so that a process pays only for what it needs.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from semsearch.async_index import AsyncIndex
    from semsearch.embedding.embedder import SentenceEmbedder
    from semsearch.embedding.methods import Method
    from semsearch.errors import SemsearchError
    from semsearch.index import Index
    from semsearch.multi_index import MultiIndex
    from semsearch.readers.document import Text
    from semsearch.rerankers.loading import load_reranker
    from semsearch.results.contents.documents import DocumentInfo, DocumentText
    from semsearch.results.contents.facets import Facets
    from semsearch.results.context import Citation, Context
    from semsearch.results.explanation import Explanation
    from semsearch.results.hit_list import Hits
    from semsearch.results.hits import DuplicatePassage, Hit
    from semsearch.results.options import SearchOptions
    from semsearch.results.reranker import Reranker
    from semsearch.results.state.reports import MovedRoot, Progress, SkippedFile, Status, SyncReport
    from semsearch.searchable import Searchable
    from semsearch.settings import Settings
    from semsearch.word_vectors.loading import load_vectors
    from semsearch.word_vectors.table import VectorTable, WordVectors

    SeveralIndexes = MultiIndex

__version__ = "0.1.0"
__all__ = [
    "AsyncIndex",
    "Citation",
    "Context",
    "DocumentInfo",
    "DocumentText",
    "DuplicatePassage",
    "Explanation",
    "Facets",
    "Hit",
    "Hits",
    "Index",
    "Method",
    "MovedRoot",
    "MultiIndex",
    "Progress",
    "Reranker",
    "SearchOptions",
    "Searchable",
    "SemsearchError",
    "SentenceEmbedder",
    "Settings",
    "SkippedFile",
    "Status",
    "SyncReport",
    "Text",
    "VectorTable",
    "WordVectors",
    "load_reranker",
    "load_vectors",
]

_HOMES = {
    "AsyncIndex": "async_index",
    "Citation": "results.context",
    "Context": "results.context",
    "DocumentInfo": "results.contents.documents",
    "DocumentText": "results.contents.documents",
    "DuplicatePassage": "results.hits",
    "Explanation": "results.explanation",
    "Facets": "results.contents.facets",
    "Hit": "results.hits",
    "Hits": "results.hit_list",
    "Index": "index",
    "Method": "embedding.methods",
    "MovedRoot": "results.state.reports",
    "MultiIndex": "multi_index",
    "Progress": "results.state.reports",
    "Reranker": "results.reranker",
    "SearchOptions": "results.options",
    "Searchable": "searchable",
    "SemsearchError": "errors",
    "SentenceEmbedder": "embedding.embedder",
    "Settings": "settings",
    "SkippedFile": "results.state.reports",
    "Status": "results.state.reports",
    "SyncReport": "results.state.reports",
    "Text": "readers.document",
    "VectorTable": "word_vectors.table",
    "WordVectors": "word_vectors.table",
    "load_reranker": "rerankers.loading",
    "load_vectors": "word_vectors.loading",
}

_RENAMED = {"Place": "DuplicatePassage"}
_EARLIER = {"SeveralIndexes": "MultiIndex"}  # names that still work


def __getattr__(name: str) -> Any:
    if name in _RENAMED:
        raise AttributeError(f"semsearch.{name} is now called semsearch.{_RENAMED[name]}")
    name = _EARLIER.get(name, name)
    if name not in _HOMES:
        raise AttributeError(f"module 'semsearch' has no attribute {name!r}")
    return getattr(import_module(f"semsearch.{_HOMES[name]}"), name)
