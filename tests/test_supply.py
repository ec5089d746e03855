"""All that is installed has a licence that lets anybody use it, or one that somebody has looked at."""

from __future__ import annotations

from email.message import Message
from importlib.metadata import Distribution, PathDistribution, metadata
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType

import pytest
from packaging.requirements import Requirement

ROOT = Path(__file__).parents[1]
CONSTRAINTS = ROOT / ".ci" / "constraints.txt"


@pytest.fixture(scope="module")
def supply() -> ModuleType:
    spec = spec_from_file_location("supply", Path(__file__).with_name("supply.py"))
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def stating(folder: Path, **fields: str) -> Distribution:
    message = Message()
    for name, value in {"Name": "made-up", "Version": "1", **fields}.items():
        message[name.replace("_", "-")] = value
    folder.mkdir()
    (folder / "METADATA").write_text(str(message), encoding="utf-8")
    return PathDistribution(folder)


def test_every_installed_package_has_a_licence_that_is_permissive_or_accepted(supply: ModuleType) -> None:
    names = {package.metadata["Name"].lower() for package in supply.needed()}
    assert {"numpy", "lxml", "pytest"} <= names  # its own, an extra's, the tests'
    assert supply.refused() == []


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({"License_Expression": "MIT"}, True),
        ({"License_Expression": "GPL-3.0-only OR (BSD-3-Clause)"}, True),
        ({"License_Expression": "MIT AND GPL-3.0-only"}, False),
        ({"Classifier": "License :: OSI Approved :: BSD License"}, True),
        ({"Classifier": "License :: OSI Approved :: GNU General Public License v3 (GPLv3)"}, False),
        ({"License": "Apache License, Version 2.0\nand its text"}, True),
        ({"License": "ask me"}, False),
        ({}, False),
    ],
)
def test_a_licence_is_what_a_package_states(
    supply: ModuleType, tmp_path: Path, fields: dict[str, str], expected: bool
) -> None:
    stated = supply.licence(stating(tmp_path / "made_up-1.dist-info", **fields))
    assert (not supply.restrictive(stated)) is expected


def test_what_ci_installs_is_what_the_project_asks_for() -> None:
    pinned = [Requirement(line) for line in CONSTRAINTS.read_text(encoding="utf-8").splitlines() if line[:1].isalpha()]
    versions = {pin.name.lower(): str(pin.specifier).removeprefix("==") for pin in pinned}
    assert all(len(pin.specifier) == 1 for pin in pinned)
    asked = [Requirement(text) for text in metadata("semsearch").get_all("Requires-Dist") or ()]
    wrong = [one for one in asked if one.name in versions and not one.specifier.contains(versions[one.name.lower()])]
    assert wrong == [], "run the command in CONTRIBUTING.md that makes .ci/constraints.txt anew"
