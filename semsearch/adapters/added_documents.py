"""The documents that another framework keeps in an index: each is found whole, and comes back as it was given.

The index divides a text into passages and cleans it. What was given is kept in the document's metadata, under a key
that an adapter chooses for itself; the rest of the metadata is for filters.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Sequence
from dataclasses import replace
from weakref import WeakKeyDictionary

from semsearch import DocumentInfo, DocumentText, Hit, Index, SearchOptions, Text
from semsearch.errors import UsageError

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
