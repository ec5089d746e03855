"""A question is typed, and passages come; the address says what was asked."""

from __future__ import annotations

import json
from contextlib import suppress

from browsing import Visit
from playwright.sync_api import Error, Page, Route, expect


def box(visit: Visit, address: str = "#/search?index=docs") -> Page:
    """The page at an address, once its box has the focus."""
    page = visit.go(address)
    expect(page.get_by_role("searchbox")).to_be_focused()
    return page


def query_of(route: Route) -> str:
    """The query of a request."""
    return str(json.loads(route.request.post_data or "{}")["query"])


def test_passages_come_as_one_types_with_their_sentence_marked(visit: Visit) -> None:
    page = box(visit)
    page.keyboard.type("ship in the storm")
    expect(page.locator(".hit").first.locator("mark")).to_contain_text("Storm")
    expect(page).to_have_url(f"{visit.url}/#/search?q=ship+in+the+storm&index=docs")
    expect(page.get_by_role("status")).to_have_text("the best 10 passages")


def test_an_address_shows_its_question_and_its_answer(visit: Visit) -> None:
    page = visit.go("#/search?q=bread+in+the+oven&index=notes&filter=author%3DAda&mode=lexical")
    expect(page.get_by_role("searchbox")).to_have_value("bread in the oven")
    expect(page.get_by_label("Search by")).to_have_value("lexical")
    expect(page.get_by_role("button", name="Remove the filter author=Ada")).to_be_visible()
    expect(page.locator(".hit")).to_have_count(1)


def test_exact_text_is_counted_in_all_documents(visit: Visit) -> None:
    page = visit.go("#/search?q=Bread+in+the+oven,&index=notes&mode=exact")
    expect(page.locator(".count")).to_have_text("2 occurrences, 2 passages, 2 documents in notes")
    expect(page.locator(".hit-score").first).to_have_text("1 time")
    expect(page.locator(".hit .asked").first).to_have_text("Bread in the oven,")
    page.get_by_role("searchbox").fill("bread in the oven,")
    expect(page.get_by_text("Only this very text was searched for.")).to_be_visible()
    page.get_by_role("button", name="Search by meaning too").click()
    expect(page.locator(".hit").first).to_contain_text("oven")


def test_an_older_answer_is_never_shown_over_a_newer_one(visit: Visit) -> None:
    held: list[Route] = []

    def hold(route: Route) -> None:
        if query_of(route) == "bread":
            held.append(route)
        else:
            route.continue_()

    page = box(visit)
    page.route("**/v1/search", hold)
    page.get_by_role("searchbox").fill("bread")
    page.get_by_role("searchbox").fill("ship")
    expect(page.locator(".hit").first).to_contain_text("ship")
    for route in held:
        with suppress(Error):  # it may know already that nobody waits for it
            route.continue_()
    page.get_by_role("searchbox").fill("ship storm")
    expect(page.locator(".hit").first).to_contain_text("Storm")
    expect(page.locator(".hits")).not_to_contain_text("oven")


def test_typing_leaves_no_trail_and_enter_a_step_to_go_back_to(visit: Visit) -> None:
    page = box(visit)
    page.keyboard.type("ship")
    page.keyboard.press("Enter")
    page.get_by_role("searchbox").fill("ships bread")
    expect(page).to_have_url(f"{visit.url}/#/search?q=ships+bread&index=docs")
    page.go_back()
    expect(page.get_by_role("searchbox")).to_have_value("ship")
    expect(page.locator(".hit").first).to_contain_text("ship", ignore_case=True)
    page.go_forward()
    expect(page.get_by_role("searchbox")).to_have_value("ships bread")


def test_several_indexes_answer_as_one_and_each_passage_says_its_own(visit: Visit) -> None:
    page = box(visit, "#/search?q=ship+in+the+storm")
    expect(page.locator(".count")).to_have_text("the best 10 passages in 3 indexes")
    expect(page.locator(".hit-index")).to_have_count(10)
    page.get_by_role("button", name="docs 12").click()
    page.get_by_role("button", name="notes 3").click()
    expect(page).to_have_url(f"{visit.url}/#/search?q=ship+in+the+storm&index=docs&index=notes")
    expect(page.locator(".count")).to_have_text("the best 10 passages in 2 indexes")
    page.get_by_role("button", name="docs 12").click()
    expect(page.locator(".count")).to_contain_text("in notes")
