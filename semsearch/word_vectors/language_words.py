"""The words of a text in a language that has a table of word vectors: as ids of that table, or of the English one.

Words are looked up in the language's table, then in the English one (names, terms of programming). Of a word that
neither has, the table's longest beginning and ending of it are taken: a compound's parts, a stem without its ending.
What is left goes to the English pieces (semsearch.word_vectors.pieces), by which a name has the same vector everywhere.

Chinese, Japanese, Korean, Thai, Lao, Khmer and Burmese put no spaces between words, or hang endings on them. Each run
of their letters is cut into words of the table by the most likely path, the largest Σ log p(w) (a unigram model, Kudo
2018): all places at the same distance from the end of their run are decided at once.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence
from functools import lru_cache, partial
from typing import NamedTuple

import numpy as np

from semsearch.arrays.types import Bool, Float32, Int32, Int64, UInt8, UInt32, UInt64
from semsearch.text.languages import RULES
from semsearch.text.ragged import OovWords, Ragged
from semsearch.text.terms import spelled
from semsearch.text.tokens import WordChunk, hash_chunks, hash_spans, in_chunks
from semsearch.word_vectors.language_table import LanguageTable
from semsearch.word_vectors.pieces import RememberedRows
from semsearch.word_vectors.table import WordVectors

SHORTEST = 4  # characters of a beginning or ending that stands for a word
_COVERED = 0.6  # of a word's characters, at least, by these
_LONGEST_WORD = 64  # bytes: anything longer is hardly a word
_LONGEST_RUN = 256  # characters; longer ones are cut there
_LONGEST_PART = 16  # characters of a word on a path
_UNKNOWN = -25.0  # log p of a character that no word of the table covers
_MOST_REMEMBERED = 1 << 16  # words of which the parts are
_NOT_WORDS = re.compile(r"[\W_]+")


def is_unparted(language: str) -> bool:
    """Return whether words of a language are found as paths, for it does not part them by spaces."""
    return RULES[language].pairs or RULES[language].sequences


def language_words(
    texts: Sequence[str], table: LanguageTable, english: WordVectors, *, base: int, keep_unknown: bool
) -> Ragged:
    """The words of texts in a language. An id of its table is raised by `base`; one below that is an English word's."""
    if is_unparted(table.language):
        return Ragged.concatenate([_on_paths(chunk, table, english, base) for chunk in in_chunks(texts)])
    ids_of_chunks, counts, unknown_of_chunks = [np.zeros(0, dtype=np.int32)], [np.zeros(1, dtype=np.int64)], []
    for chunk in _chunks(texts, table.language):
        ids_of_chunks.append(_look_up(chunk.hashes, table, english, base))
        counts.append(chunk.counts)
        unknown_of_chunks.append(OovWords.in_chunk(chunk, np.flatnonzero(ids_of_chunks[-1] < 0)))
    ids, indptr = np.concatenate(ids_of_chunks), np.cumsum(np.concatenate(counts))
    unknown, unknown_words = np.flatnonzero(ids < 0), OovWords.concatenate(unknown_of_chunks)
    if not len(unknown):
        return Ragged(ids, indptr)
    inner = _known_parts(table).of(unknown_words)
    has_part = inner >= 0
    part_counts = has_part.sum(axis=1)
    whole = np.flatnonzero(part_counts == 0)
    ids[unknown[whole]] = -1 - np.arange(len(whole))
    repeats = np.ones(len(ids), dtype=np.int64)
    repeats[unknown] = np.maximum(part_counts, 1 if keep_unknown else 0)
    before = np.concatenate(([0], np.cumsum(repeats)))
    ids = np.repeat(ids, repeats)
    places = np.repeat(before[unknown], part_counts) + (np.cumsum(has_part, axis=1) - 1)[has_part]
    ids[places] = inner[has_part] + base
    return Ragged(ids, before[indptr], unknown_words.take(whole))


def _chunks(texts: Sequence[str], language: str) -> Iterable[WordChunk]:
    """The words of texts in a language, as its table spells them."""
    return hash_chunks(texts, marks=True, spell=partial(spelled, language=language))


def _look_up(hashes: UInt64, table: LanguageTable, english: WordVectors, base: int) -> Int32:
    """The ids of words by their hashes, -1 for unknown ones. (n,) -> (n,)"""
    ids = table.lookup(hashes)
    ids[ids >= 0] += base
    lacking = np.flatnonzero(ids < 0)
    if len(lacking):
        ids[lacking] = english.lookup(hashes[lacking])
    return ids


# -- Beginnings and endings --------------------------------------------------------------------------------------------


