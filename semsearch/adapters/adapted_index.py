"""An index as adapters use it: opened by path or address, with its vectors, passages and documents.

Opening. The index that a user gives to an adapter: an opened one, or the path or address by which it is opened.

An adapter that was given a path or an address can be written down and made again elsewhere, which frameworks do.
All
that name one index share it while any of them is in use.

Vectors. Vectors of texts for other frameworks: as an index embeds its sentences, or as a fitted embedder does.

Passages. A hit as other frameworks keep a passage: an id, and metadata that says where it stands and why it is
there.

Documents. The documents that another framework keeps in an index: each is found whole, and comes back as it was
given.

The index divides a text into passages and cleans it. What was given is kept in the document's metadata, under a
key
that an adapter chooses for itself; the rest of the metadata is for filters.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias
from uuid import UUID, uuid5
from weakref import WeakKeyDictionary, WeakValueDictionary

from semsearch import (
    DocumentInfo,
    DocumentText,
    Hit,
    Index,
    Searchable,
    SearchOptions,
    SentenceEmbedder,
    Text,
    location,
)
from semsearch.arrays import Float32
from semsearch.errors import IndexNotFound, UsageError

if TYPE_CHECKING:
    from semsearch import RemoteIndex

# -- Opening -----------------------------------------------------------------------------------------------------------

IndexLike: TypeAlias = Searchable | str | Path
_ADDRESSES = ("http://", "https://")
_opening = threading.Lock()
_indexes: WeakValueDictionary[str, Index] = WeakValueDictionary()
_servers: WeakValueDictionary[str, RemoteIndex] = WeakValueDictionary()


def searchable(given: IndexLike) -> Searchable:
    """Open what can be searched. Raises UsageError for anything else, IndexNotFound, IndexDamaged, VectorsMismatch."""
    if isinstance(given, str) and given.startswith(_ADDRESSES):
        return _connected(given)
    if isinstance(given, str | Path):
        return _opened(given, create=False)
    if not callable(getattr(given, "search", None)) or not callable(getattr(given, "similar", None)):
        raise UsageError(f"an index is a path, the address of a server, or one that is open, not {given!r}")
    return given


def writable(given: IndexLike) -> Index:
    """Open an index here that texts can be added to; a path where nothing is becomes a new one. Raises as above."""
    if isinstance(given, Index):
        return given
    if isinstance(given, Path) or (isinstance(given, str) and not given.startswith(_ADDRESSES)):
        return _opened(given, create=True)
    raise UsageError(f"documents are kept in an index on this machine: a path, or an Index, not {given!r}")


def written(given: IndexLike) -> str:
    """The path or address of an index, to be written down. Raises UsageError for one that is open."""
    if isinstance(given, str | Path):
        return str(given)
    raise UsageError(f"{given!r} cannot be written down; make what uses it with the path of the index, or its address")


def name_of(index: Searchable) -> str | None:
    """What answers call an index: its path, or its name on a server, or the server's address."""
    if isinstance(index, Index):
        return str(index.path)
    return getattr(index, "name", None) or getattr(index, "url", None)


def _connected(url: str) -> RemoteIndex:
    with _opening:
        server = _servers.get(url)
        if server is None:
            server = _servers[url] = Index.connect(url)
        return server


def _opened(path: str | Path, *, create: bool) -> Index:
    whole = str(Path(path).resolve())
    with _opening:
        index = _indexes.get(whole)
        if index is None:
            index = _indexes[whole] = _open_or_create(path) if create else Index.open(path)
        return index


def _open_or_create(path: str | Path) -> Index:
    try:
        return Index.open(path)
    except IndexNotFound:
        return Index.create(path)


# -- Vectors -----------------------------------------------------------------------------------------------------------

EmbedderLike: TypeAlias = Index | SentenceEmbedder | str | Path
Embed: TypeAlias = "Callable[[Sequence[str]], Float32]"


def embedder_of(given: EmbedderLike) -> Embed:
    """The function that embeds texts: unit vectors, zero for a text without a known word. (n) -> (n, d)

    Of an index it raises UsageError while the index has no text; of an embedder FitError before `fit`. Raises
    UsageError for anything else, and what opening an index raises.
    """
    if isinstance(given, SentenceEmbedder):
        return given.transform
    index = searchable(given) if isinstance(given, str | Path) else given
    if not isinstance(index, Index):
        raise UsageError(f"texts are embedded by an index on this machine or a fitted SentenceEmbedder, not {given!r}")
    return index.embed


def rows(embed: Embed, texts: Sequence[str]) -> list[list[float]]:
    """Embed texts as lists of numbers, in their order."""
    found: list[list[float]] = embed(texts).tolist() if texts else []
    return found


