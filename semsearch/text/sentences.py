"""Split text into sentences, as character offsets. The boundaries are sentencex's; the limits on length are ours.

sentencex looks at the text around every full stop, so it is given a few thousand characters at the most: a paragraph,
or a piece of a very long one, cut where a sentence seems to end. An unclosed quotation mark can make it run sentences
together, and logs, tables and minified files have no full stops at all; so a "sentence" of more than `LONGEST`
characters is cut again: at plain sentence ends, else at the end of a line, else between words, else anywhere.
Each option in the help of a program is a sentence.
An enumerator ("1.", "b)") and a single word ("Note.") belong to the sentence after it, stray closing marks to the one
before. A change of the
boundaries is a new SPLITTER_VERSION (semsearch.text.passage_words), or indexes keep the old ones.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise

from sentencex import segment

LONGEST = 1000  # characters of one sentence
_PIECE = 8192  # characters given to sentencex at once
_WINDOW = 1024  # characters at its end, in which to look for a position to cut
_FRAGMENT = 6  # characters of what may be an enumerator or a stray mark
_SHORT = 21  # characters of a word and its full stop
_PLAIN_END = re.compile(
    r"[.!?…]['\")\]’”»]*\s+(?=[^\W\d_a-zß-ÿ]|[\d\"'(\[“‘«])"  # a full stop, and what may begin a sentence
    r"|[。！？]['\"”’」』）]*\s*"
)
_ENUMERATOR = re.compile(r"[(\[]?(\d{1,3}|[A-Za-z]|[ivx]{1,4})[.)\]:]+")
_DAY = re.compile(r"(?:^|(?<=[\s(]))(?:[1-9]|[12]\d|3[01])\.\Z")
_GERMAN_MONTH = re.compile(
    "(?:Januar|Jänner|Februar|Feber|März|April|Mai|Juni|Juli|August|September|Oktober|November|Dezember)\\b"
)
_CAPITALISED = re.compile(r"(?<![^\W_])[A-Z]\w*\.\Z")
_ONE_WORD = re.compile(r"[^\W\d_]{2,20}\.")  # which says nothing alone: "Updates.", "Note."
_NUMBERED = re.compile(r"\b(?:Eqs?|Figs?|Secs?|Sect|Refs?|Tabs?|Chaps?|Nos?|Nrn?|Abb|Tab|Kap|Thm|Def|Alg|App)\.\Z")
_NUMBER = re.compile(r"[(\[]?\d")
_COMMENTS = re.compile(r"^[ \t]*(?:#|//)[ \t][^\n]*(?:\n[ \t]*(?:#|//)[ \t][^\n]*)*", re.MULTILINE)
_OPTIONS = re.compile(  # lines of a program's help, each with those that go on below its text
    r"(?<![\\`]\n)^[ \t]*-(?:\w\b|-\w)[^\n]*?\S(?:  | ?\t)[ \t]*\S[^\n]*(?:\n[ \t]{8,}(?!-)\S[^\n]*)*", re.MULTILINE
)
_WORD = re.compile(r"[^\W_]")
_ODD_CHARACTER = re.compile(r"[^\S\n ]|[\ud800-\udfff]")


def sentence_spans(text: str) -> list[tuple[int, int]]:
    """(start, end) of each sentence in characters: trimmed, not empty, rising, each at most `LONGEST` long.

    Between two spans there is only white space, if anything: no word is lost. Time is linear in the length of the text.
    """
    return _split(text) if len(text) <= _PIECE else list(each_sentence_span(text))


def each_sentence_span(text: str) -> Iterator[tuple[int, int]]:
    """Like `sentence_spans`, but one span at a time: a list of millions takes more memory than their text."""
    if len(text) <= _PIECE:
        return iter(_split(text))
    spans = ((start, _split(text[start:end])) for start, end in _pieces(text))
    return ((start + first, start + last) for start, inner in spans for first, last in inner)


def _split(text: str) -> list[tuple[int, int]]:
    plain = _plain(text)
    parts: list[str] = segment("en", plain)
    spans, length = _spans(text, parts)
    return spans if length == len(text) else _spans(text, _completed(plain, parts))[0]


def _spans(text: str, parts: list[str]) -> tuple[list[tuple[int, int]], int]:
    """The sentences of a text, given the parts that sentencex made of it, and the length of all parts together."""
    spans: list[tuple[int, int]] = []
    position, tight, fragments = 0, False, False
    has_lines = "\n" in text and ("#" in text or "//" in text or " -" in text)
    for part in parts:
        body = part.rstrip()
        end = position + len(body)
        start = end - len(body.lstrip())
        if spans and body and text[spans[-1][1] - 2].isdecimal() and _is_date(text, spans[-1], start):
            start = spans.pop()[0]
        if tight and start == position and _continues(text, start):
            start = spans.pop()[0]  # "vec![1]", "a != b", "Fritz!Box", "System.Linq": no sentence ends there
        if spans and text[start : start + 1].islower() and _names_a_mark(text, spans[-1]):
            start = spans.pop()[0]
        if spans and _NUMBER.match(text, start):
            first, last = spans[-1]
            if _NUMBERED.search(text, max(first, last - 8), last):
                start = spans.pop()[0]
        position += len(part)
        for first, last in _lines_apart(text, start, end) if has_lines else ((start, end),):
            if last - first > LONGEST:
                spans += _cut(text, first, last)
            elif first < last:
                spans.append((first, last))
                if last - first <= _SHORT and not fragments:
                    fragments = last - first <= _FRAGMENT or _is_one_word(text, first, last)
        tight = end == position
    return (_joined(text, spans) if fragments else spans), position


def _lines_apart(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """A sentence; if lines of it are a comment in code, or options of a program, these are parted from the others."""
    bounds = [start, end]
    if text.find("\n", start, end) >= 0:
        line = text.rfind("\n", 0, start) + 1
        bounds[0] = start = start if text[line:start].strip() else line
        lines = [*_COMMENTS.finditer(text, start, end)] or _OPTIONS.finditer(text, start, end)
        bounds[1:1] = [bound for match in lines for bound in match.span()]
    for first, last in pairwise(bounds):
        body = text[first:last].rstrip()
        yield first + len(body) - len(body.lstrip()), first + len(body)


def _is_date(text: str, before: tuple[int, int], start: int) -> bool:
    """Whether a sentence that ends with the number of a day goes on at `start`: "vom 3. bis 7. Mai", "am 2. września".

    A small letter follows in all languages that write a full stop there, but in German, before a month.
    """
    first, end = before
    goes_on = text[start : start + 1].islower() or _GERMAN_MONTH.match(text, start)
    return text[end - 1] == "." and bool(goes_on) and bool(_DAY.search(text, max(first, end - 4), end))


def _continues(text: str, start: int) -> bool:
    """Whether a sentence goes on at `start`, with no space before: after a mark, or within a name like System.Linq."""
    before = text[start - 1]
    return before in "!?" or (
        before == "."
        and (not text[start].isalnum() or _CAPITALISED.search(text, max(start - 80, 0), start) is not None)
    )


def _names_a_mark(text: str, before: tuple[int, int]) -> bool:
    """Whether a sentence, before a small letter, ends with a name or a sign: "the panic! macro", "the ? operator"."""
    start, end = before
    return text[start].isupper() and (text[end - 1] == "!" or (text[end - 1] in ".?" and text[end - 2] == " "))


def _plain(text: str) -> str:
    """The text for sentencex, of the same length: unusual white space becomes a space.

    sentencex 1.0 panics next to white space of more than one byte ("J.\\xa0Smith"), and takes only a space or a newline
    for the end of a word.
    """
    if text.isascii():
        return text.replace("\t", " ").replace("\r", " ")
    return _ODD_CHARACTER.sub(lambda odd: " " if odd[0].isspace() else "\ufffd", text)


def _completed(text: str, parts: list[str]) -> list[str]:
    """Fill the gaps between parts: now and then sentencex 1.0 leaves out a blank line."""
    whole, position = [], 0
    for part in parts:
        end = text.index(part, position) + len(part)
        whole.append(text[position:end])
        position = end
    return [*whole, text[position:]] if position < len(text) else whole


def _pieces(text: str) -> Iterator[tuple[int, int]]:
    """A long text in pieces of about a `_PIECE`, cut after a plain sentence end or at least between words."""
    start = 0
    while len(text) - start > _PIECE:
        low, high = start + _PIECE - _WINDOW, start + _PIECE
        ends = [match.end() for match in _PLAIN_END.finditer(text, low, high)]
        end = ends[-1] if ends else _last_break(text, low, high)
        yield start, end
        start = end
    yield start, len(text)


def _cut(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Cut text[start:end], too long for one sentence, into trimmed spans of at most `LONGEST`."""
    for stop in [*(match.end() for match in _PLAIN_END.finditer(text, start, end)), end]:
        while start < stop:
            last = stop if stop - start <= LONGEST else _last_break(text, start + LONGEST // 4, start + LONGEST)
            body = text[start:last].rstrip()
            if stripped := body.lstrip():
                yield start + len(body) - len(stripped), start + len(body)
            start = last


def _last_break(text: str, low: int, high: int) -> int:
    """The position after the last line end in text[low:high], or else after the last space, or else `high`."""
    for mark in ("\n", "\r", " ", "\t"):
        at = text.rfind(mark, low, high)
        if at >= 0:
            return at + 1
    return high


def _joined(text: str, spans: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Join spans: enumerators and opening marks go to the next sentence, closing marks to the one before."""
    joined: list[tuple[int, int]] = []
    for start, end in spans:
        before = joined[-1] if joined and end - joined[-1][0] <= LONGEST else None
        if before and (
            _leads(text, *before)
            or _is_mark(text, start, end)
            or (_is_one_word(text, *before) and not _is_one_word(text, start, end))
        ):
            joined[-1] = (joined[-1][0], end)
        else:
            joined.append((start, end))
    return joined


def _leads(text: str, start: int, end: int) -> bool:
    return _is_mark(text, start, end) or (end - start <= _FRAGMENT and bool(_ENUMERATOR.fullmatch(text, start, end)))


def _is_one_word(text: str, start: int, end: int) -> bool:
    return end - start <= _SHORT and bool(_ONE_WORD.fullmatch(text, start, end))


def _is_mark(text: str, start: int, end: int) -> bool:
    return end - start <= _FRAGMENT and not _WORD.search(text, start, end)
