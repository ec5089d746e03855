"""Word vectors of several languages as one table: first the English words, then those of each language of an index.

A mixed index needs one more step than one of a single language: sentences of a language have a mean direction of their
own, by which they would be nearer to each other than to their translations. `removed` are the directions to remove from
the words of each language; removal is linear, so removing them from words removes them from sentences.

While files are read, it is not known yet which languages there will be: then ids of each language begin at a number of
its own (`id_base`), and `renumbered` turns them into those of a table.

The language of a short text, such as a question, is guessed by its script and by p(w) of its words in each language:

    argmax_L  Σ_w max(log p_L(w), ρ) + max(β + log(n_L / n), 0) [L is English, or a language of the index]

n_L is the number of the index's documents in the language, n that of the language with the most. Most words are in the
table of the right language and few in the others, where function words of one language are names or rare words of
another. A rare word counts as much as one that is lacking (ρ): tables of different sizes are then compared fairly.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property, lru_cache
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from semsearch.arrays.types import Float32, Float64, Int32, Int64, UInt64
from semsearch.errors import VectorsError, VectorsMismatch
from semsearch.text.languages import ENGLISH, RULES, name_of, script_of, sharing_script
from semsearch.text.ragged import OovWords, Ragged
from semsearch.text.terms import spelled
from semsearch.text.tokens import WordChunk, hash_chunks, hash_words
from semsearch.word_vectors.language_table import MOST_WORDS, LanguageTable, find_language_table
from semsearch.word_vectors.language_words import is_unparted, language_words, split_words
from semsearch.word_vectors.table import VectorTable, WordVectors, shipped_name

if TYPE_CHECKING:
    from semsearch.text.passage_words import PassageWords

_BASES = {language: number * MOST_WORDS for number, language in enumerate((ENGLISH, *sorted({*RULES} - {ENGLISH})))}


@lru_cache(maxsize=64)
def open_language(language: str, space: str) -> LanguageTable | None:
    """Open the table of a language in the space of the word vectors with a digest; None if there is none."""
    path = find_language_table(language)
    table = None if path is None else LanguageTable(path)
    return table if table is not None and table.card["space"] == space else None


def language_table(language: str, vectors: WordVectors) -> LanguageTable | None:
    """The table of a language that belongs to word vectors; None if there is none, as with other word vectors.

    Raises VectorsMismatch if the shipped tables are of another version than the shipped English vectors.
    """
    table = None if language == ENGLISH else open_language(language, vectors.digest)
    if table is None and language != ENGLISH and (path := find_language_table(language)) is not None:
        folder = getattr(vectors, "folder", None)
        if folder is not None and shipped_name(Path(folder)) and isinstance(vectors, VectorTable):
            space = LanguageTable(path).card["space"]
            raise VectorsMismatch(
                f"the {name_of(language)} word vectors are in the space of others ({space[:8]}) than {vectors.name} "
                f"({vectors.digest[:8]}): they are of different versions; install semsearch again"
            )
    return table


class MultilingualVectors:
    """Word vectors of English and of other languages in its space: V words, and the words of each table after them.

    `are_strays`: whether the others are those of a few stray texts, for which a fit changes nothing of English.
    """

    def __init__(
        self,
        english: WordVectors,
        tables: Sequence[LanguageTable],
        removed: Mapping[str, Float64] | None = None,
        *,
        are_strays: bool = False,
    ) -> None:
        self.english = english
        self.are_strays = are_strays
        self.tables: dict[str, LanguageTable] = {table.language: table for table in tables}
        self.removed: dict[str, Float64] = dict(removed or {})
        sizes = np.cumsum([len(english), *map(len, tables)])
        self.bases: dict[str, int] = dict(zip(self.tables, sizes.tolist(), strict=False))
        self._size = int(sizes[-1])
        self.name: str = english.name
        self.digest: str = _digest(english, self.tables, self.removed)

    @property
    def dimension(self) -> int:
        """The number of dimensions of a vector, d."""
        return self.english.dimension

    def __len__(self) -> int:
        return self._size

    @cached_property
    def frequencies(self) -> Float32:
        """The probability p(w) of each word in general text of its language. (V,)"""
        return np.concatenate([self.english.frequencies, *(table.frequencies for table in self.tables.values())])

    def lookup(self, hashes: UInt64) -> Int32:
        """Word hashes to ids, -1 for unknown words: those of English, then of the other languages. (n,) -> (n,)"""
        ids = self.english.lookup(hashes)
        for code, table in self.tables.items():
            lacking = np.flatnonzero(ids < 0)
            if len(lacking):
                table_ids = table.lookup(hashes[lacking])
                ids[lacking] = np.where(table_ids < 0, -1, table_ids + self.bases[code])
        return ids

    def rows(self, ids: npt.NDArray[np.integer[Any]]) -> Float32:
        """The vectors of word ids, without what is removed from words of their language. (n,) -> (n, d)"""
        ids = np.asarray(ids)
        rows = np.empty((len(ids), self.dimension), dtype=np.float32)
        for code in (ENGLISH, *self.tables):
            part = self.language_ids(code)
            of_language = np.flatnonzero((ids >= part.start) & (ids < part.stop))
            if len(of_language):
                table = self.english if code == ENGLISH else self.tables[code]
                rows[of_language] = self._rest(table.rows(ids[of_language] - part.start), code)
        return rows

    def _rest(self, rows: Float32, language: str) -> Float32:
        directions = self.removed.get(language)
        if directions is None or not len(directions):
            return rows
        c = directions.astype(np.float32)
        rows -= np.einsum("nm,md->nd", np.einsum("nd,md->nm", rows, c), c)
        return rows

    def oov_rows(self, unknown_words: OovWords) -> Float32:
        """Predict the vectors of OOV words, as the English table does. (u,) -> (u, d)"""
        return self._rest(self.english.oov_rows(unknown_words), ENGLISH)

    def language_ids(self, language: str) -> slice:
        """The ids of the words of a language."""
        if language == ENGLISH:
            return slice(0, len(self.english))
        return slice(self.bases[language], self.bases[language] + len(self.tables[language]))

    def with_table(self, table: LanguageTable, directions: Float64 | None = None) -> MultilingualVectors:
        """These and the words of one more language after them: the ids of all others stay."""
        removed = {**self.removed} if directions is None else {**self.removed, table.language: directions}
        return MultilingualVectors(self.english, [*self.tables.values(), table], removed)

    def words_of(self, texts: Sequence[str], language: str, *, keep_unknown: bool) -> Ragged:
        """The words of texts in a language that it has a table of. n texts -> n rows"""
        table, base = self.tables[language], self.bases[language]
        return language_words(texts, table, self.english, base=base, keep_unknown=keep_unknown)

    def split(self, text: str, language: str) -> list[str]:
        """The words of a text in a language, as `words_of` looks them up."""
        return split_words(text, self.tables[language])

    def renumbered(self, ids: Int32) -> Int32:
        """The ids that words found while reading have here; unknown words stay as they are. (n,) -> (n,)"""
        foreign = np.flatnonzero(ids >= MOST_WORDS)
        if not len(foreign):
            return ids
        bases = np.full(len(_BASES), -1, dtype=np.int64)
        for code, base in self.bases.items():
            bases[_BASES[code] // MOST_WORDS] = base
        result = ids.copy()
        result[foreign] = bases[ids[foreign] // MOST_WORDS] + ids[foreign] % MOST_WORDS
        return result


def id_base(language: str) -> int:
    """The first id of a language's words while files are read."""
    return _BASES[language]


