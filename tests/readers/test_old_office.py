"""Documents of Word and PowerPoint from before 2007: what they show, with its places, and nothing else."""

from __future__ import annotations

import struct
from collections.abc import Callable
from contextlib import suppress

import pytest
from cited import places
from sample_files.old_office import (
    DELETED,
    HEADING_1,
    HEADING_2,
    HIDDEN,
    OWN_HEADING_2,
    TITLE,
    Para,
    Slide,
    compound,
    doc,
    ppt,
    row,
)

from semsearch.errors import SourceError
from semsearch.readers.office.compound_file import CompoundFile
from semsearch.readers.read import read_bytes

OUTLINE_2 = b"\x40\x26\x01"


def test_paragraphs_headings_tables_and_notes_of_word_have_places() -> None:
    document = read_bytes(
        doc(
            [
                Para("Harbours", HEADING_1),
                Para("Deep ones", OWN_HEADING_2),
                Para("The sea “moves” to Łódź."),
                *row("Ann", "12"),
                *row("Bob", "", "13"),
                Para(""),
                Para("After.", changes=OUTLINE_2),
            ],
            [Para("\x02 A note."), Para("Another.")],
            title="Gezeiten, groß",
            author="Ann",
        ),
        "a.doc",
    )
    assert [each for each in places(document) if each[1]] == [
        ("paragraph 1", "Harbours"),
        ("paragraph 2", "Deep ones"),
        ("paragraph 3", "The sea “moves” to Łódź."),
        ("table 1, row 1", "Ann | 12"),
        ("table 1, row 2", "Bob | 13"),
        ("paragraph 5", "After."),
        ("footnote 1", "A note."),
        ("footnote 2", "Another."),
    ]
    assert [block.level for block in document.blocks if block.text] == [1, 2, 0, 0, 0, 2, 0, 0]
    assert (document.format, document.title) == ("doc", "Gezeiten, groß")
    assert document.metadata == {"title": "Gezeiten, groß", "author": "Ann"}


def test_a_document_of_many_paragraphs_is_read_whole() -> None:
    texts = [f"The tide number {number} rises – slowly." for number in range(500)]
    document = read_bytes(doc([Para(text, HEADING_2 if n % 50 == 0 else 0) for n, text in enumerate(texts)]), "a.doc")
    assert [block.text for block in document.blocks if block.text] == texts
    assert sum(block.level == 2 for block in document.blocks) == 10


def test_the_title_of_word_is_its_property_its_title_its_heading_or_its_name() -> None:
    assert read_bytes(doc([Para("The whole", TITLE), Para("One", HEADING_1)]), "a.doc").title == "The whole"
    assert read_bytes(doc([Para("Text."), Para("One", HEADING_1)]), "a.doc").title == "One"
    assert read_bytes(doc([Para("Text.")]), "b.doc").title == "b"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ('See \x13 HYPERLINK "a" \x14the \x13 PAGE \x14site\x15\x15 now.', "See the site now."),
        ("\x13 TOC \\o \x14Tides", "Tides"),
        ('One\x13 XE "one" \x15 word.', "One word."),
        ("A\x0bline,\x1e\x1fa \x01picture\x08.", "A\nline,-a picture."),
        ("Wave \U0001f30a.", "Wave \U0001f30a."),
    ],
)
def test_of_fields_and_marks_only_what_is_shown_is_read(text: str, shown: str) -> None:
    document = read_bytes(doc([Para("Before."), Para("Łódź."), Para(text)]), "a.doc")
    assert [block.text for block in document.blocks] == ["Before.", "Łódź.", shown]


def test_hidden_and_deleted_text_is_left_out() -> None:
    paras = [Para("The secret sea moves."), Para("It no longer falls slowly."), Para("Łódź")]
    document = read_bytes(doc(paras, unshown=[("secret ", HIDDEN), ("no longer ", DELETED)]), "a.doc")
    assert [block.text for block in document.blocks] == ["The sea moves.", "It falls slowly.", "Łódź"]


