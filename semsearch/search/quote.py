"""The sentence of a passage that a hit quotes: the one whose words align best with those of the query.

A_ij is how well sentence j has the i-th content word of the query: the best of its words, where the same word counts 1,
another form of it (an equal stem) .95, another word cos² of their word vectors. If the query's word has no vector, that
is the square of the share of their sequences of three letters in common (Dice), since compounds and inflected forms
look alike. Numbers without a vector, and terms of two words such as pairs of Chinese characters, have to be the same.

    C_ij  = max_d r^d A_i(j-d)                        a word said up to four sentences before still counts
    w_i   = √idf_i · log((n + 1) / (Σ_j C_ij + ½))    what few of the passage's n sentences have decides
    score = p_j Σ_i w_i C_ij                          p_j: 1 for prose, ½ for headings, tags, links, code, questions

A question in another language than the passage is aligned by the word vectors alone, but for names and numbers; a word
of it that no passage has is as rare as in general text of its language.

The alignment is that of Song and Roth 2015 (maximum alignment), with weights of our own; the numbers were chosen on
English, German and Chinese (docs/research/measurements.md, "The quoted sentence"). Ranking does not depend on it.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import accumulate, pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from semsearch.arrays.hash_table import HashIndex
from semsearch.arrays.id_ranges import are_new, distinct
from semsearch.arrays.types import Bool, Float32, Float64, Int32, Int64, UInt64
from semsearch.embedding.word_finder import as_multilingual, word_ids
from semsearch.frozen import dataclass, pattern
from semsearch.text.languages import ENGLISH, ORDINAL_DOTS, RULES
from semsearch.text.ragged import Ragged
from semsearch.text.terms import (
    QuestionTerms,
    as_english,
    hashes_of,
    joined_words,
    pairs,
    sequences,
    stems,
    word_chunks,
)
from semsearch.text.tokens import CODE, WordChunk, hash_chunks, hash_whole, with_parts

if TYPE_CHECKING:
    from semsearch.lexical.bm25 import TermLookup, WordSearch
    from semsearch.storage.catalogue import PassageRow
    from semsearch.word_vectors.multilingual import MultilingualVectors
    from semsearch.word_vectors.table import WordVectors

RECALLED = 0.45  # r: what a word counts that stands in the sentence before
REACH = 4  # sentences before
OTHER_FORM = 0.95  # what another word of the same term counts: "removed" for "remove"
_PAIR = 0.15  # of a term of two words, beside those of its words
_LEAST_WEIGHT = 0.2  # of the logarithm: a word that all sentences have still counts
NOT_PROSE = 0.5  # p of what is no prose
_MOST_WORDS = 32  # of a query, those with the largest idf
_MOST_WORDS_REMEMBERED = 1 << 17  # with their terms
_MOST_PASSAGES = 2048  # likewise
_MOST_ROWS = 1 << 14  # vectors of words, likewise: sixteen megabytes


@dataclass(frozen=True, slots=True)
class Quote:
    """The sentence that a hit quotes, by the numbers of its first and last piece; two where a dot had parted them."""

    first: int
    last: int


@dataclass(frozen=True, slots=True)
class AskedWords:
    """The content words of a query and its terms of two words: q rows, each with a name, a weight and a vector."""

    names: Sequence[str]
    hashes: UInt64  # (q,) of the words; 0 for terms of two words
    terms: UInt64  # (t,) rising
    rows: Int64  # (t,) the row of each term
    weights: Float64  # (q,) √idf
    can_vary: Bool  # (q,) whether words that look alike stand for it, as it has no vector
    vectors: Float32 | None  # (q, d) of length one, or zero; None if words are compared by their letters only
    letters: _Triples


_FEW_OWN = 0.1  # share of the documents that are in the query's language


def is_aligned_across(language: str, documents: Mapping[str, int]) -> bool:
    """Whether the alignment of a query's words counts in the ranking of passages in other languages.

    Hardly any of the index's `documents` of each language may be in its own: beside passages in it, their translations
    would gain too much. A query has whole words, not characters or sequences of letters, if none is.
    """
    own, is_whole = documents.get(language, 0), not (RULES[language].pairs or RULES[language].sequences)
    return not own or (is_whole and own <= _FEW_OWN * sum(documents.values()))


class WordAligner:
    """Aligns queries with the sentences of a generation of an index. Threads may share it.

    It remembers the stem of each word, and of the passages and words that it had to do with lately what does not
    depend on the query.
    """

    def __init__(self, search: WordSearch) -> None:
        self._search = search
        self._languages = tuple(search.languages)
        self._parted = tuple(code for code in self._languages if not RULES[code].sequences and code not in _READ_APART)
        self._memory = _Memory(self._parted)
        self._names: dict[str, dict[str, _ReadName]] = {}  # likewise, by word vectors and language
        self._rows: dict[str, _RowMemory] = {}  # by the digest of the word vectors
        self._remembering = threading.Lock()
        self._has_ordinals = not ORDINAL_DOTS.isdisjoint(self._languages)

    def asked(
        self,
        found: QuestionTerms,
        lookup: TermLookup | None,
        vectors: WordVectors | None,
        language: str | None = None,
    ) -> AskedWords:
        """Prepare the terms of a query. `lookup`: the same in the postings, if they have been found already.

        `language`: that of the query, if the vectors are of several languages.
        """
        if lookup is None:
            lookup = self._search.find(found.terms)
        at = np.searchsorted(lookup.terms, found.terms)
        idf = (lookup.weights / lookup.times)[at]
        of_word, of_term, names = dict[str, int](), dict[int, int](), list[str]()
        for term, name in zip(found.terms.tolist(), found.words, strict=True):
            row = of_word.get(name, of_term.get(term, len(names)))
            if row == len(names):
                names.append(name)
            of_word[name], of_term[term] = row, of_term.get(term, row)
        least = np.full(len(names), np.inf)  # of a word with a stem in each language: one may be in no passage
        np.minimum.at(least, [of_word[name] for name in found.words], idf)
        if len(names) > _MOST_WORDS:
            kept = np.sort(np.argsort(-least, kind="stable")[:_MOST_WORDS]).tolist()
            of_term = {term: kept.index(row) for term, row in of_term.items() if row in kept}
            names, least = [names[row] for row in kept], least[kept]
        several = None if vectors is None or language is None else as_multilingual(vectors)
        read = self._names_read(names, vectors, several, language)
        hashes = np.array([each.hash for each in read], dtype=np.uint64)
        if several is not None and names:
            in_none = idf_of_rows(names, found.words, of_word, lookup.idf[at]) == 0
            if in_none.any():
                p = np.array([each.p for each in read], dtype=np.float32)
                in_none &= np.array([each.is_known for each in read], dtype=np.bool_)
                least = np.where(in_none, _idf_in_general(p, self._search.passages), least)
        varying = [number for number, each in enumerate(read) if each.can_vary]
        letters, can_vary = _NO_TRIPLES, np.zeros(len(names), dtype=np.bool_)
        if varying:
            can_vary[varying] = True
            chunk = hash_whole([names[number] for number in varying], marks=self._languages != (ENGLISH,))
            letters = _Triples.of(chunk.words(np.arange(len(varying))), np.array(varying, dtype=np.int64))
        terms = sorted(of_term)
        return AskedWords(
            names,
            hashes,
            np.array(terms, dtype=np.uint64),
            np.array([of_term[term] for term in terms], dtype=np.int64),
            np.sqrt(least) * np.where(hashes > 0, 1.0, _PAIR),
            can_vary,
            None if vectors is None or not names else np.stack([each.vector for each in read]),
            letters,
        )

    def _names_read(
        self,
        names: Sequence[str],
        vectors: WordVectors | None,
        several: MultilingualVectors | None,
        language: str | None,
    ) -> list[_ReadName]:
        """Read words of a query, or pairs of them, that have not been read lately, all at once."""
        kind = "" if vectors is None else f"{vectors.digest} {language if several else None}"
        kept = self._names.setdefault(kind, {})
        lacking = [name for name in dict.fromkeys(names) if name not in kept]
        if not lacking:
            return [kept[name] for name in names]
        chunk = hash_whole(lacking, marks=self._languages != (ENGLISH,))
        single = chunk.counts == 1
        alone = np.flatnonzero(np.repeat(single, chunk.counts))
        is_known, p = np.zeros(len(lacking), dtype=np.bool_), np.zeros(len(lacking), dtype=np.float32)
        unit: Float32 = np.zeros((len(lacking), 0 if vectors is None else vectors.dimension), dtype=np.float32)
        hashes = np.zeros(len(lacking), dtype=np.uint64)
        hashes[single] = chunk.hashes[alone]
        if several is not None and language not in self._languages:
            hashes = hashes_of(lacking)  # they are words, also of a language that does not part them
        if several is not None and language is not None:
            from semsearch.embedding.weighted_sums import average_few  # start-up time: English needs none of it

            words = _words_in(several, lacking, language)
            is_known = words.lengths > 0
            unit = _unit(average_few(words, several.rows(words.ids)))
            p = average_few(words, several.frequencies[words.ids][:, None])[:, 0]
        elif vectors is not None:
            ids = vectors.lookup(chunk.hashes[alone])
            is_known[single] = ids >= 0
            unit[is_known] = _unit(vectors.rows(ids[ids >= 0]))
        rows = zip(lacking, hashes.tolist(), is_known.tolist(), unit, p.tolist(), strict=True)
        read = {
            # a single character looks like no other
            name: _ReadName(
                hash_,
                known,
                row,
                often,
                bool(hash_) and not known and len(name) > 1 and not any(map(str.isdigit, name)),
            )
            for name, hash_, known, row, often in rows
        }
        found = [read[name] if name in read else kept[name] for name in names]
        if len(kept) + len(read) > _MOST_PASSAGES:
            kept = self._names[kind] = {}
        kept.update(read)
        return found

    def choose(
        self,
        asked: AskedWords,
        vectors: WordVectors | None,
        passages: Sequence[PassageRow],
        best: Sequence[int],
        formats: Sequence[str] = (),
        languages: Sequence[str] = (),
    ) -> list[Quote]:
        """Choose the sentence to quote of each passage; `best` (its number, or -1) where no word of the query is there.

        Of equal ones the first. `formats`: those of the passages' documents; `languages`: of the passages, if the
        vectors are of several.
        """
        found = [Quote(max(number, 0), max(number, 0)) for number in best]
        several = [at for at, passage in enumerate(passages) if len(passage.sentences) > 1]
        if several and asked.names:
            chosen_formats = [formats[at] for at in several] if formats else ()
            own = [languages[at] for at in several] if languages else ()
            scored = self.scored(asked, vectors, [passages[at] for at in several], chosen_formats, own)
            for at, chosen in zip(several, scored.chosen, strict=True):
                if scored.scores[chosen] > 0:
                    found[at] = scored.quotes[chosen]
        return found

    def read(
        self,
        vectors: WordVectors | None,
        passages: Sequence[PassageRow],
        formats: Sequence[str],
        languages: Sequence[str],
    ) -> None:
        """Read passages that several queries will be aligned with; as in `scored`."""
        several = None if vectors is None or not languages else as_multilingual(vectors)
        self._passages_read(self._remembered(), vectors, several, passages, formats, languages)

    def in_order(self, texts: Sequence[str], language: str) -> list[UInt64]:
        """The terms of the words of each text in a language whose words are parted, in their order."""
        memory, chunks = self._remembered(), [*word_chunks(texts, language)]
        words, column = memory.of_language(language)
        with self._remembering:
            numbers = np.concatenate([_NO_NUMBERS, *map(words.numbers, chunks)])
        counts = np.concatenate([chunk.counts for chunk in chunks])
        return np.split(words.terms[numbers, column], counts.cumsum()[:-1])

    def scored(
        self,
        asked: AskedWords,
        vectors: WordVectors | None,
        passages: Sequence[PassageRow],
        formats: Sequence[str] = (),
        languages: Sequence[str] = (),
    ) -> ScoredSentences:
        """Score the sentences of passages, whose documents have the given formats; they are in these `languages` if the
        vectors are of several."""
        own, found = self._passages_aligned(asked, vectors, passages, formats, languages)
        quotes = [quote for each in own for quote in each.quotes]
        if len(quotes) < len(found):
            starts = accumulate((each.words.texts for each in own), initial=0)
            firsts = [start + quote.first for start, each in zip(starts, own, strict=False) for quote in each.quotes]
            found = np.maximum.reduceat(found, firsts, axis=0)
        bounds = np.array([0, *accumulate(len(each.quotes) for each in own)])
        return ScoredSentences.of(asked, found, bounds, quotes, np.array([p for each in own for p in each.prose]))

    def aligned(
        self,
        asked: AskedWords,
        vectors: WordVectors | None,
        passages: Sequence[PassageRow],
        formats: Sequence[str],
        languages: Sequence[str],
    ) -> Float64:
        """What the words of a query add to how well passages have them: idf_i (max_j A_ij + B_i) / 2 Σ idf.

        B_i is how well the headings above a passage have a word. They count as a sentence, too; where there are
        none, B_i = max_j A_ij. Rows sum to 0 to 1. (n, q)
        """
        own, found = self._passages_aligned(asked, vectors, passages, formats, languages)
        starts = [*accumulate((each.words.texts for each in own), initial=0)]
        above = self._headings_aligned(asked, vectors, passages, languages)
        best = np.maximum(np.maximum.reduceat(found, starts[:-1], axis=0), above)
        bare = [at for at, passage in enumerate(passages) if not passage.headings]
        above[bare] = best[bare]
        idf = np.square(asked.weights)
        return np.asarray((best + above) / 2 * (idf / max(float(idf.sum()), 1e-9)))

    def _headings_aligned(
        self, asked: AskedWords, vectors: WordVectors | None, passages: Sequence[PassageRow], languages: Sequence[str]
    ) -> Float32:
        """How well the headings above each passage have each word of the query: B. (n, q)"""
        digest = None if vectors is None else vectors.digest
        kinds = [(passage.headings, code, digest) for passage, code in zip(passages, languages, strict=True)]
        memory, numbers = self._remembered(), {kind: number for number, kind in enumerate(dict.fromkeys(kinds))}
        kept = memory.headings
        lacking = [kind for kind in numbers if kind not in kept]
        several, read = None if vectors is None else as_multilingual(vectors), dict[_HeadingsKind, _Part]()
        if lacking:
            texts, codes = ["\n".join(headings) for headings, _, _ in lacking], [code for _, code, _ in lacking]
            words = self._read(memory, vectors, several, texts, codes)
            read = dict(zip(lacking, words.divided([1] * len(lacking)), strict=True))
        joined = _ReadWords.joined([read[kind] if kind in read else kept[kind] for kind in numbers])
        if len(kept) + len(read) > _MOST_PASSAGES:
            kept = memory.headings = {}
        kept.update(read)
        return self._aligned(memory, asked, vectors, several, joined)[[numbers[kind] for kind in kinds]]

    def _passages_aligned(
        self,
        asked: AskedWords,
        vectors: WordVectors | None,
        passages: Sequence[PassageRow],
        formats: Sequence[str],
        languages: Sequence[str],
    ) -> tuple[list[_ReadPassage], Float32]:
        """Passages as they are read, and A of all their sentences one after the other."""
        several = None if vectors is None or not languages else as_multilingual(vectors)
        memory = self._remembered()
        own = self._passages_read(memory, vectors, several, passages, formats, languages)
        words = _ReadWords.joined([each.words for each in own])
        return own, self._aligned(memory, asked, vectors, several, words)

    def similarities(
        self, asked: AskedWords, vectors: WordVectors | None, texts: Sequence[str], languages: Sequence[str] = ()
    ) -> Float32:
        """How well each text has each word of the query: A, (texts, q)."""
        several = None if vectors is None or not languages else as_multilingual(vectors)
        memory = self._remembered()
        words = self._read(memory, vectors, several, texts, languages)
        return self._aligned(memory, asked, vectors, several, words)

    def _aligned(
        self,
        memory: _Memory,
        asked: AskedWords,
        vectors: WordVectors | None,
        several: MultilingualVectors | None,
        words: _ReadWords,
    ) -> Float32:
        """A, from the words of texts."""
        found: Float32 = np.zeros((words.texts, len(asked.names)), dtype=np.float32)
        if vectors is not None and asked.vectors is not None:
            compared = (several, words.own), (several.english if several else vectors, words.others)
            for table, placed in compared:
                if table is not None and len(placed.values):
                    _raise(found, *self._cosines(asked.vectors, table, placed.values), placed.texts)
        numbers, texts = words.words
        if len(asked.letters.codes):
            present, which = _numbered(numbers, len(memory.words))
            alike = asked.letters.dice(
                _Triples.of(memory.words.spelled(present), np.arange(len(present))), len(asked.names)
            )
            _raise(found, alike * alike, which, texts)
        of_words = memory.words.terms
        for terms, width in (of_words.take(numbers, axis=0).ravel(), of_words.shape[1]), (words.terms.values, 1):
            at = np.minimum(asked.terms.searchsorted(terms), len(asked.terms) - 1)
            held = (asked.terms.take(at) == terms).nonzero()[0]
            if not len(held):
                continue
            rows, which = asked.rows[at[held]], held // width
            if terms is words.terms.values:
                hashes, owners = words.hashes[which], words.terms.texts[which]
            else:
                hashes, owners = memory.words.hashes[numbers[which]], texts[which]
            counts = np.where((hashes == asked.hashes[rows]) | (hashes == 0), 1, OTHER_FORM).astype(np.float32)
            np.maximum.at(found, (owners, rows), counts)
        return found

    def _cosines(self, asked: Float32, vectors: WordVectors, ids: Int32) -> tuple[Float32, Int64]:
        """The squared cosines of words with those of the query, each once, and the number of each's. (q, d), (t,)"""
        with self._remembering:
            memory = self._rows.get(vectors.digest)
            if memory is None:
                memory = self._rows[vectors.digest] = _RowMemory(vectors)
            rows, squares, which = memory.of(ids)
        cosines = np.maximum(_products(rows, asked), 0)
        cosines *= cosines
        cosines /= squares[:, None]
        return cosines, which

    def _passages_read(
        self,
        memory: _Memory,
        vectors: WordVectors | None,
        several: MultilingualVectors | None,
        passages: Sequence[PassageRow],
        formats: Sequence[str],
        languages: Sequence[str],
    ) -> list[_ReadPassage]:
        """Read passages that have not been read lately, all at once. A passage never changes in a generation."""
        digest, none = None if vectors is None else vectors.digest, [""] * len(passages)
        codes = languages if several is not None else none
        kinds = [
            (passage.id, format, code, digest)
            for passage, format, code in zip(passages, formats or none, codes, strict=True)
        ]
        kept = memory.passages
        lacking = {kind: passage for kind, passage in zip(kinds, passages, strict=True) if kind not in kept}
        if not lacking:
            return [kept[kind] for kind in kinds]
        of_passages = [passage.sentence_texts for passage in lacking.values()]
        searched, spoken = list[str](), list[str]()
        for (_, format, code, _), texts in zip(lacking, of_passages, strict=True):
            searched += [with_parts(text, format) for text in texts] if format in CODE else texts
            spoken += [code] * len(texts) if several else ()
        words = self._read(memory, vectors, several, searched, spoken)
        read: dict[_Kind, _ReadPassage] = {}
        each = zip(lacking.items(), of_passages, words.divided([*map(len, of_passages)]), strict=True)
        for (kind, passage), texts, own in each:
            quotes = _joined(passage, texts) if self._has_ordinals else _each_alone(len(texts))
            read[kind] = _ReadPassage(own, quotes, _prose(passage, texts, quotes))
        found = [read[kind] if kind in read else kept[kind] for kind in kinds]
        if len(kept) + len(read) > _MOST_PASSAGES:
            kept = memory.passages = {}
        kept.update(read)
        return found

    def _read(
        self,
        memory: _Memory,
        vectors: WordVectors | None,
        several: MultilingualVectors | None,
        texts: Sequence[str],
        languages: Sequence[str],
    ) -> _ReadWords:
        """Look up the words of texts, which are in these `languages` if there are vectors of several."""
        chunks = [*hash_chunks(texts, marks=self._languages != (ENGLISH,))]
        owners = _owners(chunks)
        with self._remembering:
            numbers = np.concatenate([_NO_NUMBERS, *map(memory.words.numbers, chunks)])
        english, own = several.english if several else vectors, list[_Placed]()
        is_read = np.zeros(len(texts), dtype=np.bool_)
        for language in sorted({*languages}):
            if several is None or language not in several.tables:
                continue
            of_language = np.array([number for number, code in enumerate(languages) if code == language])
            found = _words_in(several, [texts[number] for number in of_language.tolist()], language)
            own.append(_Placed(found.ids, np.repeat(of_language, found.lengths)))
            is_read[of_language] = True
        others = _NO_IDS
        if english is not None and not is_read.all():
            with self._remembering:
                ids = memory.words.ids(english)[numbers]
            known = (ids >= 0) & ~is_read[owners]
            others = _Placed(ids[known], owners[known])
        terms, hashes = [_NO_TERMS], [_NO_TERMS.values]
        for language in self._languages:
            if RULES[language].sequences:
                parts = sequences(texts, language)
                terms.append(_Placed(parts.hashes, np.repeat(np.arange(len(texts)), np.diff(parts.indptr))))
                hashes.append(np.zeros(len(parts.hashes), dtype=np.uint64))
            elif language in _READ_APART:
                own_chunks = [*word_chunks(texts, language)]
                stemmed, _ = memory.of_language(language)
                with self._remembering:
                    of_words = np.concatenate([_NO_NUMBERS, *map(stemmed.numbers, own_chunks)])
                terms.append(_Placed(stemmed.terms[of_words, 0], _owners(own_chunks)))
                hashes += [chunk.hashes for chunk in own_chunks]
                _add_pairs(terms, hashes, own_chunks, language)
        if self._parted:
            _add_pairs(terms, hashes, chunks, next((code for code in self._parted if RULES[code].pairs), ENGLISH))
        all_terms, all_hashes = _Placed.concatenate(terms), np.concatenate(hashes)
        if len(all_terms.texts):
            order = np.argsort(all_terms.texts, kind="stable")
            all_terms, all_hashes = all_terms.take(order), all_hashes[order]
        own_words = _Placed.concatenate(own) if own else _NO_IDS
        if len(own) > 1:
            own_words = own_words.take(np.argsort(own_words.texts, kind="stable"))
        return _ReadWords(len(texts), _Placed(numbers, owners), own_words, others, all_terms, all_hashes)

    def _remembered(self) -> _Memory:
        """What is remembered; for one search, as another may begin anew."""
        memory = self._memory
        if len(memory.words) > _MOST_WORDS_REMEMBERED:
            memory = self._memory = _Memory(self._parted)
        return memory


