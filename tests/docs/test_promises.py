"""Each promise of the guide names a test, and each test that it names is there."""

from __future__ import annotations

import re

import pytest
from guide import ROOT, read

NAMED = re.compile(r"`(?:[\w= ]+ -m pytest |python )?((?:scale/)?tests/[\w/]+(?:\.py|/)?)(?:::(\w+))?(?: [^`]*)?`")
PAGES = ("docs/developers/reliability.md", "docs/developers/security.md")


@pytest.mark.parametrize("page", PAGES)
def test_the_tests_that_a_page_names_are_there(page: str) -> None:
    named = NAMED.findall(read(page))
    assert len(named) > 5
    for path, name in named:
        assert (ROOT / path).exists(), f"{page} names {path}"
        assert not name or f"def {name}(" in (ROOT / path).read_text(encoding="utf-8"), f"{page} names {path}::{name}"


@pytest.mark.parametrize("page", PAGES)
def test_no_promise_is_without_a_test(page: str) -> None:
    rows = [
        line
        for line in read(page).partition("## Last runs")[0].splitlines()
        if line.startswith("| ") and not line.startswith(("| promise", "| door", "| who |"))
    ]
    assert rows
    assert [row for row in rows if not NAMED.search(row.rstrip(" |").rpartition("|")[2])] == []
