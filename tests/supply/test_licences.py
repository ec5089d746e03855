"""All that is installed has a licence that lets anybody use it, or one that somebody has looked at."""

from __future__ import annotations

from pathlib import Path

import licences

ROOT = Path(__file__).parents[2]


def test_every_installed_package_has_a_licence_that_is_permissive_or_accepted() -> None:
    names = {package.metadata["Name"].lower() for package in licences.needed()}
    assert {"numpy", "lxml", "pytest"} <= names  # its own, an extra's, the tests'
    assert licences.refused() == []


def test_notices_name_all_word_vectors_that_ship() -> None:
    notices = (ROOT / "NOTICES").read_text(encoding="utf-8")
    cards = sorted((ROOT / "semsearch" / "word_vectors").glob("**/card.json"))
    assert [card for card in cards if f"({card.parent.relative_to(ROOT).as_posix()})" not in notices] == []
    assert len(cards) > 0
