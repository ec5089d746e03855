"""A folder of files of all formats, a fifth of them damaged, closed, misnamed, or made to harm."""

from __future__ import annotations

import io
import os
import random
import socket
import unicodedata
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from sample_files.damage import damaged
from sample_files.valid_files import NAMES, epub, odt, pdf, sound, zipped

_ODD_NAMES = (
    "emoji 🐚🌊.md", "line\nbreak.txt", "tab\there.md", "CON.txt", "nul.md", "-rf.txt", "$HOME.md", "a;b&c.txt",
    "'quoted\".md", "%s%n.txt", "[x].md", "spaces  .txt", "x" * 240 + ".md", "日本語.txt", "עברית.md", "\u202etxt.md",
)  # fmt: skip
_BOMB = 210_000_000  # bytes: more than any document may unpack to
_BILLION_LAUGHS = (
    '<!DOCTYPE x [<!ENTITY a "ha ha ha ha ha ha ha ha ha ha ">'
    + "".join(f'<!ENTITY {b} "{f"&{a};" * 10}">' for a, b in zip("abcdefgh", "bcdefghi", strict=True))
    + "]>"
)
_OUTSIDE = '<!DOCTYPE x [<!ENTITY i SYSTEM "file:///etc/hostname">]>'


def make(folder: Path, count: int) -> int:
    """Write `count` files, a fifth of them hostile or oddly named; returns how many are sound."""
    folder.mkdir()
    monsters = [*_monsters(), *_damaged(count // 5)][: count // 5 - len(_ODD_NAMES)]
    for number, (name, data) in enumerate(monsters):
        place = folder / f"part {number % 7}"
        place.mkdir(exist_ok=True)
        (place / f"{number} {name}").write_bytes(data)
    _special(folder)
    for number, name in enumerate(_ODD_NAMES):
        (folder / name).write_bytes(sound("tide.md", 2000 + number))
    for form in ("NFC", "NFD"):
        (folder / unicodedata.normalize(form, f"Größe {form}.md")).write_bytes(sound("tide.md", 3000 + len(form)))
    rest = count - len(monsters) - len(_ODD_NAMES) - 2
    for number in range(rest):
        name = NAMES[number % len(NAMES)]
        place = folder / f"sound {number % 11}"
        place.mkdir(exist_ok=True)
        # writers of Office files take their time: their files are alike
        (place / f"{number} {name}").write_bytes(sound(name, 5 if number % len(NAMES) > 11 else 10 + number))
    return rest + len(_ODD_NAMES) + 2


def _special(folder: Path) -> None:
    """Make entries that are no regular files, or a file with several names."""
    (folder / "loop").symlink_to(folder, target_is_directory=True)
    (folder / "itself.md").symlink_to(folder / "itself.md")
    (folder / "nowhere.txt").symlink_to(folder / "is not there")
    (folder / "two forms é.md").write_bytes(sound("tide.md", 4000))
    (folder / "two forms e\u0301.md").write_bytes(sound("tide.md", 4001))
    (folder / "folder.pdf").mkdir()
    os.mkfifo(folder / "pipe.txt")
    with socket.socket(socket.AF_UNIX) as listening:
        here = os.open(folder, os.O_RDONLY)  # a socket's path may have a hundred bytes
        try:
            listening.bind(f"/proc/self/fd/{here}/socket.md")
        finally:
            os.close(here)


def _damaged(count: int) -> Iterator[tuple[str, bytes]]:
    """Files of all formats with some damage."""
    for number in range(count):
        name = NAMES[number % len(NAMES)]
        yield name, damaged(sound(name, 1 + number % 2), number)


def _monsters() -> Iterator[tuple[str, bytes]]:
    """Each kind of trouble that is known."""
    yield from ((f"empty {name}", b"") for name in NAMES)
    yield from ((f"cut {name}", sound(name)[: len(sound(name)) * 2 // 3]) for name in NAMES)
    yield from ((f"zeros {name}", bytes(3000)) for name in NAMES)
    yield from ((f"noise {name}", random.Random(name).randbytes(3000)) for name in NAMES)
    yield from _wrong_endings()
    yield from _bombs()
    yield from _closed()
    yield from _endless()


def _wrong_endings() -> Iterator[tuple[str, bytes]]:
    yield "is a pdf.txt", sound("tide.pdf")
    yield "is a word file.pdf", sound("tide.docx")
    yield "is text.pdf", sound("tide.txt")
    yield "is text.docx", sound("tide.txt")
    yield "is a picture.md", b"\x89PNG\r\n\x1a\n" + bytes(100)
    yield "is a program.txt", b"\x7fELF" + bytes(100)
    yield "is no notebook.ipynb", b"[1, 2]"
    yield "is no mail.eml", b"Only words."


def _bombs() -> Iterator[tuple[str, bytes]]:
    bomb = bytes(_BOMB)
    yield "bomb.docx", _replaced(sound("tide.docx"), "word/document.xml", bomb)
    yield "bomb.xlsx", _replaced(sound("tide.xlsx"), "xl/worksheets/sheet1.xml", bomb)
    yield "bomb.epub", _replaced(epub("<p>a</p>", "<p>b</p>"), "0.xhtml", bomb)
    yield "bomb.odt", _replaced(odt("<text:p/>"), "content.xml", bomb)
    yield "many.docx", zipped({f"{number}": b"" for number in range(3000)})
    yield "tags.odt", odt("<text:p/>" * 410_000)
    yield "tags.html", b"<p>" * 210_000
    for number, start in enumerate((_BILLION_LAUGHS, _OUTSIDE)):
        names = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'
        body = f"{start}<w:document {names}><w:body><w:p><w:r><w:t>Ha &i;</w:t></w:r></w:p></w:body></w:document>"
        yield f"entities {number}.docx", _replaced(sound("tide.docx"), "word/document.xml", body.encode())
        yield f"entities {number}.xhtml", f"{start}<html><body>&i;</body></html>".encode()


def _closed() -> Iterator[tuple[str, bytes]]:
    from reportlab.lib.pdfencrypt import StandardEncryption

    def words(canvas: Any) -> None:
        canvas.drawString(50, 400, "Words.")

    yield "closed.pdf", pdf(words, encrypt=StandardEncryption("secret", canPrint=0))
    yield "scanned.pdf", pdf(lambda canvas: canvas.rect(10, 10, 100, 100))
    ole = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(3000)
    yield from ((f"closed.{kind}", ole) for kind in ("docx", "xlsx", "pptx", "doc"))


def _endless() -> Iterator[tuple[str, bytes]]:
    yield "line.txt", b"word " * 200_000
    yield "word.md", b"w" * 1_000_000
    yield "cell.csv", b'a,b\n1,"' + b"the sea " * 1_250_000 + b'"\n'
    yield "row.csv", b"," * 50_000
    yield "open.csv", b'a,"' * 50_000
    yield "deep.html", b"<div>" * 50_000
    yield "deep.ipynb", b'{"cells":' * 50_000
    yield "deep.jsonl", b"[" * 50_000
    yield "deep.md", b">" * 20_000 + b" a"
    yield "deep.py", b"(" * 5_000
    yield "deep.odt", odt("<text:span>" * 5_000 + "</text:span>" * 5_000)
    yield (
        "deep.eml",
        b"".join(b"Content-Type: multipart/mixed; boundary=b%d\n\n--b%d\n" % (number, number) for number in range(300)),
    )
    yield "marks.org", b"*a " * 20_000
    yield "braces.tex", b"\\footnote{" * 10_000
    yield "headers.eml", b"Subject: =?utf-8?q?" + b"=C3" * 10_000 + b"?=\n" * 3 + b"\nHi.\n"
    yield "zero bytes.txt", b"The sea.\0\0The moon.\n" * 100


def _replaced(data: bytes, member: str, content: bytes) -> bytes:
    file = io.BytesIO()
    with (
        zipfile.ZipFile(io.BytesIO(data)) as old,
        zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as new,
    ):
        assert member in old.namelist()
        for name in old.namelist():
            new.writestr(name, content if name == member else old.read(name))
    return file.getvalue()
