"""Find the words of texts as ids: English ones in the table of word vectors, those of other languages in theirs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from semsearch.arrays.types import Int32, Int64
from semsearch.text.languages import ENGLISH
from semsearch.text.ragged import OovWords, Ragged
from semsearch.text.tokens import WordChunk, hash_chunks
from semsearch.word_vectors.multilingual import MultilingualVectors
from semsearch.word_vectors.table import WordVectors

if TYPE_CHECKING:
    from semsearch.text.passage_records import PassageWords

FindForeign = Callable[[Sequence[str], str], Ragged | None]


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


def with_rows(base: Ragged, replaced: Sequence[tuple[Int64, Ragged]]) -> Ragged:
    """Texts of which some rows, given by their numbers, are replaced by others."""
    order = np.arange(len(base))
    first = len(base)
    for rows, words in replaced:
        order[rows] = first + np.arange(len(rows))
        first += len(words)
    joined = Ragged.concatenate([base, *(words for _, words in replaced)]).take(order)
    return joined.with_distinct_unknown() if len(joined.unknown_words) else joined


def ids_of_texts(
    texts: Sequence[str], languages: Sequence[str], find: Callable[[Iterable[WordChunk]], Ragged], foreign: FindForeign
) -> Ragged:
    """The words of texts, each in its language. `find` finds those of English texts, `foreign` those of others, None
    for a language without a table, which is read as English is."""
    replaced = []
    taken = np.zeros(len(texts), dtype=np.bool_)
    for language in sorted({*languages} - {ENGLISH}):
        rows = np.array(
            [number for number, language_of_text in enumerate(languages) if language_of_text == language],
            dtype=np.int64,
        )
        words = foreign([texts[number] for number in rows.tolist()], language)
        if words is not None and len(rows) == len(texts):
            return words.with_distinct_unknown() if len(words.unknown_words) else words
        if words is not None:
            replaced.append((rows, words))
            taken[rows] = True
    if not replaced:
        return find(hash_chunks(texts))
    base = find(hash_chunks(["" if is_taken else text for text, is_taken in zip(texts, taken.tolist(), strict=True)]))
    return with_rows(base, replaced)


def ids_of_passages(words: PassageWords, find: Callable[[Iterable[WordChunk]], Ragged], foreign: FindForeign) -> Ragged:
    """The words of passages, of each its title and headings and its sentences, as `ids_of_texts` finds them."""
    foreign_words = ((group.rows, foreign(group.texts, group.language)) for group in words.others)
    replaced = [(rows, words_of_group) for rows, words_of_group in foreign_words if words_of_group is not None]
    base = find(words.chunks)
    return with_rows(base, replaced) if replaced else base
