"""Write made-up paragraphs as files of many formats, each with the least that a program of its kind writes."""

from __future__ import annotations

import csv
import html
import io
import json
import zipfile
from collections.abc import Callable, Sequence
from xml.sax.saxutils import escape

_LINES = 60  # of a page
_WIDTH = 90  # characters of a line of a page
_OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_PACKAGE = "http://schemas.openxmlformats.org/package/2006/relationships"


def _marked(paragraphs: Sequence[str], heading: str, mark: Callable[[str], str]) -> bytes:
    """A heading, then paragraphs of which every third has a word marked."""
    texts = [mark(text) if number % 3 == 0 else text for number, text in enumerate(paragraphs)]
    return "\n\n".join([heading, *texts, ""]).encode()


def _around(before: str, after: str) -> Callable[[str], str]:
    def mark(text: str) -> str:
        first, _, rest = text.partition(" ")
        return f"{first} {before}marked{after} {rest}"

    return mark


def _html(paragraphs: Sequence[str]) -> bytes:
    body = "".join(f"<p>{html.escape(text)}</p>\n" for text in paragraphs)
    return f"<!doctype html><title>About</title>\n<h1>About</h1>\n{body}".encode()


def _python(paragraphs: Sequence[str]) -> bytes:
    functions = (f'def f{number}(x):\n    """{text}"""\n    return x\n' for number, text in enumerate(paragraphs))
    return "\n\n".join(functions).encode()


