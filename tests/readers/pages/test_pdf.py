"""PDF files, as reportlab writes them: what a reader of the pages would read, and on which page."""

from __future__ import annotations

import io
import re
from bisect import bisect_right
from collections.abc import Callable
from itertools import accumulate
from pathlib import Path
from typing import Any

import pytest
from cited import check_whole, cited_sentences, passages, sentences
from packages import needed

from semsearch import Index
from semsearch.errors import MissingExtra, SourceError
from semsearch.readers.document import Document, Omission
from semsearch.readers.read import read_bytes
from semsearch.readers.reader_process import end_reader_processes
from semsearch.readers.sniff import MISSING_OCR
from semsearch.word_vectors.table import VectorTable

needed("pypdfium2")
needed("reportlab")

WORDS = "the moon pulls the sea and so it moves twice a day while every harbour waits for the water to come".split()
_SIZE = (400.0, 500.0)


def prose(count: int, first: int = 0) -> list[str]:
    """Sentences that are all different and too long for one line."""
    return [
        f"Sentence {number} says that {' '.join(WORDS[(number * 7 + n) % len(WORDS)] for n in range(17))}."
        for number in range(first, first + count)
    ]


def drawn(draw: Callable[[Any], None], **options: Any) -> bytes:
    from reportlab.pdfgen.canvas import Canvas

    file = io.BytesIO()
    canvas = Canvas(file, pagesize=_SIZE, **options)
    draw(canvas)
    canvas.save()
    return file.getvalue()


def lines_on(
    canvas: Any, *lines: str, x: float = 40, y: float = 450, size: float = 10, font: str = "Helvetica"
) -> None:
    canvas.setFont("Helvetica", size)
    for number, line in enumerate(lines):
        canvas.drawString(x, y - 1.2 * size * number, line)


def flowing(paragraphs: list[str], *, columns: int = 1, heads: bool = False) -> bytes:
    """Paragraphs that flow through columns and pages; "# " begins a heading."""
    from reportlab.lib.enums import TA_JUSTIFY
    from reportlab.lib.styles import ParagraphStyle
    from reportlab.platypus import BaseDocTemplate, Frame, PageTemplate, Paragraph

    def edges(canvas: Any, document: Any) -> None:
        if heads:
            canvas.setFont("Helvetica", 8)
            canvas.drawString(40, 485, f"Of tides and harbours {document.page}")
            canvas.drawCentredString(200, 12, str(document.page))

    file = io.BytesIO()
    width = 320 / columns
    frames = [Frame(40 + width * n, 30, width - 8, 440, id=str(n)) for n in range(columns)]
    document = BaseDocTemplate(file, pagesize=_SIZE)
    document.addPageTemplates(PageTemplate(frames=frames, onPage=edges))
    text = ParagraphStyle("text", fontSize=9, leading=11, spaceAfter=6, alignment=TA_JUSTIFY)
    head = ParagraphStyle("head", fontSize=14, leading=17, spaceAfter=6)
    document.build([Paragraph(p.removeprefix("# "), head if p.startswith("# ") else text) for p in paragraphs])
    return file.getvalue()


def read(data: bytes) -> Document:
    return read_bytes(data, "tides.pdf")


def cited(document: Document) -> dict[str, tuple[int | None, str | None]]:
    """Page and place of each sentence."""
    return {" ".join(text.split()): (page, place) for text, page, place in cited_sentences(document)}


@pytest.mark.parametrize("columns", [1, 2])
def test_every_sentence_comes_once_whole_and_in_order(columns: int) -> None:
    wanted = prose(120)
    document = read(flowing([" ".join(wanted[n : n + 6]) for n in range(0, 120, 6)], columns=columns, heads=True))
    assert [" ".join(sentence.split()) for sentence in sentences(document)] == wanted
    check_whole(document, wanted)


