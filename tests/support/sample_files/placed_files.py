"""Files of units with places of their own (slides, rows, cells, messages), as each format's usual writer makes them.

A unit is some sentences. Each kind of file says which sentences come out of a unit, each with its place, and opens a
file again by the format's own library, to give what stands at a place.
"""

from __future__ import annotations

import csv
import io
import json
import mailbox
import re
import tempfile
import zipfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from email.message import EmailMessage
from html import escape
from pathlib import Path
from typing import Any

from lxml import etree, html

Units = Sequence[Sequence[str]]
Cited = tuple[str, int | None, str | None]  # a sentence with its page and place
_TEXT = "urn:oasis:names:tc:opendocument:xmlns:text:1.0"
_NUMBER = re.compile(r"\d+")


@dataclass(frozen=True, slots=True)
class PlacedKind:
    """A kind of file, by a file's name."""

    name: str
    write: Callable[[Units], bytes]
    cite: Callable[
        [int, Sequence[str]], list[Cited]
    ]  # the sentences of a unit, counted from 1, as they are to be found
    text_at: Callable[[Path, int | None, str], str]  # what stands on a page, at a place


def joined(unit: Sequence[str]) -> str:
    return " ".join(unit)


def plainly(place: str, *, page: bool = False) -> Callable[[int, Sequence[str]], list[Cited]]:
    """Each sentence as it is, at the place with the unit's number."""
    return lambda number, unit: [(text, number if page else None, place.format(number)) for text in unit]


def first_number(place: str) -> int:
    found = _NUMBER.search(place)
    assert found is not None, place
    return int(found[0])


def saved(document: Any) -> bytes:
    file = io.BytesIO()
    document.save(file)
    return file.getvalue()


def write_docx(units: Units) -> bytes:
    """A page for each unit, as Word says that it has laid them out."""
    import docx
    from docx.oxml import OxmlElement

    document = docx.Document()
    for number, unit in enumerate(units):
        paragraph = document.add_paragraph()
        if number:
            paragraph.add_run()._r.append(OxmlElement("w:lastRenderedPageBreak"))
        paragraph.add_run(joined(unit))
    return saved(document)


def docx_at(path: Path, page: int | None, place: str) -> str:
    import docx

    document = docx.Document(str(path))
    number = first_number(place)
    if place.startswith("table"):
        row = document.tables[number - 1].rows[int(place.rpartition(" ")[2]) - 1]
        return " ".join(cell.text for cell in row.cells)
    before = [p._p.xpath(".//w:lastRenderedPageBreak") for p in document.paragraphs[:number]]
    assert page in (None, 1 + sum(map(len, before)))
    return str(document.paragraphs[number - 1].text)


def write_pptx(units: Units) -> bytes:
    import pptx

    talk = pptx.Presentation()
    for unit in units:
        slide = talk.slides.add_slide(talk.slide_layouts[6])
        slide.shapes.add_textbox(0, 0, 9, 9).text_frame.text = joined(unit[:-1])
        slide.notes_slide.notes_text_frame.text = unit[-1]
    return saved(talk)


def cite_pptx(number: int, unit: Sequence[str]) -> list[Cited]:
    return [*((text, None, f"slide {number}") for text in unit[:-1]), (unit[-1], None, f"slide {number}, notes")]


def pptx_at(path: Path, page: int | None, place: str) -> str:
    import pptx

    slide = pptx.Presentation(str(path)).slides[first_number(place) - 1]
    if place.endswith("notes"):
        return str(slide.notes_slide.notes_text_frame.text)
    return " ".join(shape.text_frame.text for shape in slide.shapes if shape.has_text_frame)


def write_xlsx(units: Units) -> bytes:
    import openpyxl

    book = openpyxl.Workbook()
    book.active.title = "Tides & co"
    for number, unit in enumerate(units, start=1):
        book.active.cell(number, 2, joined(unit))
    return saved(book)


def xlsx_at(path: Path, page: int | None, place: str) -> str:
    import openpyxl

    sheet, _, cells = place.rpartition("!")
    rows = openpyxl.load_workbook(path)[sheet][cells if ":" in cells else f"{cells}:{cells}"]
    return " ".join(str(cell.value) for row in rows for cell in row if cell.value is not None)


def write_odt(units: Units) -> bytes:
    names = f'xmlns:office="urn:oasis:names:tc:opendocument:xmlns:office:1.0" xmlns:text="{_TEXT}"'
    paragraphs = "<text:soft-page-break/>".join(f"<text:p>{escape(joined(unit))}</text:p>" for unit in units)
    body = f"<office:body><office:text>{paragraphs}</office:text></office:body>"
    return zipped(
        {
            "mimetype": "application/vnd.oasis.opendocument.text",
            "content.xml": f"<office:document-content {names}>{body}</office:document-content>",
        }
    )


def odt_at(path: Path, page: int | None, place: str) -> str:
    with zipfile.ZipFile(path) as archive:
        tree = etree.fromstring(archive.read("content.xml"))
    paragraph = list(tree.iter(f"{{{_TEXT}}}p"))[first_number(place) - 1]
    breaks = [
        other for other in tree.iter(f"{{{_TEXT}}}soft-page-break") if other in paragraph.itersiblings(preceding=True)
    ]
    assert page in (None, 1 + len(breaks))
    return "".join(paragraph.itertext())


