"""The sentence of a passage that a hit quotes: the one whose words align best with those of the query.

A_ij is how well sentence j has the i-th content word of the query: the best of its words, where a word of the same term
(a stem, in Chinese also a pair of characters) counts 1, another cos² of their word vectors, and, where one of the two
has no vector, the square of the share of their sequences of three letters in common (Dice), since compounds and
inflected forms look alike. Numbers and terms of two words have to be the same.

    C_ij  = max_d r^d A_i(j-d)                        a word said up to four sentences before still counts: "He died there"
    w_i   = √idf_i · log((n + 1) / (Σ_j C_ij + ½))    what few of the passage's n sentences have decides between them
    score = p_j Σ_i w_i C_ij                          p_j: 1 for prose, less for a heading, tags, links, code, a question

The alignment is that of Kajiwara and Komachi 2016 (maximum alignment) with weights of our own; the numbers were chosen
on English, German and Chinese (docs/research/measurements.md, "The sentence shown"). Ranking does not depend on it.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from semsearch.arrays.types import Bool, Float32, Float64, Int64, UInt64
from semsearch.text.languages import ENGLISH, ORDINAL_DOTS, RULES
from semsearch.text.terms import Lexicon, joined_words, named_terms, pairs, sequences, word_chunks
from semsearch.text.tokens import WordChunk, hash_chunks

if TYPE_CHECKING:
    from semsearch.lexical.bm25 import TermLookup, WordSearch
    from semsearch.storage.catalogue import PassageRow
    from semsearch.word_vectors.table import WordVectors

RECALLED = 0.45  # r: what a word counts that stands in the sentence before
_REACH = 4  # sentences before
_PAIR = 0.15  # of a term of two words, beside those of its words
_LEAST_WEIGHT = 0.2  # of the logarithm: a word that all sentences have still counts
NOT_PROSE = 0.5  # p of what is no prose
_MOST_WORDS = 32  # of a query, those with the largest idf
_MOST_STEMS = 1 << 18  # that are remembered


@dataclass(frozen=True, slots=True)
class Quote:
    """The sentence that a hit quotes, by the numbers of its first and last piece; two where a dot had parted them."""

    first: int
    last: int


@dataclass(frozen=True, slots=True)
class Aligned:
    """A word of the query and where a quoted sentence has it."""

    word: str
    match: str  # the word of the sentence
    similarity: float  # 0 to 1
    before: int  # how many sentences before it stands
    share: float  # of the score


@dataclass(frozen=True, slots=True)
class AskedWords:
    """The content words of a query and its terms of two words: q rows, each with a name, a weight and a vector."""

    names: Sequence[str]
    terms: UInt64  # (t,) rising
    rows: Int64  # (t,) the row of each term
    weights: Float64  # (q,) √idf
    is_known: Bool  # (q,) whether it has a vector
    can_vary: Bool  # (q,) whether words that look alike may stand for it
    vectors: Float32 | None  # (q, d) of length one, or zero; None if words are compared by their letters only
    letters: _Triples


class Aligner:
    """Aligns queries with the sentences of an index. It remembers the stem of each word; threads may share it."""

    def __init__(self, search: WordSearch) -> None:
        self._search = search
        self._languages = tuple(search.languages)
        self._lexicon = Lexicon()
        self._stemming = threading.Lock()
        self._has_ordinals = not ORDINAL_DOTS.isdisjoint(self._languages)

    def asked(self, text: str, lookup: TermLookup | None, vectors: WordVectors | None) -> AskedWords:
        """Take a query apart. `lookup`: its terms in the postings, if they have been found already."""
        found = named_terms(text, self._languages)
        if lookup is None:
            lookup = self._search.find(found.terms)
        at = np.searchsorted(lookup.terms, found.terms)
        idf = (lookup.weights / lookup.times)[at]
        of_word, rows = dict[str, int](), dict[int, int]()
        for term, name in zip(found.terms.tolist(), found.words, strict=True):
            rows.setdefault(term, of_word.setdefault(name, rows.get(term, len(of_word))))
        smallest = np.full(len(of_word), np.inf)  # of a word that languages stem differently, the term that is there
        np.minimum.at(smallest, [of_word[name] for name in found.words], idf)
        kept = [row for row in np.argsort(-smallest, kind="stable")[:_MOST_WORDS].tolist() if row in rows.values()]
        names = [name for name in of_word if of_word[name] in kept]
        number = {of_word[name]: position for position, name in enumerate(names)}
        terms = sorted(term for term, row in rows.items() if row in number)
        (chunk,) = hash_chunks(names, marks=self._languages != (ENGLISH,)) if names else (_NO_WORDS,)
        single = chunk.counts == 1
        alone = np.flatnonzero(np.repeat(single, chunk.counts))
        weights = np.sqrt(smallest[[of_word[name] for name in names]]) * np.where(single, 1.0, _PAIR)
        is_known, rows_of_words = np.zeros(len(names), dtype=np.bool_), None
        if vectors is not None:
            ids = vectors.lookup(chunk.hashes[alone])
            rows_of_words = np.zeros((len(names), vectors.dimension), dtype=np.float32)
            is_known[np.flatnonzero(single)[ids >= 0]] = True
            rows_of_words[is_known] = _unit(vectors.rows(ids[ids >= 0]))
        can_vary = single & np.array([not any(map(str.isdigit, name)) for name in names], dtype=np.bool_)
        return AskedWords(
            names,
            np.array(terms, dtype=np.uint64),
            np.array([number[rows[term]] for term in terms], dtype=np.int64),
            weights,
            is_known,
            can_vary,
            rows_of_words,
            _Triples.of(chunk, alone, np.flatnonzero(single)),
        )

    def choose(
        self, asked: AskedWords, vectors: WordVectors | None, passages: Sequence[PassageRow], best: Sequence[int]
    ) -> list[Quote]:
        """Choose the sentence to quote of each passage; `best` (its number, or -1) where no word of the query is there.

        Of equal ones the first.
        """
        several = [passage for passage in passages if len(passage.sentences) > 1]
        if not several or not asked.names:
            return [Quote(max(number, 0), max(number, 0)) for number in best]
        scored = iter(self.scored(asked, vectors, several))
        quotes: list[Quote] = []
        for passage, number in zip(passages, best, strict=True):
            own = next(scored) if len(passage.sentences) > 1 else None
            if own is None or not own.scores.any():
                quotes.append(Quote(max(number, 0), max(number, 0)))
            else:
                quotes.append(own.quotes[int(own.scores.argmax())])
        return quotes

    def scored(
        self, asked: AskedWords, vectors: WordVectors | None, passages: Sequence[PassageRow]
    ) -> list[ScoredSentences]:
        """Score the sentences of each passage."""
        texts = [text for passage in passages for text in passage.sentence_texts]
        found = self.similarities(asked, vectors, texts)
        result: list[ScoredSentences] = []
        begin = 0
        for passage in passages:
            own = texts[begin : begin + len(passage.sentences)]
            quotes = _joined(passage, own) if self._has_ordinals else [Quote(number, number) for number in range(len(own))]
            part = found[:, begin : begin + len(own)]
            if len(quotes) < len(own):
                part = np.maximum.reduceat(part, [quote.first for quote in quotes], axis=1)
            result.append(ScoredSentences.of(asked, part, quotes, _prose(passage, own, quotes)))
            begin += len(own)
        return result

    def similarities(self, asked: AskedWords, vectors: WordVectors | None, texts: Sequence[str]) -> Float32:
        """How well each text has each word of the query: A, (q, texts)."""
        marked = self._languages != (ENGLISH,)
        parts = [self._in_chunk(asked, vectors, chunk) for chunk in hash_chunks(texts, marks=marked)]
        found = np.concatenate(parts, axis=1)
        for language in self._languages:
            if RULES[language].sequences:
                own = sequences(texts, language)
                owners = np.repeat(np.arange(len(texts)), np.diff(own.indptr))
                _mark(found, asked, own.hashes, owners)
            elif language == "tr":
                done = 0
                for chunk in word_chunks(texts, language):
                    part = found[:, done : done + len(chunk.counts)]
                    self._mark_terms(part, asked, chunk, language)
                    done += len(chunk.counts)
        return found

    def _in_chunk(self, asked: AskedWords, vectors: WordVectors | None, chunk: WordChunk) -> Float32:
        n = len(chunk.counts)
        owners = np.repeat(np.arange(n), chunk.counts)
        found: Float32 = np.zeros((len(asked.names), n), dtype=np.float32)
        known = np.zeros(len(owners), dtype=np.bool_)
        if vectors is not None and asked.vectors is not None:
            ids = vectors.lookup(chunk.hashes)
            known = ids >= 0
            different, which = np.unique(ids[known], return_inverse=True)
            cosines = np.maximum(asked.vectors @ _unit(vectors.rows(different)).T, 0)
            _raise(found, (cosines * cosines)[:, which.reshape(-1)], owners[known])
        unlike = np.flatnonzero(~known if asked.is_known[asked.can_vary].all() else np.ones(len(owners), np.bool_))
        if len(unlike) and asked.can_vary.any():
            _, first, which = np.unique(chunk.hashes[unlike], return_index=True, return_inverse=True)
            alike = asked.letters.dice(_Triples.of(chunk, unlike[first], np.arange(len(first))), len(asked.names))
            alike[~asked.can_vary] = 0
            alike[np.ix_(asked.is_known, known[unlike[first]])] = 0
            _raise(found, (alike * alike)[:, which.reshape(-1)], owners[unlike])
        for language in self._languages:
            if not RULES[language].sequences and language != "tr":
                self._mark_terms(found, asked, chunk, language, owners)
        return found

    def _mark_terms(
        self, found: Float32, asked: AskedWords, chunk: WordChunk, language: str, owners: Int64 | None = None
    ) -> None:
        """Set the similarity of texts that have a term of the query to 1."""
        if owners is None:
            owners = np.repeat(np.arange(len(chunk.counts)), chunk.counts)
        with self._stemming:
            if len(self._lexicon) > _MOST_STEMS:
                self._lexicon = Lexicon()
            numbers = self._lexicon.number(asked.terms)
            own = self._lexicon.stem_numbers(chunk, language)
        order = np.argsort(numbers)
        rising = numbers[order]
        at = np.minimum(np.searchsorted(rising, own), len(rising) - 1)
        held = np.flatnonzero(rising[at] == own)
        found[asked.rows[order[at[held]]], owners[held]] = 1
        joined = joined_words(chunk, language)
        if len(joined) and not asked.can_vary.all():
            _mark(found, asked, pairs(chunk, joined), owners[joined])

    def explain(
        self, asked: AskedWords, vectors: WordVectors | None, passage: PassageRow
    ) -> tuple[Quote, float, list[Aligned]]:
        """The sentence that is quoted of a passage, how much of the alignment counts, and the alignment of each word.

        The shares of the words sum to the score by which the sentence was chosen.
        """
        (own,) = self.scored(asked, vectors, [passage])
        chosen = int(own.scores.argmax())
        pieces = [" ".join(passage.sentence(n) for n in range(q.first, q.last + 1)) for q in own.quotes]
        reach = [chosen - step for step in range(min(_REACH, chosen) + 1)]
        values = np.stack([own.plain[:, at] * RECALLED**step for step, at in enumerate(reach)])
        steps = values.argmax(axis=0).tolist()
        aligned: list[Aligned] = []
        for row, (name, step) in enumerate(zip(asked.names, steps, strict=True)):
            share = float(own.prose[chosen] * own.weights[row] * values[step, row])
            similarity = float(own.plain[row, reach[step]])
            match = self._match(asked, vectors, pieces[reach[step]], row) if share > 0 else ""
            aligned.append(Aligned(name, match, similarity, step, share))
        return own.quotes[chosen], float(own.prose[chosen]), aligned

    def _match(self, asked: AskedWords, vectors: WordVectors | None, text: str, row: int) -> str:
        """The word of a text that is most similar to a word of the query."""
        found = [name for chunk in hash_chunks([text], marks=True) for name in chunk.words(np.arange(len(chunk.hashes)))]
        distinct = [*dict.fromkeys(found), asked.names[row]]  # the last one for what is more than a word
        return distinct[int(self.similarities(asked, vectors, distinct)[row].argmax())]


@dataclass(frozen=True, slots=True)
class ScoredSentences:
    """The n sentences of a passage that may be quoted, with the score of each."""

    quotes: Sequence[Quote]
    plain: Float32  # (q, n) A
    weights: Float64  # (q,) w
    prose: Float64  # (n,) p
    scores: Float64  # (n,)

    @classmethod
    def of(cls, asked: AskedWords, plain: Float32, quotes: Sequence[Quote], prose: Float64) -> ScoredSentences:
        """Score sentences by the similarities of their words (q, n) and how much those count (n,)."""
        n = plain.shape[1]
        recalled = plain.copy()
        for step in range(1, min(_REACH, n - 1) + 1):
            np.maximum(recalled[:, step:], RECALLED**step * plain[:, :-step], out=recalled[:, step:])
        spread = np.log((n + 1) / (recalled.sum(axis=1, dtype=np.float64) + 0.5))
        weights = asked.weights * np.maximum(spread, _LEAST_WEIGHT)
        return cls(quotes, plain, weights, prose, prose * (weights @ recalled))


# -- Words that look alike ---------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Triples:
    """The sequences of three letters of words, ends included ("to": -to, to-), and the word of each. (m,), (m,)"""

    codes: UInt64
    owners: Int64
    sizes: Float64  # (w,) how many each word has

    @classmethod
    def of(cls, chunk: WordChunk, indices: Int64, owners: Int64) -> _Triples:
        """Those of the words of a chunk at some indices, which are numbered by their owners. (w,), (w,)"""
        lengths = chunk.ends[indices] - chunk.starts[indices]
        spaced = np.zeros(int(lengths.sum()) + 2 * len(indices), dtype=np.uint8)
        spaced[np.arange(int(lengths.sum())) + np.repeat(2 * np.arange(len(indices)) + 1, lengths)] = chunk.letters(
            indices
        )
        codes = np.frombuffer(spaced.tobytes().decode().encode("utf-32-le"), dtype=np.uint32).astype(np.uint64)
        is_letter = codes != 0
        middle = np.flatnonzero(is_letter)
        which = (np.cumsum(~is_letter)[middle] - 1) // 2
        triples = (codes[middle - 1] << np.uint64(42)) | (codes[middle] << np.uint64(21)) | codes[middle + 1]
        sizes = np.zeros(int(owners.max(initial=-1)) + 1)
        np.add.at(sizes, owners[which], 1)
        return cls(triples, owners[which], sizes)

    def dice(self, others: _Triples, n: int) -> Float32:
        """Dice's coefficient of each of n words with each other word: 2 · common / (own + other's). -> (n, others)"""
        found: Float32 = np.zeros((n, len(others.sizes)), dtype=np.float32)
        if not len(self.codes):
            return found
        different, which = np.unique(self.codes, return_inverse=True)
        has = np.zeros((n, len(different)), dtype=np.float32)
        has[self.owners, which.reshape(-1)] = 1
        at = np.minimum(np.searchsorted(different, others.codes), len(different) - 1)
        common = np.flatnonzero(different[at] == others.codes)
        columns, owners = at[common], others.owners[common]
        for row in np.unique(self.owners).tolist():
            counts = np.bincount(owners, weights=has[row, columns], minlength=len(others.sizes))
            found[row] = np.minimum(2 * counts / (self.sizes[row] + others.sizes), 1)
        return found


def _unit(rows: Float32) -> Float32:
    return rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), np.float32(1e-9))


def _raise(found: Float32, values: Float32, owners: Int64) -> None:
    """Raise what was found (q, n) to the largest of the values (q, t) of words, given by their texts in order (t,)."""
    if len(owners):
        firsts = np.flatnonzero(np.diff(owners, prepend=-1))
        columns = owners[firsts]
        found[:, columns] = np.maximum(found[:, columns], np.maximum.reduceat(values, firsts, axis=1))


def _mark(found: Float32, asked: AskedWords, hashes: UInt64, owners: Int64) -> None:
    """Set to 1 what texts have of the query's terms. Their terms are given by hashes (t,), with the text of each."""
    at = np.minimum(np.searchsorted(asked.terms, hashes), len(asked.terms) - 1)
    held = np.flatnonzero(asked.terms[at] == hashes)
    found[asked.rows[at[held]], owners[held]] = 1


