"""Paths that match a filter: globs, and paths as people write them."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from functools import lru_cache

from semsearch.errors import UsageError
from semsearch.search.filtering.operators import Operator, compare, is_negative, positive

_GLOB = re.compile(r"(\*\*/|\*\*|\*|\?|\[!?[^\]/]+\])")


def path_matches(path: str, root: str | None, operator: Operator, value: str, here: str) -> bool:
    """Return whether a path matches: relative to its root or to the current folder, or absolute."""
    if is_negative(operator):
        return not path_matches(path, root, positive(operator), value, here)
    whole = f"{root}/{path}" if root else path
    spellings = {path, whole.removeprefix(here.rstrip("/") + "/"), whole}
    value = unicodedata.normalize("NFC", value)
    if "\\" in value and "/" not in value:
        value = value.replace("\\", "/")  # as typed on Windows
    if operator == "~":
        return _is_like(spellings, value)
    if operator == "=":
        return _is_one(spellings, value) or (has_wildcards(value) and _is_like(spellings, value))
    return compare(path, value, operator)


def _is_like(spellings: Iterable[str], glob: str) -> bool:
    pattern = glob_pattern(glob)
    return any(pattern.fullmatch(spelling) for spelling in spellings)


def _is_one(spellings: Iterable[str], path: str) -> bool:
    wanted = path.removeprefix("./").casefold()
    return any(spelling.casefold() == wanted for spelling in spellings)


def has_wildcards(path: str) -> bool:
    """Return whether a path is a glob: one with wildcards, or a folder. A [ without its ] is a letter."""
    try:
        return path.endswith("/") or (bool(_GLOB.search(path)) and bool(glob_pattern(path)))
    except re.error:
        return False


@lru_cache(maxsize=256)
def glob_pattern(glob: str, *, names: bool = False) -> re.Pattern[str]:
    """Translate a glob to a regular expression for whole paths; with `names`, for values where a slash is a letter."""
    prefix = ""
    if not names:
        prefix = "" if "/" in glob.rstrip("/") else "(?:.*/)?"
        glob = glob.removeprefix("./") + ("**" if glob.endswith("/") else "")
    inner = ".*" if names else "[^/]*"
    parts = _GLOB.split(glob)
    made = [_piece(part, inner) for part in parts]
    return re.compile(prefix + "".join(made), re.IGNORECASE if names else 0)


def check_glob(text: str, glob: str, *, names: bool) -> None:
    """Raise UsageError for a glob that is none; `text` is the filter that it stands in."""
    if "[" in _GLOB.sub("", glob):
        raise UsageError(f"the filter {text!r} has a [ without its ]; write [[] for the character itself")
    try:
        glob_pattern(glob, names=names)
    except re.error as error:
        raise UsageError(f"the filter {text!r} is no glob ({error.msg}); a range is written as in [a-z]") from None


def _piece(part: str, inner: str) -> str:
    if part == "**/":
        return "(?:.*/)?"
    if part == "**":
        return ".*"
    if part == "*":
        return inner
    if part == "?":
        return inner[:-1]
    if part.startswith("[") and part.endswith("]") and len(part) > 2:
        body = re.sub(r"([\\\[&|~])", r"\\\1", part[1:-1])
        return "[^" + body[1:] + "]" if body.startswith("!") else "[" + body + "]"
    return re.escape(part)
