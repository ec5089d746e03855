"""The health view says of each index how it is and what to do, and brings it up to date."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Literal

import pytest
from axe_playwright_python.sync_playwright import Axe
from browsing import NARROW, visiting
from playwright.sync_api import Browser, Locator, Page, expect
from serving import TOKEN, Asker, running
from small import write_articles

from semsearch.index import Index
from semsearch.readers.document import Text
from semsearch.server.open_indexes import OpenIndexes
from semsearch.word_vectors.table import VectorTable


@pytest.fixture
def ailing(tmp_path: Path, small_vectors: VectorTable) -> Path:
    """A folder of an index whose files have changed since, of which one was not read, and of one that has no files."""
    write_articles(tmp_path / "docs", 3)
    (tmp_path / "docs" / "picture.bin").write_bytes(bytes(range(256)))
    with Index.create(tmp_path / "indexes" / "docs", vectors=small_vectors) as docs:
        docs.sync(tmp_path / "docs")
    with Index.create(tmp_path / "indexes" / "notes", vectors=small_vectors) as notes:
        notes.add([Text("a", "A ship in the storm.")])
    write_articles(tmp_path / "docs", 2, first=10)
    return tmp_path


@pytest.fixture
def ailing_asker(ailing: Path) -> Iterator[Asker]:
    with running(OpenIndexes(folder=ailing / "indexes")) as asker:
        yield asker


def report(page: Page, name: str) -> Locator:
    """The report on an index, once it is there."""
    found = page.get_by_role("article", name=name)
    expect(found.locator(".facts")).to_be_visible()
    return found


def test_each_index_says_what_there_is_to_do_with_the_command_for_it(
    browser: Browser, ailing_asker: Asker, ailing: Path
) -> None:
    with visiting(browser, ailing_asker, permissions=["clipboard-read", "clipboard-write"]) as visit:
        page = visit.go("#/health")
        docs = report(page, "docs")
        first = docs.locator(".finding").first
        expect(first).to_contain_text("To do")
        expect(first).to_contain_text("2 files added, changed or removed")
        expect(page.get_by_role("status")).to_have_text("2 indexes checked")  # the last that the view says by itself
        command = f"semsearch index --name {ailing / 'indexes' / 'docs'}"
        page.get_by_role("button", name=f"Copy the command {command}").click()
        expect(page.get_by_role("status")).to_have_text("Copied")
        assert page.evaluate("navigator.clipboard.readText()") == command
        expect(docs.locator(".bars").nth(0)).to_contain_text("markdown3 documents")
        expect(docs.locator(".bars").nth(1)).to_contain_text("vectors of sentences")
        expect(report(page, "notes").get_by_role("button", name="Bring up to date now")).to_have_count(0)


def test_what_was_not_read_is_listed_with_its_reason_when_it_is_opened(browser: Browser, ailing_asker: Asker) -> None:
    with visiting(browser, ailing_asker) as visit:
        docs = report(visit.go("#/health"), "docs")
        docs.get_by_text("Files that could not be read, and why").click()
        expect(docs.locator(".paged li").first).to_contain_text("picture.bin")


def test_an_index_is_brought_up_to_date_with_the_token(browser: Browser, ailing_asker: Asker, ailing: Path) -> None:
    with visiting(browser, ailing_asker) as visit:
        visit.expected = ["error: Failed to load resource: the server responded with a status of 401"]
        page = visit.go("#/health")
        docs = report(page, "docs")
        docs.get_by_role("button", name="Bring up to date now").click()
        page.get_by_role("textbox", name="Token").fill(TOKEN)
        page.keyboard.press("Enter")
        expect(docs.locator(".sync-told")).to_have_text("2 added; 3 documents unchanged")
        expect(docs.locator(".findings")).to_contain_text("All files are up to date.")
    with Index.open(ailing / "indexes" / "docs") as index:
        assert len(index) == 5


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_in_any_colours(
    browser: Browser, ailing_asker: Asker, scheme: Literal["light", "dark"]
) -> None:
    with visiting(browser, ailing_asker, scheme=scheme, size=NARROW) as visit:
        page = visit.go("#/health")
        docs = report(page, "docs")
        docs.get_by_text("Files that could not be read, and why").click()
        expect(docs.locator(".paged li").first).to_be_visible()
        report(page, "notes")
        found = Axe().run(page)
        assert found.violations_count == 0, found.generate_report()
        assert page.evaluate("document.documentElement.scrollWidth") <= NARROW[0]
