"""Small archives that somebody made so that they take minutes or gigabytes: each is read in time, or refused."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from sample_files.valid_files import odt, zipped

from semsearch.readers.read import read_bytes

RELATIONS = "http://schemas.openxmlformats.org/package/2006/relationships"
OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
W = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'
P = (
    'xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main" '
    f'xmlns:p="http://schemas.openxmlformats.org/presentationml/2006/main" xmlns:r="{OFFICE}"'
)
S = f'xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main" xmlns:r="{OFFICE}"'
LONG = "the sea moves " * 1000


def relations(**targets: str) -> str:
    each = (f'<Relationship Id="{kind}" Type="{OFFICE}/{kind}" Target="{path}"/>' for kind, path in targets.items())
    return f'<Relationships xmlns="{RELATIONS}">{"".join(each)}</Relationships>'


def docx(body: str, styles: str = "") -> bytes:
    return zipped(
        {
            "_rels/.rels": relations(officeDocument="word/document.xml"),
            "word/document.xml": f"<w:document {W}><w:body>{body}</w:body></w:document>",
            "word/_rels/document.xml.rels": relations(styles="styles.xml"),
            "word/styles.xml": f"<w:styles {W}>{styles}</w:styles>",
        }
    )


def pptx(slide: str, *, times: int = 1) -> bytes:
    slides = '<p:sldId r:id="slide"/>' * times
    return zipped(
        {
            "_rels/.rels": relations(officeDocument="ppt/talk.xml"),
            "ppt/talk.xml": f"<p:presentation {P}><p:sldIdLst>{slides}</p:sldIdLst></p:presentation>",
            "ppt/_rels/talk.xml.rels": relations(slide="slide.xml"),
            "ppt/slide.xml": f"<p:sld {P}>{slide}</p:sld>",
        }
    )


def xlsx(rows: str, shared: str = "", name: str = "A") -> bytes:
    return zipped(
        {
            "_rels/.rels": relations(officeDocument="xl/workbook.xml"),
            "xl/workbook.xml": f'<workbook {S}><sheets><sheet name="{name}" r:id="worksheet"/></sheets></workbook>',
            "xl/_rels/workbook.xml.rels": relations(worksheet="sheet.xml", sharedStrings="strings.xml"),
            "xl/sheet.xml": f"<worksheet {S}><sheetData>{rows}</sheetData></worksheet>",
            "xl/strings.xml": f"<sst {S}>{shared}</sst>",
        }
    )


def epub(page: str, *, times: int) -> bytes:
    items = '<item id="a" href="a.xhtml" media-type="text/html"/>'
    spine = '<itemref idref="a"/>' * times
    book = f'<package xmlns="http://www.idpf.org/2007/opf"><manifest>{items}</manifest><spine>{spine}</spine></package>'
    root = '<rootfile full-path="book.opf"/>'
    container = f'<container xmlns="urn:oasis:names:tc:opendocument:xmlns:container">{root}</container>'
    return zipped({"META-INF/container.xml": container, "book.opf": book, "a.xhtml": page})


def nested(tag: str, inner: str, depth: int = 200) -> str:
    return f"<{tag}>" * depth + inner + f"</{tag.partition(' ')[0]}>" * depth


NESTED: dict[str, Callable[[], bytes]] = {
    "a.docx": lambda: docx(
        f"<w:tbl>{nested('w:tr', f'<w:tc><w:p><w:r><w:t>{LONG}</w:t></w:r></w:p></w:tc>', 50)}</w:tbl>"
    ),
    "b.docx": lambda: docx(f"<w:tbl><w:tr><w:tc>{nested('w:p', f'<w:t>{LONG}</w:t>')}</w:tc></w:tr></w:tbl>"),
    "a.odt": lambda: odt(
        f"<table:table><table:table-row><table:table-cell>{nested('text:p', LONG)}</table:table-cell>"
        "</table:table-row></table:table>"
    ),
    "a.pptx": lambda: pptx(nested("p:sp", nested("a:tr", nested("a:tc", f"<a:p><a:t>{LONG}</a:t></a:p>", 50), 50), 50)),
    "b.pptx": lambda: pptx(f"<p:sp>{nested('a:p', f'<a:t>{LONG}</a:t>')}</p:sp>", times=100),
    "a.xlsx": lambda: xlsx(f'<row r="1">{nested("c", f"<v>{LONG}</v>")}</row>'.replace("<c>", '<c t="str">')),
    "a.epub": lambda: epub(f"<p>{LONG}</p>", times=100),
}


@pytest.mark.parametrize("name", NESTED)
def test_what_stands_within_its_own_kind_or_is_named_again_is_read_once(name: str) -> None:
    assert len(read_bytes(NESTED[name](), name).source) < 2.1 * len(LONG)


def test_styles_that_are_based_on_each_other_in_a_circle_are_no_headings() -> None:
    circle = "".join(f'<w:style w:styleId="{n}"><w:basedOn w:val="{(n + 1) % 3}"/></w:style>' for n in range(3))
    body = '<w:p><w:pPr><w:pStyle w:val="0"/></w:pPr><w:r><w:t>Tides</w:t></w:r></w:p>'
    assert read_bytes(docx(body, circle), "a.docx").blocks[0].level == 0
