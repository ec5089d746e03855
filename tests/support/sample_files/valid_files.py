"""A small, sound file of every format, written by the format's own common writer: to be read, or to be damaged."""

from __future__ import annotations

import gzip
import io
import json
import tarfile
import zipfile
from collections.abc import Callable, Sequence
from email.message import EmailMessage
from functools import cache
from typing import Any, Literal

WORDS = "the moon pulls the sea and so it moves twice a day while every harbour waits for the water to come".split()
_OFFICE = " ".join(
    f'xmlns:{short}="urn:oasis:names:tc:opendocument:xmlns:{short}:1.0"' for short in ("office", "text", "table")
)
_PAGE = '<?xml version="1.0"?><html xmlns="http://www.w3.org/1999/xhtml"><body>{}</body></html>'


def prose(number: int, sentences: int = 3) -> str:
    """A paragraph that no other number has, with a letter that is not ASCII."""
    each = (" ".join(WORDS[(5 * number + 3 * n + m) % len(WORDS)] for m in range(9)) for n in range(sentences))
    return " ".join(f"{text.capitalize()}, Größe {number}." for text in each)


def sound(name: str, number: int = 1) -> bytes:
    """The bytes of a sound file: `name` is one of NAMES, other numbers give other text."""
    return _WRITERS[name](number)


def zipped(members: dict[str, str | bytes]) -> bytes:
    """A zip archive of these members."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return file.getvalue()


def odt(content: str) -> bytes:
    """An OpenDocument text with this body, as XML."""
    body = f"<office:body><office:text>{content}</office:text></office:body>"
    return zipped(
        {
            "mimetype": "application/vnd.oasis.opendocument.text",
            "content.xml": f"<office:document-content {_OFFICE}>{body}</office:document-content>",
        }
    )


def epub(*chapters: str) -> bytes:
    """A book with these chapters, as HTML."""
    pages = {f"{number}.xhtml": _PAGE.format(body) for number, body in enumerate(chapters)}
    items = "".join(f'<item id="c{page[0]}" href="{page}" media-type="application/xhtml+xml"/>' for page in pages)
    spine = "".join(f'<itemref idref="c{page[0]}"/>' for page in pages)
    roots = '<rootfiles><rootfile full-path="book.opf"/></rootfiles>'
    members: dict[str, str | bytes] = {
        "mimetype": "application/epub+zip",
        "META-INF/container.xml": (
            f'<container xmlns="urn:oasis:names:tc:opendocument:xmlns:container">{roots}</container>'
        ),
        "book.opf": (
            f'<package xmlns="http://www.idpf.org/2007/opf"><manifest>{items}</manifest><spine>{spine}</spine></package>'
        ),
    }
    return zipped(members | pages)


def pdf(draw: Callable[[Any], None], **options: Any) -> bytes:
    """A PDF that is drawn on reportlab's canvas."""
    from reportlab.pdfgen.canvas import Canvas

    file = io.BytesIO()
    canvas = Canvas(file, pagesize=(400, 500), invariant=1, **options)
    draw(canvas)
    canvas.save()
    return file.getvalue()


def _saved(document: Any) -> bytes:
    file = io.BytesIO()
    document.save(file)
    return file.getvalue()


def _pdf(number: int) -> bytes:
    def draw(canvas: Any) -> None:
        for page in range(2):
            for line, text in enumerate(prose(number + page).split(". ")):
                canvas.drawString(40, 450 - 14 * line, text + ".")
            canvas.showPage()

    return pdf(draw)


def _docx(number: int) -> bytes:
    from docx import Document

    document: Any = Document()
    document.add_heading(f"Tide {number}", 1)
    document.add_paragraph(prose(number))
    table = document.add_table(1, 2)
    table.rows[0].cells[0].text, table.rows[0].cells[1].text = "Köln", "3 m"
    return _saved(document)


def _pptx(number: int) -> bytes:
    from pptx import Presentation

    talk: Any = Presentation()
    slide = talk.slides.add_slide(talk.slide_layouts[1])
    slide.shapes.title.text, slide.placeholders[1].text = f"Tide {number}", prose(number)
    slide.notes_slide.notes_text_frame.text = "Say it slowly."
    return _saved(talk)


def _xlsx(number: int) -> bytes:
    from openpyxl import Workbook

    book: Any = Workbook()
    book.active.append(["Place", "Note", "Height"])
    for row in range(5):
        book.active.append(["Köln", prose(number + row), row / 2])
    return _saved(book)


def _odt(number: int) -> bytes:
    row = "<table:table-row><table:table-cell><text:p>Köln</text:p></table:table-cell></table:table-row>"
    heading = f'<text:h text:outline-level="1">Tide {number}</text:h>'
    return odt(f"{heading}<text:p>{prose(number)}</text:p><table:table>{row}</table:table>")


