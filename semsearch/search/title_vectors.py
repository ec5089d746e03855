"""Vectors of documents' titles, as questions are embedded: what a whole document is about, in its author's few words.

They are made when a document is first found, which takes one or two milliseconds for a hundred titles, and kept while
the generation of the index lasts. What they bring is in docs/research/measurements.md, "Titles".
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from semsearch.storage.catalogue import Titled, get_titled

if TYPE_CHECKING:
    import sqlite3

    from semsearch.dense.stored import StoredVectors
    from semsearch.embedding.embedder import SentenceEmbedder

Float32 = npt.NDArray[np.float32]
Int64 = npt.NDArray[np.int64]

_WORD = re.compile(r"[^\W\d_]{2,}|[^\W\d_a-zA-Z]")  # two letters, or one of a script that needs no more
_NOTHING = Titled("", "")  # of a document that is not there, in a damaged index
_MOST = 20_000  # titles that are kept: twenty megabytes at 256 dimensions


class TitleVectors:
    """The vectors of the titles of one generation's documents. Threads may share it."""

    def __init__(self, embedder: SentenceEmbedder) -> None:
        self._embedder = embedder
        self._kept: dict[int, Float32] = {}

    def of(self, db: sqlite3.Connection, documents: Int64) -> StoredVectors:
        """The vectors of the titles of documents, as `embed_titles` makes them. (n,)"""
        from semsearch.dense.stored import as_stored  # start-up time: a search by words alone needs no FAISS

        kept = ((document, self._kept.get(document)) for document in {*documents.tolist()})
        found = {document: vector for document, vector in kept if vector is not None}
        lacking = sorted({*documents.tolist()} - found.keys())
        if lacking:
            titled = get_titled(db, lacking)
            told = [titled.get(document, _NOTHING) for document in lacking]
            made = dict(zip(lacking, embed_titles(self._embedder, told), strict=True))
            found.update(made)
            if len(self._kept) + len(made) > _MOST:
                self._kept.clear()
            self._kept.update(made)
        return as_stored(np.array([found[document] for document in documents.tolist()], dtype=np.float32))


def embed_titles(embedder: SentenceEmbedder, titled: Iterable[Titled]) -> Float32:
    """Embed the titles of documents; zero for one that says nothing or has no known word. (n) -> (n, d)"""
    return embedder.transform([each.title if _says_something(each) else "" for each in titled])


def _says_something(titled: Titled) -> bool:
    """Whether a title has words. A file's name, which stands in for want of a title, needs two to say something."""
    words = len(_WORD.findall(titled.title))
    return words >= 2 or (words == 1 and titled.title != PurePosixPath(titled.path).stem)
