"""A hit: what its card says, and what can be done with it."""

from __future__ import annotations

from pathlib import Path

from browsing import Visit
from playwright.sync_api import Page, expect


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


def test_similar_passages_are_shown_below_and_put_away(visit: Visit) -> None:
    page = hit_of(visit, "#/search?q=ship&index=docs")
    similar = page.locator(".hit").first.get_by_role("button", name="Similar")
    similar.click()
    expect(page.locator(".similar-hits li")).to_have_count(5)
    expect(similar).to_have_attribute("aria-expanded", "true")
    similar.click()
    expect(page.locator(".hit-panel").first).to_be_hidden()
