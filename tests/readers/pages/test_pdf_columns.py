"""Pages in columns that were written row by row across them, and pages that only look so."""

from __future__ import annotations

import io
from collections.abc import Sequence
from typing import Any

import pytest
from cited import check_whole
from packages import needed

from semsearch.readers.document import Document
from semsearch.readers.read import read_bytes

needed("pypdfium2")
needed("reportlab")

WORDS = "the moon pulls the sea and so it moves twice a day while every harbour waits for the water to come".split()
_SIZE, _WIDTH = 10, 160


def sentences(count: int, first: int = 0) -> list[str]:
    return [
        f"Tide {number} says that {' '.join(WORDS[(number * 7 + n) % len(WORDS)] for n in range(17))}."
        for number in range(first, first + count)
    ]


def column(texts: Sequence[str]) -> list[str]:
    """Text in lines that fit into a column."""
    from reportlab.lib.utils import simpleSplit

    return [str(line) for line in simpleSplit(" ".join(texts), "Helvetica", _SIZE, _WIDTH)]


def page(*columns: Sequence[str], title: str = "", by_word: bool = False, shift: float = 0.0) -> Document:
    """A page whose columns are written row by row. `shift`: how much lower each column stands than the one before."""
    from reportlab.pdfbase.pdfmetrics import stringWidth
    from reportlab.pdfgen.canvas import Canvas

    file = io.BytesIO()
    canvas: Any = Canvas(file, pagesize=(60 + 190 * len(columns), 800))
    canvas.setFont("Helvetica", _SIZE)
    if title:
        canvas.drawString(30, 770, title)
    for row in range(max(map(len, columns))):
        for number, lines in enumerate(columns):
            x, y = 30 + 190.0 * number, 740 - 12 * row - shift * number
            for text in (lines[row].split(" ") if by_word else [lines[row]]) if row < len(lines) else []:
                canvas.drawString(x, y, text)
                x += stringWidth(text + " ", "Helvetica", _SIZE)
    canvas.save()
    return read_bytes(file.getvalue(), "tides.pdf")


@pytest.mark.parametrize("by_word", [False, True])
@pytest.mark.parametrize(("columns", "shift"), [(2, 0.0), (2, 3.0), (3, 0.0)])
def test_columns_written_row_by_row_are_read_one_after_the_other(columns: int, by_word: bool, shift: float) -> None:
    wanted = sentences(12 * columns)
    parts = [wanted[12 * n : 12 * n + 12] for n in range(columns)]
    check_whole(page(*map(column, parts), by_word=by_word, shift=shift), wanted)


def test_a_title_over_both_columns_comes_first() -> None:
    wanted = sentences(24)
    title = "A title that is so long that it stands over both of the columns of this page"
    document = page(column(wanted[:12]), column(wanted[12:]), title=title)
    assert document.blocks[0].text == title
    check_whole(document, wanted)


def test_a_sentence_goes_on_in_the_next_column() -> None:
    wanted = sentences(24)
    lines = column(wanted)
    check_whole(page(lines[: len(lines) // 2], lines[len(lines) // 2 :]), wanted)


def test_a_table_stays_row_by_row() -> None:
    names = [f"Harbour {number} of the eastern coast" for number in range(15)]
    heights = [f"High water at {number} hours and more" for number in range(15)]
    text = " ".join(" ".join(block.text for block in page(names, heights).blocks).split())
    assert "Harbour 3 of the eastern coast High water at 3 hours and more Harbour 4" in text
