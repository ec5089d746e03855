"""Checks for every reader: sentences come once, in order, and are in the source where they are cited."""

from __future__ import annotations

import json
import re
import struct
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple
from unittest.mock import patch

from semsearch.readers.document import Document, line_starts
from semsearch.text.passages import each_record

_WORD = re.compile(r"[^\W_]+")


class Sentence(NamedTuple):
    """The position of a sentence in its passage and in the document's source."""

    start: int
    end: int
    source_start: int
    source_end: int
    line: int


@dataclass(frozen=True)
class Passage:
    """What a stored passage says."""

    text: str
    headings: tuple[str, ...]
    line: int
    page: int | None
    sentences: tuple[Sentence, ...]
    places: tuple[tuple[int, str | None], ...]
    metadata: dict[str, Any]


def passages(document: Document, *, max_words: int = 200) -> list[Passage]:
    """The passages of a document."""
    with patch("semsearch.text.passages.MOST_WORDS", max_words):
        return [
            Passage(
                record.text,
                tuple(json.loads(record.headings)),
                record.line,
                record.page,
                tuple(map(Sentence._make, struct.iter_unpack("<5i", record.offsets))),
                tuple(map(tuple, json.loads(record.places or "[]"))),
                json.loads(record.metadata or "{}"),
            )
            for record in each_record(document)
        ]


def sentences(document: Document) -> list[str]:
    return [passage.text[s.start : s.end] for passage in passages(document) for s in passage.sentences]


def cited_sentences(document: Document, *, max_words: int = 200) -> list[tuple[str, int | None, str | None]]:
    """Each sentence with its page and its place, as an index keeps them."""
    found: list[tuple[str, int | None, str | None]] = []
    for passage in passages(document, max_words=max_words):
        changes, place = dict(passage.places), None
        for number, sentence in enumerate(passage.sentences):
            place = changes.get(number, place)
            found.append((passage.text[sentence.start : sentence.end], passage.page, place))
    return found


def check_places(document: Document, *, shown: Callable[[str], str] = str, names: bool = False) -> None:
    """Each sentence's first and last word stand at the cited place, which begins in the cited line.

    `shown` is what a reader sees of the source. `names`: of records, where a name stands elsewhere than its value.
    """
    starts = [*line_starts(document.source), len(document.source)]
    for passage in passages(document):
        for sentence in passage.sentences:
            text = passage.text[sentence.start : sentence.end]
            cited = shown(document.source[sentence.source_start : sentence.source_end])
            words = _WORD.findall(text)
            if not words:
                continue
            assert names or words[0] in cited, (text, cited)
            assert words[-1] in cited, (text, cited)
            line = document.source[starts[sentence.line - 1] : starts[sentence.line]]
            assert starts[sentence.line - 1] <= sentence.source_start < starts[sentence.line], (text, line)


def check_whole(
    document: Document, expected: list[str], *, shown: Callable[[str], str] = str, names: bool = False
) -> None:
    """Check that each expected sentence comes once, in this order, at its place."""
    found = [" ".join(sentence.split()) for sentence in sentences(document)]
    assert [sentence for sentence in found if sentence in expected] == expected
    check_places(document, shown=shown, names=names)


def places(document: Document) -> list[tuple[str | None, str]]:
    return [(block.place, block.text) for block in document.blocks]
