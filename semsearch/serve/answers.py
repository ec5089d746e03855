"""The server's own answers, beside those of an index. Their JSON has the fields of these classes."""

from __future__ import annotations

from dataclasses import field

from semsearch.frozen import dataclass
from semsearch.results.codec import ONLY_IF_SET
from semsearch.results.documents import DocumentInfo
from semsearch.results.hits import Citation, Hit
from semsearch.results.options import Correction, Mode


@dataclass(frozen=True, slots=True)
class SearchAnswer:
    """The hits of a query. A hit has its `origin` only if requested."""

    index: str | None  # null for several indexes
    indexes: tuple[str, ...] | None = field(default=None, kw_only=True, metadata=ONLY_IF_SET)  # that were searched
    query: str
    mode: Mode
    answered: bool  # false: nothing answers the query, and the hits are only the nearest passages
    hits: tuple[Hit, ...]
    warnings: tuple[str, ...] | None = field(
        default=None, kw_only=True, metadata=ONLY_IF_SET
    )  # e.g. about filters and phrases
    corrected: tuple[Correction, ...] | None = field(default=None, kw_only=True, metadata=ONLY_IF_SET)


@dataclass(frozen=True, slots=True)
class QueryHits:
    """The hits of one query of a batch."""

    query: str
    answered: bool  # false: nothing answers the query, and the hits are only the nearest passages
    hits: tuple[Hit, ...]
    corrected: tuple[Correction, ...] | None = field(default=None, kw_only=True, metadata=ONLY_IF_SET)


@dataclass(frozen=True, slots=True)
class BatchAnswer:
    """The hits of each query of a batch, in order. All come from one generation of each index."""

    index: str | None  # null for several indexes
    indexes: tuple[str, ...] | None = field(default=None, kw_only=True, metadata=ONLY_IF_SET)  # that were searched
    mode: Mode
    answers: tuple[QueryHits, ...]


@dataclass(frozen=True, slots=True)
class SimilarAnswer:
    """The hits that are similar to a passage or a document."""

    index: str | None  # null for several indexes
    indexes: tuple[str, ...] | None = field(default=None, kw_only=True, metadata=ONLY_IF_SET)  # that were searched
    mode: Mode
    hits: tuple[Hit, ...]


@dataclass(frozen=True, slots=True)
class ContextAnswer:
    """A context with its query."""

    index: str | None  # null for several indexes
    indexes: tuple[str, ...] | None = field(default=None, kw_only=True, metadata=ONLY_IF_SET)  # that were searched
    query: str
    mode: Mode
    text: str
    words: int
    citations: tuple[Citation, ...]
    weak: int | None = field(default=None, kw_only=True, metadata=ONLY_IF_SET)  # as in a context
    warnings: tuple[str, ...] | None = field(default=None, kw_only=True, metadata=ONLY_IF_SET)  # as in SearchAnswer


@dataclass(frozen=True, slots=True)
class IndexEntry:
    """An index of the server. `problem` says why the other fields are unknown; empty if they are known."""

    name: str
    documents: int
    passages: int
    sentences: int
    size_bytes: int  # of all files
    generation: int  # number of writes
    roots: tuple[str, ...]  # the folders and files that it indexes
    problem: str


@dataclass(frozen=True, slots=True)
class IndexesAnswer:
    """All indexes of the server, by name."""

    indexes: tuple[IndexEntry, ...]


@dataclass(frozen=True, slots=True)
class DocumentsAnswer:
    """A page of an index's documents. `next` is the offset of the next page; null at the end."""

    index: str
    documents: tuple[DocumentInfo, ...]
    next: int | None


@dataclass(frozen=True, slots=True)
class Health:
    """The server is up."""

    status: str
    version: str


@dataclass(frozen=True, slots=True)
class RemovedAnswer:
    """The number of documents that were removed."""

    removed: int


@dataclass(frozen=True, slots=True)
class EmbeddedText:
    """The vector of a text: numbers, or their bytes in base64 (little-endian float32)."""

    object: str
    index: int  # of the text in the request
    embedding: tuple[float, ...] | str


@dataclass(frozen=True, slots=True)
class EmbeddingUsage:
    """The number of words of the texts, under the names that clients of OpenAI's API expect."""

    prompt_tokens: int
    total_tokens: int


@dataclass(frozen=True, slots=True)
class EmbeddingsAnswer:
    """The vectors of texts. The model is the name of the index."""

    object: str
    data: tuple[EmbeddedText, ...]
    model: str
    usage: EmbeddingUsage
