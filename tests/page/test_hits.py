"""A hit: what its card says, and what can be done with it."""

from __future__ import annotations

from pathlib import Path

from browsing import NARROW, Visit, visiting
from playwright.sync_api import Browser, Page, expect
from serving import Asker, running

from semsearch.index import Index
from semsearch.server.open_indexes import OpenIndexes
from semsearch.word_vectors.table import VectorTable

PYTHON = """def sail(ship: str) -> None:
    '''Send a ship.'''
    go(ship)
    go(ship)
"""
COMMANDS = """# replace <node> with the name of the ship that you are sending away from the harbour
ship drain --ignore-storms <node>
"""


def hit_of(visit: Visit, address: str) -> Page:
    """The page at an address, once passages are there."""
    page = visit.go(address)
    expect(page.locator(".hit").first).to_be_visible()
    return page


def test_a_card_says_where_its_passage_is_as_the_terminal_does(visit: Visit, folder: Path) -> None:
    page = hit_of(visit, "#/search?q=ship+in+the+storm&index=docs&mode=lexical")
    card = page.locator(".hit").first
    expect(card.locator(".hit-title")).to_contain_text("About")
    expect(card.locator(".hit-crumbs")).to_contain_text("Part")
    place = card.locator(".hit-place")
    expect(place).to_contain_text("docs/sea-")
    expect(place).to_contain_text("markdown")
    expect(place.locator(".hit-position")).to_contain_text(":")
    expect(place.locator("[title]")).to_have_attribute("title", str(folder / "docs" / "sea-0.md"))


def test_passages_that_say_the_same_are_one_and_name_the_others(visit: Visit) -> None:
    page = hit_of(visit, "#/search?q=bread+in+the+oven&index=notes")
    expect(page.locator(".hit").filter(has_text="oven")).to_have_count(1)
    page.get_by_text("1 near-duplicate").click()
    expect(page.locator(".hit-duplicates li")).to_contain_text("letters")


def test_more_shows_the_whole_passage_with_the_sentences_around_it(visit: Visit) -> None:
    page = hit_of(visit, "#/search?q=ship+in+the+storm&index=docs")
    card = page.locator(".hit").first
    short = card.locator(".hit-passage").inner_text()
    card.get_by_role("button", name="More").click()
    assert len(card.locator(".hit-passage").inner_text()) > len(short)
    expect(card.locator("mark")).to_have_count(1)
    card.get_by_role("button", name="Less").click()
    expect(card.locator(".hit-passage")).to_have_text(short)


def test_a_citation_is_copied_in_the_form_that_one_chooses(visit: Visit) -> None:
    visit.page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page = hit_of(visit, "#/search?q=judge+court&index=notes")
    page.get_by_role("button", name="Cite").first.click()
    page.get_by_role("button", name="Markdown").click()
    expect(page.get_by_role("button", name="Copied")).to_be_visible()
    copied = page.evaluate("navigator.clipboard.readText()")
    assert copied == "> The judge in the court.\n>\n> — 1, `letters/1:1`"
    expect(page.get_by_role("status")).to_have_text("Copied")


def test_words_of_the_question_are_set_off_in_the_whole_passage(visit: Visit) -> None:
    page = hit_of(visit, "#/search?q=which+storms+ship&index=docs")
    words = {word.lower() for word in page.locator(".asked").all_inner_texts()}
    assert {"ship", "storm"} == words


def test_code_keeps_its_lines_and_its_font(browser: Browser, tmp_path: Path, small_vectors: VectorTable) -> None:
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "a.md").write_text(f"# Ships\n\nA ship is sent away so.\n\n```sh\n{COMMANDS}```\n")
    (tmp_path / "docs" / "b.py").write_text(PYTHON)
    with Index.create(tmp_path / "indexes" / "docs", vectors=small_vectors) as index:
        index.sync(tmp_path / "docs")
    with running(OpenIndexes(folder=tmp_path / "indexes")) as asker, visiting(browser, asker) as visit:
        page = hit_of(visit, "#/search?q=ship")
        assert COMMANDS.strip() in [text.strip() for text in page.locator(".code-lines").all_inner_texts()]
        fonts = "node => getComputedStyle(node).fontFamily"
        assert "mono" in page.locator(".code-lines").first.evaluate(fonts)
        python = page.locator(".hit", has_text="def sail").locator(".hit-passage")
        assert "mono" in python.evaluate(fonts)
        assert "\n    go(ship)" in python.inner_text()


def test_a_chosen_folder_shows_no_folders_of_other_indexes(
    browser: Browser, tmp_path: Path, small_vectors: VectorTable
) -> None:
    for name, folder in (("one", "tutorials"), ("one", "guides"), ("two", "recipes"), ("two", "songs")):
        (tmp_path / name / folder).mkdir(parents=True)
        (tmp_path / name / folder / "a.md").write_text("A ship in the storm.")
    for name in ("one", "two"):
        with Index.create(tmp_path / "indexes" / name, vectors=small_vectors) as index:
            index.sync(tmp_path / name)
    with running(OpenIndexes(folder=tmp_path / "indexes")) as asker, visiting(browser, asker) as visit:
        page = hit_of(visit, "#/search?q=ship")
        page.get_by_role("button", name="tutorials 1").click()
        expect(page.locator("[data-choice]", has_text="recipes")).to_have_count(0)
        folders = page.locator("details", has_text="Folder").locator("[data-choice]")
        expect(folders).to_have_text(["tutorials1"])
        filtered = asker.get("/v1/facets", index="one", filters="tutorials/*").json["folders"]
        assert ([value["value"] for value in filtered["path"]], filtered["values"]) == (["tutorials"], [])


def test_a_phone_is_told_of_no_keys(browser: Browser, asker: Asker) -> None:
    with visiting(browser, asker, size=NARROW, is_mobile=True, has_touch=True) as visit:
        page = visit.go("#/search")
        expect(page.locator(".welcome")).to_contain_text("Ask a question")
        for hint in page.locator("kbd, .keys-hint").all():
            expect(hint).to_be_hidden()
