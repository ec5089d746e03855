"""What of a passage is shown together: a sentence, or what belongs to it.

A line that ends in a colon is shown with the list or the code that follows, a block of code whole, a row of a short
table from the table's header on. The parts of a passage are the same for all questions, and are kept with what they
have: numbers, names, the word "default" (semsearch.search.answer_kind asks for these).
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import cached_property

from semsearch import tuning
from semsearch.storage.document_rows import DocumentRow
from semsearch.storage.passage_rows import PassageRow
from semsearch.text.tokens import CODE, with_parts

NUMBER_WORDS = (
    "one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|thirteen|fourteen|fifteen|sixteen|seventeen|eighteen"
    "|nineteen|twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety|hundreds?|thousands?|dozens?|half|quarter|twice|once"
)
_COUNT = re.compile(rf"\d[\d.,]*\d|\d|\b(?:{NUMBER_WORDS})(?:[- ](?:{NUMBER_WORDS}))*\b")  # in lower case
_DIGITS = re.compile(r"\d+")
_NAME = re.compile(
    r"(?<![\w-])--?[a-zA-Z][\w-]+|\b\w+_\w+\b|\b[a-z]+[A-Z]\w*|\b[A-Z]{3,}\b|\b[A-Z][a-z]+[A-Z]\w*|\w+::\w+|\w+\.[a-z]\w+"
    r"|[\w~$]*/[\w.]+|@\w+|\w+\(\)|\w+<\w+>|\b[A-Z]+\d+\b"
)
_BETWEEN_BLOCKS = "\n\n"
_BETWEEN_CELLS = " | "
_COLON = re.compile(r"[:：][*_`\"')\]]*\s*\Z")
_PROMPT = re.compile(r"\s*(?:\$ |PS[ >]|>>>|C:\\|#!)")
_CODE_MARK = re.compile(r"[{}();=<>$\[\]\\@|_/#]|(?<!\w)--?\w|[a-zA-Z]\w*\.[a-zA-Z]")
_WORD = re.compile(r"\w+")
_PROSE = re.compile(r"\b(?:[Tt]he|is|are|of|to|and|[Ii]n|that|[Yy]ou|[Tt]his|[Ff]or|with|[Ii]t|[Aa]|be|can|will)\b")
_REFERENCE = re.compile(  # "The examples in this section refer to chapter 3."
    r"(?:The|This|These)\s(?:\w+\s)?(?:examples?|sections?|tables?|listings?|chapters?|figures?)\b.{0,40}?"
    r"\b(?:refers?|shows?|lists?|describes?|explains?|covers?)\b",
    re.DOTALL,
)
_MAIL_HEADER = re.compile(r"From: .*\n(?:To|Date|Subject|Cc): ")
_TITLE = re.compile(r"(?:[^\W\d]+[\s-]+){0,6}[^\W\d]+")


@dataclass
class Part:
    """Sentences of a passage that are shown together, by the numbers of the first and the last."""

    text: str
    first: int
    last: int
    header: int | None = field(default=None, kw_only=True)  # of the table, of which the last is a row
    is_code: bool = field(default=False, kw_only=True)
    is_alone: bool = field(default=False, kw_only=True)  # says nothing by itself: a title, a line before a list
    _has: dict[str, bool] = field(default_factory=dict, init=False)  # by the text of a pattern: its hash is remembered

    def has(self, pattern: re.Pattern[str]) -> bool:
        """Whether the text has a match of a pattern, which is one of few."""
        known = self._has.get(pattern.pattern)
        if known is None:
            known = self._has[pattern.pattern] = pattern.search(self.text) is not None
        return known

    @cached_property
    def folded(self) -> str:
        """The text, case-folded."""
        return self.text.casefold()

    @cached_property
    def digits(self) -> frozenset[str]:
        """The groups of digits."""
        return frozenset(_DIGITS.findall(self.text))

    @cached_property
    def counts(self) -> list[tuple[str, int, int]]:
        """The numbers, in digits or English words: each in lower case, with where it begins and ends."""
        return [(match.group(), *match.span()) for match in _COUNT.finditer(self.text.lower())]

    @cached_property
    def names(self) -> frozenset[str]:
        """What looks like the name of an option, a file, a function, case-folded."""
        words = (word for word in self.text.split() if not word.strip(".,:;!?").isalpha() or not word[1:].islower())
        return frozenset(name.casefold() for word in words for name in _NAME.findall(word))


class PassageParts:
    """The parts of a passage."""

    def __init__(self, row: PassageRow, document: DocumentRow) -> None:
        around = (document.title, document.path.rpartition("/")[2], *row.headings)
        self.compared = tuple(with_parts(text, document.format) for text in row.sentence_texts)  # with query's words
        self.around = tuple(with_parts(text, document.format) for text in around)
        self._text, self._title, self._has_headings = row.text, document.title, bool(row.headings)
        self._starts, self._ends = row.sentences[:, 0].tolist(), row.sentences[:, 1].tolist()
        self._is_source = document.format in CODE  # of source code, each piece is shown alone
        self._parts: dict[int, Part] = {}

    def shown(self, number: int) -> Part:
        """What is shown where the sentence with a number is chosen: it alone, or with what belongs to it."""
        part = self._parts.get(number)
        if part is None:
            part = self._parts[number] = self._made(number)
        return part

    def with_next(self, part: Part) -> Part | None:
        """A sentence of a paragraph with the one after it; None for other parts, and at the end of the paragraph."""
        following = part.last + 1
        if part.first != part.last or following >= len(self._starts) or self._begins_block(following):
            return None
        return Part(self._between(part.first, following), part.first, following)

    def with_before(self, part: Part) -> Part | None:
        """A sentence of a paragraph with the one before it; None for other parts, at its beginning, and if too long."""
        number = part.first
        if number != part.last or part.is_code or part.header is not None or self._is_source:
            return None
        if not number or self._begins_block(number):
            return None
        text = self._between(number - 1, number)
        return None if len(text) > tuning.TUNING.quote_longest else Part(text, number - 1, number)

    def _made(self, number: int) -> Part:
        text = self._between(number, number)
        if self._is_source:
            return Part(text, number, number)
        if _BETWEEN_CELLS in text:
            return self._row(number)
        longest, (first, last) = tuning.TUNING.quote_longest, self._block(number)
        block = self._between(first, last)
        if is_code(block):
            if len(block) > 2 * longest:
                return Part(text, number, number, is_code=True)
            return Part(block, first, last, is_code=True)
        if number == last and _COLON.search(text):
            last = self._following(number)
            ends_in_code = last > number and is_code(self._between(*self._block(last)))
            return Part(self._between(number, last), number, last, is_code=ends_in_code, is_alone=last == number)
        return Part(text, number, number, is_alone=self._says_nothing(number))

    def _between(self, first: int, last: int) -> str:
        """The text from the sentence with a number to that with another."""
        return self._text[self._starts[first] : self._ends[last]]

    def _block(self, number: int) -> tuple[int, int]:
        """The first and the last sentence of the paragraph, list item or block of code that has one."""
        first = last = number
        while first and not self._begins_block(first):
            first -= 1
        while last + 1 < len(self._starts) and not self._begins_block(last + 1):
            last += 1
        return first, last

    def _begins_block(self, number: int) -> bool:
        return _BETWEEN_BLOCKS in self._text[self._ends[number - 1] : self._starts[number]]

    def _says_nothing(self, number: int) -> bool:
        """Whether a sentence is a title, the header of a mail or a reference to what is elsewhere."""
        text = self._between(number, number)
        if text == self._title or _REFERENCE.match(text) or _MAIL_HEADER.match(text):
            return True
        is_first_line = number == 0 and not self._has_headings and len(self._starts) > 1 and self._begins_block(1)
        return is_first_line and _TITLE.fullmatch(text) is not None

    def _row(self, number: int) -> Part:
        """A row of a table is read with the table's header, and a short table is shown from there on."""
        header, last = number, len(self._starts) - 1
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
        while last + 1 < len(self._starts):
            first, end = self._block(last + 1)
            block = self._between(first, end)
            is_code_block, is_sentence = is_code(block), block.rstrip()[-1:] in ".!?"
            length = self._ends[end] - self._starts[number]
            if last > number and (is_code_block or length > longest or is_sentence != are_sentences):
                break
            are_sentences = is_sentence
            last = end if length <= 2 * longest else first
            if is_code_block or last < end:
                break
        return last


def is_code(text: str) -> bool:
    """Whether a block is code: a prompt before it, or many marks among few words of prose."""
    if _PROMPT.match(text):
        return True
    if text.rstrip()[-1:] in ".!?:" and _PROSE.search(text):
        return False
    words = len(_WORD.findall(text))
    if not words:
        return True
    return len(_PROSE.findall(text)) < 0.12 * words and len(_CODE_MARK.findall(text)) > 0.25 * words
