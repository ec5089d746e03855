"""All that is installed has a licence that lets anybody use it, or one that somebody has looked at."""

from __future__ import annotations

from email.message import Message
from importlib.metadata import Distribution, PathDistribution
from pathlib import Path

import licences
import pytest

ROOT = Path(__file__).parents[2]


def stating(folder: Path, **fields: str) -> Distribution:
    message = Message()
    for name, value in {"Name": "made-up", "Version": "1", **fields}.items():
        message[name.replace("_", "-")] = value
    folder.mkdir()
    (folder / "METADATA").write_text(str(message), encoding="utf-8")
    return PathDistribution(folder)


def test_every_installed_package_has_a_licence_that_is_permissive_or_accepted() -> None:
    names = {package.metadata["Name"].lower() for package in licences.needed()}
    assert {"numpy", "lxml", "pytest"} <= names  # its own, an extra's, the tests'
    assert licences.refused() == []


def test_notices_name_all_word_vectors_that_ship() -> None:
    notices = (ROOT / "NOTICES").read_text(encoding="utf-8")
    cards = sorted((ROOT / "semsearch" / "word_vectors").glob("**/card.json"))
    assert [card for card in cards if f"({card.parent.relative_to(ROOT).as_posix()})" not in notices] == []
    assert len(cards) > 0


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({"License_Expression": "MIT"}, True),
        ({"License_Expression": "GPL-3.0-only OR (BSD-3-Clause)"}, True),
        ({"License_Expression": "MIT AND GPL-3.0-only"}, False),
        ({"Classifier": "License :: OSI Approved :: BSD License"}, True),
        ({"Classifier": "License :: OSI Approved :: GNU General Public License v3 (GPLv3)"}, False),
        ({"License": "Apache License, Version 2.0\n        and its text"}, True),
        ({"License": "ask me"}, False),
        ({}, False),
    ],
)
def test_a_licence_is_what_a_package_states(tmp_path: Path, fields: dict[str, str], expected: bool) -> None:
    stated = licences.licence(stating(tmp_path / "made_up-1.dist-info", **fields))
    assert (not licences.restrictive(stated)) is expected