def _add_pairs(terms: list[_Placed], hashes: list[UInt64], chunks: Sequence[WordChunk], language: str) -> None:
    """Add the terms of two words of a language."""
    texts = 0
    for chunk in chunks:
        joined = joined_words(chunk, language)
        if len(joined):
            terms.append(
                _Placed(pairs(chunk, joined), texts + chunk.counts.cumsum().searchsorted(joined, side="right"))
            )
            hashes.append(np.zeros(len(joined), dtype=np.uint64))
        texts += len(chunk.counts)


class _Placed(NamedTuple):
    """Words or terms of texts (t,), and the number of each one's text, rising unless it is said. (t,)"""

    values: npt.NDArray[Any]
    texts: Int64

    def take(self, which: Int64) -> _Placed:
        return _Placed(self.values[which], self.texts[which])

    @classmethod
    def concatenate(cls, parts: Sequence[_Placed]) -> _Placed:
        """All of several, whose texts are numbered together."""
        return cls(np.concatenate([part.values for part in parts]), np.concatenate([part.texts for part in parts]))


@dataclass(frozen=True, slots=True)
class _ReadWords:
    """What queries are compared with in n texts."""

    texts: int
    words: _Placed  # numbers of all words that are remembered
    own: _Placed  # ids of words that have a vector in the text's own language, among those of several
    others: _Placed  # ids of words of texts that are read as English ones, or where there is but one table
    terms: _Placed  # what is not of a remembered word: pairs of words, sequences of letters, stems of words read apart
    hashes: UInt64  # of the word of each stem among them; 0 of other terms

    @property
    def _placed(self) -> tuple[_Placed, ...]:
        return self.words, self.own, self.others, self.terms

    def divided(self, sizes: Sequence[int]) -> Iterator[_Part]:
        """Divide them into parts of so many texts."""
        ends = [*accumulate(sizes, initial=0)]
        bounds = [pairwise(each.texts.searchsorted(ends).tolist()) for each in self._placed]
        for size, first, *spans in zip(sizes, ends, *bounds, strict=False):
            yield _Part(self, size, first, [slice(*span) for span in spans])

    @classmethod
    def joined(cls, parts: Sequence[_Part]) -> _ReadWords:
        """The words of all texts of several parts."""
        starts = [*accumulate((part.texts for part in parts), initial=0)]
        steps = [start - part.first for start, part in zip(starts, parts, strict=False)]
        each = [(part.of._placed, part.spans) for part in parts]
        words, own, others, terms = (
            _Placed(
                np.concatenate([of[kind].values[spans[kind]] for of, spans in each]),
                np.concatenate(
                    [of[kind].texts[spans[kind]] + step for (of, spans), step in zip(each, steps, strict=True)]
                ),
            )
            for kind in range(4)
        )
        hashes = np.concatenate([part.of.hashes[part.spans[-1]] for part in parts])
        return cls(starts[-1], words, own, others, terms, hashes)


