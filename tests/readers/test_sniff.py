"""Files that are not what their names say: read as what they are, or refused with that as the reason."""

from __future__ import annotations

import io
import zipfile

import pytest

from semsearch.errors import SourceError
from semsearch.readers.read import read_bytes
from semsearch.readers.sniff import format_by_content


def zipped(**members: str) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        for name, content in members.items():
            archive.writestr(name.replace("__", "/").replace("_dot_", "."), content)
    return file.getvalue()


def test_a_pdf_under_another_name_is_a_pdf() -> None:
    pytest.importorskip("pypdfium2")
    canvas = pytest.importorskip("reportlab.pdfgen.canvas")
    file = io.BytesIO()
    page = canvas.Canvas(file)
    page.drawString(50, 500, "The sea moves.")
    page.save()
    for name in ("a.txt", "a.md", "a.docx", "Makefile", "a.pdf"):
        document = read_bytes(file.getvalue(), name)
        assert (document.format, document.blocks[0].text) == ("pdf", "The sea moves.")
    assert format_by_content(b"\xef\xbb\xbf\n" + file.getvalue()) in ("pdf", None)


def test_office_files_are_told_by_what_is_in_them() -> None:
    docx = pytest.importorskip("docx")
    file = io.BytesIO()
    document = docx.Document()
    document.add_paragraph("The sea moves.")
    document.save(file)
    for name in ("a.txt", "a.xlsx", "a.zip", "a.docx"):
        read = read_bytes(file.getvalue(), name)
        assert (read.format, read.blocks[0].text) == ("docx", "The sea moves.")


@pytest.mark.parametrize("data", [b"\x89PNG\r\n\x1a\n\0\0", b"\x7fELF\x02\x01\0\0", zipped(a="words")])
@pytest.mark.parametrize("name", ["notes.txt", "notes.md", "notes"])
def test_what_is_no_text_is_refused(data: bytes, name: str) -> None:
    with pytest.raises(SourceError, match="looks binary"):
        read_bytes(data, name)


@pytest.mark.parametrize(
    "text", ["{json: no}", "Peter.", "GIF89 is old.", "Rare words.", "ID3 tags.", "%PD", "f", "S", "7"]
)
def test_text_that_begins_like_a_sign_is_text(text: str) -> None:
    assert read_bytes(text.encode(), "a.txt").blocks[0].text == text


PAGE = "<!DOCTYPE html>\n<html><head><title>Tides</title></head><body><h1>The sea</h1><p>It moves.</p></body></html>"


@pytest.mark.parametrize("page", [PAGE, "\ufeff  " + PAGE, '<?xml version="1.0"?>\n<!-- by hand -->\n' + PAGE[16:]])
@pytest.mark.parametrize("name", ["page.txt", "page", "page.php5"])
def test_a_web_page_called_text_is_read_as_a_web_page(page: str, name: str) -> None:
    document = read_bytes(page.encode(), name)
    assert (document.format, document.title, document.blocks[-1].text) == ("html", "Tides", "It moves.")


def test_a_mailbox_needs_no_ending() -> None:
    box = b"From a@example.org Mon Jan  1 10:00:00 2024\nFrom: a@example.org\nSubject: Tides\n\nThe sea moves.\n"
    assert read_bytes(box, "Inbox").format == "mail"
    assert read_bytes(b"From here on it is 10:00:00 or so.\nWords.", "Inbox").format == "text"
