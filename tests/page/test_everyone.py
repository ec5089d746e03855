"""Nothing keeps anybody from using the page: axe-core finds nothing, and the page fits every screen."""

from __future__ import annotations

from browsing import NARROW, Visit, assert_everyone_can_use, visiting
from playwright.sync_api import Browser, Page, expect
from serving import Asker

ADDRESS = "#/search?q=ship+in+the+storm&index=docs&filter=format%3Dmarkdown"


def answered(visit: Visit) -> Page:
    """The page, once passages and filters are there."""
    page = visit.go(ADDRESS)
    expect(page.locator(".hit").first).to_be_visible()
    expect(page.locator(".choice").first).to_be_attached()
    return page


def test_axe_finds_nothing_where_all_is_open_by_day_and_by_night(visit: Visit) -> None:
    page = answered(visit)
    page.locator(".hit").nth(0).get_by_role("button", name="More").click()
    page.locator(".hit").nth(0).get_by_role("button", name="Cite").click()
    page.locator(".hit").nth(1).get_by_role("button", name="Similar").click()
    expect(page.locator(".similar-hits li").first).to_be_visible()
    assert_everyone_can_use(page)
    page.emulate_media(color_scheme="dark")
    assert_everyone_can_use(page)


def test_axe_finds_nothing_on_a_narrow_screen_with_the_drawer_open(browser: Browser, asker: Asker) -> None:
    with visiting(browser, asker, size=NARROW) as visit:
        page = answered(visit)
        assert_everyone_can_use(page)
        page.get_by_role("button", name="Filters").click()
        assert_everyone_can_use(page)


def test_nothing_is_wider_than_the_screen(browser: Browser, asker: Asker) -> None:
    with visiting(browser, asker, size=(320, 800)) as visit:
        page = answered(visit)
        page.locator(".hit").first.get_by_role("button", name="Cite").click()
        for width in (320, 640, 2000):
            page.set_viewport_size({"width": width, "height": 800})
            assert page.evaluate("document.documentElement.scrollWidth") <= width