class _Part(NamedTuple):
    """The words of some consecutive texts among those that were read together."""

    of: _ReadWords
    texts: int
    first: int  # text
    spans: Sequence[slice]  # of their words, and of each other kind


_Kind = tuple[int, str, str, str | None]  # of a passage as it is read: id, format, language, digest of the vectors
_HeadingsKind = tuple[tuple[str, ...], str, str | None]  # of headings: they, language, digest of the vectors


@dataclass(frozen=True, slots=True)
class _ReadPassage:
    """What does not depend on the query of the sentences of a passage."""

    words: _Part
    quotes: Sequence[Quote]
    prose: Sequence[float]


class _ReadName(NamedTuple):
    """A word of a query, or a pair of words, as it is compared with sentences."""

    hash: int  # 0 of a pair
    is_known: bool  # whether it has a vector
    vector: Float32  # (d,) of length one, or zero
    p: float  # in general text, where there are vectors of several languages
    can_vary: bool  # whether words that look alike stand for it


class _Memory:
    """What an aligner remembers of words, and of the passages and headings that have them."""

    def __init__(self, languages: Sequence[str]) -> None:
        self.words = _WordMemory(languages)
        self.apart: dict[str, _WordMemory] = {}
        self.passages: dict[_Kind, _ReadPassage] = {}  # lately read
        self.headings: dict[_HeadingsKind, _Part] = {}  # likewise
        self._languages = languages

    def of_language(self, language: str) -> tuple[_WordMemory, int]:
        """The words of texts of a language, and the column of its terms."""
        if language in self._languages:
            return self.words, self._languages.index(language)
        return self.apart.setdefault(language, _WordMemory((language,))), 0


