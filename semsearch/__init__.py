"""semsearch: instant semantic search over your own documents.

    from semsearch import Index
    index = Index.create("indexes/notes")
    index.sync("notes/")
    for hit in index.search("how do I rotate the keys?"):
        print(hit.score, hit.path, hit.line, hit.sentence)

The names of this module are the public API. Modules that it imports may change at any time.
"""

from __future__ import annotations

__version__ = "0.1.0"

from semsearch.async_index import AsyncIndex
from semsearch.embedding.embedder import SentenceEmbedder
from semsearch.embedding.methods import Method
from semsearch.errors import MissingExtra, SemsearchError, UsageError
from semsearch.index import Index
from semsearch.multi_index import MultiIndex
from semsearch.readers.document import Text
from semsearch.remote_index import RemoteIndex
from semsearch.rerankers.load_reranker import load_reranker
from semsearch.rerankers.reranker import Readings, Reranker
from semsearch.results.documents import DocumentInfo, DocumentText, Facets
from semsearch.results.explanation import Explanation
from semsearch.results.hits import Citation, Context, DuplicatePassage, Hit, Hits, location
from semsearch.results.options import Mode, SearchOptions
from semsearch.results.reports import MovedRoot, Progress, SkippedFile, Status, SyncReport
from semsearch.searchable import Searchable
from semsearch.settings import Settings
from semsearch.word_vectors.loading import load_vectors
from semsearch.word_vectors.table import VectorTable, WordVectors

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
    "MissingExtra",
    "Mode",
    "MovedRoot",
    "MultiIndex",
    "Progress",
    "Readings",
    "RemoteIndex",
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
    "UsageError",
    "VectorTable",
    "WordVectors",
    "load_reranker",
    "load_vectors",
    "location",
]
