"""What CI installs is what the project asks for."""

from __future__ import annotations

from importlib.metadata import metadata
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

LOCKS = Path(__file__).parents[2] / ".ci" / "lock"


def _asked(distribution: str) -> list[str]:
    return metadata(distribution).get_all("Requires-Dist") or []


@pytest.mark.parametrize("extra", ["dev", "dev-frameworks"])
def test_what_ci_installs_is_what_the_project_asks_for(extra: str) -> None:
    text = (LOCKS / f"{extra}.txt").read_text(encoding="utf-8")
    lines = [line.removesuffix(" \\") for line in text.splitlines() if line[:1].isalnum()]
    versions = dict(line.split("==") for line in lines)
    assert len(versions) > 100
    asked = [Requirement(text) for text in (*_asked("semsearch"), *_asked("semsearch-integrations"))]
    pinned = [(one, versions[name]) for one in asked if (name := canonicalize_name(one.name)) in versions]
    wrong = [f"{one}, pinned: {version}" for one, version in pinned if not one.specifier.contains(version)]
    assert wrong == [], "run .ci/lock/make"