class _WordMemory:
    """Words of passages, numbered from 0 on, and their terms in each of some languages (n, languages)."""

    def __init__(self, languages: Sequence[str]) -> None:
        self._languages = languages
        self._numbers = HashIndex()
        self._spelled: list[str] = []
        self._ids: dict[str, tuple[int, Int32]] = {}  # by the digest of word vectors: those of so many words
        self.hashes: UInt64 = np.zeros(0, dtype=np.uint64)  # with room for more, as are the terms
        self.terms: UInt64 = np.zeros((0, len(languages)), dtype=np.uint64)

    def __len__(self) -> int:
        return len(self._spelled)

    def spelled(self, numbers: Int64) -> list[str]:
        """The words with these numbers."""
        return [self._spelled[number] for number in numbers.tolist()]

    def numbers(self, chunk: WordChunk) -> Int32:
        """The number of each word of a chunk; new words get the next ones. (t,)"""
        numbers = self._numbers.look_up(chunk.hashes)
        unseen = (numbers < 0).nonzero()[0]
        if len(unseen):
            order = unseen[chunk.hashes[unseen].argsort(kind="stable")]
            is_first = are_new(chunk.hashes[order])
            first = order[is_first]
            found, start = chunk.words(first), len(self)
            end = start + len(first)
            self.hashes, self.terms = _with_room(self.hashes, end), _with_room(self.terms, end)
            self.hashes[start:end] = chunk.hashes[first]
            in_ascii = np.array([*map(str.isascii, found)], dtype=np.bool_)
            for column, language in enumerate(self._languages):
                new = self.terms[start:end, column]
                if as_english(language, self._languages):
                    others = (~in_ascii).nonzero()[0]
                    new[:] = self.terms[start:end, self._languages.index(ENGLISH)]
                    new[others] = hashes_of(stems([found[number] for number in others.tolist()], language))
                else:
                    new[:] = hashes_of(stems(found, language))
            self._spelled += found
            self._numbers.insert(chunk.hashes[first], np.arange(start, end, dtype=np.int32))
            numbers[order] = start - 1 + is_first.cumsum()
        return numbers

    def ids(self, vectors: WordVectors) -> Int32:
        """The id of each word in a table of word vectors, -1 of words that it lacks; with room for more. (n,)"""
        ids: Int32
        known, ids = self._ids.get(vectors.digest, (0, _NO_IDS.values))
        if known < len(self):
            ids = _with_room(ids, len(self))
            ids[known : len(self)] = vectors.lookup(self.hashes[known : len(self)])
            self._ids[vectors.digest] = len(self), ids
        return ids


