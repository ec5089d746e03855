"""What the server warns of is said above the passages: a phrase that none has, a filter that matches nothing."""

from __future__ import annotations

import re

from browsing import Visit
from playwright.sync_api import expect


def test_a_phrase_that_no_passage_has_is_said_instead_of_passages(visit: Visit) -> None:
    page = visit.go("#/search?index=docs&q=%22storm+ship+ship%22")
    expect(page.locator(".hint")).to_have_text("No passage has the phrase 'storm ship ship'.")
    expect(page.get_by_role("button", name="Remove the filters")).to_have_count(0)


def test_a_misspelt_filter_is_said_and_can_be_removed(visit: Visit) -> None:
    page = visit.go("#/search?index=notes&q=bread&filter=autor%3DAda")
    expect(page.locator(".hint")).to_have_text("No document has the key 'autor'; did you mean author?")
    page.get_by_role("button", name="Remove the filters").click()
    expect(page.locator(".hit").first).to_be_visible()
    expect(page.locator(".hint")).to_have_count(0)


def test_the_word_that_was_searched_for_instead_of_a_misspelt_one_is_set_off(visit: Visit) -> None:
    page = visit.go("#/search?index=docs&q=strom+ship")
    expect(page.locator(".asked", has_text="storm").first).to_be_visible()


def test_what_nothing_answers_is_said_above_the_nearest_passages(visit: Visit) -> None:
    page = visit.go("#/search?index=docs&q=storm+ship")
    expect(page.locator(".hit-score").first).to_have_text(re.compile(r"^\d\.\d\d$"))
    expect(page.locator(".only-nearest")).to_have_count(0)
    page.route("**/v1/search*", lambda route: route.fulfill(json=route.fetch().json() | said))
    said = {"verdict": "perhaps", "missing": ["ship"]}
    page.reload()
    expect(page.locator(".only-nearest")).to_have_text("Perhaps among these (no document has: ship):")
    said = {"verdict": "not here", "missing": ["bread"]}
    page.reload()
    expect(page.locator(".only-nearest")).to_have_text("Nothing answers this (no document has: bread); nearest:")
    expect(page.locator(".hit-score").first).to_have_text(re.compile(r"^\d+% likely$"))
    page.locator(".hit").first.locator("[data-action=why]").click()
    expect(page.locator(".why-note").first).to_contain_text("% likely to answer: cosine")
