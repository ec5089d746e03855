"""Books, written as the common makers of EPUB write them."""

from __future__ import annotations

import io
import zipfile

import pytest
from cited import check_whole

from semsearch.errors import SourceError
from semsearch.readers.document import Document, Omission
from semsearch.readers.read import read_bytes

CONTAINER = (
    '<container xmlns="urn:oasis:names:tc:opendocument:xmlns:container"><rootfiles>'
    '<rootfile full-path="OEBPS/book.opf"/></rootfiles></container>'
)
CHAPTERS = {
    "one.xhtml": "<h1>High water</h1><p>The moon <i>pulls</i> the sea. It moves.</p>",
    "text/two.xhtml": "<p>Größe zählt.</p><script>no</script>",
    "three.xhtml": "<h2>Named here</h2><p>The end.</p>",
}


def page(body: str) -> str:
    return f'<?xml version="1.0"?><html xmlns="http://www.w3.org/1999/xhtml"><body>{body}</body></html>'


def book(*, encrypted: str = "", spine: tuple[str, ...] = ("c0", "c1", "c2")) -> bytes:
    items = "".join(
        f'<item id="c{n}" href="{path}" media-type="application/xhtml+xml"/>' for n, path in enumerate(CHAPTERS)
    )
    items += '<item id="t" href="nav.xhtml" media-type="application/xhtml+xml" properties="nav"/>'
    contents = page('<nav><a href="one.xhtml">Chapter I</a><a href="text/two.xhtml#x">Chapter II</a></nav>')
    opf = (
        '<package xmlns="http://www.idpf.org/2007/opf"><metadata xmlns:dc="http://purl.org/dc/elements/1.1/">'
        f"<dc:title>Of tides</dc:title><dc:creator>Ann</dc:creator></metadata><manifest>{items}</manifest>"
        f"<spine>{''.join(f'<itemref idref={id_!r}/>' for id_ in ('t', *spine))}</spine></package>"
    )
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("mimetype", "application/epub+zip")
        archive.writestr("META-INF/container.xml", CONTAINER)
        archive.writestr("OEBPS/book.opf", opf)
        archive.writestr("OEBPS/nav.xhtml", contents)
        for path, body in CHAPTERS.items():
            archive.writestr(f"OEBPS/{path}", page(body))
        if encrypted:
            reference = f'<CipherReference xmlns="http://www.w3.org/2001/04/xmlenc#" URI="{encrypted}"/>'
            archive.writestr("META-INF/encryption.xml", f"<encryption>{reference}</encryption>")
    return file.getvalue()


def read(data: bytes) -> Document:
    return read_bytes(data, "tides.epub")


def test_chapters_come_in_reading_order_by_their_first_headings() -> None:
    document = read(book())
    assert [(block.place, block.text, block.level) for block in document.blocks if block.text] == [
        ("High water (OEBPS/one.xhtml)", "High water", 1),
        ("High water (OEBPS/one.xhtml)", "The moon pulls the sea. It moves.", 0),
        ("OEBPS/text/two.xhtml", "Größe zählt.", 0),
        ("Named here (OEBPS/three.xhtml)", "Named here", 2),
        ("Named here (OEBPS/three.xhtml)", "The end.", 0),
    ]
    assert (document.title, document.format) == ("Of tides", "epub")
    assert document.metadata == {"title": "Of tides", "author": "Ann"}
    check_whole(document, ["The moon pulls the sea.", "It moves.", "Größe zählt.", "The end."])


def test_the_order_is_that_of_the_spine() -> None:
    assert [block.text for block in read(book(spine=("c2", "c1"))).blocks if block.text] == [
        "Named here",
        "The end.",
        "Größe zählt.",
    ]


def test_an_encrypted_book_is_refused_and_encrypted_fonts_are_not() -> None:
    assert read(book(encrypted="OEBPS/font.otf")).blocks == read(book()).blocks
    with pytest.raises(SourceError, match=r"tides\.epub is encrypted"):
        read(book(encrypted="OEBPS/one.xhtml", spine=("c0",)))


def test_an_encrypted_chapter_is_left_out_and_told() -> None:
    document = read(book(encrypted="OEBPS/one.xhtml"))
    assert (len(document.blocks), document.omissions) == (3, (Omission("encrypted parts"),))
    assert read(book()).omissions == ()


def test_what_is_no_book_is_an_error_that_says_so() -> None:
    with pytest.raises(SourceError, match=r"tides\.epub cannot be read as \.epub"):
        read(b"PK\x05\x06" + bytes(18))
