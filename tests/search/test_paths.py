"""Paths and globs: what matches, and how long that takes at most."""

from __future__ import annotations

import random
import re

import pytest

from semsearch.errors import UsageError
from semsearch.search.filters import glob_pattern, parse

_PIECES = ("*", "**", "**/", "/", "a", "b", "a", "?", "[ab]", "*", "B")


def by_backtracking(glob: str, *, names: bool) -> re.Pattern[str]:
    """The plain translation of a glob, which for many wildcards takes for ever."""
    inner = "." if names else "[^/]"
    said = {"*": f"{inner}*", "?": inner, "**": ".*", "**/": "(?:.*/)?"}
    if not names:
        glob = ("" if "/" in glob.rstrip("/") else "**/") + glob + ("**" if glob.endswith("/") else "")
    found, before = "", "/"
    for part in re.findall(r"\*\*/|\*\*|\*|\[ab\]|.", glob):
        inside = part == "**/" and not before.endswith("/")
        found += ".*/" if inside else said.get(part, part)
        before = part
    return re.compile(found, re.DOTALL | (re.IGNORECASE if names else 0))


@pytest.mark.parametrize("names", [False, True])
def test_a_glob_matches_what_its_plain_translation_matches(*, names: bool) -> None:
    chance = random.Random(1)
    for _ in range(500):
        glob = "".join(chance.choices(_PIECES, k=chance.randint(1, 7)))
        fast, plain = glob_pattern(glob, names=names), by_backtracking(glob, names=names)
        for path in ("".join(chance.choices("ab/ab\n", k=chance.randint(0, 9))) for _ in range(8)):
            assert bool(fast.fullmatch(path)) == bool(plain.fullmatch(path)), (glob, path)


@pytest.mark.parametrize("glob", ["*a" * 30 + "b", "**/" * 30 + "b", "**a*/" * 20 + "b", "**/a/" * 20 + "b"])
@pytest.mark.parametrize("path", ["a" * 300, "a/" * 150, "aa/" * 100])
def test_a_glob_of_many_wildcards_takes_no_time(glob: str, path: str) -> None:
    assert not glob_pattern(glob).fullmatch(path)  # by backtracking, not in a lifetime
    assert not glob_pattern(glob, names=True).fullmatch(path)


def test_a_glob_is_no_longer_than_a_path() -> None:
    with pytest.raises(UsageError, match="compares with 9,000 characters; give at most 4,096"):
        parse("**/" * 3000)
