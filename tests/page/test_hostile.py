"""Text of documents is text on the page, whatever it says."""

from __future__ import annotations

import pytest
from browsing import NARROW, Visit, visiting
from playwright.sync_api import Browser, expect
from serving import Asker
from shown_texts import HOSTILE


@pytest.mark.parametrize("name", [name for name in HOSTILE if name != "long"])
def test_hostile_text_is_shown_as_it_is(visit: Visit, name: str) -> None:
    page = visit.go(f"#/search?q=ship+in+the+storm&index=hostile&count=20&filter=hostile/{name}")
    hit = page.locator(".hit")
    expect(hit).to_have_count(1)
    expect(hit.locator(".hit-source")).to_contain_text(HOSTILE[name])
    hit.get_by_role("button", name="Cite").click()
    expect(hit.locator(".citation").first).to_contain_text("ship")
    hit.get_by_role("button", name="Similar").click()
    expect(hit.get_by_role("heading", name="Similar passages")).to_be_visible()
    assert page.title() == "semsearch"
    assert page.locator("main").locator("script, img, iframe").count() == 0


def test_words_without_end_are_cut_and_widen_nothing(browser: Browser, asker: Asker) -> None:
    with visiting(browser, asker, size=NARROW) as visit:
        page = visit.go("#/search?q=ship+in+the+storm&index=hostile&count=20")
        expect(page.locator(".hit", has_text="wwwww").first).to_be_visible()
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        assert page.locator(".hit", has_text="wwwww").first.evaluate("card => card.clientHeight") < 3 * NARROW[1]


def test_a_hostile_address_is_only_a_question(visit: Visit) -> None:
    visit.expected.append("error: Failed to load resource")
    page = visit.go("#/search?q=%3Cimg+src%3Dx+onerror%3Dalert(1)%3E&index=%3Cscript%3E&filter=%3Cb%3E")
    expect(page.locator(".chip")).to_contain_text("<b>")
    expect(page.get_by_role("alert")).to_contain_text("there is no index '<script>'")
    assert page.locator("main img, main script, main b").count() == 0
