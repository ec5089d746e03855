"""The pages of a PDF are shown as pictures with boxes around the answers, and as text for who does not see them."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any, Literal
from urllib.parse import urlencode

import pytest
from browsing import LOOKS, Visit, assert_everyone_can_use, eventually, visiting
from packages import needed
from playwright.sync_api import Browser, Page, expect
from sample_files.valid_files import pdf
from serving import Asker
from small import sentence

from semsearch.index import Index
from semsearch.word_vectors.table import VectorTable

needed("pypdfium2")
needed("reportlab")

QUESTION = "ship in the storm"
PAGES = 4


def draw(canvas: Any) -> None:
    for page in range(PAGES):
        for line in range(6):
            canvas.drawString(30, 460 - 30 * line, sentence("sea" if line == page else "law", 10 * page + line))
        canvas.showPage()


@pytest.fixture(scope="module")
def shelf(tmp_path_factory: pytest.TempPathFactory, small_vectors: VectorTable) -> Path:
    folder = tmp_path_factory.mktemp("shelf")
    (folder / "docs").mkdir()
    (folder / "docs" / "paper.pdf").write_bytes(pdf(draw))
    shutil.copy(folder / "docs" / "paper.pdf", folder / "docs" / "changed.pdf")
    with Index.create(folder / "indexes" / "shelf", vectors=small_vectors) as index:
        index.sync(folder / "docs")
    with (folder / "docs" / "changed.pdf").open("ab") as file:
        file.write(b"\n")
    return folder


def source(name: str, **where: object) -> str:
    return f"#/document?{urlencode({'index': 'shelf', 'id': name, 'q': QUESTION, **where})}"


def shows_page(page: Page, number: int) -> None:
    expect(page.get_by_role("textbox", name="Page")).to_have_value(str(number))
    expect(page.get_by_alt_text(f"Page {number} of")).to_be_visible()


def opened(visit: Visit, index: Index) -> Page:
    """The page of the best hit in paper.pdf."""
    hit = next(hit for hit in index.search(QUESTION, duplicates=True) if hit.document == "paper.pdf")
    page = visit.go(source("paper.pdf", sentence=hit.sentence_id, page=hit.page))
    shows_page(page, hit.page or 0)
    return page


def test_the_answer_has_its_box_on_the_picture(visit: Visit, index: Index) -> None:
    page = opened(visit, index)
    hit = next(hit for hit in index.search(QUESTION, duplicates=True) if hit.document == "paper.pdf")
    (placed,) = [one for one in index.page("paper.pdf", hit.page or 0).sentences if one.sentence_id == hit.sentence_id]
    picture = page.locator(".sheet-picture")
    eventually(page, lambda: int(picture.evaluate("image => image.naturalWidth")) >= 400)
    expect(page.locator(".sheet-box.current")).to_be_visible()
    box = page.locator(".sheet-box.current").bounding_box()
    sheet = page.locator(".sheet").bounding_box()
    assert box is not None
    assert sheet is not None
    assert (box["x"] - sheet["x"]) / sheet["width"] == pytest.approx(placed.boxes[0].left, abs=0.005)
    assert (box["y"] - sheet["y"]) / sheet["height"] == pytest.approx(placed.boxes[0].top, abs=0.005)
    assert box["width"] / sheet["width"] == pytest.approx(placed.boxes[0].width, abs=0.005)


def test_pages_are_turned_by_keys_buttons_and_number(visit: Visit) -> None:
    page = visit.go(source("paper.pdf", page=1))
    shows_page(page, 1)
    expect(page.get_by_role("button", name="Previous page")).to_be_disabled()
    page.keyboard.press("ArrowRight")
    shows_page(page, 2)
    page.get_by_role("button", name="Next page").click()
    shows_page(page, 3)
    number = page.get_by_role("textbox", name="Page")
    number.fill("4")
    number.press("Enter")
    shows_page(page, 4)
    expect(page.get_by_role("button", name="Next page")).to_be_disabled()
    number.fill("99")
    number.press("Tab")
    expect(number).to_have_value("4")
    page.keyboard.press("[")
    shows_page(page, 3)


def test_who_sees_no_pictures_reads_the_page_with_the_answer_marked(visit: Visit, index: Index) -> None:
    page = opened(visit, index)
    page.get_by_text("Text of this page").click()
    text = page.locator(".sheet-text")
    expect(text.locator("mark").first).to_be_visible()
    for one in index.page("paper.pdf", int(page.get_by_role("textbox", name="Page").input_value())).sentences:
        expect(text).to_contain_text(one.text)


def test_of_a_file_that_has_changed_the_text_is_shown_and_the_reason(visit: Visit) -> None:
    visit.expected.append("error: Failed to load resource")
    page = visit.go(source("changed.pdf", page=2))
    expect(page.locator(".source-above")).to_contain_text("The pages cannot be shown")
    expect(page.locator(".source-above")).to_contain_text("has changed since it was indexed")
    expect(page.locator(".passage").first).to_be_visible()
    expect(page.get_by_role("button", name="Pages", exact=True)).to_have_count(0)


@pytest.mark.parametrize(("scheme", "size"), LOOKS)
def test_everyone_can_use_it(
    browser: Browser,
    asker: Asker,
    index: Index,
    scheme: Literal["light", "dark"],
    size: tuple[int, int],
) -> None:
    with visiting(browser, asker, scheme=scheme, size=size) as visit:
        page = opened(visit, index)
        page.get_by_text("Text of this page").click()
        assert_everyone_can_use(page)
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
