"""The parts of a passage that are shown together: a sentence, or what belongs to it.

A line that ends in a colon is shown with the list or the code that follows, a block of code whole, a row of a short
table from the table's header on.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from semsearch import tuning
from semsearch.storage.document_rows import DocumentRow
from semsearch.storage.passage_rows import PassageRow
from semsearch.text.terms import CODE, with_parts

_BETWEEN_BLOCKS = "\n\n"
_BETWEEN_CELLS = " | "
_COLON = re.compile(r"[:：][*_`\"')\]]*\s*\Z")
_PROMPT = re.compile(r"\s*(?:\$ |PS[ >]|>>>|C:\\|#!)")
_CODE_MARK = re.compile(r"[{}();=<>$\[\]\\@|_/#]|(?<!\w)--?\w|[a-zA-Z]\w*\.[a-zA-Z]")
_WORD = re.compile(r"\w+")
_PROSE = re.compile(r"\b(?:[Tt]he|is|are|of|to|and|[Ii]n|that|[Yy]ou|[Tt]his|[Ff]or|with|[Ii]t|[Aa]|be|can|will)\b")
_TITLE = re.compile(r"(?:[^\W\d]+[\s-]+){0,6}[^\W\d]+")
_SAYS_NOTHING = re.compile(  # a link or two words, but no command ("cargo yank"); greetings and header of a mail
    r"(?s)(?![a-z]+(?:[\s-]|\Z)|.*[\u0e00-\uffff])(?:[^\W\d]+(?:\s|-(?![A-Z])))?[^\W\d]+"  # in scripts with spaces
    r"|[\w\s.]+,|(?:From|To): .*@.*|(?i:(?:\w+ ){0,2}(?:regards|wishes|sincerely|gr[uü]e?(?:ß|ss)en?)\b[^.!?]{0,80})"
)


class Part(NamedTuple):
    """Sentences of a passage that are shown together, by the numbers of the first and the last."""

    text: str
    first: int
    last: int
    header: int | None = None  # of the table, of which the last is a row
    is_code: bool = False
    is_alone: bool = False  # says nothing by itself: a title or link, a line before a list, the header of a mail


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
        is_block = first == last and self.sentences > 1
        is_title = number == 0 and not self._has_headings and _TITLE.fullmatch(text)
        if text == self._title or (is_block and (is_title or _SAYS_NOTHING.fullmatch(text))):
            return Part(text, number, number, is_alone=True)
        if first in self._codes:
            if first and _COLON.search(self._between(first - 1, first - 1)):
                introduced = self._part(first - 1)
                if introduced.last >= number:
                    return introduced
            block = self._between(first, last)
            return Part(*((text, number, number) if len(block) > 2 * longest else (block, first, last)), is_code=True)
        if number == last and _COLON.search(text):
            last = self._following(number)
            ends_in_code = last > number and self._blocks[last][0] in self._codes
            return Part(self._between(number, last), number, last, is_code=ends_in_code, is_alone=last == number)
        return Part(text, number, number)

    def _between(self, first: int, last: int) -> str:
        """The text from the sentence with a number to that with another."""
        return self._text[self._starts[first] : self._ends[last]]

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
        little_prose = len(_PROSE.findall(text)) < 0.12 * words
        return not words or (little_prose and len(_CODE_MARK.findall(text)) > 0.25 * words)
