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
    from semsearch.embedder import SentenceEmbedder
    from semsearch.errors import SemsearchError
    from semsearch.explanation import Explanation
    from semsearch.hits import (
        Citation,
        Context,
        Hit,
        Place,
        Progress,
        Searchable,
        SkippedFile,
        Status,
        SyncReport,
        Text,
    )
    from semsearch.index import Index
    from semsearch.methods import Method
    from semsearch.vectors import VectorTable, WordVectors, load_vectors

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
    "Searchable",
    "SemsearchError",
    "SentenceEmbedder",
    "SkippedFile",
    "Status",
    "SyncReport",
    "Text",
    "VectorTable",
    "WordVectors",
    "load_vectors",
]

_HOMES = {
    "Citation": "hits",
    "Context": "hits",
    "Explanation": "explanation",
    "Hit": "hits",
    "Index": "index",
    "Method": "methods",
    "Place": "hits",
    "Progress": "hits",
    "Searchable": "hits",
    "SemsearchError": "errors",
    "SentenceEmbedder": "embedder",
    "SkippedFile": "hits",
    "Status": "hits",
    "SyncReport": "hits",
    "Text": "hits",
    "VectorTable": "vectors",
    "WordVectors": "vectors",
    "load_vectors": "vectors",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'semsearch' has no attribute {name!r}")
    return getattr(import_module(f"semsearch.{_HOMES[name]}"), name)
