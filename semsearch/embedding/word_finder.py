"""Find the words of texts as ids: English ones in the table of word vectors, those of other languages in theirs."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from semsearch.arrays.types import Int32, Int64
from semsearch.text.ragged import OovWords, Ragged
from semsearch.text.tokens import WordChunk, hash_chunks
from semsearch.word_vectors.language_words import language_words
from semsearch.word_vectors.multilingual import MultilingualVectors, guess_languages, id_base, language_table
from semsearch.word_vectors.table import WordVectors

if TYPE_CHECKING:
    from semsearch.text.passage_records import PassageWords


class WordFinder:
    """Finds the words of texts among word vectors. Words that these lack are kept as unknown words, or left out."""

    def __init__(self, vectors: WordVectors, *, keep_unknown: bool) -> None:
        self._vectors = vectors
        self._keep_unknown = keep_unknown

    def of_texts(self, texts: Sequence[str], languages: Sequence[str] | None = None) -> Ragged:
        """The words of texts. Where the vectors have several languages, and none are given, they are guessed."""
        several = as_multilingual(self._vectors)
        if several is None:
            return self._english(hash_chunks(texts))
        return self._in_languages(texts, languages or guess_languages(texts, several), several)

    def read_passages(self, words: PassageWords) -> Ragged:
        """The words of passages by all tables there are, with the ids that `MultilingualVectors.renumbered` expects: of
        each its title and headings, and its sentences, of which the English words have been found."""
        groups = ((group.rows, self._read_foreign(group.texts, group.language)) for group in words.others)
        replaced = [(rows, words_of_group) for rows, words_of_group in groups if words_of_group is not None]
        base = self._english(words.chunks)
        return _with_rows(base, replaced) if replaced else base

    def _english(self, chunks: Iterable[WordChunk]) -> Ragged:
        return word_ids(chunks, english_of(self._vectors), keep_unknown=self._keep_unknown)

    def _read_foreign(self, texts: Sequence[str], language: str) -> Ragged | None:
        english = english_of(self._vectors)
        table = language_table(language, english)
        if table is None:
            return None
        return language_words(texts, table, english, base=id_base(language), keep_unknown=self._keep_unknown)

    def _in_languages(self, texts: Sequence[str], languages: Sequence[str], several: MultilingualVectors) -> Ragged:
        """The words of texts, each in its language; one without a table is read as English."""
        replaced = []
        taken = np.zeros(len(texts), dtype=np.bool_)
        for language in sorted({*languages} & several.tables.keys()):
            rows = np.array([row for row, code in enumerate(languages) if code == language], dtype=np.int64)
            words = several.words_of([texts[row] for row in rows.tolist()], language, keep_unknown=self._keep_unknown)
            if len(rows) == len(texts):
                return words.with_distinct_unknown() if len(words.unknown_words) else words
            replaced.append((rows, words))
            taken[rows] = True
        if not replaced:
            return self._english(hash_chunks(texts))
        english = ["" if is_taken else text for text, is_taken in zip(texts, taken.tolist(), strict=True)]
        return _with_rows(self._english(hash_chunks(english)), replaced)


def as_multilingual(vectors: WordVectors) -> MultilingualVectors | None:
    """The word vectors, if they are of several languages."""
    return vectors if isinstance(vectors, MultilingualVectors) else None


def english_of(vectors: WordVectors) -> WordVectors:
    """The English word vectors, of several languages' or themselves."""
    return vectors.english if isinstance(vectors, MultilingualVectors) else vectors


def word_ids(chunks: Iterable[WordChunk], vectors: WordVectors, *, keep_unknown: bool) -> Ragged:
    """The ids of each text's words. Words that the table lacks are left out, or kept as unknown words of the texts."""
    parts: list[Int32] = [np.zeros(0, dtype=np.int32)]
    counts: list[Int64] = [np.zeros(1, dtype=np.int64)]
    unknown_words: list[OovWords] = []
    for chunk in chunks:
        parts.append(vectors.lookup(chunk.hashes))
        counts.append(chunk.counts)
        if keep_unknown and len(unknown := np.flatnonzero(parts[-1] < 0)):
            unknown_words.append(OovWords.in_chunk(chunk, unknown))
    ids, indptr = np.concatenate(parts), np.cumsum(np.concatenate(counts))
    if not keep_unknown:
        return Ragged(ids, indptr).only(ids >= 0)
    if not unknown_words:
        return Ragged(ids, indptr)
    distinct, which = OovWords.concatenate(unknown_words).distinct()
    ids[ids < 0] = -1 - which
    return Ragged(ids, indptr, distinct)


def _with_rows(base: Ragged, replaced: Sequence[tuple[Int64, Ragged]]) -> Ragged:
    """Texts of which some rows, given by their numbers, are replaced by others."""
    order = np.arange(len(base))
    first = len(base)
    for rows, words in replaced:
        order[rows] = first + np.arange(len(rows))
        first += len(words)
    joined = Ragged.concatenate([base, *(words for _, words in replaced)]).take(order)
    return joined.with_distinct_unknown() if len(joined.unknown_words) else joined
