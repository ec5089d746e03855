"""An index as adapters use it: opened by path or URL, with its vectors, passages and documents.

All that name one index share it while it is in use. Documents that a framework adds are returned unchanged: the
original is kept in the document's metadata, under a key of the adapter.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Coroutine, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial, wraps
from pathlib import Path
from typing import Any, TypeAlias, TypeVar
from uuid import UUID, uuid5
from weakref import WeakValueDictionary

import numpy as np
from numpy.typing import NDArray

from semsearch import (
    DocumentInfo,
    DocumentText,
    Hit,
    Index,
    Searchable,
    SearchOptions,
    SentenceEmbedder,
    Text,
)
from semsearch.errors import IndexNotFound, UsageError

# -- Opening -----------------------------------------------------------------------------------------------------------

Result = TypeVar("Result")
IndexLike: TypeAlias = Searchable | str | Path
_ADDRESSES = ("http://", "https://")
_opening = threading.Lock()
_indexes: WeakValueDictionary[str, Index] = WeakValueDictionary()


def searchable(given: IndexLike) -> Searchable:
    """Open an index by path or URL, or return an open one. Raises UsageError, and what opening raises."""
    if isinstance(given, str) and given.startswith(_ADDRESSES):
        return Index.connect(given)
    if isinstance(given, str | Path):
        return _opened(given, create=False)
    if not callable(getattr(given, "search", None)) or not callable(getattr(given, "similar", None)):
        raise UsageError(f"expected the path of an index, the URL of a server, or an open index, not {given!r}")
    return given


def writable(given: IndexLike) -> Index:
    """Open or create a local index, to add texts to it. Raises as above."""
    if isinstance(given, Index):
        return given
    if isinstance(given, Path) or (isinstance(given, str) and not given.startswith(_ADDRESSES)):
        return _opened(given, create=True)
    raise UsageError(f"expected a local index, a path or an Index, not {given!r}")


def written(given: object) -> str:
    """The path or URL of an index, to serialise it. Raises UsageError for an open one."""
    if isinstance(given, str | Path):
        return str(given)
    raise UsageError(f"cannot serialise {given!r}; create the component with the path or URL of the index")


def name_of(index: Searchable) -> str | None:
    """The name of an index in answers: its path, or its name on a server, or the server's URL."""
    if isinstance(index, Index):
        return str(index.path)
    return getattr(index, "name", None) or getattr(index, "url", None)


def _opened(path: str | Path, *, create: bool) -> Index:
    resolved = str(Path(path).resolve())
    with _opening:
        index = _indexes.get(resolved)
        if index is None:
            try:
                index = Index.open(path)
            except IndexNotFound:
                if not create:
                    raise
                index = Index.create(path)
            _indexes[resolved] = index
        return index


# -- Vectors -----------------------------------------------------------------------------------------------------------

EmbedderLike: TypeAlias = Index | SentenceEmbedder | str | Path
Embed: TypeAlias = Callable[[Sequence[str]], list[list[float]]]


def embedder_of(given: EmbedderLike) -> Embed:
    """The function that embeds texts: unit vectors, zero for a text of OOV words only. (n) -> (n, d)

    Of an index it raises UsageError while the index has no text; of an embedder FitError before `fit`. Raises
    UsageError for anything else, and what opening an index raises.
    """
    if isinstance(given, SentenceEmbedder):
        return partial(_rows, given.transform)
    index = searchable(given) if isinstance(given, str | Path) else given
    if not isinstance(index, Index):
        raise UsageError(f"expected a local index or a fitted SentenceEmbedder, not {given!r}")
    return partial(_rows, index.embed)


def _rows(embed: Callable[[Sequence[str]], NDArray[np.float32]], texts: Sequence[str]) -> list[list[float]]:
    return embed(texts).tolist() if texts else []


# -- Passages ----------------------------------------------------------------------------------------------------------

_POSITION = "citation path title place line page format sentence score dense lexical relevance stale".split()
_PASSAGES = UUID("6f3f2f0e-6c0b-5d0c-9a5e-6f0d1f0a7c11")  # a namespace of our own


def passage_id(hit: Hit) -> str:
    """The id of a hit's passage: the same in every index, and of identical passages of a document."""
    return str(uuid5(_PASSAGES, "\0".join((hit.root, hit.document, hit.passage))))


def passage_metadata(hit: Hit, index: Searchable) -> dict[str, Any]:
    """The document's metadata, overridden by the passage's position, best sentence, score and index.

    `source` is its citation (`guide.md:10`, `report.pdf p. 3`), unless the document's metadata has one.
    """
    metadata = {
        "source": hit.citation,
        **hit.metadata,
        **{name: getattr(hit, name) for name in _POSITION},
        "headings": [*hit.headings],
        "index": hit.index or name_of(index),
    }
    if hit.before or hit.after:
        metadata |= {"before": [*hit.before], "after": [*hit.after]}
    if hit.duplicates:
        metadata["also_in"] = [duplicate.path for duplicate in hit.duplicates]
    return metadata


# -- Documents ---------------------------------------------------------------------------------------------------------

PLAIN = SearchOptions(syntax="plain")  # a store takes any text: its quotes and hyphens mean nothing
_MORE = 2  # factor by which k grows, until there are enough documents among the hits
_writing = threading.Lock()  # one adapter writes at a time


class AddedDocuments:
    """The texts that an adapter added to an index; their metadata has the original under its `key`.

    Threads may share it; one writes at a time.
    """

    def __init__(self, index: Index, key: str) -> None:
        self.index = index
        self.key = key

    def put(self, texts: Iterable[Text]) -> list[str]:
        """Add or replace texts by id; of several with one id the last counts. Returns all ids."""
        given = [*texts]
        if given:
            with _writing:
                self.index.add({text.id: text for text in given}.values())
        return [text.id for text in given]

    def get(self, ids: Sequence[str] | None = None) -> list[DocumentText]:
        """The existing texts with these ids, each once, or all."""
        texts = self.index.texts(None if ids is None else [*dict.fromkeys(ids)])
        return [text for text in texts if self.key in text.metadata]

    def where(self, filters: Sequence[str] = ()) -> list[DocumentInfo]:
        """The details of the texts that pass all filters, or of all."""
        return [found for found in self.index.documents(filters) if not found.root and self.key in found.metadata]

    def remove(self, ids: Iterable[str]) -> int:
        """Remove texts by id; returns their number."""
        with _writing:
            return self.index.remove_texts([*ids])

    def clear(self) -> None:
        """Remove all texts that an adapter added."""
        self.remove(text.document for text in self.where())

    def search(self, query: str, options: SearchOptions) -> list[Hit]:
        """Find the best hits: of each added text its best passage; of other documents each passage is a hit.

        Near-duplicates are all found. Raises UsageError as `Index.search` does.
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
        """Return whether a hit is in a text that this adapter added."""
        return not hit.root and self.key in hit.metadata


def added_text(id_: str, content: str, metadata: Mapping[str, Any]) -> Text:
    """A text to add, whose title is that of its metadata."""
    title = metadata.get("title")
    return Text(id_, content, title=title if isinstance(title, str) else "", metadata={**metadata})


def in_thread(method: Callable[..., Result]) -> Callable[..., Coroutine[Any, Any, Result]]:
    """The asynchronous form of a method: it runs in a thread, so that the event loop continues."""

    @wraps(method)
    async def run(*arguments: Any, **keywords: Any) -> Result:
        return await asyncio.to_thread(method, *arguments, **keywords)

    return run
