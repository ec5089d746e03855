"""OpenDocument texts, written by hand as LibreOffice writes them."""

from __future__ import annotations

import io
import zipfile

import pytest
from cited import check_whole

from semsearch.errors import SourceError
from semsearch.readers.document import Document
from semsearch.readers.read import read_bytes

NAMES = " ".join(
    f'xmlns:{short}="urn:oasis:names:tc:opendocument:xmlns:{long}:1.0"'
    for short, long in {"office": "office", "text": "text", "table": "table", "draw": "drawing", "meta": "meta"}.items()
)
META = (
    f'<office:document-meta {NAMES} xmlns:dc="http://purl.org/dc/elements/1.1/"><office:meta>'
    "<dc:title>Of tides</dc:title><meta:initial-creator>Ann</meta:initial-creator>"
    "<meta:keyword>sea</meta:keyword><meta:keyword>moon</meta:keyword></office:meta></office:document-meta>"
)


def written(body: str, **others: str) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("mimetype", "application/vnd.oasis.opendocument.text")
        content = f"<office:body><office:text>{body}</office:text></office:body>"
        archive.writestr("content.xml", f"<office:document-content {NAMES}>{content}</office:document-content>")
        for name, text in others.items():
            archive.writestr(name.replace("__", "/") + ".xml", text)
    return file.getvalue()


def read(body: str, **others: str) -> Document:
    return read_bytes(written(body, **others), "tides.odt")


def test_headings_paragraphs_and_rows_come_in_order() -> None:
    row = "<table:table-row><table:table-cell><text:p>Köln</text:p></table:table-cell>"
    row += '<table:table-cell table:number-columns-repeated="9"/><table:table-cell><text:p>3 m</text:p>'
    row += "</table:table-cell></table:table-row>"
    document = read(
        '<text:h text:outline-level="1">The sea</text:h>'
        "<text:p>The <text:span>moon</text:span>\n  pulls<text:s text:c='2'/>the sea. "
        "It<text:line-break/>moves.</text:p>"
        '<text:list><text:list-item><text:h text:outline-level="3">Deep</text:h><text:p>One.</text:p></text:list-item>'
        f"</text:list><table:table>{row}</table:table>",
        meta=META,
    )
    assert [(block.text, block.level) for block in document.blocks] == [
        ("The sea", 1),
        ("The moon pulls  the sea. It\nmoves.", 0),
        ("Deep", 3),
        ("One.", 0),
        ("Köln | 3 m", 0),
    ]
    assert (document.title, document.format) == ("Of tides", "odt")
    assert document.metadata == {"title": "Of tides", "author": "Ann", "keywords": "sea, moon"}
    check_whole(document, ["It moves.", "One."])


def test_notes_come_last_and_frames_after_their_paragraph() -> None:
    note = '<text:note text:note-class="footnote"><text:note-citation>1</text:note-citation>'
    note += "<text:note-body><text:p>A note.</text:p></text:note-body></text:note>"
    frame = "<draw:frame><draw:text-box><text:p>Boxed.</text:p></draw:text-box></draw:frame>"
    remark = "<office:annotation><text:p>A remark.</text:p></office:annotation>"
    document = read(f"<text:p>Te{note}xt{remark} here{frame}.</text:p><text:p>After.</text:p>")
    assert [(block.text, block.place) for block in document.blocks] == [
        ("Text here.", "paragraph 1"),
        ("Boxed.", "paragraph 1"),
        ("After.", "paragraph 2"),
        ("A note.", "footnote 1"),
        ("A remark.", "comment 1"),
    ]
    assert document.title == "tides"


def test_deleted_text_and_the_table_of_contents_are_left_out() -> None:
    deleted = "<text:tracked-changes><text:changed-region><text:deletion><text:p>gone</text:p></text:deletion>"
    deleted += "</text:changed-region></text:tracked-changes>"
    contents = (
        "<text:table-of-content><text:index-body><text:p>Sea 1</text:p></text:index-body></text:table-of-content>"
    )
    assert [block.text for block in read(f"{deleted}{contents}<text:p>Here.</text:p>").blocks] == ["Here."]


def test_pages_are_counted_where_they_are_marked() -> None:
    marked = read(
        "<text:p>One.</text:p><text:soft-page-break/><text:p>T<text:soft-page-break/>wo.</text:p><text:p>3.</text:p>"
    )
    assert [block.page for block in marked.blocks] == [1, 2, 3]
    assert read("<text:p>One.</text:p>").blocks[0].page is None


def test_a_password_is_told_and_damage_is_an_error() -> None:
    manifest = '<m:manifest xmlns:m="urn:oasis:names:tc:opendocument:xmlns:manifest:1.0"><m:file-entry>'
    manifest += "<m:encryption-data/></m:file-entry></m:manifest>"
    file = io.BytesIO(written("<text:p>x</text:p>"))
    with zipfile.ZipFile(file, "a") as archive:
        archive.writestr("META-INF/manifest.xml", manifest)
    with pytest.raises(SourceError, match="protected by a password"):
        read_bytes(file.getvalue(), "tides.odt")
    with pytest.raises(SourceError, match=r"tides\.odt cannot be read as \.odt"):
        read_bytes(written("<text:p>x</text:p>")[:200], "tides.odt")
