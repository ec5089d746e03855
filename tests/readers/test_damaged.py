"""Damaged files of every format, and made-up ones: read as far as it goes in time, or refused with a reason."""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Callable

import pytest
from cited import passages
from sample_files.damage import damaged
from sample_files.valid_files import NAMES, odt, sound, zipped

from semsearch.errors import SemsearchError, SourceError
from semsearch.readers.read import read_bytes

_TRIES = 30  # of each format; thousands were tried once


@pytest.mark.parametrize("name", NAMES)
def test_a_sound_file_is_read_as_what_it_is(name: str) -> None:
    document = read_bytes(sound(name), name)
    assert any("Größe 1" in block.text for block in document.blocks)


@pytest.mark.parametrize("name", NAMES)
def test_a_damaged_file_is_read_in_part_or_refused(name: str) -> None:
    for number in range(_TRIES):
        check(damaged(sound(name, 1 + number % 2), (name, number)), name)


@pytest.mark.parametrize("name", NAMES)
def test_a_file_cut_short_anywhere_is_read_in_part_or_refused(name: str) -> None:
    whole = sound(name)
    for part in range(20):
        check(whole[: part * len(whole) // 20], name)


@pytest.mark.parametrize("name", NAMES)
def test_a_file_with_nothing_in_it_has_no_sentences_or_is_refused(name: str) -> None:
    for empty in (b"", b"\xef\xbb\xbf", b" \n\n", b"\n" * 300):
        assert check(empty, name) == 0


def check(data: bytes, name: str) -> int:
    """Read a file: how many passages it has, which are those of a document; none if it is refused, by its name."""
    try:
        document = read_bytes(data, name)
    except SemsearchError as error:
        if name not in str(error):
            raise
        return 0
    assert all(0 <= block.start <= len(document.source) for block in document.blocks)
    json.dumps(dict(document.metadata), allow_nan=False)
    found = passages(document)
    assert all(passage.sentences for passage in found)
    return len(found)


def test_one_broken_message_does_not_cost_the_mailbox() -> None:
    whole = sound("tide.mbox")
    broken = whole.replace(
        b"From ann", b"From x@y.org Wed May  1 10:00:00 2024\nSubject: Broken\n\n\0\0\0\n\nFrom ann", 1
    )
    document = read_bytes(broken, "tide.mbox")
    assert [block.text for block in document.blocks if block.level] == ["Broken", "Höhe 1", "Höhe 2"]
    (omission,) = (omission for omission in document.omissions if omission.kind == "damaged parts")
    assert omission.count == 1
    assert "message 1 looks binary" in omission.detail


@pytest.mark.parametrize(
    ("name", "member", "kept"),
    [
        ("tide.pptx", "ppt/notesSlides/notesSlide1.xml", "Größe 1"),
        ("tide.docx", "docProps/core.xml", "Größe 1"),
        ("tide.epub", "0.xhtml", "Größe 2"),
        ("tide.xlsx", "docProps/core.xml", "Größe 1"),
    ],
)
def test_one_broken_part_does_not_cost_the_document(name: str, member: str, kept: str) -> None:
    document = read_bytes(with_member(sound(name), member, b"\0<broken"), name)
    assert any(kept in block.text for block in document.blocks)
    assert [omission.kind for omission in document.omissions] == ["damaged parts"]
    assert member in document.omissions[0].detail


def test_a_document_of_broken_parts_only_is_refused() -> None:
    closed = with_member(with_member(sound("tide.epub"), "0.xhtml", b"\0"), "1.xhtml", b"\0")
    with pytest.raises(SourceError, match=r"tide\.epub has no part that can be read"):
        read_bytes(closed, "tide.epub")


def test_one_line_that_is_nested_too_deeply_does_not_cost_the_records() -> None:
    document = read_bytes(b'{"a": "one"}\n' + b"[" * 50_000 + b'\n{"a": "two"}\n', "a.jsonl")
    assert [block.text[:6] for block in document.blocks] == ["a: one", "[[[[[[", "a: two"]


@pytest.mark.parametrize("name", ["a.org", "a.tex"])
def test_marks_that_are_never_closed_stay_as_they_are(name: str) -> None:
    text = "*one *two _three `four\nfive"
    assert [" ".join(block.text.split()) for block in read_bytes(text.encode(), name).blocks] == [
        " ".join(text.split())
    ]


def with_member(data: bytes, member: str, content: bytes) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as old, zipfile.ZipFile(file, "w") as new:
        assert member in old.namelist()
        for name in old.namelist():
            new.writestr(name, content if name == member else old.read(name))
    return file.getvalue()


# -- Small archives that take minutes or gigabytes ---------------------------------------------------------------------

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
