"""Which format a file is in, by its content; which files without a reader are text, and why the others are not."""

from __future__ import annotations

import base64
import io
import random
import zipfile
from pathlib import Path

import pytest

from semsearch.errors import SourceError
from semsearch.readers.read import read_bytes
from semsearch.readers.sniff import LARGEST, MISSING_OCR, format_by_content, refusal


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


# -- Files without a reader --------------------------------------------------------------------------------------------

PROSE = "The captain sails the ship across the storm, and the harbour waits.\n" * 20
TEXT = {
    "LICENSE": PROSE,
    "notes.foo": PROSE,
    "server.log": "2024-01-02 10:00:01 INFO the harbour is open for ships\n" * 50,
    "setup.cfg": "[metadata]\nname = harbour\ndescription = Ships and storms\n",
    "compose.yaml": "services:\n  harbour:\n    image: ships\n",
    "settings.json": '{"name": "harbour", "storms": ["high", "low"]}\n' * 20,
    "short": "x",
    "empty": "",
    "TODO": "-" * 79 + "\n* mend the ship\n" * 10 + "-" * 79,
    "chinese.foo": "船长驾船穿过风暴。" * 100,
    "rates.foo": "The rate was 3 percent in 1998 and 4 percent in 1999, as table 12 says.\n" * 20,
}
REFUSED = {
    "x.heic": (b"\0\0\0\x18ftypheic\0\0" + bytes(range(256)), "is binary"),
    "x.mp4": (b"\0\0\0\x18ftypisom\0\0" + bytes(range(256)), "is binary"),
    "x.bin": (random.Random(1).randbytes(4000), "is binary"),
    "x.zip": (b"", "is a zip archive"),
    "app.min.js.map": (b"{}", "is a source map"),
    "poetry.lock": (b"name = 1", "is a lock file"),
    "package-lock.json": (b"{}", "is a lock file"),
    "logo.SVG": (b"<svg></svg>", "is a drawing"),
    "plan.excalidraw": (b'{"type": "excalidraw"}', "is a drawing"),
    "style.css": (b"a { color: red }", "is a style sheet"),
    "app.bundle": (b"function(a){return(b.c(d)+e.f(g))};" * 100, "looks like a minified file"),
    "key.pem": (base64.encodebytes(bytes(range(256)) * 8), "looks like encoded data"),
    "table.dat": (b"0.125 12.5 1.5e3 99.25\n" * 100, "looks like a table of numbers"),
    "trace.foo": (b"the harbour is open\n" * (LARGEST // 20 + 1), "has 1,000,020 bytes"),
}


def test_what_can_be_made_readable_is_said_how(tmp_path: Path) -> None:
    (tmp_path / "a.foo").write_bytes(b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1\0")
    assert refusal(tmp_path / "a.foo", 10).endswith("; save it as .docx, .xlsx or .pptx without a password")
    (tmp_path / "a.png").write_bytes(b"\x89PNG\r\n\x1a\n\0")
    assert refusal(tmp_path / "a.png", 10) == f"is a picture; {MISSING_OCR}"


@pytest.mark.parametrize(
    "line",
    [
        "2024-01-02 10:00:01 INFO the harbour is open\n",
        "[2024-01-02T10:00:01.123Z] the harbour is open\n",
        "Jan  2 10:00:01 host sshd[12]: the harbour is open\n",
        '192.0.2.1 - ann [02/Jan/2024:10:00:01 +0000] "GET /harbour HTTP/1.1" 200\n',
    ],
)
def test_a_log_may_have_any_size_and_ending(tmp_path: Path, line: str) -> None:
    (tmp_path / "access_log.1").write_text(line * 400, encoding="utf-8")
    assert refusal(tmp_path / "access_log.1", 50 * LARGEST) == ""
    (tmp_path / "values.1").write_text("2024-01-02 10:00:01 0.125 12.5 99.25\n" * 400, encoding="utf-8")
    assert refusal(tmp_path / "values.1", 50 * LARGEST).startswith("has 50,000,000 bytes")


@pytest.mark.parametrize("name", TEXT)
def test_text_of_any_ending_is_read(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text(TEXT[name], encoding="utf-8")
    assert refusal(tmp_path / name, (tmp_path / name).stat().st_size) == ""


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_no_text_or_none_for_people_is_refused_with_the_reason(tmp_path: Path, name: str) -> None:
    data, reason = REFUSED[name]
    if name == "x.zip":
        file = io.BytesIO()
        with zipfile.ZipFile(file, "w") as archive:
            archive.writestr("a.txt", PROSE)
        data = file.getvalue()
    (tmp_path / name).write_bytes(data)
    assert refusal(tmp_path / name, len(data)).startswith(reason)


@pytest.mark.parametrize("data", [b"%PDF-1.7\n\0\0", b"<!DOCTYPE html><p>The sea moves."])
def test_formats_known_here_are_left_to_their_readers(tmp_path: Path, data: bytes) -> None:
    (tmp_path / "x.dat").write_bytes(data)
    assert refusal(tmp_path / "x.dat", len(data)) == ""