def languages_in(ids: Int32) -> list[str]:
    """The languages of words found while reading, without English. (n,)"""
    numbers = np.unique(ids[ids >= MOST_WORDS] // MOST_WORDS)
    codes = list(_BASES)
    return [codes[number] for number in numbers.tolist()]


def opened_tables(english: WordVectors, digests: Mapping[str, str]) -> list[LanguageTable]:
    """Open the tables of languages, which must have these digests. Raises VectorsError, VectorsMismatch."""
    opened = []
    for code, digest in digests.items():
        table = language_table(code, english)
        if table is None:
            raise VectorsError(
                f"the index has text in {name_of(code)}, whose word vectors ({digest[:8]}) this installation of "
                "semsearch lacks; install the version that indexed it"
            )
        if table.digest != digest:
            raise VectorsMismatch(
                f"the index was fitted with the {name_of(code)} word vectors {digest[:8]}, and semsearch now has "
                f"{table.digest[:8]}; install the version that indexed it"
            )
        opened.append(table)
    return opened


def _digest(english: WordVectors, tables: Mapping[str, LanguageTable], removed: Mapping[str, Float64]) -> str:
    digest = blake2b(english.digest.encode(), digest_size=16)
    for code, table in tables.items():
        digest.update(f" {code} {table.digest}".encode())
    for code, directions in sorted(removed.items()):
        digest.update(f" {code} ".encode() + np.ascontiguousarray(directions, dtype="<f8").tobytes())
    return digest.hexdigest()


# -- Finding words -----------------------------------------------------------------------------------------------------


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


# -- The language of a question ----------------------------------------------------------------------------------------


_RARE = np.exp(np.float32(-15.0))  # e^ρ
_KNOWN = 6.0  # β: a rare word that is frequent in the other language
_LONGEST = 300  # characters of a text that are looked at


def guess_languages(texts: Sequence[str], vectors: MultilingualVectors) -> list[str]:
    """The language of each text, among those that the vectors have; of equals English."""
    samples = [text[:_LONGEST] for text in texts]
    scripts, languages = [*map(script_of, samples)], [ENGLISH] * len(texts)
    for script in {*scripts}:
        rows = [row for row, other in enumerate(scripts) if other == script]
        codes = [code for code in (ENGLISH, *vectors.tables) if code in sharing_script(script)]
        guesses = _likeliest([samples[row] for row in rows], vectors.english, codes)
        for row, language in zip(rows, guesses, strict=True):
            languages[row] = language
    return languages


def guess_any_language(
    text: str, vectors: WordVectors, known: Sequence[str], documents: Mapping[str, int] | None = None
) -> str:
    """The language of a question, of all that have a table; one that is not `known` only if that is clear.

    `documents`: how many the index has in each language; the fewer, the clearer it has to be.
    """
    sample, documents = text[:_LONGEST], documents or {}
    most, bonuses = max(documents.values(), default=1), dict[str, float]()
    for code in (*known, ENGLISH):
        bonuses.setdefault(code, max(_KNOWN + math.log(documents.get(code, most) / most), 0.0))
    return _likeliest([sample], vectors, _with_tables(script_of(sample), vectors.digest), bonuses)[0]


@lru_cache(maxsize=64)
def _with_tables(script: str, space: str) -> tuple[str, ...]:
    """The languages of a script that have a table in the space of the word vectors with a digest."""
    return tuple(code for code in sharing_script(script) if code == ENGLISH or open_language(code, space) is not None)


def _likeliest(
    texts: Sequence[str], vectors: WordVectors, codes: Sequence[str], bonuses: Mapping[str, float] | None = None
) -> list[str]:
    """The likeliest of languages that share a script, for each text. English if there are none.

    `bonuses`: what is added to the log-likelihood of some; of equals, the first of these is taken.
    """
    if len(codes) < 2 or is_unparted(codes[0]):
        return [codes[0] if codes else ENGLISH] * len(texts)
    bonuses = bonuses or {}
    codes = [*(code for code in bonuses if code in codes), *(code for code in codes if code not in bonuses)]
    joined, shared = "\n".join(texts), _words_of(texts)
    are_same = [spelled(joined, code) == joined for code in codes]
    tables = [vectors if code == ENGLISH else language_table(code, vectors) for code in codes]
    scores = np.zeros((len(codes), len(texts)))
    for row, (code, table, is_same) in enumerate(zip(codes, tables, are_same, strict=True)):
        hashes, owners = shared if is_same else _words_of([spelled(text, code) for text in texts])
        assert table is not None  # only languages with a table are asked for
        ids = table.lookup(hashes)
        log_p = np.log(np.maximum(table.frequencies[ids] * (ids >= 0), _RARE))
        scores[row] = np.bincount(owners, weights=log_p, minlength=len(texts)) + bonuses.get(code, 0.0)
    return [codes[row] for row in scores.argmax(axis=0).tolist()]


def _words_of(texts: Sequence[str]) -> tuple[UInt64, Int64]:
    """The hashes of the words of texts, and the index of each one's text. (t,), (t,)"""
    words = hash_words(texts, marks=True)
    return words.hashes, np.repeat(np.arange(len(texts)), np.diff(words.indptr))
