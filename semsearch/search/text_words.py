"""The words of texts in three forms, remembered: spelling, term, row of a table of word vectors."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from threading import Lock
from typing import Any

import numpy as np

from semsearch.arrays.types import Int32, Int64, UInt64
from semsearch.embedding.word_finder import as_multilingual, english_of
from semsearch.system.open_cache import ReadCache
from semsearch.text.languages import RULES
from semsearch.text.terms import Lexicon, sequences, word_chunks
from semsearch.text.tokens import WordChunk
from semsearch.word_vectors.table import WordVectors

_WordForms = tuple[UInt64, UInt64, Int32]  # hashes, terms and ids of one text
_NO_WORDS: _WordForms = np.zeros(0, dtype=np.uint64), np.zeros(0, dtype=np.uint64), np.zeros(0, dtype=np.int32)
_MOST_TEXTS = 8192  # ten megabytes of sentences
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
        self._caches: dict[tuple[str, str], ReadCache[str, _WordForms]] = {}  # by language and table
        self._lexicon = Lexicon(keeps_spellings=False)  # stems each word once
        self._stemming = Lock()

    def words(self, texts: Sequence[str], language: str, table: WordVectors | None = None) -> TextWords:
        """The words of texts in a language; without a table there are no ids."""
        hashes, terms, ids = zip(_NO_WORDS, *self._forms(texts, language, table), strict=True)
        return TextWords(*_joined(hashes), *_joined(terms), *_joined(ids))

    def terms(self, texts: Sequence[str], language: str) -> list[UInt64]:
        """The terms of each text in a language, in order."""
        return [terms for _, terms, _ in self._forms(texts, language, None)]

    def _forms(self, texts: Sequence[str], language: str, table: WordVectors | None) -> list[_WordForms]:
        cache = self._caches.setdefault((language, "" if table is None else table.digest), ReadCache(_MOST_TEXTS))

        def read(lacking: list[str]) -> dict[str, _WordForms]:
            return dict(zip(lacking, self._read(lacking, language, table), strict=True))

        forms = cache.of(texts, read)
        return [forms[text] for text in texts]

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
            ids, of_ids = english_of(table).lookup(hashes), counts
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
    lengths = np.fromiter(map(len, forms), dtype=np.int64, count=len(forms))
    return np.concatenate(forms), np.repeat(np.arange(-1, len(forms) - 1), lengths)
