"""Split a document into passages: what is ranked, shown and handed to a language model.

A passage is consecutive blocks under one trail of headings, of at most 200 words; it never crosses a heading, a page,
or a part such as a slide or a message (`Block.part`). Finer places, the rows of a table or the cells of a notebook, may
share a passage, and each sentence keeps its own; one that runs over the end of a page is where it begins. A longer
block is cut at sentence ends. A heading with nothing under it, not even a deeper heading, is a passage by itself; a
heading longer than a sentence may be counts as body. Sentences are found block by block, so none runs over a
paragraph's end, and each keeps its offsets in the source.

Words are counted as in text_lengths.py, so a passage is bounded in characters too. A text is processed in stretches, so
that the memory needed is a small part of what the text itself takes.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Iterable, Iterator
from itertools import groupby, islice
from operator import attrgetter, itemgetter
from typing import NamedTuple

from semsearch.readers.document import Block, Document
from semsearch.text.passage_words import PassageRecord
from semsearch.text.sentences import LONGEST, each_sentence_span, sentence_spans
from semsearch.text.text_lengths import CHARACTERS, count_words, heading_text
from semsearch.text.tokens import storable

MOST_WORDS = 200  # of a passage
_BETWEEN_BLOCKS = "\n\n"
_LONGEST_HEADING = 500  # characters: it is kept with every passage under it, and a minified page may be one heading
_STRETCH = 1000  # sentences, or passages, grouped at once
_PAGE = attrgetter("page")


class _BlockPart(NamedTuple):
    """A block, or a part of one that ends with a sentence, and its sentences as offsets in the block."""

    block: Block
    spans: list[tuple[int, int]]
    words: int
    page: int | None


def each_record(document: Document) -> Iterator[PassageRecord]:
    """Divide a document into passages, in reading order, and yield them one at a time.

    Every word of every body block is in exactly one of them. None has more than `MOST_WORDS` words, unless a single
    sentence has.
    """
    title, lines = storable(document.title), _LineCounter(document.source)
    for trail, blocks in _sections(document):
        headings, above = json.dumps(trail), heading_text(title, trail)
        for _, on_page in groupby(_pieces(blocks), key=_PAGE):
            for pieces in _stretches(on_page):
                for group in _groups([piece.words for piece in pieces]):
                    yield _passage(pieces[group], headings, above, lines, document.format)


def _sections(document: Document) -> Iterator[tuple[tuple[str, ...], Iterator[Block]]]:
    """Groups of body blocks with the headings above them; a heading with nothing under it is a group of its own.

    The blocks of one group are taken before the next group.
    """
    for (_, headings), numbered in groupby(_numbered(document), key=itemgetter(0)):
        yield headings, map(itemgetter(1), numbered)


def _numbered(document: Document) -> Iterator[tuple[tuple[int, tuple[str, ...]], Block]]:
    """Each body block, and heading with nothing under it, with the number of its section and the headings above it."""
    trail: list[Block] = []
    section: tuple[int, tuple[str, ...]] | None = None  # the last block's, if the next may be in it, too
    number, part = 0, None
    bare = False  # the last heading has had nothing under it yet
    for block in document.blocks:
        blank = not block.text or block.text.isspace()
        level = block.level if len(block.text) <= LONGEST else 0
        if blank and not level:
            continue
        if not level:
            if section is None or block.part != part:
                number += 1
                section, part = (number, _headings(trail)), block.part
            yield section, block
            bare = False
            continue
        section = None
        if bare and level <= trail[-1].level:
            number += 1
            yield (number, _headings(trail[:-1])), trail[-1]
            bare = False
        while trail and trail[-1].level >= level:
            trail.pop()
        if not blank:
            trail.append(block)
            bare = True
    if bare:
        yield (number + 1, _headings(trail[:-1])), trail[-1]


def _headings(trail: list[Block]) -> tuple[str, ...]:
    return tuple(" ".join(heading.text[:_LONGEST_HEADING].split()) for heading in trail)


def _stretches(pieces: Iterator[_BlockPart]) -> Iterator[list[_BlockPart]]:
    """The pieces of a section in lists that make about `_STRETCH` passages each: nearly always a single list."""
    stretch: list[_BlockPart] = []
    words = 0
    for piece in pieces:
        stretch.append(piece)
        words += piece.words
        if words >= _STRETCH * MOST_WORDS:
            yield stretch
            stretch, words = [], 0
    if stretch:
        yield stretch


def _pieces(blocks: Iterable[Block]) -> Iterator[_BlockPart]:
    """The blocks of a section; of one that is too long, parts that end with a sentence."""
    for block in blocks:
        words = count_words(block.text) if len(block.text) <= MOST_WORDS * CHARACTERS else MOST_WORDS + 1
        if words <= MOST_WORDS and not block.spots:
            spans = [*_given_spans(block)] if block.sentences else sentence_spans(block.text)
            yield _BlockPart(block, spans, words, block.page)
        else:
            yield from _parts(block)


def _spans(block: Block) -> Iterator[tuple[int, int]]:
    """The sentences of a block: those that its reader has found, unless one is too long, or those of its text."""
    return _given_spans(block) if block.sentences else each_sentence_span(block.text)


def _given_spans(block: Block) -> Iterator[tuple[int, int]]:
    for start, end in block.sentences:
        if end - start <= LONGEST:
            yield start, end
        else:
            yield from ((start + first, start + last) for first, last in sentence_spans(block.text[start:end]))


def _parts(block: Block) -> Iterator[_BlockPart]:
    text = block.text
    for page, on_page in groupby(_spans(block), key=lambda span: block.page_at(span[0])):
        while spans := list(islice(on_page, _STRETCH)):
            starts = [start for start, _ in spans]
            ends = [*starts[1:], spans[-1][1]]
            counts = [count_words(text[start:end]) for start, end in zip(starts, ends, strict=True)]
            for group in _groups(counts):
                yield _BlockPart(block, spans[group], sum(counts[group]), page)


def _groups(sizes: list[int]) -> Iterator[slice]:
    """Consecutive groups of about the same size, none above `MOST_WORDS` unless one of a single element."""
    total = sum(sizes)
    enough = total / max(1, -(-total // MOST_WORDS))
    first = size = 0
    for index, words in enumerate(sizes):
        if index > first and (size + words > MOST_WORDS or size >= enough):
            yield slice(first, index)
            first, size = index, 0
        size += words
    if sizes:
        yield slice(first, len(sizes))


def _passage(pieces: list[_BlockPart], headings: str, above: str, lines: _LineCounter, format: str) -> PassageRecord:
    texts: list[str] = []
    positions: list[int] = []
    places: list[tuple[int, str | None]] = []
    base = 0
    for block, spans, _, _ in pieces:
        if block.place or block.spots or places:
            places += ((number, block.place_at(start)) for number, (start, _) in enumerate(spans, len(positions) // 5))
        first, last = spans[0][0], spans[-1][1]
        line = block.text.rfind("\n", 0, first) + 1
        if block.sentences and not any(map(str.isalnum, block.text[line:first])):  # code keeps its first line's indent
            first = line
        text = block.text[first:last]
        texts.append(text)
        locate = _mapped if block.anchors else _verbatim
        positions += locate(block, spans, base - first, lines)
        base += len(text) + len(_BETWEEN_BLOCKS)
    changes, metadata = tuple(_changes(places)), pieces[0].block.metadata
    return PassageRecord(
        headings,
        above,
        line=positions[4],
        page=pieces[0].page,
        text=_BETWEEN_BLOCKS.join(texts),
        offsets=struct.pack(f"<{len(positions)}i", *positions),
        sentences=len(positions) // 5,
        places=json.dumps(changes) if changes else None,
        metadata=json.dumps(metadata, allow_nan=False) if metadata else None,
        format=format,
    )


def _changes(places: list[tuple[int, str | None]]) -> Iterator[tuple[int, str | None]]:
    """The sentences whose place differs from that of the sentence before, with their places."""
    last: str | None = None
    for number, place in places:
        if place != last:
            yield number, place
        last = place


def _verbatim(block: Block, spans: list[tuple[int, int]], shift: int, lines: _LineCounter) -> list[int]:
    """The positions of sentences of a block that is a slice of the source, one after the other."""
    at = block.start
    positions: list[int] = []
    line = lines.at(at + spans[0][0])
    is_one_line = lines.at(at + spans[-1][0]) == line
    for start, end in spans:
        number = line if is_one_line else lines.at(at + start)
        positions += (start + shift, end + shift, at + start, at + end, number)
    return positions


def _mapped(block: Block, spans: list[tuple[int, int]], shift: int, lines: _LineCounter) -> list[int]:
    """The sentence spans of a block from which markup was removed, so that its anchors map them to the source."""
    positions: list[int] = []
    before = (0, 0)  # the place of the last sentence that has any
    for start, end in spans:
        first = min(block.source_offset(start), lines.end)  # behind the last anchor may be more text than source
        last = min(max(first, block.source_offset(end - 1) + 1), lines.end)
        if first < before[1] and last > before[0]:  # markup is damaged, or stands within a word: no two overlap
            first, last = before[1], max(before[1], last)
        if first < last:
            before = first, last
        positions += (start + shift, end + shift, first, last, lines.at(first))
    return positions


class _LineCounter:
    """Finds the line of an offset by counting on from the last one asked for: blocks come nearly in source order.

    Offsets are those of words, so none falls between a CR and its LF.
    """

    def __init__(self, source: str) -> None:
        self._source = source
        self._returns = "\r" in source
        self._offset, self._line = 0, 1
        self.end = len(source)

    def at(self, offset: int) -> int:
        if offset >= self._offset:
            self._line += self._ends(self._offset, offset)
        else:
            self._line -= self._ends(offset, self._offset)
        self._offset = offset
        return self._line

    def _ends(self, start: int, end: int) -> int:
        ends = self._source.count("\n", start, end)
        if self._returns:
            ends += self._source.count("\r", start, end) - self._source.count("\r\n", start, end)
        return ends
