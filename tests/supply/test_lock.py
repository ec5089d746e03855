"""What CI installs is what the project asks for."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[2]
LOCKED = {  # the distributions, by their folders, and their extras for which .ci/lock/make makes each file
    "dev": {
        ".": ["dev"],
        "scale": ["lance", "postgres", "cluster", "remote-files", "dev"],
        "integrations": [],
        "research": ["papers"],
    },
    "dev-frameworks": {".": [], "integrations": ["langchain", "llamaindex", "haystack", "llm", "dev"]},
}


def asked(folder: str, extras: Sequence[str]) -> Iterator[Requirement]:
    """What a distribution asks for with some extras, but for our own distributions."""
    project = tomllib.loads((ROOT / folder / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    of_extras = [text for extra in extras for text in project["optional-dependencies"][extra]]
    for requirement in map(Requirement, [*project["dependencies"], *of_extras]):
        if requirement.name == project["name"]:
            yield from asked(folder, sorted(requirement.extras))
        elif not requirement.name.startswith("semsearch"):
            yield requirement


@pytest.mark.parametrize(("lock", "distributions"), LOCKED.items())
def test_what_ci_installs_is_what_the_project_asks_for(lock: str, distributions: Mapping[str, Sequence[str]]) -> None:
    text = (ROOT / ".ci" / "lock" / f"{lock}.txt").read_text(encoding="utf-8")
    lines = [line.removesuffix(" \\").partition(" ;")[0] for line in text.splitlines() if line[:1].isalnum()]
    versions = dict(line.split("==") for line in lines)
    ci = {
        "python_version": "3.11",
        "python_full_version": "3.11.0",
        "sys_platform": "linux",
        "platform_system": "Linux",
    }
    requirements = [one for folder, extras in distributions.items() for one in asked(folder, extras)]
    needed = [one for one in requirements if one.marker is None or one.marker.evaluate(ci)]
    pinned = {one: versions.get(canonicalize_name(one.name), "none") for one in needed}
    assert len(pinned) > 5
    wrong = [f"{one}, pinned: {at}" for one, at in pinned.items() if at == "none" or not one.specifier.contains(at)]
    assert wrong == [], "run .ci/lock/make"
