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
    from semsearch.embedding.embedder import SentenceEmbedder
    from semsearch.embedding.methods import Method
    from semsearch.errors import SemsearchError
    from semsearch.index import Index
    from semsearch.readers.document import Text
    from semsearch.results.context import Citation, Context
    from semsearch.results.explanation import Explanation
    from semsearch.results.hits import Hit, Place
    from semsearch.results.options import SearchOptions
    from semsearch.results.reports import Progress, SkippedFile, Status, SyncReport
    from semsearch.results.reranker import Reranker
    from semsearch.results.searchable import Searchable
    from semsearch.settings import Settings
    from semsearch.word_vectors.loading import load_vectors
    from semsearch.word_vectors.table import VectorTable, WordVectors

__version__ = "0.1.0"
__all__ = [
    "Citation",
    "Context",
    "Explanation",
    "Hit",
    "Index",
    "Method",
    "Place",
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
    "load_vectors",
]

_HOMES = {
    "Citation": "results.context",
    "Context": "results.context",
    "Explanation": "results.explanation",
    "Hit": "results.hits",
    "Index": "index",
    "Method": "embedding.methods",
    "Place": "results.hits",
    "Progress": "results.reports",
    "Reranker": "results.reranker",
    "SearchOptions": "results.options",
    "Searchable": "results.searchable",
    "SemsearchError": "errors",
    "SentenceEmbedder": "embedding.embedder",
    "Settings": "settings",
    "SkippedFile": "results.reports",
    "Status": "results.reports",
    "SyncReport": "results.reports",
    "Text": "readers.document",
    "VectorTable": "word_vectors.table",
    "WordVectors": "word_vectors.table",
    "load_vectors": "word_vectors.loading",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'semsearch' has no attribute {name!r}")
    return getattr(import_module(f"semsearch.{_HOMES[name]}"), name)
