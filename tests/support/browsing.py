"""A browser that looks at the page of a server, and remembers what must not happen: errors, requests to elsewhere."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from time import monotonic
from typing import Any, Literal

import pytest
from playwright.sync_api import Browser, ConsoleMessage, Page, Request, expect, sync_playwright
from serving import Asker

_SWITCHES = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
_REQUIRED = "SEMSEARCH_TEST_BROWSER"  # "required": a machine without a browser fails, where others skip
PATIENCE = 60_000  # milliseconds that an expectation waits: other programs may have the processor
expect.set_options(timeout=PATIENCE)
WIDE, NARROW = (1280, 800), (360, 740)
LOOKS = [pytest.param("light", WIDE, id="wide-light"), pytest.param("dark", NARROW, id="narrow-dark")]  # each once


def chromium() -> str:
    """The path of Chromium; skips the test where there is none."""
    found = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if found is None:
        message = "no Chromium on this machine"
        (pytest.fail if os.environ.get(_REQUIRED) == "required" else pytest.skip)(message)
    return str(found)


@contextmanager
def running_browser() -> Iterator[Browser]:
    """A browser, until the block ends."""
    path = chromium()
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=list(_SWITCHES))
        try:
            yield browser
        finally:
            browser.close()


@dataclass
class Visit:
    """A tab that shows the page of a server. `troubles` is what it must not have done until it is closed."""

    page: Page
    url: str
    troubles: list[str] = field(default_factory=list)
    expected: list[str] = field(default_factory=list)  # beginnings of troubles that the test brings about itself

    def __post_init__(self) -> None:
        self.page.on("console", self._console)
        self.page.on("pageerror", lambda error: self.troubles.append(f"error: {error}"))
        self.page.on("request", self._request)

    def _console(self, message: ConsoleMessage) -> None:
        if message.type in ("error", "warning"):
            self.troubles.append(f"{message.type}: {message.text}")

    def _request(self, request: Request) -> None:
        if not request.url.startswith((self.url, "blob:", "data:")):
            self.troubles.append(f"request: {request.url}")

    @property
    def unexpected(self) -> list[str]:
        return [trouble for trouble in self.troubles if not trouble.startswith(tuple(self.expected))]

    def go(self, address: str = "") -> Page:
        """Show an address such as `#/search?q=ship`."""
        self.page.goto(f"{self.url}/{address}")
        return self.page


def eventually(page: Page, condition: Callable[[], bool]) -> None:
    """Look at the page until a condition holds that no locator can wait for."""
    deadline = monotonic() + PATIENCE / 1000
    while not condition():
        assert monotonic() < deadline, "the page did not come to that"
        page.wait_for_timeout(20)  # lets the page go on


def assert_everyone_can_use(page: Page) -> None:
    """axe-core finds nothing that keeps anybody from using the page as it is now."""
    from axe_playwright_python.sync_playwright import Axe

    found = Axe().run(page)
    assert found.violations_count == 0, found.generate_report()


@contextmanager
def visiting(
    browser: Browser,
    asker: Asker,
    *,
    size: tuple[int, int] = WIDE,
    scheme: Literal["light", "dark"] = "light",
    **options: Any,
) -> Iterator[Visit]:
    """A tab of its own, without cookies and memory. Fails if the page complained or asked anybody else."""
    width, height = size
    context = browser.new_context(
        viewport={"width": width, "height": height}, color_scheme=scheme, reduced_motion="reduce", **options
    )
    context.set_default_timeout(PATIENCE)
    visit = Visit(context.new_page(), asker.url)
    try:
        yield visit
    finally:
        context.close()
    assert visit.unexpected == [], visit.unexpected