def _with_room(array: npt.NDArray[Any], size: int) -> npt.NDArray[Any]:
    """An array with room for so many rows; twice as many if it has to be copied."""
    if size <= len(array):
        return array
    larger = np.empty((2 * size, *array.shape[1:]), dtype=array.dtype)
    larger[: len(array)] = array
    return larger


def _numbered(numbers: Int32, size: int) -> tuple[Int64, Int64]:
    """The distinct numbers below a size, rising, and which of them each is."""
    is_there = np.zeros(size, dtype=np.bool_)
    is_there[numbers] = True
    return is_there.nonzero()[0], (is_there.cumsum() - 1)[numbers]


class _RowMemory:
    """The vectors of words that passages have had lately, as decoding them takes longer than all else."""

    def __init__(self, vectors: WordVectors) -> None:
        self._vectors = vectors
        self._slots = np.full(len(vectors), -1, dtype=np.int32)
        self._numbers = np.zeros(_MOST_ROWS, dtype=np.int64)
        self._rows = np.empty((_MOST_ROWS, vectors.dimension), dtype=np.float32)  # takes memory as it is filled
        self._squares = np.empty(_MOST_ROWS, dtype=np.float32)
        self._count = 0

    def of(self, ids: Int32) -> tuple[Float32, Float32, Int64]:
        """The vectors of the different words (u, d), their squared lengths (u,), and the number of each word's. (t,)"""
        slots = self._slots[ids]
        if slots.min(initial=0) < 0:
            new = _different(ids[slots < 0])
            if self._count + len(new) > _MOST_ROWS:
                self._slots.fill(-1)
                self._count, new = 0, _different(ids)
            if len(new) > _MOST_ROWS:
                rows = self._vectors.rows(new)
                return rows, _squares(rows), np.searchsorted(new, ids)
            end = self._count + len(new)
            self._rows[self._count : end] = rows = self._vectors.rows(new)
            self._squares[self._count : end] = _squares(rows)
            self._slots[new] = np.arange(self._count, end)
            self._count, slots = end, self._slots[ids]
        is_there = np.zeros(self._count, dtype=np.bool_)
        is_there[slots] = True
        present = is_there.nonzero()[0]
        self._numbers[present] = np.arange(len(present))
        return self._rows.take(present, axis=0), self._squares.take(present), self._numbers[slots]