def test_slides_have_titles_texts_and_notes_in_their_order() -> None:
    slides = [Slide("Tides", ["It rises.\rIt\x0bfalls.", "In Łódź."], "Say it slowly."), Slide("Ships", ["They sail."])]
    document = read_bytes(ppt(slides, author="Ann"), "a.ppt")
    assert [each for each in places(document) if each[1]] == [
        ("slide 1", "Tides"),
        ("slide 1", "It rises."),
        ("slide 1", "It\nfalls."),
        ("slide 1", "In Łódź."),
        ("slide 1, notes", "Say it slowly."),
        ("slide 2", "Ships"),
        ("slide 2", "They sail."),
    ]
    assert [block.part for block in document.blocks if block.level] == ["slide 1", "slide 2"]
    assert (document.format, document.title, document.metadata) == ("ppt", "Tides", {"author": "Ann"})


@pytest.mark.parametrize(
    ("name", "data", "reason"),
    [
        ("a.doc", doc([Para("A.")], flags=0x0300), "a.doc cannot be read as .doc: it is protected by a password"),
        ("a.doc", doc([Para("A.")], version=0x68), "it was written by Word 95 or earlier; save it as .docx"),
        ("a.ppt", ppt([Slide("A")], token=0xF3D1C4DF), "it is protected by a password; save it without one"),
        ("a.ppt", doc([Para("A.")]), "it is a Word document; rename it to .doc"),
        ("a.doc", compound({"Workbook": b"x"}), "it is a workbook; rename it to .xls"),
        ("a.doc", compound({"EncryptedPackage": b"x"}), "it is protected by a password"),
        ("a.ppt", compound({"PowerPoint Document": b"x" * 5000, "Current User": b"y"}), "it may be damaged"),
        ("a.doc", doc([Para("A.")])[:600], "it may be damaged"),
    ],
)  # fmt: skip
def test_what_cannot_be_read_says_why(name: str, data: bytes, reason: str) -> None:
    with pytest.raises(SourceError, match=reason.replace(".", r"\.")):
        read_bytes(data, name)


@pytest.mark.parametrize(
    ("data", "text"),
    [(b"{\\rtf1 The sea.\\par}", "The sea."), (b"<html><p>The sea.", "The sea."), (b"The sea.", "The sea.")],
)
def test_other_formats_called_doc_are_read_by_their_content(data: bytes, text: str) -> None:
    assert [block.text for block in read_bytes(data, "a.doc").blocks] == [text]


def test_other_bytes_called_doc_are_refused_by_their_name() -> None:
    with pytest.raises(SourceError, match=r"^a\.doc looks binary"):
        read_bytes(b"\x01\0\x02\0" * 1000, "a.doc")


def test_streams_long_and_short_are_read_and_chains_without_end_are_refused() -> None:
    streams = {"long": bytes(range(256)) * 40, "short": b"tide", "other": b"sea" * 100, "empty": b""}
    data = compound(streams)
    file = CompoundFile(data, "a.doc")
    assert {name: file.stream(name.upper()) for name in streams} == streams
    looped = bytearray(data)
    (table,) = struct.unpack_from("<I", data, 76)
    looped[512 * (table + 1) : 512 * (table + 1) + 4] = bytes(4)  # the first sector of "long" follows itself
    with pytest.raises(SourceError, match="no end"):
        CompoundFile(bytes(looped), "a.doc").stream("long")


@pytest.mark.parametrize("make", [lambda: doc([Para("One.")] * 30), lambda: ppt([Slide("One", ["Two."] * 30)])])
def test_a_file_that_is_cut_short_is_read_in_part_or_refused(make: Callable[[], bytes]) -> None:
    data = make()
    for length in range(0, len(data), 97):
        for name in ("a.doc", "a.ppt"):
            with suppress(SourceError):  # any other error is one of the reader
                assert (
                    read_bytes(data[:length] if length > 512 else data[:512] + bytes(length), name).format == name[2:]
                )