def _notebook(paragraphs: Sequence[str]) -> bytes:
    cells = [{"cell_type": "markdown", "metadata": {}, "source": [text]} for text in paragraphs]
    return json.dumps({"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}, indent=1).encode()


def _json_lines(paragraphs: Sequence[str]) -> bytes:
    return "".join(json.dumps({"id": number, "text": text}) + "\n" for number, text in enumerate(paragraphs)).encode()


def _table(paragraphs: Sequence[str]) -> bytes:
    written = io.StringIO()
    csv.writer(written).writerows([("id", "text"), *enumerate(paragraphs)])
    return written.getvalue().encode()


def _mail(paragraphs: Sequence[str]) -> bytes:
    head = "From a@example.org Mon Jan  1 00:00:00 2024\nFrom: a@example.org\nSubject: About {}\n\n{}\n\n"
    return "".join(head.format(number, text) for number, text in enumerate(paragraphs)).encode()


def _zipped(files: dict[str, str]) -> bytes:
    written = io.BytesIO()
    with zipfile.ZipFile(written, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return written.getvalue()


def _related(target: str, kind: str) -> str:
    return (
        f'<Relationships xmlns="{_PACKAGE}"><Relationship Id="rId1" Type="{_OFFICE}/{kind}" Target="{target}"/>'
        "</Relationships>"
    )


def _docx(paragraphs: Sequence[str]) -> bytes:
    space = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
    body = "".join(f"<w:p><w:r><w:t>{escape(text)}</w:t></w:r></w:p>" for text in paragraphs)
    document = f'<w:document xmlns:w="{space}"><w:body>{body}</w:body></w:document>'
    return _zipped({"_rels/.rels": _related("word/document.xml", "officeDocument"), "word/document.xml": document})


def _xlsx(paragraphs: Sequence[str]) -> bytes:
    main = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
    rows = "".join(
        f'<row r="{number}"><c r="A{number}" t="inlineStr"><is><t>{escape(text)}</t></is></c></row>'
        for number, text in enumerate(paragraphs, start=1)
    )
    sheets = '<sheets><sheet name="Sheet1" sheetId="1" r:id="rId1"/></sheets>'
    return _zipped(
        {
            "_rels/.rels": _related("xl/workbook.xml", "officeDocument"),
            "xl/workbook.xml": f'<workbook xmlns="{main}" xmlns:r="{_OFFICE}">{sheets}</workbook>',
            "xl/_rels/workbook.xml.rels": _related("worksheets/sheet1.xml", "worksheet"),
            "xl/worksheets/sheet1.xml": f'<worksheet xmlns="{main}"><sheetData>{rows}</sheetData></worksheet>',
        }
    )


def _odt(paragraphs: Sequence[str]) -> bytes:
    office = "urn:oasis:names:tc:opendocument:xmlns:office:1.0"
    text = "urn:oasis:names:tc:opendocument:xmlns:text:1.0"
    body = "".join(f"<text:p>{escape(paragraph)}</text:p>" for paragraph in paragraphs)
    return _zipped(
        {
            "mimetype": "application/vnd.oasis.opendocument.text",
            "content.xml": f'<office:document-content xmlns:office="{office}" xmlns:text="{text}"><office:body>'
            f"<office:text>{body}</office:text></office:body></office:document-content>",
        }
    )


def _pdf(paragraphs: Sequence[str]) -> bytes:
    """Pages of lines in Helvetica, as many words on a line as there is room for."""
    lines = [line for text in paragraphs for line in (*_wrapped(text), "")]
    pages = [lines[first : first + _LINES] for first in range(0, len(lines), _LINES)]
    kids = " ".join(f"{4 + 2 * number} 0 R" for number in range(len(pages)))
    objects = [
        "<< /Type /Catalog /Pages 2 0 R >>",
        f"<< /Type /Pages /Count {len(pages)} /Kids [{kids}] >>",
        "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>",
    ]
    for number, page in enumerate(pages):
        shown = "".join(f"({line}) Tj T*\n" for line in page)
        stream = f"BT /F1 10 Tf 12 TL 50 780 Td\n{shown}ET"
        objects += [
            "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Resources << /Font << /F1 3 0 R >> >> "
            f"/Contents {5 + 2 * number} 0 R >>",
            f"<< /Length {len(stream)} >>\nstream\n{stream}\nendstream",
        ]
    return _numbered(objects)


def _wrapped(text: str) -> list[str]:
    lines = [""]
    for word in text.encode("ascii", "ignore").decode().replace("\\", "").replace("(", "").replace(")", "").split():
        if lines[-1] and len(lines[-1]) + len(word) >= _WIDTH:
            lines.append("")
        lines[-1] = f"{lines[-1]} {word}".lstrip()
    return lines


def _numbered(objects: Sequence[str]) -> bytes:
    """The objects of a PDF, and where each begins."""
    written, offsets = bytearray(b"%PDF-1.4\n"), []
    for number, content in enumerate(objects, start=1):
        offsets.append(len(written))
        written += f"{number} 0 obj\n{content}\nendobj\n".encode()
    table = "".join(f"{offset:010} 00000 n \n" for offset in offsets)
    end = f"trailer << /Size {len(objects) + 1} /Root 1 0 R >>\nstartxref\n{len(written)}\n%%EOF\n"
    return bytes(written) + f"xref\n0 {len(objects) + 1}\n0000000000 65535 f \n{table}{end}".encode()


MAKERS: dict[str, Callable[[Sequence[str]], bytes]] = {  # by suffix
    ".txt": lambda paragraphs: "\n\n".join(paragraphs).encode(),
    ".md": lambda paragraphs: _marked(paragraphs, "# About", _around("**", "** [and linked](http://example.org) by")),
    ".rst": lambda paragraphs: _marked(paragraphs, "About\n=====", _around("*", "* `and linked <http://e.org>`__ by")),
    ".html": _html,
    ".org": lambda paragraphs: _marked(paragraphs, "* About", _around("*", "* [[http://example.org][and linked]] by")),
    ".tex": lambda paragraphs: _marked(paragraphs, "\\section{About}", _around("\\emph{", "}")),
    ".py": _python,
    ".ipynb": _notebook,
    ".jsonl": _json_lines,
    ".csv": _table,
    ".mbox": _mail,
    ".docx": _docx,
    ".xlsx": _xlsx,
    ".odt": _odt,
    ".pdf": _pdf,
}
