"""The words of texts in three forms (spelling, term, row of a table of word vectors), remembered for the next query."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from threading import Lock
from typing import Any, NamedTuple

import numpy as np

from semsearch.arrays.types import Int32, Int64, UInt64
from semsearch.text.languages import RULES
from semsearch.text.terms import Lexicon, sequences, word_chunks
from semsearch.text.tokens import WordChunk
from semsearch.word_vectors.multilingual import as_multilingual, english_of
from semsearch.word_vectors.table import WordVectors

Texts = tuple[str, ...]  # texts that are read together, such as the sentences of a passage
_Form = tuple[Any, Int64]  # a form of the words of some texts, one after the other, and how many each text has
_MOST_READ = 4096  # such groups: ten megabytes
_MOST_STEMS = 1 << 17  # terms that are remembered


class TextWords(NamedTuple):
    """The words of n texts, one text after the other, in three forms, each with the numbers of the texts."""

    hashes: UInt64  # as they are spelled (w,)
    of_hashes: Int64
    terms: UInt64  # as the postings have them (t,)
    of_terms: Int64
    ids: Int32  # in a table of word vectors, without those that it lacks (v,)
    of_ids: Int64


class ReadTexts:
    """The words of texts that were read lately: passages are quoted again and again. Threads may share it."""

    def __init__(self) -> None:
        self._read_before: dict[tuple[str, str], dict[Texts, tuple[_Form, ...]]] = {}  # by language and table
        self._lexicon = Lexicon(keeps_spellings=False)  # stems each word once
        self._stemming = Lock()

    def words(self, groups: Sequence[Texts], languages: Sequence[str], table: WordVectors | None = None) -> TextWords:
        """The words of all texts of groups, each in its language; without a table there are no ids."""
        by_language = {
            language: self._forms([group for group, code in pairs if code == language], language, table)
            for pairs in [[*zip(groups, languages, strict=True)]]
            for language in dict.fromkeys(languages)
        }
        forms = (by_language[language][group] for group, language in zip(groups, languages, strict=True))
        hashes, terms, ids = zip(*forms, strict=True)
        return TextWords(*_joined(hashes), *_joined(terms), *_joined(ids))

    def terms(self, texts: Sequence[str], language: str) -> list[UInt64]:
        """The terms of each text in a language, in order."""
        forms = self._forms([(text,) for text in texts], language, None)
        return [forms[text,][1][0] for text in texts]

    def _forms(
        self, groups: Sequence[Texts], language: str, table: WordVectors | None
    ) -> dict[Texts, tuple[_Form, ...]]:
        """The forms of the words of groups of texts, and of others that were read lately."""
        key = language, "" if table is None else table.digest
        known = self._read_before.get(key, {})
        lacking = [group for group in dict.fromkeys(groups) if group not in known]
        if not lacking:
            return known
        texts, sizes = [text for group in lacking for text in group], [*map(len, lacking)]
        parts = [_split(words, counts, sizes) for words, counts in self._read(texts, language, table)]
        new = dict(zip(lacking, zip(*parts, strict=True), strict=True))
        forms = known | new  # a copy: other threads read what is known
        self._read_before[key] = forms if len(forms) <= _MOST_READ else new
        return forms

    def _read(self, texts: Sequence[str], language: str, table: WordVectors | None) -> Iterator[_Form]:
        """The words of texts: hashes, terms and ids."""
        chunks = [*word_chunks(texts, language)]
        counts = np.concatenate([chunk.counts for chunk in chunks])
        hashes = np.concatenate([chunk.hashes for chunk in chunks])
        yield hashes, counts
        if RULES[language].sequences:
            parts = sequences(texts, language)
            yield parts.hashes, np.diff(parts.indptr)
        else:
            yield self._terms(chunks, language), counts
        several = None if table is None else as_multilingual(table)
        if several is not None and language in several.tables:
            words = several.words_of(texts, language, keep_unknown=False)
            ids, counts = words.ids, words.lengths
        elif table is not None:
            ids = english_of(table).lookup(hashes)
        else:
            ids = np.full(len(hashes), -1, dtype=np.int32)
        known = np.bincount(np.repeat(np.arange(len(texts)), counts)[ids >= 0], minlength=len(texts))
        yield ids[ids >= 0], known

    def _terms(self, chunks: Sequence[WordChunk], language: str) -> UInt64:
        with self._stemming:
            if self._lexicon.numbering.count > _MOST_STEMS:
                self._lexicon = Lexicon(keeps_spellings=False)
            numbers = [self._lexicon.stem_numbers(chunk, language) for chunk in chunks]
            return np.asarray(self._lexicon.terms[np.concatenate(numbers)])


def _split(words: Any, counts: Int64, sizes: Sequence[int]) -> list[_Form]:
    """A form of the words of all texts as those of each group, which has so many texts."""
    of_texts = np.split(counts, np.cumsum(sizes)[:-1])
    return [*zip(np.split(words, np.cumsum([*map(np.sum, of_texts)])[:-1]), of_texts, strict=True)]


def _joined(forms: Sequence[_Form]) -> tuple[Any, Int64]:
    """A form of the words of n texts, one after the other, with the number of each one's text."""
    words, counts = zip(*forms, strict=True)
    lengths = np.concatenate(counts)
    return np.concatenate(words), np.repeat(np.arange(len(lengths)), lengths)
