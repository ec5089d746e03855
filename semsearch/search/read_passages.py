"""What is read of a passage once, and remembered for other queries: its words, and its parts that are shown together.

The words of a text have three forms: spelling, term, row of a table of word vectors. What is shown of a passage is a
sentence, or what belongs to it: a line that ends in a colon is shown with the list or the code that follows, a block of
code whole, a row of a short table from the table's header on.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from threading import Lock
from typing import Any, NamedTuple

import numpy as np

from semsearch import tuning
from semsearch.arrays.types import Int32, Int64, UInt64
from semsearch.storage.document_rows import DocumentRow
from semsearch.storage.passage_rows import PassageRow
from semsearch.text.languages import RULES
from semsearch.text.terms import Lexicon, sequences, word_chunks
from semsearch.text.tokens import CODE, WordChunk, with_parts
from semsearch.word_vectors.multilingual import as_multilingual, english_of
from semsearch.word_vectors.table import WordVectors

# -- Words -------------------------------------------------------------------------------------------------------------

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


# -- Parts that are shown ----------------------------------------------------------------------------------------------

_BETWEEN_BLOCKS = "\n\n"
_BETWEEN_CELLS = " | "
_COLON = re.compile(r"[:：][*_`\"')\]]*\s*\Z")
_PROMPT = re.compile(r"\s*(?:\$ |PS[ >]|>>>|C:\\|#!)")
_CODE_MARK = re.compile(r"[{}();=<>$\[\]\\@|_/#]|(?<!\w)--?\w|[a-zA-Z]\w*\.[a-zA-Z]")
_WORD = re.compile(r"\w+")
_PROSE = re.compile(r"\b(?:[Tt]he|is|are|of|to|and|[Ii]n|that|[Yy]ou|[Tt]his|[Ff]or|with|[Ii]t|[Aa]|be|can|will)\b")
_TITLE = re.compile(r"(?:[^\W\d]+[\s-]+){0,6}[^\W\d]+")


class Part(NamedTuple):
    """Sentences of a passage that are shown together, by the numbers of the first and the last."""

    text: str
    first: int
    last: int
    header: int | None = None  # of the table, of which the last is a row
    is_code: bool = False
    is_alone: bool = False  # says nothing by itself: a title, a line before a list


class PassageParts:
    """The texts of a passage that are compared with queries, and its parts."""

    def __init__(self, row: PassageRow, document: DocumentRow) -> None:
        around = (document.title, document.path.rpartition("/")[2], *row.headings)
        self.texts = tuple(with_parts(text, document.format) for text in (*row.sentence_texts, *around))
        self.sentences = len(row.sentences)  # that come first; then title, name of the file and headings
        self._text, self._title, self._has_headings = row.text, document.title, bool(row.headings)
        self._starts, self._ends = row.sentences[:, 0].tolist(), row.sentences[:, 1].tolist()
        spans = enumerate(zip(self._ends, self._starts[1:], strict=False), start=1)
        begins = [0, *(number for number, gap in spans if _BETWEEN_BLOCKS in self._text[slice(*gap)])]
        blocks = [(first, end - 1) for first, end in zip(begins, [*begins[1:], self.sentences], strict=True)]
        # the first and the last sentence of the paragraph, list item or block of code that each sentence is in
        self._blocks = [block for block in blocks for _ in range(block[0], block[1] + 1)]
        self._is_source = document.format in CODE  # of source code, each piece is shown alone
        self._codes = set[int]() if self._is_source else {first for first, last in blocks if self._is_code(first, last)}
        self.parts = [*map(self._part, range(self.sentences))]  # what is shown where each sentence is chosen

    def with_next(self, part: Part) -> Part | None:
        """A sentence of a paragraph with the one after it; None for other parts, and at the end of the paragraph."""
        if part.first != part.last or part.last == self._blocks[part.last][1]:
            return None
        return Part(self._between(part.first, part.last + 1), part.first, part.last + 1)

    def with_before(self, part: Part) -> Part | None:
        """A sentence of a paragraph with the one before it; None for other parts, at its beginning, and if too long."""
        number = part.first
        is_sentence = number == part.last and not part.is_code and part.header is None and not self._is_source
        if not is_sentence or number == self._blocks[number][0]:
            return None
        text = self._between(number - 1, number)
        return None if len(text) > tuning.TUNING.quote_longest else Part(text, number - 1, number)

    def _part(self, number: int) -> Part:
        text = self._between(number, number)
        if self._is_source:
            return Part(text, number, number)
        if _BETWEEN_CELLS in text:
            return self._row(number)
        longest, (first, last) = tuning.TUNING.quote_longest, self._blocks[number]
        if first in self._codes:
            block = self._between(first, last)
            return Part(*((text, number, number) if len(block) > 2 * longest else (block, first, last)), is_code=True)
        if number == last and _COLON.search(text):
            last = self._following(number)
            ends_in_code = last > number and self._blocks[last][0] in self._codes
            return Part(self._between(number, last), number, last, is_code=ends_in_code, is_alone=last == number)
        return Part(text, number, number, is_alone=self._is_title(number))

    def _between(self, first: int, last: int) -> str:
        """The text from the sentence with a number to that with another."""
        return self._text[self._starts[first] : self._ends[last]]

    def _is_title(self, number: int) -> bool:
        """Whether a sentence is the title, or the first line of a text without headings, which looks like one."""
        text = self._between(number, number)
        is_first_line = number == 0 and not self._has_headings and self._blocks[0] == (0, 0) and self.sentences > 1
        return text == self._title or (is_first_line and _TITLE.fullmatch(text) is not None)

    def _row(self, number: int) -> Part:
        """A row of a table is read with the table's header, and a short table is shown from there on."""
        header, last = number, self.sentences - 1
        while header and _BETWEEN_CELLS in self._between(header - 1, header - 1):
            header -= 1
        text = self._between(header, number)
        if header == number:
            is_header = number < last and _BETWEEN_CELLS in self._between(number + 1, number + 1)
            return Part(text, number, number, is_alone=is_header)
        if len(text) > tuning.TUNING.quote_longest:
            return Part(self._between(number, number), number, number, header=header)
        return Part(text, header, number, header=header)

    def _following(self, number: int) -> int:
        """The last sentence of what follows a colon: a block of code, or items of a list as far as there is room."""
        longest, last, are_sentences = tuning.TUNING.quote_longest, number, False
        while last + 1 < self.sentences:
            first, end = self._blocks[last + 1]
            block = self._between(first, end)
            is_code_block, is_sentence = first in self._codes, block.rstrip()[-1:] in ".!?"
            length = self._ends[end] - self._starts[number]
            if last > number and (is_code_block or length > longest or is_sentence != are_sentences):
                break
            are_sentences = is_sentence
            last = end if length <= 2 * longest else first
            if is_code_block or last < end:
                break
        return last

    def _is_code(self, first: int, last: int) -> bool:
        """Whether a block is code: a prompt before it, or many marks among few words of prose."""
        text = self._between(first, last)
        if _PROMPT.match(text):
            return True
        if text.rstrip()[-1:] in ".!?:" and _PROSE.search(text):
            return False
        words = len(_WORD.findall(text))
        if not words:
            return True
        return len(_PROSE.findall(text)) < 0.12 * words and len(_CODE_MARK.findall(text)) > 0.25 * words
