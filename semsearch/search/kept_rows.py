"""What is kept of one generation while it lasts: rows, words of texts, vectors made on demand.

Rows are compared with their checksums when they are first read. An answer needs some rows twice, to find
near-duplicates and to make hits, and questions that follow need many again; in one generation they do not change.

Titles are embedded as questions are: what a whole document is about, in its author's few words. It takes one or two
milliseconds for a hundred titles, when a document is first found. docs/research/measurements.md has what they bring.

A question compares the sentences of a few hundred passages. Where an engine saves the room for the vectors of all
sentences, a dozen to a passage, they are made from their text and rounded as stored ones are: scores are the same.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath
from threading import Lock
from typing import TYPE_CHECKING, Any, Generic, TypeVar

import numpy as np

from semsearch.arrays.types import Float32, Int32, Int64, UInt8, UInt64
from semsearch.arrays.vectors import from_bytes, to_bytes
from semsearch.embedding.word_finder import as_multilingual
from semsearch.storage.catalogue import (
    DocumentRow,
    PassageRow,
    SentenceSpans,
    Titled,
    get_sentence_texts,
    get_titled,
    languages_of_passages,
    need_documents,
    need_passages,
    spans_from,
)
from semsearch.storage.checked_rows import spans_of
from semsearch.text.languages import ENGLISH, RULES
from semsearch.text.near_duplicates import MARKS, marks_of
from semsearch.text.terms import Lexicon, sequences, word_chunks
from semsearch.text.tokens import WordChunk
from semsearch.word_vectors.table import WordVectors

if TYPE_CHECKING:
    import sqlite3

    from semsearch.dense.stored_vectors import StoredVectors
    from semsearch.embedding.embedder import SentenceEmbedder

Key = TypeVar("Key")
Value = TypeVar("Value")


class Kept(Generic[Key, Value]):
    """The values of keys, read when first asked for; all are forgotten before there are too many.

    Threads may share it: at worst, two read the same.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._values: dict[Key, Value] = {}

    def of(self, keys: Iterable[Key], read: Callable[[list[Key]], Mapping[Key, Value]]) -> dict[Key, Value]:
        """The value of each different key, in order. What `read` is asked for and does not give is left out."""
        values, wanted = self._values, dict.fromkeys(keys)
        lacking = [key for key in wanted if key not in values]
        new = read(lacking) if lacking else {}
        result = {key: new[key] if key in new else values[key] for key in wanted if key in new or key in values}
        if len(values) + len(new) > self._most:
            values = self._values = {}
        values.update(new)
        return result


# -- Rows --------------------------------------------------------------------------------------------------------------

_MOST = 4096  # rows that are kept: some megabytes
_MOST_SPANS = 1 << 16  # passages whose numbers are kept: ten megabytes
_NUMBERS_OF_SPAN = 7


class ReadRows:
    """The rows of one generation that were read lately, and what was found out about them. Threads may share it."""

    def __init__(self) -> None:
        self._passages: Kept[int, PassageRow] = Kept(_MOST)
        self._documents: Kept[int, DocumentRow] = Kept(_MOST)
        self._marks: Kept[int, tuple[int, ...]] = Kept(_MOST)
        self._spans: Kept[int, Int64] = Kept(_MOST_SPANS)

    def texts(self, db: sqlite3.Connection, ids: Iterable[int]) -> dict[int, str]:
        """The texts of passages, which are all there, by id. Raises IndexDamaged."""
        return {id_: row.text for id_, row in self._rows(db, ids).items()}

    def spans(self, db: sqlite3.Connection, ids: Int64) -> SentenceSpans:
        """The sentences and neighbours of passages with rising ids, as `get_spans` finds them. Raises IndexDamaged."""

        def read(lacking: list[int]) -> dict[int, Int64]:
            return dict(zip(lacking, spans_of(db, np.array(lacking, dtype=np.int64)), strict=True))

        rows = [*self._spans.of(ids.tolist(), read).values()]
        return spans_from(ids, np.array(rows, dtype=np.int64).reshape(-1, _NUMBERS_OF_SPAN))

    def marks(self, texts: Mapping[int, str]) -> UInt64:
        """What near-duplicates have in common, of passages whose texts these are. n texts -> (n, 3)"""

        def read(lacking: list[int]) -> dict[int, tuple[int, ...]]:
            return dict(zip(lacking, map(tuple, marks_of([texts[id_] for id_ in lacking]).tolist()), strict=True))

        return np.array([*self._marks.of(texts, read).values()], dtype=np.uint64).reshape(-1, MARKS)

    def with_documents(
        self, db: sqlite3.Connection, ids: Iterable[int]
    ) -> tuple[dict[int, PassageRow], dict[int, DocumentRow]]:
        """The rows of passages and those of their documents, which are all there, by id. Raises IndexDamaged."""
        passages = self._rows(db, ids)
        of_passages = (passage.document_id for passage in passages.values())
        return passages, self._documents.of(of_passages, lambda lacking: need_documents(db, lacking))

    def _rows(self, db: sqlite3.Connection, ids: Iterable[int]) -> dict[int, PassageRow]:
        return self._passages.of(ids, lambda lacking: need_passages(db, lacking))


