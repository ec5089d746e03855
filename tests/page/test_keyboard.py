"""Everything can be done by keys alone."""

from __future__ import annotations

from browsing import Visit
from playwright.sync_api import Page, expect

ADDRESS = "#/search?q=ship&index=docs"


def answered(visit: Visit, address: str = ADDRESS) -> Page:
    """The page at an address, once passages are there."""
    page = visit.go(address)
    expect(page.locator(".hit").first).to_be_visible()
    expect(page.get_by_role("searchbox")).to_be_focused()
    return page


def expect_focus(page: Page, number: int) -> None:
    """The passage of a number, from 0, has the focus."""
    expect(page.locator(".hit").nth(number).locator(".hit-source")).to_be_focused()


def test_arrows_and_letters_move_between_passages_and_back_to_the_box(visit: Visit) -> None:
    page = answered(visit)
    page.keyboard.press("ArrowDown")
    expect_focus(page, 0)
    page.keyboard.press("j")
    page.keyboard.press("ArrowDown")
    expect_focus(page, 2)
    page.keyboard.press("k")
    page.keyboard.press("ArrowUp")
    expect_focus(page, 0)
    page.keyboard.press("ArrowUp")
    expect(page.get_by_role("searchbox")).to_be_focused()


def test_escape_leads_back_to_the_box_and_empties_it(visit: Visit) -> None:
    page = answered(visit)
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Escape")
    expect(page.get_by_role("searchbox")).to_be_focused()
    page.keyboard.press("Escape")
    expect(page.get_by_role("searchbox")).to_have_value("")
    expect(page.locator(".hit")).to_have_count(0)


def test_letters_do_something_with_the_passage_that_has_the_focus(visit: Visit) -> None:
    page = answered(visit)
    page.keyboard.press("ArrowDown")
    page.keyboard.press("s")
    expect(page.locator(".hit").first.get_by_role("heading", name="Similar passages")).to_be_visible()
    page.keyboard.press("c")
    expect(page.get_by_role("button", name="Plain text")).to_be_focused()


def test_a_question_mark_shows_the_keys_and_letters_can_be_switched_off(visit: Visit) -> None:
    page = answered(visit)
    page.keyboard.press("ArrowDown")
    page.keyboard.press("?")
    expect(page.get_by_role("dialog", name="Keys")).to_contain_text("next passage")
    page.get_by_label("Use single letters as keys").press("Space")
    page.keyboard.press("Escape")
    expect_focus(page, 0)
    page.keyboard.press("j")
    expect_focus(page, 0)
    page.keyboard.press("ArrowDown")
    expect_focus(page, 1)


def test_a_question_mark_in_the_empty_box_shows_the_keys_and_no_words_ask_nothing(visit: Visit) -> None:
    page = visit.go("#/search?index=docs")
    expect(page.get_by_role("searchbox")).to_be_focused()
    page.keyboard.press("?")
    expect(page.get_by_role("dialog", name="Keys")).to_be_visible()
    page.keyboard.press("Escape")
    page.keyboard.type("!?")
    expect(page.get_by_role("searchbox")).to_have_value("!?")
    expect(page).to_have_url(f"{visit.url}/#/search?q=%21%3F&index=docs")
    expect(page.get_by_role("alert")).to_have_count(0)


def test_everything_is_reached_by_tab_and_the_skip_link_comes_first(visit: Visit) -> None:
    page = answered(visit)
    expect(page.get_by_role("button", name="docs 12")).to_be_visible()  # the side is filled once
    page.keyboard.press("Shift+Tab")
    expect(page.get_by_role("link", name="semsearch")).to_be_focused()
    page.keyboard.press("Shift+Tab")
    expect(page.get_by_role("link", name="Skip to the results")).to_be_focused()
    reached = []
    while "More passages" not in reached and len(reached) < 100:
        page.keyboard.press("Tab")
        reached.append(page.evaluate("document.activeElement.innerText || document.activeElement.type || ''"))
    assert {"semsearch", "search", "?", "docs\n12", "Similar", "Cite", "More passages"} <= set(reached)