@lru_cache(maxsize=32)
def _known_parts(table: LanguageTable) -> RememberedRows:
    """The parts of words that a table lacks, each word's looked up once."""
    return RememberedRows(lambda words: parts_of_words(words, table), 2, np.int32, most=_MOST_REMEMBERED)


def parts_of_words(words: OovWords, table: LanguageTable) -> Int32:
    """The ids of the words that stand for each word: its longest beginning in the table, and the longest ending after.

    -1 for none, and both for a word of which they would cover less than three fifths. (u, 2)
    """
    lengths = np.diff(words.bounds)
    is_start = (words.data & 0xC0) != 0x80
    count = np.concatenate(([0], np.cumsum(is_start)))  # characters before each byte
    first, last = count[words.bounds[:-1]], count[words.bounds[1:]]
    owners = np.repeat(np.arange(len(words)), lengths)
    opens = np.flatnonzero(is_start & (lengths <= _LONGEST_WORD)[owners])
    of, at = owners[opens], count[opens]
    before = np.flatnonzero(at - first[of] >= SHORTEST)
    begin_hashes = hash_spans(words.data, words.bounds[of[before]], opens[before])
    after = np.flatnonzero((last[of] - at >= SHORTEST) & (at > first[of]))
    end_hashes = hash_spans(words.data, opens[after], words.bounds[of[after] + 1])
    ids = table.lookup(np.concatenate((begin_hashes, end_hashes)))
    begin_ids, end_ids = np.split(ids, [len(before)])
    result = np.full((len(words), 2), -1, dtype=np.int32)
    covered, reached = np.zeros(len(words), dtype=np.int64), first.copy()
    known = np.flatnonzero(begin_ids >= 0)  # places rise within a word: the last is the longest
    chosen = of[before[known]]
    result[chosen, 0], reached[chosen] = begin_ids[known], at[before[known]]
    covered += reached - first
    known = np.flatnonzero((end_ids >= 0) & (at[after] >= reached[of[after]]))[::-1]  # the first is the longest
    chosen = of[after[known]]
    result[chosen, 1] = end_ids[known]
    begun = last.copy()
    begun[chosen] = at[after[known]]
    covered += last - begun
    result[covered < _COVERED * (last - first)] = -1
    return result


# -- The most likely path ----------------------------------------------------------------------------------------------


def _on_paths(texts: Sequence[str], table: LanguageTable, english: WordVectors, base: int) -> Ragged:
    """The words of texts in a script that does not part them."""
    cut = _Cut.of(texts, table)
    ids = np.where(cut.is_latin, -1, cut.ids)
    ids[ids >= 0] += base
    ids[cut.is_latin] = _look_up(cut.hashes, table, english, base)
    known = ids >= 0
    bounds = np.searchsorted(cut.owners[known], np.arange(len(texts) + 1))
    return Ragged(ids[known].astype(np.int32), bounds)


class _Cut(NamedTuple):
    """The words of texts in order (t,): where each begins and ends among all characters, and its text."""

    codes: UInt32
    starts: Int64
    ends: Int64
    owners: Int64
    is_latin: Bool  # whether it is in letters of ASCII
    ids: Int32  # of words on paths, -1 for unknown characters
    hashes: UInt64  # of the words in letters of ASCII

    @classmethod
    def of(cls, texts: Sequence[str], table: LanguageTable) -> _Cut:
        """Cut texts into words."""
        plain = (
            unicodedata.normalize("NFC", spelled(text, table.language).lower()).replace("\n", " ") for text in texts
        )
        codes = np.frombuffer("\n".join(plain).encode("utf-32-le", "replace"), dtype=np.uint32)
        kinds = _kinds(codes)
        widths = 1 + (codes > 0x7F).astype(np.int64) + (codes > 0x7FF) + (codes > 0xFFFF)
        places = np.concatenate(([0], np.cumsum(widths)))  # of the characters among the bytes
        data = np.frombuffer(codes.tobytes().decode("utf-32-le").encode(), dtype=np.uint8)
        bounded = np.zeros(len(kinds) + 2, dtype=np.uint8)
        bounded[1:-1] = kinds
        edges = (bounded[1:] != bounded[:-1]).nonzero()[0]
        starts, ends = edges[:-1], edges[1:]
        is_run, is_word = kinds[starts] == _FOREIGN, kinds[starts] == _LATIN
        latin = hash_spans(data, places[starts[is_word]], places[ends[is_word]])
        at, sizes, ids = _cut(data, places, starts[is_run], ends[is_run], table)
        none = np.full(int(is_word.sum()), -1, dtype=np.int32)
        starts, ends = np.concatenate((starts[is_word], at)), np.concatenate((ends[is_word], at + sizes))
        order = np.argsort(starts, kind="stable")
        is_latin = order < len(none)
        owners = np.cumsum(codes == ord("\n"))[starts[order]] if len(order) else starts
        return cls(codes, starts[order], ends[order], owners, is_latin, np.concatenate((none, ids))[order], latin)


