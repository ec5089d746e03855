"""Paths that match a filter: globs, and paths as people write them."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from functools import lru_cache
from typing import NamedTuple

from semsearch.errors import UsageError
from semsearch.search.filtering.operators import Operator, compare, is_negative, positive

_GLOB = re.compile(r"(\*\*/|\*\*|\*|\?|\[!?[^\]/]+\])")
_GREEDY = {"": "", "**": ".*", "**/": "(?:.*/)?"}
_LAZY = {"": "", "**": ".*?", "**/": "(?:.*?/)??"}
_LONGEST = 4096  # characters of a glob, as of a path


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
    """Translate a glob to a regular expression for whole paths; with `names`, for values where a slash is a letter.

    What stands between two wildcards is taken at the first place where it is, and looked for nowhere else: further on
    there is only less left for the rest. For that, all from one ** to the next counts as one piece. So a glob of
    many wildcards takes at most the square of the path's length, and not the power of it that backtracking takes.
    """
    if not names:
        in_any_folder = "" if "/" in glob.rstrip("/") else "**/"
        glob = in_any_folder + glob.removeprefix("./") + ("**" if glob.endswith("/") else "")
    character = "." if names else "[^/]"
    *pieces, last = _divided(glob, character)
    made = [_LAZY[piece.wildcard] + _once(piece.parts, character) for piece in pieces]
    once = "".join([*made[:1], *(f"(?>{each})" for each in made[1:])])
    *parts, end = last.parts
    rest = _once(parts, character) + f"{character}*{end}" if parts else end
    return re.compile(once + _GREEDY[last.wildcard] + rest, re.DOTALL | (re.IGNORECASE if names else 0))


class _Piece(NamedTuple):
    wildcard: str  # that it begins with: "", ** or **/
    parts: list[str]  # regular expressions, with a * between two of them


def _divided(glob: str, character: str) -> list[_Piece]:
    """The pieces of a glob, each from a ** on to the next."""
    pieces, before = [_Piece("", [""])], "/"
    for part in filter(None, _GLOB.split(glob)):
        if part == "**/" and before.endswith("/"):
            pieces.append(_Piece(part, [""]))
        elif part in ("**/", "**"):
            pieces.append(_Piece("**", [part[2:]]))
        elif part == "*":
            pieces[-1].parts.append("")
        else:
            pieces[-1].parts[-1] += _piece(part, character)
        before = part
    return pieces


def _once(parts: list[str], character: str) -> str:
    """Parts of a piece, each of which is looked for once behind the * before it."""
    return "".join([*parts[:1], *(f"(?>{character}*?{each})" for each in parts[1:])])


def check_glob(text: str, glob: str, *, names: bool) -> None:
    """Raise UsageError for a glob that is none; `text` is the filter that it stands in."""
    if len(glob) > _LONGEST:
        raise UsageError(f"the filter {text[:40]!r}… compares with {len(glob):,} characters; give at most {_LONGEST:,}")
    if "[" in _GLOB.sub("", glob):
        raise UsageError(f"the filter {text!r} has a [ without its ]; write [[] for the character itself")
    try:
        glob_pattern(glob, names=names)
    except re.error as error:
        raise UsageError(f"the filter {text!r} is no glob ({error.msg}); a range is written as in [a-z]") from None


def _piece(part: str, character: str) -> str:
    if part == "?":
        return character
    if part.startswith("[") and part.endswith("]") and len(part) > 2:
        body = re.sub(r"([\\\[&|~])", r"\\\1", part[1:-1])
        return "[^" + body[1:] + "]" if body.startswith("!") else "[" + body + "]"
    return re.escape(part)
