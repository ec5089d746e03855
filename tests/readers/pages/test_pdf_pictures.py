"""Pages of a PDF are drawn, and a sentence's boxes lie around its ink, also where pages are turned or cropped."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from packages import needed
from sample_files.valid_files import pdf

from semsearch.errors import UsageError
from semsearch.readers.pages.pdf_pages import opened_pdf
from semsearch.readers.pages.pdf_pictures import MOST_PIXELS, Box, PlacedPage, draw_page, page_picture, place_sentences

needed("pypdfium2")
needed("reportlab")

WANTED = "The tide lifts every boat."
OTHER = "No captain sails before the storm."
UInt8 = npt.NDArray[np.uint8]


def page_of(*lines: tuple[str, float, float], turned: int = 0, crop: tuple[int, int, int, int] | None = None) -> bytes:
    """A page of lines (text, x, y)."""

    def draw(canvas: Any) -> None:
        canvas.setPageRotation(turned)
        if crop:
            canvas.setCropBox(crop)
        for text, x, y in lines:
            canvas.drawString(x, y, text)

    return pdf(draw)


def drawn(data: bytes, width: int = 800) -> UInt8:
    with opened_pdf(data, "a.pdf") as document:
        page = document[0]
        try:
            return draw_page(page, width)
        finally:
            page.close()


def place(data: bytes, *sentences: str) -> PlacedPage:
    return place_sentences(data, "a.pdf", 1, (), sentences)


def around_ink(pixels: UInt8) -> Box:
    """The box around all that is dark."""
    rows, columns = np.nonzero(pixels[..., 0] < 128)
    height, width = pixels.shape[:2]
    return Box(columns.min() / width, rows.min() / height, (columns.max() + 1) / width, (rows.max() + 1) / height)


def around(boxes: Sequence[Box]) -> Box:
    left, top, right, bottom = zip(*boxes, strict=True)
    return Box(min(left), min(top), max(right), max(bottom))


@pytest.mark.parametrize("crop", [None, (20, 150, 380, 350)], ids=["whole", "cropped"])
@pytest.mark.parametrize("turned", [0, 90, 180, 270])
def test_a_box_is_around_the_ink(turned: int, crop: tuple[int, int, int, int] | None) -> None:
    data = page_of((WANTED.rstrip("."), 60, 200), turned=turned, crop=crop)
    found = place(data, WANTED)
    ((box,),) = found.boxes
    ink = around_ink(drawn(data))
    across, down = 1 / found.width, 1 / found.height  # a point
    assert ink.left - 8 * across <= box.left <= ink.left + across
    assert ink.top - 8 * down <= box.top <= ink.top + down
    assert ink.right - across <= box.right <= ink.right + 8 * across
    assert ink.bottom - down <= box.bottom <= ink.bottom + 8 * down


def test_a_sentence_on_two_lines_has_two_boxes_and_others_are_not_in_them() -> None:
    data = page_of((OTHER, 60, 440), ("The tide lifts", 60, 420), ("every boat.", 60, 405), (OTHER, 60, 385))
    other, wanted, again = place(data, OTHER, WANTED, OTHER).boxes
    assert [len(boxes) for boxes in (other, wanted, again)] == [1, 2, 1]
    assert other[0].bottom <= wanted[0].top + 0.005
    assert wanted[1].bottom <= again[0].top + 0.005
    assert wanted[0].top < wanted[1].top


def test_words_in_two_columns_on_one_line_have_a_box_each() -> None:
    data = page_of(("The tide lifts", 40, 400), ("every boat.", 260, 400))
    (boxes,) = place(data, WANTED).boxes
    assert len(boxes) == 2
    assert boxes[0].right < 0.4 < boxes[1].left


def two_pages() -> bytes:
    def draw(canvas: Any) -> None:
        canvas.drawString(60, 100, "The tide of the spring lifts")
        canvas.showPage()
        canvas.drawString(60, 400, "every boat in the harbour.")

    return pdf(draw)


def test_a_sentence_that_runs_over_the_end_of_a_page_has_boxes_on_both() -> None:
    sentence = "The tide of the spring lifts every boat in the harbour."
    (first,) = place_sentences(two_pages(), "a.pdf", 1, (), [sentence]).boxes
    (second,) = place_sentences(two_pages(), "a.pdf", 2, [sentence], ()).boxes
    assert len(first) == len(second) == 1
    assert first[0].top > 0.7 > 0.3 > second[0].top


@pytest.mark.parametrize("number", [0, 3, 10**6])
def test_a_page_that_there_is_not_is_told(number: int) -> None:
    with pytest.raises(UsageError, match=f"a.pdf has no page {number}; expected 1 to 2"):
        page_picture(two_pages(), "a.pdf", number, 100)


def test_a_picture_has_the_width_that_is_asked_for_but_not_too_many_pixels() -> None:
    data = page_of((WANTED, 60, 400))
    assert drawn(data, 400).shape == (500, 400, 3)
    large = drawn(data, 4000)
    assert 0.95 * MOST_PIXELS < large.shape[0] * large.shape[1] <= MOST_PIXELS
    assert large.shape[0] / large.shape[1] == pytest.approx(500 / 400, rel=0.01)


def test_colours_are_those_of_the_page() -> None:
    def draw(canvas: Any) -> None:
        canvas.setFillColorRGB(1, 0, 0)
        canvas.rect(0, 0, 400, 500, stroke=0, fill=1)

    assert drawn(pdf(draw), 50)[30, 25].tolist() == [255, 0, 0]


def test_the_fields_of_a_form_are_drawn() -> None:
    def draw(canvas: Any) -> None:
        canvas.acroForm.textfield(name="a", x=0, y=0, width=400, height=500, value="", fillColor=None, borderWidth=20)
        canvas.showPage()

    def empty(canvas: Any) -> None:
        canvas.drawString(0, 0, "")

    assert page_picture(pdf(draw), "a.pdf", 1, 50) != page_picture(pdf(empty), "a.pdf", 1, 50)
