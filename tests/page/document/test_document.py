"""A document is shown as it is searched, at the sentence that answers; other answers, places and changes are told."""

from __future__ import annotations

from pathlib import Path
from typing import Literal
from urllib.parse import urlencode

import pytest
from browsing import LOOKS, NARROW, Visit, assert_everyone_can_use, eventually, visiting
from playwright.sync_api import Browser, Page, expect
from serving import Asker
from small import article, sentence

from semsearch.index import Index
from semsearch.readers.document import Text
from semsearch.word_vectors.table import VectorTable

LONG = 3000  # sections
STRANGE = "The 🌊 tide 🌊 lifts the boat. <b>The captain</b> & the sailor <script>alert(1)</script> sail. A violin."


@pytest.fixture(scope="module")
def shelf(tmp_path_factory: pytest.TempPathFactory, small_vectors: VectorTable) -> Path:
    """A folder with the index shelf: a guide, a very long text, and one with strange characters."""
    folder = tmp_path_factory.mktemp("shelf")
    (folder / "docs").mkdir()
    (folder / "docs" / "guide.md").write_text(article("sea", 1, paragraphs=12), encoding="utf-8")
    long = (f"# Section {number}\n\n{sentence('garden', number)} {sentence('music', number)}" for number in range(LONG))
    (folder / "docs" / "long.md").write_text("\n\n".join(long), encoding="utf-8")
    (folder / "docs" / "changed.txt").write_text("The judge in the court.", encoding="utf-8")
    with Index.create(folder / "indexes" / "shelf", vectors=small_vectors) as index:
        index.sync(folder / "docs")
        index.add(
            [
                Text("strange", STRANGE),
                Text("cake", "A song. Put the bread in the oven. It bakes 50 minutes. A violin."),
            ]
        )
    (folder / "docs" / "changed.txt").write_text("The lawyer in the prison.", encoding="utf-8")
    return folder


def source(name: str, **where: object) -> str:
    return f"#/document?{urlencode({'index': 'shelf', 'id': name, **where})}"


def expect_in_the_middle(page: Page) -> None:
    """The chosen sentence stands in the middle third of what scrolls it, once all is there."""

    def in_the_middle() -> bool:
        mark, room = (page.locator(shown).bounding_box() for shown in ("mark.current", ".source-scroll"))
        assert mark is not None
        assert room is not None
        return 1 / 3 < (mark["y"] + mark["height"] / 2 - room["y"]) / room["height"] < 2 / 3

    eventually(page, in_the_middle)


def test_a_hit_leads_to_its_sentence_in_the_middle_of_its_document(
    browser: Browser, asker: Asker, index: Index
) -> None:
    question = sentence("garden", 1700)
    with visiting(browser, asker, size=NARROW) as visit:
        page = visit.go(f"#/search?{urlencode({'q': question, 'index': 'shelf'})}")
        page.locator(".hit-source").first.click()
        shown = page.locator("mark.current")
        hit = index.search(question, 1)[0]
        expect(shown).to_have_text(" ".join(hit.sentence.split()))
        expect_in_the_middle(page)
        expect(page.get_by_role("heading", name=hit.headings[-1], exact=True).last).to_be_visible()
        page.get_by_role("link", name="Passages").click()
        expect(page.locator(".hit").first).to_be_visible()


def test_the_whole_text_is_there_with_headings_and_lines(visit: Visit, index: Index) -> None:
    page = visit.go(source("guide.md"))
    text = page.locator(".source-column")
    expect(text.locator(".passage")).to_have_count(12)
    shown = [part for part in text.inner_text().split("\n") if part and not part.startswith("line ")]
    assert "".join("".join(shown).split()) == "".join(index.document("guide.md").text.split())
    expect(text.locator(".source-place").first).to_have_text("line 5")
    expect(page.get_by_role("heading", level=1)).to_have_text(index.document("guide.md").title)