def _different(ids: Int32) -> Int32:
    return distinct(ids.astype(np.int64)).astype(np.int32)


def _squares(rows: Float32) -> Float32:
    return np.asarray(np.maximum(np.einsum("ij,ij->i", rows, rows), np.float32(1e-9)))


def _owners(chunks: Sequence[WordChunk]) -> Int64:
    """The number of the text of each word."""
    counts = np.concatenate([_NOTHING, *(chunk.counts for chunk in chunks)])
    return np.repeat(np.arange(len(counts)), counts)


@dataclass(frozen=True, slots=True)
class ScoredSentences:
    """The n sentences of passages that may be quoted, with the score of each."""

    bounds: Int64  # passage i has the sentences bounds[i] to bounds[i + 1]
    quotes: Sequence[Quote]
    plain: Float32  # (n, q) A
    weights: Float64  # (passages, q) w
    prose: Float64  # (n,) p
    scores: Float64  # (n,)

    @classmethod
    def of(
        cls, asked: AskedWords, plain: Float32, bounds: Int64, quotes: Sequence[Quote], prose: Float64
    ) -> ScoredSentences:
        """Score sentences by the similarities of their words (n, q) and how much those count (n,)."""
        sizes = np.diff(bounds)
        within = np.arange(len(plain)) - np.repeat(bounds[:-1], sizes)
        recalled = plain.copy()
        for step in range(1, min(REACH, int(sizes.max()) - 1) + 1):
            before = RECALLED**step * plain[:-step]
            before[within[step:] < step] = 0
            np.maximum(recalled[step:], before, out=recalled[step:])
        spread = np.log((sizes + 1)[:, None] / (np.add.reduceat(recalled, bounds[:-1], axis=0) + 0.5))
        weights = asked.weights * np.maximum(spread, _LEAST_WEIGHT)
        scores = prose * np.einsum("ij,ij->i", np.repeat(weights, sizes, axis=0), recalled)
        return cls(bounds, quotes, plain, weights, prose, scores)

    @property
    def chosen(self) -> list[int]:
        """The sentence of each passage with the highest score; of equal ones the first."""
        return [first + int(self.scores[first:end].argmax()) for first, end in pairwise(self.bounds.tolist())]


