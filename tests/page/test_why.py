"""Why a hit matched: the numbers on the page add up, to the last digit that is shown, and are those of --explain."""

from __future__ import annotations

import json
from collections.abc import Sequence
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


def sums_up(rows: Sequence[tuple[int, Decimal]], at: int) -> Decimal:
    """The sum of the rows one deeper that follow a row; the row itself if there are none."""
    depth = rows[at][0]
    below = []
    for deeper, value in rows[at + 1 :]:
        if deeper <= depth:
            break
        below.append(value)
    return sum(below, Decimal(0)) if below else rows[at][1]


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
        assert sum(value for depth, value in rows if depth == 0) == number(score)
        assert all(sums_up(rows, at) == value for at, (_, value) in enumerate(rows))


def test_the_arrows_go_from_pair_to_pair_and_each_is_told(visit: Visit) -> None:
    page = ask(visit, QUESTIONS[0])
    panel = open_why(page, 0)
    told = panel.locator(".why-told")
    expect(told).to_contain_text("Sum of all pairs")
    panel.locator(".heat-cell[tabindex='0']").focus()
    first = told.inner_text()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowDown")
    focused = page.locator(".heat-cell:focus")
    expect(told).to_contain_text(focused.get_attribute("data-words") or "nothing")
    assert told.inner_text() != first
    for _ in range(40):
        page.keyboard.press("ArrowLeft")
    expect(page.locator(".heat-cell:focus")).to_have_count(1)
    assert panel.locator(".heat-cell[tabindex='0']").count() == 1


@pytest.mark.parametrize(("scheme", "size"), LOOKS)
def test_everyone_can_use_it(
    browser: Browser, asker: Asker, scheme: Literal["light", "dark"], size: tuple[int, int]
) -> None:
    with visiting(browser, asker, scheme=scheme, size=size) as visit:
        page = ask(visit, QUESTIONS[0])
        open_why(page, 0)
        assert_everyone_can_use(page)
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
