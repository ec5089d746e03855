"""Vectors made on demand and kept: of titles, and of sentences where an engine keeps only those of passages.

Titles are embedded as questions are: what a whole document is about, in its author's few words. It takes one or two
milliseconds for a hundred titles, when a document is first found. docs/research/measurements.md has what they bring.

A question compares the sentences of a few hundred passages. Where an engine saves the room for the vectors of all
sentences, a dozen to a passage, they are made from their text and rounded as stored ones are: scores are the same.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

import numpy as np

from semsearch.arrays.types import Float32, Int64, UInt8
from semsearch.arrays.vectors import from_bytes, to_bytes
from semsearch.embedding.word_finder import as_multilingual
from semsearch.storage.catalogue import Titled, get_sentence_texts, get_titled, languages_of_passages
from semsearch.text.languages import ENGLISH

if TYPE_CHECKING:
    import sqlite3

    from semsearch.dense.stored_vectors import StoredVectors
    from semsearch.embedding.embedder import SentenceEmbedder

# -- Titles ------------------------------------------------------------------------------------------------------------


_WORD = re.compile(r"[^\W\d_]{2,}|[^\W\d_a-zA-Z]")  # two letters, or one of a script that needs no more
_NOTHING = Titled("", "")  # of a document that is not there, in a damaged index
_MOST_TITLES = 20_000  # titles that are kept: twenty megabytes at 256 dimensions


class TitleVectors:
    """The vectors of the titles of one generation's documents. Threads may share it."""

    def __init__(self, embedder: SentenceEmbedder) -> None:
        self._embedder = embedder
        self._kept: dict[int, Float32] = {}

    def of(self, db: sqlite3.Connection, documents: Int64) -> Float32:
        """The vectors of the titles of documents, as `embed_titles` makes them. (n,) -> (n, d)"""
        wanted = documents.tolist()
        found = {document: self._kept[document] for document in {*wanted} if document in self._kept}
        lacking = sorted({*wanted} - found.keys())
        if lacking:
            titled = get_titled(db, lacking)
            rows = embed_titles(self._embedder, [titled.get(document, _NOTHING) for document in lacking])
            made = dict(zip(lacking, rows, strict=True))
            found.update(made)
            if len(self._kept) + len(made) > _MOST_TITLES:
                self._kept.clear()
            self._kept.update(made)
        numbers = {document: number for number, document in enumerate(found)}
        rows = np.array([*found.values()], dtype=np.float32)
        return np.asarray(rows[[numbers[document] for document in wanted]])


def embed_titles(embedder: SentenceEmbedder, titled: Iterable[Titled]) -> Float32:
    """Embed the titles of documents; zero for one that says nothing or has no known word. (n) -> (n, d)"""
    given = [*titled]
    texts = [each.title if _says_something(each) else "" for each in given]
    return embedder.transform(texts, [each.language for each in given])


def _says_something(titled: Titled) -> bool:
    """Whether a title has words. A file's name, which stands in for want of a title, needs two to say something."""
    words = len(_WORD.findall(titled.title))
    return words >= 2 or (words == 1 and titled.title != PurePosixPath(titled.path).stem)


# -- Sentences ---------------------------------------------------------------------------------------------------------


_MOST_SENTENCES = 100_000  # sentences that are kept: twenty-five megabytes at 256 dimensions


class OnDemandSentences:
    """The vectors of sentences, made by a fitted embedder from their text. Threads may share it.

    They are kept by passage, of which the text never changes, as long as the fit lasts.
    """

    def __init__(self, embedder: SentenceEmbedder) -> None:
        self._embedder = embedder
        self._kept: dict[int, UInt8] = {}

    def of(self, db: sqlite3.Connection, passage_ids: Int64, counts: Int64) -> StoredVectors:
        """The vectors of the first so many sentences of each passage, one after the other. (p,), (p,)"""
        from semsearch.dense.stored_vectors import (  # start-up time: a search by words has no FAISS
            StoredVectors,
            nothing_stored,
        )

        wanted = passage_ids.tolist()
        found = {id_: rows for id_ in wanted if (rows := self._kept.get(id_)) is not None}
        if lacking := [id_ for id_ in wanted if id_ not in found]:
            made = self._made(db, lacking)
            found.update(made)
            if sum(map(len, self._kept.values())) + sum(map(len, made.values())) > _MOST_SENTENCES:
                self._kept = {}
            self._kept.update(made)
        n, parts, positions = int(counts.sum()), list[UInt8](), list[Int64]()
        for id_, first, count in zip(wanted, (np.cumsum(counts) - counts).tolist(), counts.tolist(), strict=True):
            if id_ in found and count:
                parts.append(rows := found[id_][:count])
                positions.append(np.arange(first, first + len(rows)))
        if not parts:
            return nothing_stored(n)
        return StoredVectors(np.concatenate(positions), from_bytes(np.concatenate(parts)), n)

    def _made(self, db: sqlite3.Connection, passage_ids: list[int]) -> dict[int, UInt8]:
        texts = get_sentence_texts(db, passage_ids)
        languages = languages_of_passages(db, passage_ids) if as_multilingual(self._embedder.chosen_.vectors) else {}
        of_texts = [languages.get(id_, ENGLISH) for id_, own in texts.items() for _ in own]
        rows = to_bytes(self._embedder.transform([text for own in texts.values() for text in own], of_texts))
        ends = np.cumsum([len(own) for own in texts.values()]).tolist()
        return {id_: rows[end - len(own) : end] for (id_, own), end in zip(texts.items(), ends, strict=True)}