def _epub(number: int) -> bytes:
    return epub(f"<h1>Tide {number}</h1><p>{prose(number)}</p>", f"<p>{prose(number + 1)}</p>")


def _notebook(number: int) -> bytes:
    import nbformat.v4 as new
    from nbformat import writes

    cells: list[Any] = [new.new_markdown_cell(f"# Tide {number}\n\n{prose(number)}"), new.new_code_cell("tide = 3")]
    return str(writes(new.new_notebook(cells=cells))).encode()


def _mail(number: int) -> bytes:
    message = EmailMessage()
    message["Subject"], message["From"], message["To"] = f"Höhe {number}", "Ann Lee <ann@x.org>", "bob@y.org"
    message["Date"] = "Wed, 01 May 2024 10:00:00 +0200"
    message.set_content(prose(number))
    message.add_alternative(f"<p>{prose(number)}</p>", subtype="html")
    message.add_attachment(b"\x00\x01", maintype="image", subtype="png", filename="a.png")
    return message.as_bytes()


def _mailbox(number: int) -> bytes:
    return b"".join(b"From ann@x.org Wed May  1 10:00:00 2024\n" + _mail(number + n) + b"\n" for n in range(2))


def _text(template: str) -> Callable[[int], bytes]:
    return lambda number: template.format(n=number, one=prose(number), two=prose(number + 1)).encode()


_MARKDOWN = (
    "---\ntitle: Tide {n}\ntags: [sea]\n---\n\n# Tide {n}\n\n{one}\n\n- *{two}*\n\n| a | b |\n|---|---|\n| c | d |\n"
)
_RST = "Tide {n}\n=======\n\n:author: Ann\n\n{one}\n\n.. note:: {two}\n\n* ``one``\n"
_HTML = "<html><head><title>Tide {n}</title></head><body><h1>Tide</h1><p>{one}</p><table><tr><td>{two}</table></html>"
_ASCIIDOC = "= Tide {n}\n\n{one}\n\n== More https://x.org[link]\n* {two}\n\n|===\n|a |b\n|===\n----\nint x;\n----\n"
_MAN = ".TH TIDE 1\n.SH MORE\n.PP\n{one}\n.TP\n.B \\-x\n{two}\n.nf\nint x;\n.fi\n"
_ORG = "#+TITLE: Tide {n}\n* Tide\n{one}\n** More [[https://x.org][link]]\n- {two}\n#+BEGIN_SRC c\nint x;\n#+END_SRC\n"
_TEX = (
    "\\documentclass{{article}}\\title{{Tide {n}}}\\begin{{document}}\\section{{Sea}}{one}\n\n"
    "\\begin{{verbatim}}x\\end{{verbatim}} {two}\\footnote{{A note.}} $x^2$ \\'e\\end{{document}}\n"
)
_PYTHON = 'def tide(moon):\n    """{one}"""\n    return moon  # {two}\n'
_C = "/* {one} */\nint tide(int moon) {{\n  return moon; // {two}\n}}\n"
_SRT = "1\n00:00:01,000 --> 00:00:04,000\n<i>{one}</i>\n\n2\n00:00:05,000 --> 00:00:06,000\n{two}\n"


MANIFEST = '<manifest:manifest xmlns:manifest="urn:oasis:names:tc:opendocument:xmlns:manifest:1.0"/>'


def _open_document(kind: str, content: str) -> bytes:
    body = f"<office:body><office:{kind}>{content}</office:{kind}></office:body>"
    names = f'{_OFFICE} xmlns:draw="urn:oasis:names:tc:opendocument:xmlns:drawing:1.0"'
    return zipped(
        {
            "mimetype": f"application/vnd.oasis.opendocument.{kind}",
            "META-INF/manifest.xml": MANIFEST,
            "content.xml": f"<office:document-content {names}>{body}</office:document-content>",
        }
    )


def ods(*rows: Sequence[str]) -> bytes:
    """A spreadsheet with a sheet "Tides" of these rows."""
    cell = '<table:table-cell office:value-type="string"><text:p>{}</text:p></table:table-cell>'
    cells = ("".join(map(cell.format, row)) for row in rows)
    table = "".join(f"<table:table-row>{row}</table:table-row>" for row in cells)
    return _open_document("spreadsheet", f'<table:table table:name="Tides">{table}</table:table>')


def odp(*slides: str) -> bytes:
    """A presentation with a text on each slide."""
    frame = "<draw:page><draw:frame><draw:text-box><text:p>{}</text:p></draw:text-box></draw:frame></draw:page>"
    return _open_document("presentation", "".join(map(frame.format, slides)))