_NOTHING = np.zeros(0, dtype=np.int64)
_NO_WORDS = WordChunk(np.zeros(0, dtype=np.uint8), _NOTHING, _NOTHING, np.zeros(0, dtype=np.uint64), _NOTHING)


# -- Sentences, and what is none ---------------------------------------------------------------------------------------

_BETWEEN_BLOCKS = "\n\n"
_SHORT, _FEW = 60, 7  # characters, words: of what may be a heading
_CELLS = " | "
_ORDINAL = re.compile(r"(?:^|[^\d.,])\d{1,2}\.$")
_END = re.compile(r"[.!…。！:：।॥።។៖۔][\"'”’»›)\]』」】]*$")
_QUESTION = re.compile(r"[?？؟][\"'”’»›)\]』」】]*$")
_BARE = re.compile(
    r"(?:[#@][^\s#@]+[\s,]*)+"  # tags
    r"|(?:\S+://\S+[\s,;|·•]*)+"  # addresses
    r"|(?:[^|·•›»\n]{1,40}\s[|·•›»]\s){3,}[^|·•›»\n]{1,40}"  # a row of links
)
_POINTER = re.compile(
    r"(?:(?:see|siehe|vgl\.|voir|véase|vedi|см\.|див\.|zob\.|bkz\.)(?=[\s:])|(?:ver también|zie ook|se även|se også)\b"
    r"|参见|另见|请参阅|参照|انظر|راجع).{0,80}",
    re.IGNORECASE | re.DOTALL,
)
_CODE = re.compile(
    r"(?:\$|>>>|#!)\s?\S.*"
    r"|(?:import|from|def|class|function|const|let|var|return|sudo|#include)\s+\S.*[\w)>;:{}\"']",
    re.DOTALL,
)
_SYMBOLS = b"{}()[]<>=;$\\|&*_\"`/^~+"
_MUCH = 0.14  # share of symbols in code