def test_n_and_p_go_through_the_answers_in_the_order_of_the_document(visit: Visit, index: Index) -> None:
    question = "ship in the storm"
    hits = [hit for hit in index.search(question, 30, duplicates=True) if hit.document == "guide.md"]
    in_order = sorted(hit.sentence_id for hit in hits)
    page = visit.go(source("guide.md", sentence=hits[0].sentence_id, q=question))
    expect(page.locator("mark")).to_have_count(len(hits))
    current = page.locator("mark.current")
    at = in_order.index(hits[0].sentence_id)
    for key, step in [("n", 1), ("n", 1), ("p", -1), ("p", -1), ("p", -1)]:
        page.keyboard.press(key)
        at = (at + step) % len(in_order)
        expect(current).to_have_attribute("data-sentence", str(in_order[at]))
        expect(current).to_be_focused()
    expect(page.get_by_role("group", name="Answers")).to_contain_text(f"{at + 1} of {len(hits)}")


def test_of_a_long_document_only_what_is_near_is_on_the_page(visit: Visit, index: Index) -> None:
    hit = index.search(sentence("garden", 1700), 1)[0]
    page = visit.go(source("long.md", sentence=hit.sentence_id))
    expect(page.locator("mark.current")).to_be_visible()
    expect(page.locator(".passage").nth(199)).to_have_count(0)
    page.evaluate("document.querySelector('.source-scroll').scrollTop = 1e9")
    text = page.get_by_role("region", name="Text of the document")  # the title above it is that of its first section
    expect(text.get_by_role("heading", name=f"Section {LONG - 1}", exact=True)).to_be_visible()
    page.evaluate("document.querySelector('.source-scroll').scrollTop = 0")
    expect(text.get_by_role("heading", name="Section 0", exact=True)).to_be_visible()


def test_text_is_never_markup_and_marks_are_right_beside_characters_of_any_size(visit: Visit, index: Index) -> None:
    passage = index.passages("strange").passages[0]
    assert passage.sentences
    for one in passage.sentences:
        page = visit.go(source("strange", sentence=one.sentence_id))
        expect(page.locator("mark.current")).to_have_text(passage.text[one.start : one.end])
        expect(page.locator(".source-column")).to_contain_text("<script>alert(1)</script>")


def test_an_answer_of_two_sentences_is_marked_whole(visit: Visit, index: Index) -> None:
    question = "how many minutes is the bread in the oven?"
    hit = index.search(question, k=1)[0]
    assert (hit.document, hit.sentence.split(". ")) == ("cake", ["Put the bread in the oven", "It bakes 50 minutes."])
    page = visit.go(source("cake", sentence=hit.sentence_id, q=question))
    expect(page.locator("mark")).to_have_text("Put the bread in the oven. It bakes 50 minutes.")


def test_the_file_is_opened_from_the_page(visit: Visit, shelf: Path) -> None:
    page = visit.go(source("guide.md"))
    with page.expect_download() as download:
        page.get_by_role("button", name="Open file").click()
    assert download.value.suggested_filename == "guide.md"
    assert download.value.path().read_bytes() == (shelf / "docs" / "guide.md").read_bytes()


def test_a_file_that_has_changed_is_said_and_the_text_is_what_is_searched(visit: Visit) -> None:
    page = visit.go(source("changed.txt"))
    expect(page.locator(".source-above")).to_contain_text("The file has changed since it was indexed")
    expect(page.locator(".source-column")).to_contain_text("The judge in the court.")


@pytest.mark.parametrize(("scheme", "size"), LOOKS)
def test_everyone_can_use_it(
    browser: Browser,
    asker: Asker,
    index: Index,
    scheme: Literal["light", "dark"],
    size: tuple[int, int],
) -> None:
    hit = index.search("ship in the storm", 1)[0]
    with visiting(browser, asker, scheme=scheme, size=size) as visit:
        assert_everyone_can_use(settled(visit.go(source(hit.path, sentence=hit.sentence_id, q="ship in the storm"))))


def settled(page: Page) -> Page:
    expect(page.locator("mark.current")).to_be_visible()
    return page