def split_words(text: str, table: LanguageTable) -> list[str]:
    """The words of a text as they are looked up; of a run of characters, those on its most likely path."""
    if is_unparted(table.language):
        cut = _Cut.of([text], table)
        whole = cut.codes.tobytes().decode("utf-32-le")
        return [whole[start:end] for start, end in zip(cut.starts.tolist(), cut.ends.tolist(), strict=True)]
    chunks = _chunks([text], table.language)
    return [word for chunk in chunks for word in chunk.words(np.arange(len(chunk.hashes)))]


_LATIN, _FOREIGN = 1, 2


def _kinds(codes: UInt32) -> UInt8:
    """Whether each character is of a word in letters of ASCII, of a run of others, or of neither. (n,)"""
    is_there = np.zeros(int(codes.max(initial=0)) + 1, dtype=np.bool_)
    is_there[codes] = True
    kinds = np.zeros(len(is_there), dtype=np.uint8)
    for code in np.flatnonzero(is_there).tolist():
        kinds[code] = _kind(code)
    return kinds[codes]


@lru_cache(maxsize=1 << 14)
def _kind(code: int) -> int:
    char = chr(code)
    is_of_word = not _NOT_WORDS.match(char) or unicodedata.category(char) in ("Mn", "Mc")
    return (_LATIN if code < 128 else _FOREIGN) if is_of_word else 0


def _cut(data: UInt8, places: Int64, starts: Int64, ends: Int64, table: LanguageTable) -> tuple[Int64, Int64, Int32]:
    """Cut runs of characters into words of a table: the place of each word, its size, and its id, -1 for an unknown
    character.

    `places`: where each character begins among the bytes of `data`. (r,), (r,) -> (w,), (w,), (w,)
    """
    lengths = ends - starts
    if lengths.max(initial=0) > _LONGEST_RUN:
        pieces = -(-lengths // _LONGEST_RUN)
        within = np.arange(pieces.sum()) - np.repeat(np.cumsum(pieces) - pieces, pieces)
        owner = np.repeat(np.arange(len(starts)), pieces)
        starts = starts[owner] + within * _LONGEST_RUN
        ends = np.minimum(starts + _LONGEST_RUN, ends[owner])
        lengths = ends - starts
    at = np.arange(lengths.sum()) + np.repeat(starts - (np.cumsum(lengths) - lengths), lengths)
    left = np.repeat(ends, lengths) - at  # characters up to the end of the run
    longest = min(table.longest, _LONGEST_PART)
    ids = np.full((len(at), longest), -1, dtype=np.int32)
    likely: Float32 = np.full((len(at), longest), -np.inf, dtype=np.float32)
    likely[:, 0] = _UNKNOWN
    row, column = np.nonzero(np.arange(longest) < left[:, None])
    part_ids = table.lookup(hash_spans(data, places[at[row]], places[at[row] + column + 1]))
    known = np.flatnonzero(part_ids >= 0)
    ids[row[known], column[known]] = part_ids[known]
    likely[row[known], column[known]] = table.log_p[part_ids[known]]
    chosen = _paths(likely, left)
    is_word = np.zeros(len(at) + 1, dtype=np.bool_)
    going = np.flatnonzero(left == np.repeat(lengths, lengths))
    while len(going):
        is_word[going] = True
        following = going + chosen[going] + 1
        going = following[left[going] > chosen[going] + 1]
    words = np.flatnonzero(is_word)
    return at[words], chosen[words] + 1, ids[words, chosen[words]]


def _paths(likely: Float32, left: Int64) -> Int64:
    """The size less one of the word that begins at each place of the most likely path from there. (n, m), (n,) -> (n,)

    `likely`: log p of the words of 1 to m characters at each place; `left`: the characters up to the end of its run.
    """
    longest = likely.shape[1]
    best: Float32 = np.zeros(len(left) + longest + 1, dtype=np.float32)  # of the rest of the run from each place on
    chosen = np.zeros(len(left), dtype=np.int64)
    order = np.argsort(left, kind="stable")
    bounds = np.searchsorted(left[order], np.arange(1, int(left.max(initial=0)) + 2))
    for step, (first, last) in enumerate(zip(bounds[:-1].tolist(), bounds[1:].tolist(), strict=True), start=1):
        here, most = order[first:last], min(step, longest)
        after = best[here[:, None] + np.arange(1, most + 1)]
        if most == step:
            after[:, -1] = 0  # the run ends there
        totals = likely[here, :most] + after
        chosen[here] = totals.argmax(axis=1)
        best[here] = totals[np.arange(len(here)), chosen[here]]
    return chosen
