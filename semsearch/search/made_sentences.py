"""Vectors of sentences that are made when they are needed, where an engine keeps only those of passages.

A question compares the sentences of a few hundred passages. Their text is here; the room that the vectors of all
sentences take, which are a dozen to a passage, is saved. They are rounded as stored ones are: scores are the same.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from semsearch.storage.catalogue import get_sentence_texts

if TYPE_CHECKING:
    import sqlite3

    from semsearch.dense.stored import StoredVectors
    from semsearch.embedding.embedder import SentenceEmbedder

Float16 = npt.NDArray[np.float16]
Int64 = npt.NDArray[np.int64]

_MOST = 100_000  # sentences that are kept: fifty megabytes at 256 dimensions


class MadeSentences:
    """The vectors of sentences, made by a fitted embedder from their text. Threads may share it.

    They are kept by passage, of which the text never changes, as long as the fit lasts.
    """

    def __init__(self, embedder: SentenceEmbedder) -> None:
        self._embedder = embedder
        self._kept: dict[int, Float16] = {}

    def of(self, db: sqlite3.Connection, passage_ids: Int64, counts: Int64) -> StoredVectors:
        """The vectors of the first so many sentences of each passage, one after the other. (p,), (p,)"""
        from semsearch.dense.stored import (
            StoredVectors,
            nothing_stored,
        )  # start-up time: a search by words has no FAISS

        wanted = passage_ids.tolist()
        found = {id_: rows for id_ in wanted if (rows := self._kept.get(id_)) is not None}
        if lacking := [id_ for id_ in wanted if id_ not in found]:
            made = self._made(db, lacking)
            found.update(made)
            if sum(map(len, self._kept.values())) + sum(map(len, made.values())) > _MOST:
                self._kept = {}
            self._kept.update(made)
        n, parts, positions = int(counts.sum()), list[Float16](), list[Int64]()
        for id_, first, count in zip(wanted, (np.cumsum(counts) - counts).tolist(), counts.tolist(), strict=True):
            if id_ in found and count:
                parts.append(rows := found[id_][:count])
                positions.append(np.arange(first, first + len(rows)))
        if not parts:
            return nothing_stored(n)
        return StoredVectors(np.concatenate(positions), np.concatenate(parts).astype(np.float32), n)

    def _made(self, db: sqlite3.Connection, passage_ids: list[int]) -> dict[int, Float16]:
        texts = get_sentence_texts(db, passage_ids)
        rows = self._embedder.transform([text for own in texts.values() for text in own]).astype(np.float16)
        ends = np.cumsum([len(own) for own in texts.values()]).tolist()
        return {id_: rows[end - len(own) : end] for (id_, own), end in zip(texts.items(), ends, strict=True)}