def test_a_sentence_is_cited_on_the_page_where_it_begins() -> None:
    import pypdfium2

    wanted = prose(80)
    data = flowing([" ".join(wanted[n : n + 8]) for n in range(0, 80, 8)])
    pages = [page.get_textpage().get_text_range() for page in pypdfium2.PdfDocument(data)]
    assert len(pages) > 3
    cited = {}
    for passage in passages(read(data)):
        for sentence in passage.sentences:
            cited[" ".join(passage.text[sentence.start : sentence.end].split()[:2])] = passage.page
    ends = list(accumulate(len(page) for page in pages))
    for number in range(80):
        found = re.search(rf"Sentence\s+{number}\s", "".join(pages))
        assert found
        assert cited[f"Sentence {number}"] == bisect_right(ends, found.start()) + 1


def test_headings_are_told_by_size_and_the_largest_is_the_title() -> None:
    one, two = prose(3), prose(3, 10)
    document = read(flowing(["# High water", " ".join(one), "# Low water", " ".join(two)]))
    assert [(block.text, block.level) for block in document.blocks if block.level] == [
        ("High water", 1),
        ("Low water", 1),
    ]
    assert (document.title, document.format, document.metadata["pages"]) == ("High water", "pdf", 1)


def test_the_table_of_contents_says_what_is_a_heading_where_there_is_one() -> None:
    def draw(canvas: Any) -> None:
        for number, level in (("1", 0), ("1.1", 1)):
            canvas.bookmarkPage(number)
            canvas.addOutlineEntry(f"{number} About tides", number, level)
            lines_on(canvas, f"{number}  About tides", size=10)
            lines_on(canvas, "LARGE PRINT", y=400, size=20)
            canvas.showPage()

    document = read(drawn(draw))
    assert [(block.text, block.level, block.page) for block in document.blocks] == [
        ("1 About tides", 1, 1),
        ("LARGE PRINT", 0, 1),
        ("1.1 About tides", 2, 2),
        ("LARGE PRINT", 0, 2),
    ]


def test_running_heads_feet_and_page_numbers_are_left_out() -> None:
    def draw(canvas: Any) -> None:
        for page in range(1, 7):
            lines_on(canvas, f"Chapter {(page + 1) // 2}: Water {page + 10}", y=480, size=8)
            lines_on(canvas, f"The text of page {page} is this one here.", f"It has number {page}.")
            lines_on(canvas, "Draft of today", y=20, size=8)
            canvas.showPage()

    texts = [(f"The text of page {page} is this one here.", f"It has number {page}.") for page in range(1, 7)]
    assert sentences(read(drawn(draw))) == [text for both in texts for text in both]


def test_words_parted_at_a_lines_end_are_joined_and_compounds_are_not() -> None:
    def draw(canvas: Any) -> None:
        lines_on(
            canvas,
            "The cap-",
            "tain has a camera-ready tide ta-",
            "ble, a well-",
            "known one, and a camera-",
            "ready map of the anti-",
            "podes; he says antipodes often.",
        )

    assert " ".join(read(drawn(draw)).blocks[0].text.split()) == (
        "The captain has a camera-ready tide table, a well-known one, and a camera-ready map of the antipodes; "
        "he says antipodes often."
    )


def test_where_on_the_page_a_sentence_stands_is_told_by_thirds() -> None:
    def draw(canvas: Any) -> None:
        for y in (400, 250, 100):
            lines_on(canvas, f"It is at {y} points.", y=y)

    assert [place for _, place in cited(read(drawn(draw))).values()] == ["top", "middle", "bottom"]


@pytest.mark.parametrize("turn", [0, 90, 180, 270])
def test_a_page_that_lies_on_its_side_is_read_as_it_is_shown(turn: int) -> None:
    def draw(canvas: Any) -> None:
        canvas.setPageRotation(turn)
        move = {0: (0, 0), 90: (0, 0), 180: _SIZE, 270: (0, 0)}[turn]
        canvas.translate(*move)
        if turn == 90:
            canvas.translate(_SIZE[0], 0)
        elif turn == 270:
            canvas.translate(0, _SIZE[1])
        canvas.rotate(turn)
        lines_on(canvas, "The moon pulls", "the sea.", y=300)
        lines_on(canvas, "Another paragraph.", y=200)

    assert [block.text for block in read(drawn(draw)).blocks] == ["The moon pulls\nthe sea.", "Another paragraph."]