# -- Words of texts ----------------------------------------------------------------------------------------------------

_WordForms = tuple[UInt64, UInt64, Int32]  # hashes, terms and ids of one text
_NO_WORDS: _WordForms = np.zeros(0, dtype=np.uint64), np.zeros(0, dtype=np.uint64), np.zeros(0, dtype=np.int32)
_MOST_STEMS = 1 << 17  # terms that are remembered


@dataclass(frozen=True, slots=True)
class TextWords:
    """The words of n texts, one text after the other, in three forms, each with the numbers of the texts."""

    hashes: UInt64  # as they are spelled (w,)
    of_hashes: Int64
    terms: UInt64  # as the postings have them (t,)
    of_terms: Int64
    ids: Int32  # in a table of word vectors, without those that it lacks (v,)
    of_ids: Int64


class ReadTexts:
    """The words of texts that were read lately: sentences are quoted again and again. Threads may share it."""

    def __init__(self) -> None:
        self._kept: Kept[tuple[str, str, str], _WordForms] = Kept(8192)  # ten megabytes of sentences
        self._lexicon = Lexicon(keeps_spellings=False)  # stems each word once
        self._stemming = Lock()

    def words(self, texts: Sequence[str], language: str, table: WordVectors | None = None) -> TextWords:
        """The words of texts in a language; without a table there are no ids."""
        keys = [(text, language, "" if table is None else table.digest) for text in texts]

        def read(lacking: list[tuple[str, str, str]]) -> dict[tuple[str, str, str], _WordForms]:
            return dict(zip(lacking, self._read([text for text, *_ in lacking], language, table), strict=True))

        kept = self._kept.of(keys, read)
        hashes, terms, ids = zip(_NO_WORDS, *(kept[key] for key in keys), strict=True)
        return TextWords(*_joined(hashes), *_joined(terms), *_joined(ids))

    def _read(self, texts: Sequence[str], language: str, table: WordVectors | None) -> Iterator[_WordForms]:
        """The words of each text: hashes, terms and ids."""
        chunks = [*word_chunks(texts, language)]
        counts = np.concatenate([chunk.counts for chunk in chunks])
        hashes = np.concatenate([chunk.hashes for chunk in chunks])
        if RULES[language].sequences:
            parts = sequences(texts, language)
            terms, of_terms = parts.hashes, np.diff(parts.indptr)
        else:
            terms, of_terms = self._terms(chunks, language), counts
        several = None if table is None else as_multilingual(table)
        if several is not None and language in several.tables:
            words = several.words_of(texts, language, keep_unknown=False)
            ids, of_ids = words.ids, words.lengths
        elif table is not None:
            ids, of_ids = (table if several is None else several.english).lookup(hashes), counts
        else:
            ids, of_ids = np.zeros(0, dtype=np.int32), np.zeros(len(texts), dtype=np.int64)
        ids_of_texts = [part[part >= 0] for part in _split(ids, of_ids)]
        return zip(_split(hashes, counts), _split(terms, of_terms), ids_of_texts, strict=True)

    def _terms(self, chunks: Sequence[WordChunk], language: str) -> UInt64:
        with self._stemming:
            if len(self._lexicon) > _MOST_STEMS:
                self._lexicon = Lexicon(keeps_spellings=False)
            numbers = [self._lexicon.stem_numbers(chunk, language) for chunk in chunks]
            return np.asarray(self._lexicon.terms[np.concatenate(numbers)])


def _split(words: Any, counts: Int64) -> list[Any]:
    """The words of all texts as those of each."""
    ends = np.cumsum(counts).tolist()
    return [words[end - count : end] for count, end in zip(counts.tolist(), ends, strict=True)]


