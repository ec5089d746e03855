"""The map: made, moved, pointed at, searched in, by pointer and by keys, on every screen."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Literal

import pytest
from axe_playwright_python.sync_playwright import Axe
from browsing import NARROW, Visit, assert_everyone_can_use, eventually, visiting
from playwright.sync_api import Browser, Page, expect
from serving import Asker, running
from small import write_articles

from semsearch.index import Index
from semsearch.server.open_indexes import OpenIndexes
from semsearch.word_vectors.table import VectorTable


def shown(visit: Visit, query: str = "") -> Page:
    """The page with the map of docs, once it is there."""
    page = visit.go(f"#/map?index=docs{query}")
    expect(page.get_by_role("heading", name="passages")).to_be_visible()
    return page


def in_view(page: Page) -> int:
    """How many passages the page says are in view."""
    return int(page.locator(".map-side h2").inner_text().split()[0].replace(",", ""))


def picture(page: Page) -> str:
    """The points as they are painted now."""
    return str(page.evaluate("document.querySelector('.map-points').toDataURL()"))


def settled(page: Page, before: int) -> int:
    """The number in view, once it is another one."""
    expect(page.locator(".map-side h2")).not_to_contain_text(f"{before} passages")
    return in_view(page)


@pytest.fixture(scope="module", autouse=True)
def _made(asker: Asker) -> None:
    """The map of docs is there already, so that no test waits for it."""
    assert asker.post("/v1/map", {"index": "docs"}).status == 200


def test_all_passages_are_in_view_at_first_and_some_of_them_listed(visit: Visit, asker: Asker) -> None:
    page = shown(visit)
    assert in_view(page) == asker.get("/v1/map", index="docs").json["passages"]
    expect(page.locator(".map-list li")).to_have_count(12)


def test_the_wheel_looks_closer_and_all_shows_all_again(visit: Visit) -> None:
    page = shown(visit)
    everything = in_view(page)
    page.locator(".map-screen").hover(position={"x": 300, "y": 300})
    page.mouse.wheel(0, -1500)
    assert settled(page, everything) < everything
    page.get_by_role("button", name="Show the whole map").click()
    expect(page.locator(".map-side h2")).to_contain_text(f"{everything} passages")


def test_keys_move_it_and_look_closer(visit: Visit) -> None:
    page = shown(visit)
    everything = in_view(page)
    screen = page.locator(".map-screen")
    screen.focus()
    for _ in range(2):
        page.keyboard.press("+")
    closer = settled(page, everything)
    assert closer < everything
    before = picture(page)
    page.keyboard.press("ArrowRight")
    eventually(page, lambda: picture(page) != before)
    page.keyboard.press("0")
    expect(page.locator(".map-side h2")).to_contain_text(f"{everything} passages")


def test_hits_of_the_box_are_listed_by_rank_and_the_address_says_so(visit: Visit) -> None:
    page = shown(visit)
    page.locator("#box").fill("ship in the storm")
    expect(page.get_by_role("heading", name="The best")).to_be_visible()
    expect(page.locator(".map-rank").first).to_have_text("1")
    expect(page).to_have_url(re.compile("q=ship[+]in[+]the[+]storm"))
    page.reload()
    expect(page.get_by_role("heading", name="The best")).to_be_visible()


def test_the_visible_part_is_searched_alone(visit: Visit) -> None:
    page = shown(visit, "&q=ship+in+the+storm")
    expect(page.locator(".map-rank").first).to_be_visible()
    page.locator(".map-screen").focus()
    for _ in range(3):
        page.keyboard.press("+")
    page.get_by_role("button", name="Search in the visible part").click()
    told = page.locator(".map-told")
    expect(told).to_contain_text("passages chosen")
    chosen = int(told.inner_text().split()[0])
    expect(page.get_by_role("heading", name="in this part")).to_be_visible()
    expect(page.locator(".map-list li").nth(chosen)).to_have_count(0)
    page.keyboard.press("Escape")
    expect(page.get_by_role("heading", name="in this part")).to_have_count(0)


def test_it_fits_a_narrow_screen(browser: Browser, asker: Asker) -> None:
    with visiting(browser, asker, size=NARROW) as visit:
        page = shown(visit)
        assert page.evaluate("document.documentElement.scrollWidth") <= NARROW[0]
        found = Axe().run(page)
        assert found.violations_count == 0, found.generate_report()


@pytest.fixture
def fresh(tmp_path: Path, small_vectors: VectorTable) -> Iterator[Asker]:
    """A client of a server of one index, which has no map."""
    write_articles(tmp_path / "docs", 8)
    with Index.create(tmp_path / "indexes" / "docs", vectors=small_vectors) as docs:
        docs.sync(tmp_path / "docs")
    with running(OpenIndexes(folder=tmp_path / "indexes")) as asker:
        yield asker


def test_the_map_of_a_small_index_is_made_at_once_and_kept_up_to_date(browser: Browser, fresh: Asker) -> None:
    with visiting(browser, fresh) as visit:
        before = in_view(shown(visit))
        fresh.writer.put("/v1/documents/new", {"text": "A captain on a ship."})
        page = visit.go("?#/map")
        expect(page.locator(".map-side h2")).to_contain_text(f"{before + 1} passages")
        assert fresh.get("/v1/map").json["state"] == "ready"


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_map_that_is_not_there_says_so_and_how_to_make_it(
    scheme: Literal["light", "dark"], browser: Browser, asker: Asker
) -> None:
    with visiting(browser, asker, scheme=scheme) as visit:
        absent = {"index": "docs", "state": "absent", "passages": 0, "of": 90_000, "generation": None, "seen": 1}
        absent |= {"progress": None, "colourings": [], "regions": []}
        visit.page.route(
            "**/v1/map?*",
            lambda route: route.fulfill(json=absent),
        )
        page = visit.go("#/map?index=docs")
        expect(page.get_by_role("heading", name="There is no map of this index yet")).to_be_visible()
        expect(page.get_by_role("button", name="Make the map")).to_be_visible()
        assert_everyone_can_use(page)
