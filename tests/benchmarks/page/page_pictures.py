"""Draw the pictures of docs/page.md: the search page with semsearch's own guide, light, dark and narrow.

    python tests/benchmarks/page/page_pictures.py [FOLDER]    # docs/images by default

Needs Chromium. The pictures show what the page is now: run it again when its looks change.
"""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path
from typing import Literal

ROOT = Path(__file__).parents[3]
sys.path.insert(0, str(ROOT / "tests" / "support"))

from browsing import running_browser, visiting
from playwright.sync_api import Browser
from serving import Asker, running

from semsearch.index import Index
from semsearch.server.open_indexes import OpenIndexes

QUERY = "what+if+two+programs+write+at+the+same+time"


def main() -> None:
    target = Path(sys.argv[1] if len(sys.argv) > 1 else ROOT / "docs" / "images").absolute()
    os.chdir(ROOT)  # paths are shown from here
    with tempfile.TemporaryDirectory() as name:
        with Index.create(Path(name) / "guide") as index:
            index.sync("docs")
        with running(OpenIndexes(folder=Path(name))) as asker, running_browser() as browser:
            draw(browser, asker, target / "page-light.png", (1280, 800))
            draw(browser, asker, target / "page-dark.png", (1320, 700), scheme="dark", keys=("ArrowDown", "Enter"))
            draw(browser, asker, target / "page-narrow.png", (360, 740))


def draw(
    browser: Browser,
    asker: Asker,
    path: Path,
    size: tuple[int, int],
    *,
    scheme: Literal["light", "dark"] = "light",
    keys: tuple[str, ...] = (),
) -> None:
    """Draw the page as it is once these keys were pressed."""
    with visiting(browser, asker, size=size, scheme=scheme) as visit:
        page = visit.go(f"#/search?q={QUERY}")
        page.locator(".hit").first.wait_for()
        for key in keys:
            page.keyboard.press(key)
        page.wait_for_load_state("networkidle")
        page.screenshot(path=path)


if __name__ == "__main__":
    main()
