"""A long document is read, sent and kept in compressed parts, and is the same as one that is whole."""

from __future__ import annotations

import os
import random
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
from fixtures import reading_here
from hypothesis import given, settings, strategies as st
from packages import needed
from sample_files.valid_files import pdf

from semsearch.errors import SourceError, UsageError
from semsearch.readers import document as documents, document_codec
from semsearch.readers.document import Block, Builder, Document, LongText, PackedRows, Spot, packed_blocks
from semsearch.readers.document_codec import DocumentParts, NotADocument, encode, encoded_parts
from semsearch.readers.pages import pdfium
from semsearch.readers.read import read_bytes
from semsearch.readers.reader_process import end_reader_processes, in_reader_process
from semsearch.results.omissions import Omission
from semsearch.text.passages import passages

for package in ("reportlab", "pypdfium2"):
    needed(package)


@pytest.fixture
def _small_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(documents, "_PIECE", 100)
    monkeypatch.setattr(documents, "_LONG", 300)
    monkeypatch.setattr(document_codec, "_PART", 250)


@given(st.lists(st.text("ab\n\r 日\U0001f30a\ud800", max_size=60)), st.data())
@settings(max_examples=60)
def test_a_long_text_is_like_the_text(parts: list[str], data: st.DataObject) -> None:
    whole, text = "".join(parts), LongText()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(documents, "_PIECE", 50)
        patch.setattr(documents, "_LONG", 50)
        for part in parts:
            text.add(part)
        start, end = data.draw(st.integers(0, len(whole))), data.draw(st.integers(0, len(whole) + 5))
        assert (len(text), str(text), text == whole) == (len(whole), whole, True)
        assert text[start:end] == whole[start:end]
        assert text.startswith(whole[start:end], start) == whole.startswith(whole[start:end], start)
        assert [text.count(mark, start, end) for mark in ("\n", "\r\n")] == [
            whole.count(mark, start, end) for mark in ("\n", "\r\n")
        ]
        assert ("\r" in text) == ("\r" in whole)
    assert text != whole + "a"


def test_rows_come_back_in_their_order_and_are_forgotten_when_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(documents, "_PLAIN", 1)
    rows = PackedRows()
    for number in range(1000):
        rows.append(number, [str(number)])
    assert [*rows] == [*rows] == [(number, [str(number)]) for number in range(1000)]
    assert [number for number, _ in rows.taken()] == [*range(1000)]


def test_prose_takes_less_than_half_of_its_bytes() -> None:
    chance, text = random.Random(0), LongText()
    for _ in range(20_000):
        text.add(" ".join(chance.choices("the moon pulls the sea and so it moves twice a day".split(), k=10)) + "\n")
    assert sum(map(len, text._pieces)) < len(text) / 2