# -- Passages ----------------------------------------------------------------------------------------------------------

_PASSAGES = UUID("6f3f2f0e-6c0b-5d0c-9a5e-6f0d1f0a7c11")  # any that is nobody else's


def passage_id(hit: Hit) -> str:
    """The id of a hit's passage: the same whenever, and in whichever index, this document has this text.

    Passages of one document that say exactly the same have one id.
    """
    return str(uuid5(_PASSAGES, "\0".join((hit.root, hit.document, hit.passage))))


def passage_metadata(hit: Hit, index: Searchable) -> dict[str, Any]:
    """The document's own metadata, and over it where the passage stands, its best sentence, its score and its index.

    `source` is how one would cite it (`guide.md:10`, `report.pdf p. 3`), unless the document says otherwise.
    """
    found = {
        "source": location(hit.path, hit.format, hit.position),
        **hit.metadata,
        "path": hit.path,
        "title": hit.title,
        "headings": [*hit.headings],
        "place": hit.place,
        "line": hit.line,
        "page": hit.page,
        "format": hit.format,
        "sentence": hit.sentence,
        "score": hit.score,
        "dense": hit.dense,
        "lexical": hit.lexical,
        "relevance": hit.relevance,
        "stale": hit.stale,
        "index": hit.index or name_of(index),
    }
    around = {"before": [*hit.before], "after": [*hit.after]} if hit.before or hit.after else {}
    return found | around | _also(hit)


def _also(hit: Hit) -> dict[str, Any]:
    """The paths of documents that say the same, where there are any."""
    return {"also_in": [duplicate.path for duplicate in hit.duplicates]} if hit.duplicates else {}


# -- Documents ---------------------------------------------------------------------------------------------------------

PLAIN = SearchOptions(syntax="plain")  # a store may be asked with any text: its quotes and hyphens say nothing
_MORE = 2  # times as many hits are asked for, while there are not enough documents among them
_writing: WeakKeyDictionary[Index, threading.Lock] = WeakKeyDictionary()
_making = threading.Lock()


class AddedDocuments:
    """The texts in an index that an adapter added: their metadata has its `key`, with what was given.

    Threads may share it: one writes at a time, the others wait.
    """

    def __init__(self, index: Index, key: str) -> None:
        self.index = index
        self.key = key
        with _making:
            self._lock = _writing.setdefault(index, threading.Lock())

    def put(self, texts: Iterable[Text]) -> list[str]:
        """Add texts, in place of those with their ids; of several with one id the last counts. Returns all ids."""
        given = [*texts]
        if given:
            with self._lock:
                self.index.add({text.id: text for text in given}.values())
        return [text.id for text in given]

    def get(self, ids: Sequence[str] | None = None) -> list[DocumentText]:
        """The texts with these ids that there are, each once, or all."""
        texts = self.index.texts(None if ids is None else [*dict.fromkeys(ids)])
        return [text for text in texts if self.key in text.metadata]

    def where(self, filters: Sequence[str] = ()) -> list[DocumentInfo]:
        """What is known of the texts that pass all filters, or of all."""
        return [found for found in self.index.documents(filters) if not found.root and self.key in found.metadata]

    def remove(self, ids: Iterable[str]) -> int:
        """Remove texts by their ids; returns how many there were."""
        with self._lock:
            return self.index.remove_texts([*ids])

    def search(self, query: str, options: SearchOptions) -> list[Hit]:
        """Find the best hits, one of each text: its best passage. Passages of anything else are each a hit.

        Texts that say the same are all found. Raises UsageError as `Index.search` does.
        """
        many = options.k
        while True:
            hits = self.index.search(query, options=replace(options, k=many, duplicates=True))
            found = self._first_of_each(hits)
            if len(found) >= options.k or len(hits) < many:
                return [replace(hit, rank=rank) for rank, hit in enumerate(found[: options.k], start=1)]
            many *= _MORE

    def _first_of_each(self, hits: Sequence[Hit]) -> list[Hit]:
        firsts: dict[object, Hit] = {}
        for hit in hits:
            firsts.setdefault(hit.document if self.has(hit) else hit.passage_id, hit)
        return [*firsts.values()]

    def has(self, hit: Hit) -> bool:
        """Return whether a hit is in a text of this adapter's."""
        return not hit.root and self.key in hit.metadata


def same_length(texts: Sequence[object], others: Sequence[object] | None, name: str) -> None:
    """Raise UsageError where there is not one of `others` for each text."""
    if others is not None and len(others) != len(texts):
        raise UsageError(f"there are {len(texts)} texts and {len(others)} {name}; give one for each")
