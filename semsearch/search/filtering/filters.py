"""Filters on documents: globs on paths, comparisons on title, format, date and metadata.

    guide/*.md      path: * and ? stay within a folder, ** crosses folders; without a slash: the name, in any folder
    guide/          everything below a folder
    key=value       key!=value  key<value  key<=value  key>value  key>=value
    key=1..9        from 1 to 9, both included; key=1.. and key=..9 have one end; key!=1..9
    key~glob        key!~glob
    a|b             a or b: author=Ada|Grace, guide/|notes/, format=pdf|year>2020; of !=, neither: author!=Ada|Grace
    !filter         what the filter leaves out: !guide/, !author=Ada|Grace

A key is path, title, format, modified, or a metadata key; author.name is the name inside author, and a key with other
characters stands in double quotes. Keys are case-insensitive. Two numbers are compared as numbers, all else as text;
equality is case-insensitive. Dates are compared as precisely as the filter gives them: date=2024-05 is all of May. Of a
list, any element may match; !=, !~ and !=1..9 hold where none does. `modified` is what the document says of itself, or
else the time of its file. A path may be relative to its root or to the current folder, or absolute; path= and path!=
take a glob too. Behind | a part without a key of its own has that of the part before. A | in [ ], or behind \\, is a
character; a path that begins with ! is written ./!so.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import cast

from semsearch.errors import UsageError
from semsearch.search.filtering.operators import Operator, is_negative
from semsearch.search.filtering.paths import check_glob
from semsearch.search.filtering.values import number_of

_COMPARISON = re.compile(r'\s*([\w.\-]+|"[^"]+")\s*(!=|!~|<=|>=|=|<|>|~)\s*(.*?)\s*', re.DOTALL)
_KEYLESS = re.compile(r"!=|!~|[<>=~]")
_PARTS = re.compile(r"(?:\\\||\[!?[^\]/]{1,500}\]|[^|])*", re.DOTALL)
_BOUND = r"(?:\d{4}-\d\d(?:-\d\d(?:[T ][\d:.]+)?)?|[+-]?\d+(?:\.\d+)?)"
_RANGE = re.compile(rf"({_BOUND})\.\.({_BOUND})?|\.\.({_BOUND})")
_DAY = re.compile(r"\d{4}-(\d\d)(?:-(\d\d))?")


@dataclass(frozen=True, slots=True)
class Filter:
    """A condition on documents: a key, an operator and a value."""

    key: str
    operator: Operator
    value: str


@dataclass(frozen=True, slots=True)
class FilterChoice:
    """What a filter says: one of several alternatives must hold, all of each; none of them, if it is negated."""

    alternatives: tuple[tuple[Filter, ...], ...]
    is_negated: bool = False

    @property
    def comparisons(self) -> Iterator[Filter]:
        """All comparisons of all alternatives."""
        return (each for alternative in self.alternatives for each in alternative)

    @property
    def key(self) -> str | None:
        """The key that all comparisons are on, casefolded; None if they are on several."""
        keys = {each.key.casefold() for each in self.comparisons}
        return keys.pop() if len(keys) == 1 else None

    @property
    def only(self) -> Filter | None:
        """The comparison, if it is the only one and not negated."""
        found = list(self.comparisons)
        return found[0] if len(found) == 1 and not self.is_negated else None


def parse(text: str) -> FilterChoice:
    """Parse a filter. Raises UsageError for text that makes no sense as one."""
    if not text.strip("! \t\r\n"):
        raise UsageError("an empty filter; give a glob such as 'guide/*.md' or a condition such as 'author=Ada'")
    try:
        text.encode()
    except UnicodeEncodeError:
        raise UsageError(f"the filter {text!r} is no text in Unicode; use * or ? for what is not") from None
    stripped = text.strip()
    is_negated = stripped.startswith("!") and not _KEYLESS.match(stripped)
    parts, before, found = _split(stripped[1:] if is_negated else text), None, list[tuple[Filter, ...]]()
    for part in parts:
        filter_ = _comparison(text, part, before)
        if before is not None and is_negative(filter_.operator) and not _COMPARISON.fullmatch(part):
            found[-1] += (filter_,)  # neither nor
        else:
            found.append((filter_,))
        before = filter_
    return FilterChoice(tuple(found), is_negated)


def _split(text: str) -> list[str]:
    """The parts of a filter between its | characters."""
    parts, begin = list[str](), 0
    while begin <= len(text):
        match = _PARTS.match(text, begin)
        assert match is not None  # it matches nothing, too
        parts.append(match[0].replace("\\|", "|"))
        begin = match.end() + 1
    return parts


def _comparison(text: str, part: str, before: Filter | None) -> Filter:
    """One part of a filter; without a key of its own it has that of the part before. `text`: the whole filter."""
    match = _COMPARISON.fullmatch(part)
    key, operator, value = "path", "~", part.strip()
    if match is not None:
        key, operator, value = match.groups()
        key = key.strip('"')
    elif before is not None:
        key, operator = before.key, "!=" if before.operator == "!.." else before.operator.replace("..", "=")
    if not key.strip(".") or (match is None and _KEYLESS.match(value)):
        raise UsageError(f"the filter {text!r} names no key; write it as in 'author=Ada', and a path as in './=a.md'")
    if not value and (operator not in ("=", "!=") or not match):
        after = "|" if before is not None or not match else operator
        raise UsageError(f"the filter {text!r} compares {key} with nothing; write a value after the {after}")
    return _checked(text, Filter(key, cast(Operator, operator), value))


def _checked(text: str, filter_: Filter) -> Filter:
    """A comparison whose value can be meant; one with a range has its operator. Raises UsageError."""
    is_path = filter_.key.casefold() == "path"
    if filter_.operator in ("~", "!~"):
        check_glob(text, filter_.value, names=not is_path)
    elif not is_path:
        _check_date(text, filter_.value)
        if filter_.operator in ("=", "!=") and (match := _RANGE.fullmatch(filter_.value)):
            _check_range(text, match[1], match[2])
            return replace(filter_, operator=".." if filter_.operator == "=" else "!..")
    return filter_


def _check_date(text: str, value: str) -> None:
    for each in value.split(".."):
        match = _DAY.fullmatch(each)
        if match and not (1 <= int(match[1]) <= 12 and 1 <= int(match[2] or 1) <= 31):
            raise UsageError(f"the filter {text!r} has no date: {each}; write year, month and day as in 2024-05-31")


def _check_range(text: str, first: str | None, last: str | None) -> None:
    if not first or not last:
        return
    left, right = number_of(first), number_of(last)
    is_backwards = left > right if left is not None and right is not None else first[: len(last)] > last
    if is_backwards:
        raise UsageError(f"the filter {text!r} ends before it begins, so nothing can match; write {last}..{first}")
