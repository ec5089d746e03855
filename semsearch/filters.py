"""Filters on documents, and boosts of them: globs on paths, comparisons of title, format, date and metadata.

    guide/*.md      path: * and ? stay within a folder, ** stands for folders; without a slash: the name, in any folder
    guide/          everything below a folder
    key=value       key!=value  key<value  key<=value  key>value  key>=value
    key=1..9        from 1 to 9, both included; key=1.. and key=..9 have one end
    key~glob        key!~glob
    a|b             a or b: author=Ada|Grace, guide/|notes/, format=pdf|year>2020; of !=, neither: author!=Ada|Grace
    !filter         what the filter leaves out: !guide/, !author=Ada|Grace

A key is path, title, format, modified, or a metadata key; author.name is the name inside author, and a key with other
characters stands in double quotes. Case never counts. Two numbers are compared as numbers, all else as text. Dates are
compared as precisely as the filter gives them: date=2024-05 is all of May. Of a list, any element may match; != and !~
hold where none does. `modified` is the document's own metadata, or else the time of its file. A path may be relative to
its root or to the current folder, or absolute; path= and path!= take a glob too. Behind | a value without a key has
that of the part before. A | in a value is written \\|, and a path that begins with ! is written ./!so.

    >>> [row.path for row in rows if parse("guide/*.md|author=Ada").matches(row)]

The rows are those of documents, or of their records, if these have metadata.
"""

from __future__ import annotations

import json
import math
import operator as op
import re
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from datetime import datetime
from fnmatch import translate
from functools import lru_cache
from typing import Any, NamedTuple
from unicodedata import normalize

from semsearch.errors import UsageError
from semsearch.storage.document_rows import FilterRow
from semsearch.system.locations import working_folder

Test = Callable[[FilterRow], bool]


class Comparison(NamedTuple):
    """A key, an operator and values: of a negative operator none of them may match, else one must."""

    key: str  # in lower case
    operator: str  # = != < <= > >= ~ !~
    tests: Mapping[str, Test]  # by value: whether a row matches it, as if the operator was positive

    def matches(self, row: FilterRow) -> bool:
        """Return whether a row passes."""
        return any(test(row) for test in self.tests.values()) != self.operator.startswith("!")


class Filter(NamedTuple):
    """A filter: one of its comparisons must hold; none of them, if it is negated."""

    text: str
    comparisons: tuple[Comparison, ...]
    is_negated: bool = False

    def matches(self, row: FilterRow) -> bool:
        """Return whether a row passes."""
        return any(comparison.matches(row) for comparison in self.comparisons) != self.is_negated

    @property
    def key(self) -> str | None:
        """The key that all comparisons are on; None if they are on several."""
        keys = {comparison.key for comparison in self.comparisons}
        return keys.pop() if len(keys) == 1 else None

    @property
    def only(self) -> tuple[str, str, str] | None:
        """Key, operator and value, if there is only one value, and it is not negated."""
        (comparison, *others), (value, *values) = self.comparisons, self.comparisons[0].tests
        return None if others or values or self.is_negated else (comparison.key, comparison.operator, value)


def all_match(filters: Iterable[Filter], row: FilterRow) -> bool:
    """Return whether a row passes all filters."""
    return all(filter_.matches(row) for filter_ in filters)


# -- Parsing -----------------------------------------------------------------------------------------------------------

_COMPARISON = re.compile(r'\s*([\w.\-]+|"[^"]+")\s*(!=|!~|<=|>=|=|<|>|~)\s*(.*?)\s*', re.DOTALL)
_UNKNOWN_OPERATOR = re.compile(r"=|[<>][<>=\s]*[\d.+-]")  # behind an operator; <x> is a value, >3 is none
_KEYLESS = re.compile(r"!=|!~|[<>=~]")
_LONGEST = 4096  # characters of a value, as of a path