def test_pages_without_text_are_counted_and_a_file_of_such_is_refused() -> None:
    def picture(canvas: Any) -> None:
        canvas.rect(10, 10, 100, 100)
        canvas.showPage()

    with pytest.raises(SourceError, match=r"tides\.pdf has no text on its page, which may be scanned; .*\[ocr\]"):
        read(drawn(picture))

    def both(canvas: Any) -> None:
        picture(canvas)
        lines_on(canvas, "Words.")

    document = read(drawn(both))
    assert (document.metadata["pages_without_text"], document.blocks[0].page) == (1, 2)
    assert document.omissions == (Omission("pages without text", 1, f"p. 1; {MISSING_OCR}"),)


def test_files_attached_to_a_pdf_are_counted() -> None:
    pdfium = pytest.importorskip("pypdfium2")
    made = pdfium.PdfDocument(drawn(lambda canvas: lines_on(canvas, "Words.")))
    made.new_attachment("tides.csv").set_data(b"a,b")
    file = io.BytesIO()
    made.save(file)
    made.close()
    assert read(file.getvalue()).omissions == (Omission("attachments", 1),)


def test_passwords_and_damage_are_told() -> None:
    pytest.importorskip("reportlab.lib.pdfencrypt")
    from reportlab.lib.pdfencrypt import StandardEncryption

    closed = drawn(lambda canvas: lines_on(canvas, "Words."), encrypt=StandardEncryption("secret", canPrint=0))
    with pytest.raises(SourceError, match=r"tides\.pdf is protected by a password"):
        read(closed)
    for data in (b"%PDF-1.4 and no more", b"words", b""):
        with pytest.raises(SourceError, match=r"tides\.pdf"):
            read(data)


def test_without_pypdfium2_the_file_is_reported_and_tried_again(
    tmp_path: Path, small_vectors: VectorTable, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "a.pdf").write_bytes(drawn(lambda canvas: lines_on(canvas, "The ship sails.")))
    (tmp_path / "docs" / "b.txt").write_text("The bread bakes.", encoding="utf-8")
    with Index.create(tmp_path / "index", vectors=small_vectors) as index:
        with monkeypatch.context() as without:
            (tmp_path / "site").mkdir()
            (tmp_path / "site" / "pypdfium2.py").write_text("raise ImportError")
            without.syspath_prepend(tmp_path / "site")  # which the process that reads PDF files gets at its start
            end_reader_processes()
            with pytest.raises(MissingExtra):
                read(b"%PDF-")
            done = index.sync(tmp_path / "docs")
            assert (done.added, len(done.skipped)) == (1, 1)
            assert "pypdfium2 is not installed; run in a checkout of semsearch: pip install ." in done.skipped[0].reason
        end_reader_processes()
        assert index.sync().added == 1
        assert index.search("ship")[0].page == 1


def test_what_is_filled_into_a_form_stands_after_its_label() -> None:
    def draw(canvas: Any) -> None:
        lines_on(canvas, "Harbour:", y=404)
        lines_on(canvas, "Water:", y=354)
        lines_on(canvas, "Signed below.", y=304)
        fields = {"width": 200, "height": 20, "x": 100}
        canvas.acroForm.choice(name="water", value="High", options=["High", "Low"], y=350, **fields)
        canvas.acroForm.textfield(name="harbour", value="Ryde on the island", y=400, **fields)
        canvas.acroForm.textfield(name="nothing", value="", y=250, **fields)
        canvas.acroForm.checkbox(name="box", checked=True, x=40, y=200)
        canvas.showPage()

    document = read(drawn(draw))
    assert [" ".join(block.text.split()) for block in document.blocks] == [
        "Harbour: Ryde on the island",
        "Water: High",
        "Signed below.",
    ]