# -- Words that look alike ---------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Triples:
    """The sequences of three letters of words, ends included ("to": -to, to-), and the word of each. (m,), (m,)"""

    codes: UInt64
    owners: Int64
    sizes: Float64  # (w,) how many each word has

    @classmethod
    def of(cls, words: Sequence[str], owners: Int64) -> _Triples:
        """Those of words, which are numbered by their owners. (w,)"""
        spaced = "\0\0".join(["", *words, ""])[1:-1] if words else ""
        codes = np.frombuffer(spaced.encode("utf-32-le"), dtype=np.uint32).astype(np.uint64)
        middle = codes.nonzero()[0]
        which = np.repeat(np.arange(len(words)), [*map(len, words)])
        triples = (codes[middle - 1] << np.uint64(42)) | (codes[middle] << np.uint64(21)) | codes[middle + 1]
        return cls(triples, owners[which], np.bincount(owners[which], minlength=1).astype(np.float64))

    def dice(self, others: _Triples, n: int) -> Float32:
        """Dice's coefficient of each of n words with each other word: 2 · common / (own + other's). -> (others, n)"""
        found: Float32 = np.zeros((len(others.sizes), n), dtype=np.float32)
        different, which = np.unique(self.codes, return_inverse=True)
        has: Float32 = np.zeros((len(different), n), dtype=np.float32)
        has[which.reshape(-1), self.owners] = 2
        may_be = np.zeros(1 << _BITS, dtype=np.bool_)  # faster than looking all of them up
        may_be[_short(different)] = True
        common = np.flatnonzero(may_be[_short(others.codes)])
        at = np.minimum(np.searchsorted(different, others.codes[common]), len(different) - 1)
        is_common = different[at] == others.codes[common]
        at, owners = at[is_common], others.owners[common[is_common]]
        if len(owners):
            firsts = np.flatnonzero(np.diff(owners, prepend=-1))
            words = owners[firsts]
            sums = np.add.reduceat(has.take(at, axis=0), firsts, axis=0)
            sizes = np.zeros(n)
            sizes[: len(self.sizes)] = self.sizes
            found[words] = np.minimum(sums / (others.sizes[words, None] + sizes), 1)
        return found


_BITS = 12


def _short(codes: UInt64) -> Int64:
    """Hashes of `_BITS` bits."""
    return ((codes * np.uint64(0x9E3779B97F4A7C15)) >> np.uint64(64 - _BITS)).astype(np.int64)


def _words_in(vectors: MultilingualVectors, texts: Sequence[str], language: str) -> Ragged:
    """The words of texts in a language that have vectors."""
    if language in vectors.tables:
        found = vectors.words_of(texts, language, keep_unknown=False)
        return found.only(found.ids >= 0)
    return word_ids(hash_chunks(texts), vectors.english, keep_unknown=False)


def _unit(rows: Float32) -> Float32:
    return np.asarray(rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), np.float32(1e-9)))