def parse(text: str) -> Filter:
    """Parse a filter. Raises UsageError for text that makes no sense as one."""
    if not text.strip("! \t\r\n"):
        raise UsageError("the filter is empty; give a glob such as 'guide/*.md' or a condition such as 'author=Ada'")
    try:
        text.encode()
    except UnicodeEncodeError:
        raise UsageError(f"the filter {text!r} is not valid Unicode; use * or ? for the invalid characters") from None
    stripped = text.strip()
    is_negated = stripped.startswith("!") and not _KEYLESS.match(stripped)
    parsed = list[tuple[str, str, list[str]]]()
    for part in re.split(r"(?<!\\)\|", stripped[is_negated:]):
        part = part.replace("\\|", "|")
        match = _COMPARISON.fullmatch(part)
        if match is None and _KEYLESS.match(part.strip()):
            raise UsageError(f"the filter {text!r} names no key; write it as in 'author=Ada'")
        if match is None and parsed:
            parsed[-1][2].append(part.strip())
        else:
            key, operator, value = match.groups() if match else ("path", "~", part.strip())
            parsed.append((key.strip('"').casefold(), operator, [value]))
        _check_value(text, *parsed[-1][:2], parsed[-1][2][-1], is_alone=match is None)
    comparisons = (
        Comparison(key, operator, {value: _test(key, operator.lstrip("!"), value) for value in values})
        for key, operator, values in parsed
    )
    return Filter(text, tuple(comparisons), is_negated)


_BOUND = r"(?:\d{4}-\d\d(?:-\d\d(?:[T ][\d:.]+)?)?|[+-]?\d+(?:\.\d+)?)"
_RANGE = re.compile(rf"({_BOUND})\.\.({_BOUND})?|\.\.({_BOUND})")
_MONTH = re.compile(r"\d{4}-(\d\d)(?:-(\d\d))?")


def _check_value(text: str, key: str, operator: str, value: str, *, is_alone: bool) -> None:
    """Raise UsageError for a value that cannot be meant; `text` is the filter that it stands in."""
    if not key.strip("."):
        raise UsageError(f"the filter {text!r} names no key; write it as in 'author=Ada'")
    if not value and (is_alone or operator not in ("=", "!=")):
        raise UsageError(f"the filter {text!r} has no value for {key}; write one after the {operator}")
    if len(value) > _LONGEST:
        raise UsageError(
            f"the filter {text[:40]!r}… compares with {len(value):,} characters; give at most {_LONGEST:,}"
        )
    if not is_alone and _UNKNOWN_OPERATOR.match(value):
        raise UsageError(
            f"the filter {text!r} has the unknown operator {operator}{value[0]}; there are = != < <= > >= ~ !~ "
            f"(a value that begins with {value[0]}: {key}~[{value[0]}]*)"
        )
    if key == "path" or operator.endswith("~"):
        return
    for end in value.split(".."):
        if (date := _MONTH.fullmatch(end)) and not (1 <= int(date[1]) <= 12 and 1 <= int(date[2] or 1) <= 31):
            raise UsageError(f"the filter {text!r} has an invalid date, {end}; write it as in 2024-05-31")
    bounds = _RANGE.fullmatch(value)
    if bounds and bounds[1] and bounds[2] and not _compared("<=", bounds[2])(bounds[1]):
        raise UsageError(f"the filter {text!r} ends before it begins; write {bounds[2]}..{bounds[1]}")


# -- Comparing ---------------------------------------------------------------------------------------------------------

_COMPARISONS: dict[str, Callable[[Any, Any], bool]] = {"=": op.eq, "<": op.lt, "<=": op.le, ">": op.gt, ">=": op.ge}
_DATE = re.compile(r"\d{4}-\d\d(-\d\d([T ]\d\d:\d\d.*)?)?", re.DOTALL)
_LESS_PRECISE = re.compile(r"\d{4}(-\d\d(-\d\d)?)?")


def _test(key: str, operator: str, value: str) -> Test:
    """Whether a row matches a value by a positive operator."""
    if key == "path" and operator in ("=", "~"):
        return _path_test(value)
    compare = _compared(operator, value)
    return lambda row: any(map(compare, texts_of(row, key)))


