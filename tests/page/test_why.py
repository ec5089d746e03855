"""Why a hit matched: the numbers on the page are those of --explain."""

from __future__ import annotations

import json
from decimal import Decimal
from pathlib import Path
from typing import Any, Literal

import pytest
from browsing import LOOKS, Visit, assert_everyone_can_use, visiting
from playwright.sync_api import Browser, Locator, Page, expect
from serving import Asker
from typer.testing import CliRunner

from semsearch.cli.main import app

QUESTIONS = ["ship in the storm", "what does the captain of the old ship say, in xyzzy", "bread"]
MODES = ["hybrid", "dense", "lexical"]


def explained(folder: Path, question: str, mode: str) -> list[dict[str, Any]]:
    """The hits of `semsearch query --explain` as JSON, with their explanations."""
    index = (folder / "indexes" / "docs").as_posix()
    done = CliRunner().invoke(app, ["query", question, "-i", index, "--mode", mode, "--all", "--explain", "--json"])
    assert done.exit_code == 0, done.output
    hits: list[dict[str, Any]] = json.loads(done.stdout)["hits"]
    return hits


def ask(visit: Visit, question: str, mode: str = "hybrid") -> Page:
    page = visit.go(f"#/search?index=docs&q={question.replace(' ', '+')}&mode={mode}")
    expect(page.locator(".hit").first).to_be_visible()
    return page


def open_why(page: Page, number: int) -> Locator:
    """Open the explanation of a hit by the keyboard; its panel."""
    hit = page.locator(".hit").nth(number)
    hit.locator(".hit-source").focus()
    page.keyboard.press("w")
    expect(hit.locator(".why-parts")).to_be_visible()
    return hit.locator(".hit-panel")


def number(text: str) -> Decimal:
    return Decimal(text.replace("−", "-"))


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("question", QUESTIONS)
def test_the_parts_of_a_score_add_up_to_what_is_shown(visit: Visit, folder: Path, question: str, mode: str) -> None:
    page = ask(visit, question, mode)
    for place, hit in enumerate(explained(folder, question, mode)[:3]):
        panel = open_why(page, place)
        rows = [
            (int(row.get_attribute("data-depth") or 0), number(row.locator(".why-points").inner_text()))
            for row in panel.locator(".why-parts tbody tr").all()
        ]
        score = panel.locator("tfoot .why-points").first.inner_text()
        assert score == f"{hit['score']:.3f}"
        total = sum(value for depth, value in rows if depth == 0)
        assert abs(total - number(score)) <= Decimal("0.0005") * (1 + len(rows))


@pytest.mark.parametrize(("scheme", "size"), LOOKS)
def test_everyone_can_use_it(
    browser: Browser, asker: Asker, scheme: Literal["light", "dark"], size: tuple[int, int]
) -> None:
    with visiting(browser, asker, scheme=scheme, size=size) as visit:
        page = ask(visit, QUESTIONS[0])
        open_why(page, 0)
        assert_everyone_can_use(page)
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