def idf_of_rows(names: Sequence[str], words: Sequence[str], of_word: Mapping[str, int], idf: Float64) -> Float64:
    """The largest idf of the terms of each name; 0 if no passage has any. (q,)"""
    largest = np.zeros(len(of_word))
    np.maximum.at(largest, [of_word[word] for word in words], idf)
    return largest[[of_word[name] for name in names]]


_WORDS_OF_PASSAGE = 100  # roughly


def _idf_in_general(p: Float32, passages: int) -> Float64:
    """The idf that words would have in so many passages of general text. (n,)"""
    having = passages * -np.expm1(-_WORDS_OF_PASSAGE * p.astype(np.float64))
    return np.asarray(np.log(1 + (passages - having + 0.5) / (having + 0.5)))


_SMALL = 1 << 18  # multiplications: for more, BLAS wakes threads, which takes longer than the product


def _products(rows: Float32, vectors: Float32) -> Float32:
    """The inner products of rows (u, d) and vectors (q, d). (u, q)"""
    step = max(1, _SMALL // max(vectors.size, 1))
    parts = [rows[first : first + step] @ vectors.T for first in range(0, len(rows), step)]
    return np.concatenate(parts) if parts else np.zeros((0, len(vectors)), dtype=np.float32)


def _raise(found: Float32, values: Float32, which: Int64, owners: Int64) -> None:
    """Raise what was found (n, q) to the values (u, q) of words (t,), which are in texts that rise (t,)."""
    if len(owners):
        firsts = are_new(owners).nonzero()[0]
        texts = owners[firsts]
        found[texts] = np.maximum(found[texts], np.maximum.reduceat(values.take(which, axis=0), firsts, axis=0))


_READ_APART = ("tr",)  # languages whose capitals are other letters
_NOTHING = np.zeros(0, dtype=np.int64)
_NO_IDS = _Placed(np.zeros(0, dtype=np.int32), _NOTHING)
_NO_NUMBERS = np.zeros(0, dtype=np.int32)
_NO_TERMS = _Placed(np.zeros(0, dtype=np.uint64), _NOTHING)
_NO_TRIPLES = _Triples(np.zeros(0, dtype=np.uint64), _NOTHING, np.zeros(0))


# -- Sentences, and what is none ---------------------------------------------------------------------------------------

_BETWEEN_BLOCKS = "\n\n"
_SHORT, _FEW = 60, 7  # characters, words: of what may be a heading
_CELLS = " | "
_ORDINAL = pattern(r"(?:^|[^\d.,])\d{1,2}\.$")
_END = re.compile(r"[.!…。！:：।॥።។៖۔][\"'”’»›)\]』」】]*$")
_QUESTION = re.compile(r"[?？؟][\"'”’»›)\]』」】]*$")
_BARE = re.compile(
    r"(?:[#@][^\s#@]+[\s,]*)+"  # tags
    r"|(?:\S+://\S+[\s,;|·•]*)+"  # addresses
    r"|(?:[^|·•›»\n]{1,40}\s[|·•›»]\s){3,}[^|·•›»\n]{1,40}"  # a row of links
)
_STOPS = frozenset(".!…。！:：।॥።։៖۔")
_REFERENCE = 90  # characters of a sentence that refers to elsewhere
_POINTER = re.compile(
    r"(?:(?:see|siehe|vgl\.|voir|véase|vedi|см\.|див\.|zob\.|bkz\.)(?=[\s:])|(?:ver también|zie ook|se även|se også)\b"
    r"|参见|另见|请参阅|参照|انظر|راجع)",
    re.IGNORECASE,
)
_CODE = re.compile(
    r"(?:\$|>>>|#!)\s?\S.*"
    r"|(?:import|from|def|class|function|const|let|var|return|sudo|#include)\s+\S.*[\w)>;:{}\"']",
    re.DOTALL,
)
_SYMBOLS = b'{}()[]<>=;$\\|&*_"`/^~+'
_MUCH = 0.14  # share of symbols in code


@lru_cache(maxsize=64)
def _each_alone(count: int) -> Sequence[Quote]:
    return [Quote(at, at) for at in range(count)]


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


def _prose(passage: PassageRow, texts: Sequence[str], quotes: Sequence[Quote]) -> list[float]:
    """How much the alignment of each possible quote counts: 1, or less for what is no prose."""
    spans: list[list[int]] | None = None
    found: list[float] = []
    for first, last in ((quote.first, quote.last) for quote in quotes):
        text = texts[last]
        if text[-1:] in _STOPS and not (len(text) < _REFERENCE and _POINTER.match(text)):
            found.append(1.0)
            continue
        spans = spans or passage.sentences[:, :2].tolist()
        (start, _), (_, end) = spans[first], spans[last]
        is_block = (start == 0 or passage.text.endswith(_BETWEEN_BLOCKS, 0, start)) and (
            end == len(passage.text) or passage.text.startswith(_BETWEEN_BLOCKS, end)
        )
        after_row, before_row = first > 0 and _CELLS in texts[first - 1], _CELLS in (*texts, "")[last + 1]
        is_row = _CELLS in text and (after_row or before_row)
        is_head = is_row and not after_row
        found.append(1.0 if not is_head and _is_prose(text, is_row=is_row, is_block=is_block) else NOT_PROSE)
    return found


def _is_prose(text: str, *, is_row: bool, is_block: bool) -> bool:
    """Whether a sentence says something: it is no heading, question, tags, list of links, reference or code."""
    end = text[-4:]
    if _QUESTION.search(end) or (len(text) < _REFERENCE and _POINTER.match(text)):
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