def _compared(operator: str, wanted: str) -> Callable[[str], bool]:
    """The comparison of a text with a wanted one."""
    if operator == "~":
        match = re.compile(translate(wanted), re.IGNORECASE).match
        return lambda text: match(text) is not None
    if operator == "=" and (bounds := _RANGE.fullmatch(wanted)):
        first, last = bounds[1] or "", bounds[2] or bounds[3] or ""
        from_, to = _compared(">=", first), _compared("<=", last)
        return lambda text: (not first or from_(text)) and (not last or to(text))
    compare, number, folded = _COMPARISONS[operator], number_of(wanted), wanted.casefold()
    is_date = _LESS_PRECISE.fullmatch(wanted)

    def holds(text: str) -> bool:
        if is_date and _DATE.fullmatch(text):
            text = text[: len(wanted)]
        if number is not None and (other := number_of(text)) is not None:
            return compare(other, number)
        return compare(text.casefold(), folded)

    return holds


def number_of(text: str) -> float | None:
    """The number that a text is; None if it is none."""
    try:
        number = float(text)
    except ValueError:
        return None
    return number if number == number else None


def texts_of(row: FilterRow, key: str) -> Collection[str]:
    """The values of a row under a key, in lower case, as filters compare them."""
    if key in ("path", "title", "format"):
        return (getattr(row, key),)
    values = metadata_texts(row.metadata_json).get(key, ())
    has_file = row.mtime_ns != 0  # a text that a program added has none
    return values or ((file_time(row.mtime_ns),) if key == "modified" and has_file else ())