def made(paragraphs: int) -> Document:
    builder = Builder()
    for number in range(paragraphs):
        if number % 7 == 0:
            builder.add(f"Chapter {number}", level=1 + number % 2, page=number // 5)
        spots = [Spot(0, number // 5, "top"), Spot(9, number // 5 + 1, None)]
        builder.add(f"The tide {number} rises.\nGröße – 日本 {number}.", spots=spots, part=f"slide {number // 20}")
        if number % 30 == 29:
            builder.end_sections()
    omissions = (Omission("attachments", 2, "a, b"),)
    blocks = packed_blocks(builder.taken(), builder.text)
    return Document(builder.source, blocks, title="Tides", metadata={"author": "Ann"}, omissions=omissions)


@pytest.mark.usefixtures("_small_parts")
def test_a_document_that_is_sent_in_parts_is_the_same_as_one_that_is_sent_whole() -> None:
    long = made(100)
    assert isinstance(long.source, LongText)
    whole = replace(long, source=str(long.source), blocks=[*long.blocks])
    sent, parts = [*encoded_parts(long)], DocumentParts()
    assert len(sent) > 10
    assert max(map(len, sent)) < 1500
    for part in sent:
        parts.take(part)
    again = parts.document()
    assert isinstance(again.source, LongText)
    assert again == long == whole
    assert passages(again) == passages(long) == passages(whole)


@pytest.mark.usefixtures("_small_parts")
def test_places_in_the_source_move_with_their_part() -> None:
    source, blocks = LongText(), []
    for number in range(40):
        blocks.append(Block(f"tide {number}", len(source) + 1, anchors=((0, len(source) + 1), (4, len(source) + 6))))
        source.add(f"*tide* {number}\n")
    parts = DocumentParts()
    for part in encoded_parts(Document(source, packed_blocks(blocks, source))):
        parts.take(part)
    assert [*parts.document().blocks] == blocks


def test_a_part_that_is_no_document_is_refused_and_none_is_no_document() -> None:
    parts = DocumentParts()
    with pytest.raises(NotADocument):
        parts.document()
    parts.take(encode(Document("Tide", [Block("Tide", 0)])))
    with pytest.raises(NotADocument):
        parts.take(b"\0" * 20)
    assert parts


def test_a_pdf_is_the_same_however_often_it_is_opened(monkeypatch: pytest.MonkeyPatch) -> None:
    words = "Amrum Borkum Cuxhaven Dover Emden Falmouth Goole".split()

    def draw(canvas: Any) -> None:
        for number in range(7):
            canvas.drawString(40, 700, f"Page {number} says that the tide number {number} rises.")
            canvas.drawString(40, 660, f"The sea {number} falls again.")
            canvas.acroForm.textfield(name=f"f{number}", value=words[number], x=40, y=500)
            canvas.bookmarkPage(f"p{number}")
            canvas.addOutlineEntry(f"The sea {number} falls again.", f"p{number}")
            canvas.showPage()

    data = pdf(draw)
    with reading_here():
        once = read_bytes(data, "a.pdf")
        for pages in (1, 3, 7):
            monkeypatch.setattr(pdfium, "_PAGES", pages)
            assert read_bytes(data, "a.pdf") == once
    assert [block.page for block in once.blocks if block.level] == [*range(1, 8)]
    assert all(word in str(once.source) for word in words)


# -- What a process sends in parts -------------------------------------------------------------------------------------


@pytest.fixture
def _no_process() -> Iterator[None]:
    end_reader_processes()
    yield
    end_reader_processes()


def asked(most: int, last: str, found: list[bytes] | None) -> bytes:
    take = None if found is None else found.append
    return in_reader_process("processes.reading_functions:count", b"part ", "a.pdf", most, last, take=take)


@pytest.mark.usefixtures("_no_process")
def test_parts_come_in_their_order_before_the_answer_or_error() -> None:
    found: list[bytes] = []
    assert asked(3, "done", found) == b"done"
    assert found == [b"part 0", b"part 1", b"part 2"]
    assert asked(0, "nothing", found) == b"nothing"
    with pytest.raises(UsageError, match="no more"):
        asked(1, "error", found)
    assert found == [b"part 0", b"part 1", b"part 2", b"part 0"]


@pytest.mark.usefixtures("_no_process")
@pytest.mark.skipif(os.name != "posix", reason="signals are POSIX's")
def test_a_process_that_crashes_after_some_parts_is_an_error_of_its_file() -> None:
    with pytest.raises(SourceError, match="made its reader crash"):
        asked(2, "crash", [])
    assert asked(1, "done", []) == b"done"


@pytest.mark.usefixtures("_no_process")
def test_parts_that_nobody_takes_or_that_are_refused_end_the_process() -> None:
    with pytest.raises(SourceError, match=r"a\.pdf"):
        asked(1, "done", None)

    def refuse(part: bytes) -> None:
        raise NotADocument(str(part))

    with pytest.raises(NotADocument):
        in_reader_process("processes.reading_functions:count", b"part ", "a.pdf", 1, "done", take=refuse)
    assert asked(1, "done", []) == b"done"