def taped(members: dict[str, bytes], mode: Literal["w:", "w:gz", "w:bz2", "w:xz"] = "w:gz") -> bytes:
    """An archive of tar with these members."""
    file = io.BytesIO()
    with tarfile.open(fileobj=file, mode=mode) as archive:
        for name, content in members.items():
            member = tarfile.TarInfo(name)
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))
    return file.getvalue()


_WRITERS: dict[str, Callable[[int], bytes]] = {
    "tide.txt": _text("Tide {n}\n======\n\n{one}\n\n{two}\n"),
    "tide.md": _text(_MARKDOWN),
    "tide.rst": _text(_RST),
    "tide.html": _text(_HTML),
    "tide.org": _text(_ORG),
    "tide.adoc": _text(_ASCIIDOC),
    "tide.man": _text(_MAN),
    "tide.tex": _text(_TEX),
    "tide.py": _text(_PYTHON),
    "tide.c": _text(_C),
    "tide.csv": _text('place,note,height\nKöln,"{one}",3\nRyde,{two},4\n'),
    "tide.tsv": _text("place\tnote\nKöln\t{one}\nRyde\t{two}\n"),
    "tide.jsonl": lambda number: "".join(
        json.dumps({"n": number, "note": prose(number + n), "in": {"tags": ["a", "b"]}}) + "\n" for n in range(2)
    ).encode(),
    "tide.ipynb": cache(_notebook),
    "tide.eml": _mail,
    "tide.mbox": _mailbox,
    "tide.docx": cache(_docx),
    "tide.pptx": cache(_pptx),
    "tide.xlsx": cache(_xlsx),
    "tide.odt": _odt,
    "tide.epub": _epub,
    "tide.pdf": cache(_pdf),
    "tide.srt": _text(_SRT),
    "tide.vtt": _text("WEBVTT\n\n" + _SRT),
    "tide.ods": lambda number: ods(["Place", "Note"], ["Köln", prose(number)]),
    "tide.odp": lambda number: odp(prose(number), prose(number + 1)),
    "tide.zip": lambda number: zipped(
        {"notes/a.md": _text(_MARKDOWN)(number), "b.txt": prose(number), "c.xhtml": _PAGE.format(prose(2))}
    ),
    "tide.tar.gz": lambda number: taped({"notes/a.md": _text(_MARKDOWN)(number), "b.txt": prose(number).encode()}),
    "tide.md.gz": lambda number: gzip.compress(_text(_MARKDOWN)(number)),
}
NAMES = tuple(_WRITERS)
OLD_WORKBOOK = (  # .xls, by zlib and base 85; made with xlwt: sheet "Tides", B2 a sentence, B3 3.5, C3 a day
    "c-rk)O=uHA6#izLG(R-Swx&WWl%-(R+6dyMmv&XEJ*8AB_=BLSS(?zAlua+{!D`J>5ClQ-Qm6+nRWJUaf*u49LPZaPAS8P9Bq(@jv%Y!RrD;"
    "WIpcX3gE%WB>`<Z#OGxKJ5-z_wkW*@efu?qcYK*b56u|_7SguELaq<0+2dUcSBqp+zE3erS2`tdCCHX!Fv&UYCa9{64n1-?)@g-HzMbC$7zI"
    "LI-igp8q&sK6bPMA61kwJ<%)bPLn_Z26q&ewJKg+DEn}aS{vWP<OApijQlZtcyan`<Q(`v1Bh=@kXxVOV>r!){g^rHZ`%y6dk@M%z-9!(8^i"
    "1ypQ27!oUeaBAHAK43rS3$)3Yc#{hnKyZWV}<Qpp&Ao;JA^1xr@L7K$X@*A2Dn1*wPH%So@7(S`-V<ell3XACFye&%t7|B@16v>Tj!6;Z0>H"
    "Ik(RWLHyu?*LiO`4ohn6$IGu{~j#?>Rr{EAm5x_e~SgG-Av*^X}0pz{Pvt-zP_h&C@KI<};z%`*s;999)(j<Q!#b18XJiW{=%WuW+l|m~Uqq"
    "rvXvjHQeelhiBO4Dr>u_pM8uE=8hVEC-KE^N1k*PznZ&<pC2q=h|hmCXVFO~S(^OiHG>|}BW~Z4cxrmJaI?&3rfq*@oS>%j2sAkE@fgDr?J>"
    "d61FnU}V_dd)!L3S*i+-8MZoby&zF%v>BWX&xYZ+lEC@3f>C@3f>D6B84Z?M((a36m*RNwIf?th&nDi!sc<iEvH<msBCkIF;HQElUVUF&Bn{"
    "K9KXtkK8&Unp^mdbcr-QI2E0?)6JwQ=)b}Yj)JvZwuAif2E!{|8f7n0l;6^GX"
)