def file_time(mtime_ns: int) -> str:
    """The time of a file as filters compare it: local date and time, to the second. Empty for one that no clock has."""
    try:
        return datetime.fromtimestamp(mtime_ns // 1_000_000_000).isoformat()  # local, as dates are written
    except (OverflowError, OSError, ValueError):
        return ""


@lru_cache(maxsize=4096)
def metadata_texts(metadata: str) -> Mapping[str, Sequence[str]]:
    """The single values in metadata (JSON) as texts, by key in lower case: author.name is the name inside author."""
    texts = defaultdict[str, list[str]](list)

    def add(key: str, item: Any) -> None:
        for value in item if isinstance(item, list) else [item]:
            if isinstance(value, dict):
                for name, inside in value.items():
                    add(f"{key}.{name}" if key else name, inside)
            elif isinstance(value, bool):
                texts[key.casefold()].append("true" if value else "false")
            elif not isinstance(value, list):
                texts[key.casefold()].append("" if value is None else str(value))

    add("", json.loads(metadata))
    return dict(texts)


# -- Paths -------------------------------------------------------------------------------------------------------------

_WILDCARD = re.compile(r"(\*+|\?|\[!?[^\]/]+\])")


def _path_test(glob: str) -> Test:
    """Whether a row's path matches a glob: relative to its root or to the current folder, or absolute."""
    glob, here = normalize("NFC", glob), working_folder().as_posix().rstrip("/") + "/"
    if "\\" in glob and "/" not in glob:
        glob = glob.replace("\\", "/")  # as typed on Windows
    try:
        pattern = re.compile(f"{_path_pattern(glob)}|{re.escape(glob.removeprefix('./'))}", re.DOTALL | re.IGNORECASE)
    except re.error as error:
        raise UsageError(f"{glob!r} is not a glob ({error.msg}); a range is written as in [a-z]") from None

    def test(row: FilterRow) -> bool:
        absolute = normalize("NFC", row.absolute)
        return any(map(pattern.fullmatch, (row.path, absolute, absolute.removeprefix(here))))

    return test


def _path_pattern(glob: str) -> str:
    """The regular expression of a glob. What stands between two wildcards is taken at the first place where it is, and
    looked for nowhere else: further on there is only less left for the rest. So no glob takes long."""
    in_any_folder = "" if "/" in glob.rstrip("/") else "**/"
    glob = in_any_folder + glob.removeprefix("./") + ("**" if glob.endswith("/") else "")
    if glob.endswith("/**"):
        glob += "/*"  # what lies below
    parts = re.split(r"(?:(?:^|(?<=/))\*\*/)+", glob)
    return _once([*map(_segments_pattern, parts)], "(?>(?:[^/]*/)*?{})", "(?:.*/)?")


def _segments_pattern(glob: str) -> str:
    """The regular expression of a glob without a **."""
    pieces = [""]  # between which there is a *
    for part in _WILDCARD.split(glob):
        if part.startswith("*"):
            pieces.append("")
        elif part == "?":
            pieces[-1] += "[^/]"
        elif len(part) > 2 and part.startswith("[") and part.endswith("]"):
            body = re.sub(r"([\\\[&|~^])", r"\\\1", part[1:-1])
            pieces[-1] += f"[^{body[1:]}]" if body.startswith("!") else f"[{body}]"
        else:
            pieces[-1] += re.escape(part)
    return _once(pieces, "(?>[^/]*?{})", "[^/]*")


def _once(pieces: Sequence[str], next_place: str, wildcard: str) -> str:
    """Pieces with a wildcard between them, each at the next place where it is; the last at the end."""
    first, *others = pieces
    if not others:
        return first
    *between, last = others
    return "".join([first, *map(next_place.format, between), wildcard, last])


# -- Boosts: points for what passes a filter, or is recent -------------------------------------------------------------
#
#     guide/^0.1          a tenth more for what lies below a folder; any filter does
#     format=pdf^-0.05    points may be taken away
#     recent^0.1          a tenth for what is new, halved with every year of age
#     recent:30d^0.1      halved with every 30 days; d, w, m and y are days, weeks, months and years
#
# Points count in the unit of the mode's scores, which in hybrid mode lie between about 0 and 1. A document's date is
# the `date` of its metadata, or else when it was last modified. Boosts order what is found; they find nothing.

_RECENT = re.compile(r"recent(?::(\d+(?:\.\d+)?)([dwmy]))?", re.IGNORECASE)
_SECONDS = {"d": 86_400.0, "w": 7 * 86_400.0, "m": 365.25 / 12 * 86_400, "y": 365.25 * 86_400}
_DAY = re.compile(r"(\d{4})-(\d\d)(?:-(\d\d))?")


class Boost(NamedTuple):
    """A boost: what it is for, and its points. Without a filter it is for recent documents."""

    text: str
    points: float
    filter: Filter | None = None
    half_life: float = _SECONDS["y"]

    def share(self, row: FilterRow, now: float) -> float:
        """The share of the points that a row gets, 0 to 1: of recency 1 for what is new, a half after a half-life."""
        if self.filter is not None:
            return float(self.filter.matches(row))
        return float(0.5 ** (max(0.0, now - _date_of(row)) / self.half_life))


def parse_boost(text: str) -> Boost:
    """Parse a boost. Raises UsageError for text that makes no sense as one."""
    preferred, _, number = text.rpartition("^")
    points = number_of(number)
    if points is None or not math.isfinite(points) or not preferred.strip():
        raise UsageError(f"the boost {text!r} has no points; write them behind a ^, as in 'guide/^0.1' or 'recent^0.1'")
    match = _RECENT.fullmatch(preferred.strip())
    if match is None:
        return Boost(preferred.strip(), points, parse(preferred))
    half_life = float(match[1] or 1) * _SECONDS[(match[2] or "y").lower()]
    if not half_life:
        raise UsageError(f"the boost {text!r} has a half-life of zero; give a time such as 30d")
    return Boost(preferred.strip(), points, half_life=half_life)


def _date_of(row: FilterRow) -> float:
    """The date of a document, in seconds since 1970."""
    texts = metadata_texts(row.metadata_json)
    for text in (*texts.get("date", ()), *texts.get("modified", ())):
        if (match := _DAY.match(text)) is not None:
            try:
                return datetime(int(match[1]), int(match[2]), int(match[3] or 1)).astimezone().timestamp()
            except (ValueError, OverflowError, OSError):
                continue
    return row.mtime_ns / 1e9
