"""Word documents, as python-docx and Word itself write them."""

from __future__ import annotations

import io
import zipfile
from typing import Any

import pytest
from cited import check_whole

from semsearch.errors import SourceError
from semsearch.readers.document import Document
from semsearch.readers.read import read_bytes

W = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'


def made(document: Any) -> Document:
    file = io.BytesIO()
    document.save(file)
    return read_bytes(file.getvalue(), "tides.docx")


def with_body(body: str, **parts: str) -> Document:
    """A document as small as can be, with this body."""
    relations = 'xmlns="http://schemas.openxmlformats.org/package/2006/relationships"'
    kind = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        main = f'<Relationship Id="a" Type="{kind}/officeDocument" Target="word/document.xml"/>'
        archive.writestr("_rels/.rels", f"<Relationships {relations}>{main}</Relationships>")
        archive.writestr("word/document.xml", f"<w:document {W}><w:body>{body}</w:body></w:document>")
        others = "".join(f'<Relationship Id="{n}" Type="{kind}/{n}" Target="{n}.xml"/>' for n in parts)
        archive.writestr("word/_rels/document.xml.rels", f"<Relationships {relations}>{others}</Relationships>")
        for name, content in parts.items():
            archive.writestr(f"word/{name}.xml", f"<w:{name} {W}>{content}</w:{name}>")
    return read_bytes(file.getvalue(), "tides.docx")


def paragraph(content: str) -> str:
    return f"<w:p>{content}</w:p>"


def run(text: str) -> str:
    return f'<w:r><w:t xml:space="preserve">{text}</w:t></w:r>'


def test_paragraphs_headings_and_rows_come_in_order() -> None:
    docx = pytest.importorskip("docx")
    document = docx.Document()
    document.core_properties.title, document.core_properties.author = "Of tides", "Ann"
    document.add_heading("The sea", 1)
    words = document.add_paragraph("The moon ")
    words.add_run("pulls").bold = True
    words.add_run(" the sea. It moves.")
    document.add_heading("High water", 2)
    document.add_paragraph("One.", style="List Bullet")
    table = document.add_table(2, 2)
    for row, texts in zip(table.rows, [("Place", "Height"), ("Köln", "3 m")], strict=True):
        for cell, text in zip(row.cells, texts, strict=True):
            cell.text = text
    document.add_paragraph("After the table.")
    read = made(document)
    assert [(block.text, block.level) for block in read.blocks] == [
        ("The sea", 1),
        ("The moon pulls the sea. It moves.", 0),
        ("High water", 2),
        ("One.", 0),
        ("Place | Height", 0),
        ("Köln | 3 m", 0),
        ("After the table.", 0),
    ]
    assert [block.place for block in read.blocks] == [
        *(f"paragraph {number}" for number in range(1, 5)), "table 1, row 1", "table 1, row 2", "paragraph 5",
    ]  # fmt: skip
    assert [document.paragraphs[n].text for n in (0, 4)] == ["The sea", "After the table."]  # so they are counted
    assert (read.title, read.format, read.metadata["author"]) == ("Of tides", "docx", "Ann")
    check_whole(read, ["The moon pulls the sea.", "It moves.", "After the table."])


def test_the_title_is_else_that_of_the_text() -> None:
    docx = pytest.importorskip("docx")
    document = docx.Document()
    document.add_paragraph("Words.")
    assert made(document).title == "tides"
    document.add_heading("A part", 1)
    assert made(document).title == "A part"
    document.add_heading("The whole", 0)
    assert made(document).title == "The whole"


def test_pages_are_those_of_words_last_layout() -> None:
    page = "<w:r><w:lastRenderedPageBreak/></w:r>"
    text = paragraph(run("One.")) + paragraph(page + run("Two.")) + paragraph(run("Thr") + page + run("ee."))
    read = with_body(text + paragraph(run("Four.")))
    assert [(block.text, block.page) for block in read.blocks] == [
        ("One.", 1),
        ("Two.", 2),
        ("Three.", 2),
        ("Four.", 3),
    ]
    assert with_body(paragraph(run("One."))).blocks[0].page is None


def test_what_a_reader_does_not_see_is_left_out() -> None:
    deleted = f"<w:del>{run('never').replace('w:t', 'w:delText')}</w:del><w:moveFrom>{run('gone')}</w:moveFrom>"
    field = '<w:r><w:instrText>PAGEREF x</w:instrText></w:r><w:fldSimple w:instr="x">' + run("7") + "</w:fldSimple>"
    inserted = f"<w:ins>{run(' here')}</w:ins>"
    assert with_body(paragraph(run("Page ") + field + deleted + inserted)).blocks[0].text == "Page 7 here"


def test_notes_and_comments_come_last_with_their_places() -> None:
    note = f'<w:footnote w:type="separator">{paragraph(run("no"))}</w:footnote>'
    note += f'<w:footnote w:id="1">{paragraph(run("A note."))}</w:footnote>'
    comment = f'<w:comment w:id="0">{paragraph(run("A remark."))}</w:comment>'
    read = with_body(paragraph(run("Text.")), footnotes=note, comments=comment)
    assert [(block.text, block.place) for block in read.blocks] == [
        ("Text.", "paragraph 1"),
        ("A note.", "footnote 1"),
        ("A remark.", "comment 1"),
    ]


@pytest.mark.parametrize("data", [b"", b"words", b"PK\x03\x04 and no more"])
def test_what_is_no_word_document_is_an_error_that_says_so(data: bytes) -> None:
    with pytest.raises(SourceError, match=r"tides\.docx"):
        read_bytes(data, "tides.docx")
