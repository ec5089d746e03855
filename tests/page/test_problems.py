"""Where there is no answer, the page says why and what to do."""

from __future__ import annotations

from pathlib import Path

from browsing import Visit, visiting
from playwright.sync_api import Browser, Route, expect
from serving import TOKEN, running

from semsearch.server.open_indexes import OpenIndexes
from semsearch.server.running import ServerSettings

_REFUSED = "error: Failed to load resource"


def test_a_server_without_indexes_says_how_to_make_one(browser: Browser, folder: Path) -> None:
    with running(OpenIndexes(folder=folder / "none")) as asker, visiting(browser, asker) as visit:
        page = visit.go()
        expect(page.get_by_text("There is no index yet")).to_be_visible()
        expect(page.get_by_text("semsearch index FOLDER")).to_be_visible()


def test_no_answer_offers_what_may_help(visit: Visit) -> None:
    page = visit.go("#/search?q=oven&index=notes&mode=lexical&filter=author%3DNobody")
    expect(page.get_by_role("heading", name="No passage answers this")).to_be_visible()
    page.get_by_role("button", name="Remove the filters").click()
    expect(page.locator(".hit").first).to_contain_text("oven")


def test_a_busy_server_is_asked_again_quietly(visit: Visit) -> None:
    visit.expected.append(_REFUSED)
    refusals = ["503", "429"]

    def refuse(route: Route) -> None:
        if refusals:
            route.fulfill(status=int(refusals.pop()), headers={"Retry-After": "0.01"}, json={"detail": "busy"})
        else:
            route.continue_()

    visit.page.route("**/v1/search", refuse)
    page = visit.go("#/search?q=ship&index=docs")
    expect(page.locator(".hit").first).to_be_visible()
    assert refusals == []
    expect(page.get_by_role("alert")).to_have_count(0)


def test_a_problem_is_told_in_the_servers_words_and_can_be_tried_again(visit: Visit) -> None:
    visit.expected.append(_REFUSED)
    problem = {"title": "Insufficient Storage", "status": 507, "detail": "the disk is full"}
    visit.page.route("**/v1/search", lambda route: route.fulfill(status=507, json=problem), times=1)
    page = visit.go("#/search?q=ship&index=docs")
    expect(page.get_by_role("alert")).to_contain_text("the disk is full")
    page.get_by_role("button", name="Try again").click()
    expect(page.locator(".hit").first).to_be_visible()
    expect(page.get_by_role("alert")).to_have_count(0)


def test_a_server_that_is_gone_is_said_and_found_again(visit: Visit) -> None:
    visit.expected.append(_REFUSED)
    page = visit.go("#/search?q=ship&index=docs")
    expect(page.locator(".hit")).to_have_count(10)
    page.clock.install()
    page.route("**/v1/search", lambda route: route.abort())
    page.get_by_role("searchbox").fill("bread")
    expect(page.get_by_role("alert")).to_contain_text("The server does not answer")
    expect(page.locator(".hit")).to_have_count(10)
    page.unroute_all()
    page.clock.run_for(3000)
    expect(page.locator(".hit").first).to_contain_text("bread", ignore_case=True)
    expect(page.get_by_role("alert")).to_have_count(0)


def test_a_server_that_wants_its_token_is_given_it_once(browser: Browser, folder: Path) -> None:
    settings = ServerSettings(port=0, always_token=True)
    with running(OpenIndexes(folder=folder / "indexes"), settings) as asker, visiting(browser, asker) as visit:
        visit.expected.append(_REFUSED)
        page = visit.go("#/search?q=ship&index=docs")
        page.get_by_role("textbox", name="Token").fill("not it")
        page.keyboard.press("Enter")
        expect(page.get_by_text("The token that was sent is wrong.")).to_be_visible()
        page.get_by_role("textbox", name="Token").fill(TOKEN)
        page.get_by_role("button", name="Continue").click()
        expect(page.locator(".hit").first).to_be_visible()
        page.reload()
        expect(page.locator(".hit").first).to_be_visible()
        expect(page.get_by_role("dialog")).to_have_count(0)
        assert page.evaluate("JSON.stringify(localStorage)") == "{}"


def test_nonsense_finds_nothing_and_what_is_near_at_all_is_three_passages(visit: Visit) -> None:
    def answered(relevances: list[float]) -> None:
        page.unroute("**/v1/search*")

        def fulfil(route: Route) -> None:
            found = route.fetch().json()
            hits = [hit | {"relevance": share} for hit, share in zip(found["hits"], relevances, strict=False)]
            route.fulfill(json=found | {"verdict": "not here", "hits": hits})

        page.route("**/v1/search*", fulfil)
        page.reload()

    page = visit.go("#/search?index=docs&q=storm+ship")
    expect(page.locator(".hit").first).to_be_visible()
    answered([0.004] * 8)
    expect(page.get_by_role("heading", name="Nothing was found")).to_be_visible()
    expect(page.locator(".only-nearest")).to_have_count(0)
    expect(page.locator(".hit")).to_have_count(3)
    answered([0.1] * 4 + [0.004] * 4)
    expect(page.locator(".only-nearest")).to_be_visible()
    expect(page.locator(".hit")).to_have_count(3)
    expect(page.get_by_role("button", name="More passages")).to_be_hidden()