def _joined(passage: PassageRow, texts: Sequence[str]) -> list[Quote]:
    """What may be quoted: each sentence, or two where the dot of an ordinal ("am 7. Januar") has parted them."""
    quotes: list[Quote] = []
    spans = passage.sentences[:, :2].tolist()
    first = 0
    for number, text in enumerate(texts):
        if number + 1 < len(texts) and _ORDINAL.search(text[-4:]):
            between = passage.text[spans[number][1] : spans[number + 1][0]]
            if _BETWEEN_BLOCKS not in between:
                continue
        quotes.append(Quote(first, number))
        first = number + 1
    return quotes


def _prose(passage: PassageRow, texts: Sequence[str], quotes: Sequence[Quote]) -> Float64:
    """How much the alignment of each possible quote counts: 1, or less for what is no prose. (n,)"""
    spans = passage.sentences[:, :2].tolist()
    rows = [_CELLS in text for text in texts]
    result = np.ones(len(quotes))
    for at, quote in enumerate(quotes):
        first, last = quote.first, quote.last
        begins = spans[first][0] == 0 or passage.text[: spans[first][0]].endswith(_BETWEEN_BLOCKS)
        ends = passage.text.startswith(_BETWEEN_BLOCKS, spans[last][1]) or spans[last][1] == len(passage.text)
        is_head = rows[first] and (first == 0 or not rows[first - 1]) and first + 1 < len(rows) and rows[first + 1]
        text = texts[first] if first == last else passage.text[spans[first][0] : spans[last][1]]
        if is_head or not _is_prose(text, is_row=rows[first], is_block=begins and ends):
            result[at] = NOT_PROSE
    return result


def _is_prose(text: str, *, is_row: bool, is_block: bool) -> bool:
    """Whether a sentence says something: it is no heading, question, tags, list of links, reference or code."""
    end = text[-4:]
    if _QUESTION.search(end) or _POINTER.fullmatch(text):
        return False
    if is_row:
        return True
    if _END.search(end):
        return True
    encoded = text.encode("utf-8", "replace")
    if len(encoded) - len(encoded.translate(None, _SYMBOLS)) > _MUCH * len(encoded):
        return False
    if is_block and len(text) <= _SHORT and len(text.split()) <= _FEW:
        return False
    return not (_BARE.fullmatch(text) or _CODE.fullmatch(text))
