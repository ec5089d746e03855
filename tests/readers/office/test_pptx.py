"""Presentations, as python-pptx writes them."""

from __future__ import annotations

import io
from typing import Any

import pytest
from cited import check_whole, places
from packages import needed

from semsearch.errors import SourceError
from semsearch.readers.document import Document
from semsearch.readers.read import read_bytes

pptx = needed("pptx")


def made(presentation: Any) -> Document:
    file = io.BytesIO()
    presentation.save(file)
    return read_bytes(file.getvalue(), "talk.pptx")


def test_slides_come_with_titles_text_tables_and_notes() -> None:
    talk = pptx.Presentation()
    first = talk.slides.add_slide(talk.slide_layouts[0])
    first.shapes.title.text = "Of tides"
    first.placeholders[1].text = "A talk\nby Ann"
    second = talk.slides.add_slide(talk.slide_layouts[1])
    box = second.shapes.add_textbox(0, 0, 1, 1)
    box.text_frame.text = "The sea moves. It rises."
    second.shapes.title.text = "High\vwater"
    second.placeholders[1].text = "Größe zählt."
    table = second.shapes.add_table(1, 2, 0, 0, 1, 1).table
    table.cell(0, 0).text, table.cell(0, 1).text = "Köln", "3 m"
    second.notes_slide.notes_text_frame.text = "Say it slowly."
    document = made(talk)
    assert places(document) == [
        ("slide 1", "Of tides"),
        ("slide 1", "A talk"),
        ("slide 1", "by Ann"),
        ("slide 2", "High\nwater"),
        ("slide 2", "Größe zählt."),
        ("slide 2", "The sea moves. It rises."),
        ("slide 2", "Köln | 3 m"),
        ("slide 2, notes", "Say it slowly."),
    ]
    assert [block.level for block in document.blocks[:4]] == [1, 0, 0, 1]
    assert (document.title, document.format) == ("Of tides", "pptx")
    check_whole(document, ["Größe zählt.", "The sea moves.", "It rises.", "Say it slowly."])


def test_slides_come_in_the_order_of_the_talk_and_groups_are_looked_into() -> None:
    talk = pptx.Presentation()
    for text in ("One.", "Two."):
        slide = talk.slides.add_slide(talk.slide_layouts[6])
        group = slide.shapes.add_group_shape()
        group.shapes.add_textbox(0, 0, 1, 1).text_frame.text = text
    order = talk.slides._sldIdLst
    order.append(order[0])
    assert places(made(talk)) == [("slide 1", "Two."), ("slide 2", "One.")]
    assert made(talk).title == "talk"


def test_a_talk_without_slides_has_no_blocks_and_a_damaged_one_is_an_error() -> None:
    assert made(pptx.Presentation()).blocks == []
    with pytest.raises(SourceError, match=r"talk\.pptx"):
        read_bytes(b"PK\x03\x04", "talk.pptx")