def write_epub(units: Units) -> bytes:
    """A chapter for each unit, in a file of its own and under no heading."""
    pages = {f"text/{number}.xhtml": f"<p>{escape(joined(unit))}</p>" for number, unit in enumerate(units, start=1)}
    items = "".join(
        f'<item id="c{n}" href="{path}" media-type="application/xhtml+xml"/>' for n, path in enumerate(pages)
    )
    spine = "".join(f'<itemref idref="c{n}"/>' for n in range(len(pages)))
    links = "".join(f'<a href="{path}">Chapter {n}</a>' for n, path in enumerate(pages, start=1))
    items += '<item id="t" href="nav.xhtml" media-type="application/xhtml+xml" properties="nav"/>'
    head = '<metadata xmlns:dc="http://purl.org/dc/elements/1.1/"><dc:title>Of tides</dc:title></metadata>'
    name = 'xmlns="urn:oasis:names:tc:opendocument:xmlns:container"'
    wrap = '<html xmlns="http://www.w3.org/1999/xhtml"><body>{}</body></html>'
    return zipped(
        {
            "mimetype": "application/epub+zip",
            "META-INF/container.xml": f'<container {name}><rootfile full-path="OPS/book.opf"/></container>',
            "OPS/book.opf": f'<package xmlns="http://www.idpf.org/2007/opf">{head}<manifest>{items}</manifest>'
            f"<spine>{spine}</spine></package>",
            "OPS/nav.xhtml": wrap.format(links),
            **{f"OPS/{path}": wrap.format(body) for path, body in pages.items()},
        }
    )


def epub_at(path: Path, page: int | None, place: str) -> str:
    file = place.rpartition("(")[2].removesuffix(")")
    with zipfile.ZipFile(path) as archive:
        return str(html.document_fromstring(archive.read(file)).text_content())


def zipped(members: dict[str, str]) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return file.getvalue()


def write_ipynb(units: Units) -> bytes:
    from nbformat import v4, writes

    cells = [(v4.new_raw_cell, v4.new_markdown_cell)[n % 2](joined(unit)) for n, unit in enumerate(units)]
    for number, cell in enumerate(cells):
        cell["id"] = f"cell-{number}"
    return str(writes(v4.new_notebook(cells=cells))).encode()


def ipynb_at(path: Path, page: int | None, place: str) -> str:
    import nbformat

    return str(nbformat.read(path, as_version=4).cells[first_number(place) - 1].source)


def write_mbox(units: Units) -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        box = mailbox.mbox(Path(folder) / "all.mbox")
        for unit in units:
            message = EmailMessage()
            message.set_content("\n\n".join(unit) + "\n", cte="base64")  # which has no lines of its own
            box.add(message)
        box.close()
        return (Path(folder) / "all.mbox").read_bytes()


def mbox_at(path: Path, page: int | None, place: str) -> str:
    box = mailbox.mbox(path, create=False)
    try:
        payload = box[first_number(place) - 1].get_payload(decode=True)
    finally:
        box.close()
    assert isinstance(payload, bytes)
    return payload.decode()


def write_csv(units: Units) -> bytes:
    file = io.StringIO()
    csv.writer(file).writerows([number, joined(unit)] for number, unit in enumerate(units, start=1))
    return file.getvalue().encode()


def cite_csv(number: int, unit: Sequence[str]) -> list[Cited]:
    return [(f"{number} {text}" if text is unit[0] else text, None, f"row {number}") for text in unit]


def csv_at(path: Path, page: int | None, place: str) -> str:
    with path.open(encoding="utf-8", newline="") as file:
        return " ".join(list(csv.reader(file))[first_number(place) - 1])


def write_jsonl(units: Units) -> bytes:
    return "".join(json.dumps({"what": joined(unit)}) + "\n" for unit in units).encode()


def cite_jsonl(number: int, unit: Sequence[str]) -> list[Cited]:
    return [(f"what: {text}" if text is unit[0] else text, None, f"record {number}") for text in unit]


def jsonl_at(path: Path, page: int | None, place: str) -> str:
    record = json.loads(path.read_text(encoding="utf-8").split("\n")[first_number(place) - 1])
    return " ".join(f"{name}: {value}" for name, value in record.items())


KINDS = (
    PlacedKind("paper.docx", write_docx, plainly("paragraph {}", page=True), docx_at),
    PlacedKind("talk.pptx", write_pptx, cite_pptx, pptx_at),
    PlacedKind("book.xlsx", write_xlsx, plainly("Tides & co!B{}"), xlsx_at),
    PlacedKind("paper.odt", write_odt, plainly("paragraph {}", page=True), odt_at),
    PlacedKind("book.epub", write_epub, plainly("OPS/text/{0}.xhtml"), epub_at),
    PlacedKind("notes.ipynb", write_ipynb, plainly("cell {}"), ipynb_at),
    PlacedKind("all.mbox", write_mbox, plainly("message {}"), mbox_at),
    PlacedKind("rows.csv", write_csv, cite_csv, csv_at),
    PlacedKind("records.jsonl", write_jsonl, cite_jsonl, jsonl_at),
)
