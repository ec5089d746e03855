"""Word documents, as python-docx and Word itself write them."""

from __future__ import annotations

import io
import zipfile
from typing import Any

import pytest
from cited import check_whole, cited_sentences

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


def test_a_sentence_after_a_page_break_is_on_the_next_page_and_so_is_a_row() -> None:
    page = "<w:r><w:lastRenderedPageBreak/></w:r>"
    text = paragraph(run("One is here. Two goes") + page + run(" on. Three is there."))
    row = f"<w:tbl><w:tr><w:tc>{paragraph(page + run('Four.'))}</w:tc></w:tr></w:tbl>"
    assert cited_sentences(with_body(text + row)) == [
        ("One is here.", 1, "paragraph 1"),
        ("Two goes on.", 1, "paragraph 1"),
        ("Three is there.", 2, "paragraph 1"),
        ("Four.", 3, "table 1, row 1"),
    ]


def test_what_a_reader_does_not_see_is_left_out() -> None:
    deleted = f"<w:del>{run('never').replace('w:t', 'w:delText')}</w:del><w:moveFrom>{run('gone')}</w:moveFrom>"
    field = '<w:r><w:instrText>PAGEREF x</w:instrText></w:r><w:fldSimple w:instr="x">' + run("7") + "</w:fldSimple>"
    inserted = f"<w:ins>{run(' here')}</w:ins>"
    assert with_body(paragraph(run("Page ") + field + deleted + inserted)).blocks[0].text == "Page 7 here"


def test_tabs_breaks_and_hyphens_are_characters() -> None:
    signs = (
        "<w:r><w:t>a</w:t><w:tab/><w:t>b</w:t><w:br/><w:t>c</w:t><w:noBreakHyphen/><w:t>d</w:t><w:softHyphen/></w:r>"
    )
    assert with_body(paragraph(signs)).blocks[0].text == "a\tb\nc-d"


def test_a_text_box_is_read_once_and_after_its_paragraph() -> None:
    mc = 'xmlns:mc="http://schemas.openxmlformats.org/markup-compatibility/2006"'
    box = f"<w:txbxContent>{paragraph(run('Boxed.'))}</w:txbxContent>"
    both = (
        f"<mc:AlternateContent {mc}><mc:Choice>{box}</mc:Choice><mc:Fallback>{box}</mc:Fallback></mc:AlternateContent>"
    )
    read = with_body(paragraph(run("Before ") + f"<w:r>{both}</w:r>" + run("after.")))
    assert [block.text for block in read.blocks] == ["Before after.", "Boxed."]


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


def test_a_style_based_on_a_heading_is_one() -> None:
    styles = (
        '<w:style w:styleId="H"><w:name w:val="heading 2"/></w:style>'
        '<w:style w:styleId="Mine"><w:name w:val="Mine"/><w:basedOn w:val="H"/></w:style>'
        '<w:style w:styleId="Loop"><w:name w:val="Loop"/><w:basedOn w:val="Loop"/></w:style>'
    )
    body = "".join(
        paragraph(f'<w:pPr><w:pStyle w:val="{style}"/></w:pPr>{run(style)}') for style in ("H", "Mine", "Loop")
    )
    assert [block.level for block in with_body(body, styles=styles).blocks] == [2, 2, 0]


@pytest.mark.parametrize("data", [b"", b"words", b"PK\x03\x04 and no more"])
def test_what_is_no_word_document_is_an_error_that_says_so(data: bytes) -> None:
    with pytest.raises(SourceError, match=r"tides\.docx"):
        read_bytes(data, "tides.docx")