def _joined(forms: Sequence[Any]) -> tuple[Any, Int64]:
    """A form of the words of n texts, one after the other, with the number of each one's text; the first is no text."""
    return np.concatenate(forms), np.repeat(np.arange(len(forms) - 1), [len(words) for words in forms[1:]])


# -- Vectors made on demand --------------------------------------------------------------------------------------------

_WORD = re.compile(r"[^\W\d_]{2,}|[^\W\d_a-zA-Z]")  # two letters, or one of a script that needs no more
_NOTHING = Titled("", "")  # of a document that is not there, in a damaged index
_MOST_TITLES = 20_000  # titles that are kept: twenty megabytes at 256 dimensions
_MOST_PASSAGES = 8192  # of which sentences are kept: some twenty-five megabytes at 256 dimensions


class TitleVectors:
    """The vectors of the titles of one generation's documents. Threads may share it."""

    def __init__(self, embedder: SentenceEmbedder) -> None:
        self._embedder = embedder
        self._kept: Kept[int, Float32] = Kept(_MOST_TITLES)

    def of(self, db: sqlite3.Connection, documents: Int64) -> Float32:
        """The vectors of the titles of documents, as `embed_titles` makes them. (n,) -> (n, d)"""

        def read(lacking: list[int]) -> dict[int, Float32]:
            titled = get_titled(db, lacking)
            rows = embed_titles(self._embedder, [titled.get(document, _NOTHING) for document in lacking])
            return dict(zip(lacking, rows, strict=True))

        different, which = np.unique(documents, return_inverse=True)
        rows = np.array([*self._kept.of(different.tolist(), read).values()], dtype=np.float32)
        return np.asarray(rows[which.reshape(-1)])


def embed_titles(embedder: SentenceEmbedder, titled: Iterable[Titled]) -> Float32:
    """Embed the titles of documents; zero for one that says nothing or has no known word. (n) -> (n, d)"""
    given = [*titled]
    texts = [each.title if _says_something(each) else "" for each in given]
    return embedder.transform(texts, [each.language for each in given])


def _says_something(titled: Titled) -> bool:
    """Whether a title has words. A file's name, which stands in for want of a title, needs two to say something."""
    words = len(_WORD.findall(titled.title))
    return words >= 2 or (words == 1 and titled.title != PurePosixPath(titled.path).stem)


class OnDemandSentences:
    """The vectors of sentences, made by a fitted embedder from their text. Threads may share it.

    They are kept by passage, of which the text never changes, as long as the fit lasts.
    """

    def __init__(self, embedder: SentenceEmbedder) -> None:
        self._embedder = embedder
        self._kept: Kept[int, UInt8] = Kept(_MOST_PASSAGES)

    def of(self, db: sqlite3.Connection, passage_ids: Int64, counts: Int64) -> StoredVectors:
        """The vectors of the first so many sentences of each passage, one after the other. (p,), (p,)"""
        from semsearch.dense.stored_vectors import StoredVectors, nothing_stored  # FAISS: a search by words needs none

        kept = self._kept.of(passage_ids.tolist(), lambda lacking: self._made(db, lacking))
        n, parts, positions = int(counts.sum()), list[UInt8](), list[Int64]()
        starts = (np.cumsum(counts) - counts).tolist()
        for id_, first, count in zip(passage_ids.tolist(), starts, counts.tolist(), strict=True):
            if count and id_ in kept:
                parts.append(rows := kept[id_][:count])
                positions.append(np.arange(first, first + len(rows)))
        if not parts:
            return nothing_stored(n)
        return StoredVectors(np.concatenate(positions), from_bytes(np.concatenate(parts)), n)

    def _made(self, db: sqlite3.Connection, passage_ids: Sequence[int]) -> dict[int, UInt8]:
        texts = get_sentence_texts(db, passage_ids)
        languages = languages_of_passages(db, passage_ids) if as_multilingual(self._embedder.chosen_.vectors) else {}
        of_texts = [languages.get(id_, ENGLISH) for id_, own in texts.items() for _ in own]
        rows = to_bytes(self._embedder.transform([text for own in texts.values() for text in own], of_texts))
        ends = np.cumsum([len(own) for own in texts.values()]).tolist()
        return {id_: rows[end - len(own) : end] for (id_, own), end in zip(texts.items(), ends, strict=True)}
