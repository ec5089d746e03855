"""On a wide screen the source is shown beside the passages."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from browsing import Visit, visiting
from playwright.sync_api import Browser, Page, expect
from serving import Asker

ADDRESS = "#/search?q=ship+in+the+storm&index=docs"


@pytest.fixture
def page(browser: Browser, asker: Asker) -> Iterator[Page]:
    """A wide page with passages, the first of which has the focus."""
    with visiting(browser, asker, size=(1600, 900)) as visit:
        yield answered(visit)


def answered(visit: Visit) -> Page:
    """The page with passages, the first of which has the focus."""
    page = visit.go(ADDRESS)
    expect(page.locator(".hit").first).to_be_visible()
    page.keyboard.press("ArrowDown")
    expect(page.locator(".hit-source").first).to_be_focused()
    return page


def test_enter_opens_the_source_beside_and_escape_closes_it(page: Page) -> None:
    page.keyboard.press("Enter")
    pane = page.get_by_role("complementary", name="Source")
    expect(pane).to_contain_text("About")
    expect(page.locator(".hit").first).to_have_class("hit looked")
    expect(page.locator(".hit-source").first).to_be_focused()
    page.keyboard.press("Escape")
    expect(pane).to_be_hidden()
    expect(page.locator(".hit-source").first).to_be_focused()
