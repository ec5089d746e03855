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
list, any element may match; !=, !~ and !=1..9 hold where none does. `modified` is the document's own metadata, or else
the time of its file. A path may be relative to its root or to the current folder, or absolute; path= and path!= take a
glob too. Behind | a part without a key of its own has that of the part before. A | in [ ], or behind \\, is a
character; a path that begins with ! is written ./!so.
"""

from __future__ import annotations

import json
import operator as op
import re
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Literal, cast

from semsearch.errors import UsageError

if TYPE_CHECKING:
    import sqlite3

# -- Operators ---------------------------------------------------------------------------------------------------------

Operator = Literal["=", "!=", "<", "<=", ">", ">=", "~", "!~", "..", "!.."]
_OPPOSITES: dict[Operator, Operator] = {"!=": "=", "!~": "~", "!..": ".."}
_COMPARISONS: dict[str, Callable[[Any, Any], bool]] = {"=": op.eq, "<": op.lt, "<=": op.le, ">": op.gt, ">=": op.ge}


def is_negative(operator: Operator) -> bool:
    """Return whether an operator excludes what its opposite selects."""
    return operator in _OPPOSITES


def positive(operator: Operator) -> Operator:
    """The opposite of a negative operator; any other as it is."""
    return _OPPOSITES.get(operator, operator)


def compare(left: float | str, right: float | str, operator: Operator) -> bool:
    """Compare two numbers, or two texts."""
    return bool(_COMPARISONS[operator](left, right))


# -- Globs and paths ---------------------------------------------------------------------------------------------------

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
        return any(map(glob_pattern(value).fullmatch, spellings))
    if operator == "=":
        is_one = value.removeprefix("./").casefold() in map(str.casefold, spellings)
        return is_one or (has_wildcards(value) and any(map(glob_pattern(value).fullmatch, spellings)))
    return compare(path, value, operator)


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
    pieces, before = [("", [""])], "/"  # each a **, or none, and what follows it between wildcards of one folder
    for part in filter(None, _GLOB.split(glob)):
        if part in ("**/", "**"):
            is_folder = part == "**/" and before.endswith("/")
            pieces.append((part, [""]) if is_folder else ("**", [part[2:]]))
        elif part == "*":
            pieces[-1][1].append("")
        else:
            pieces[-1][1][-1] += _literal(part, character)
        before = part
    *first, (wildcard, (*parts, end)) = pieces
    beginnings = [_LAZY[before] + _once(between, character) for before, between in first]
    once = "".join([*beginnings[:1], *(f"(?>{beginning})" for beginning in beginnings[1:])])
    rest = _once(parts, character) + f"{character}*{end}" if parts else end
    return re.compile(once + _GREEDY[wildcard] + rest, re.DOTALL | (re.IGNORECASE if names else 0))


def _once(parts: list[str], character: str) -> str:
    """Parts with a * between them, each of which is looked for once behind the * before it."""
    return "".join([*parts[:1], *(f"(?>{character}*?{part})" for part in parts[1:])])


def _literal(part: str, character: str) -> str:
    """The pattern of a part of a glob without a *."""
    if part == "?":
        return character
    if part.startswith("[") and part.endswith("]") and len(part) > 2:
        body = re.sub(r"([\\\[&|~])", r"\\\1", part[1:-1])
        return "[^" + body[1:] + "]" if body.startswith("!") else "[" + body + "]"
    return re.escape(part)


def check_glob(text: str, glob: str, *, names: bool) -> None:
    """Raise UsageError for a glob that is none; `text` is the filter that it stands in."""
    if len(glob) > _LONGEST:
        raise UsageError(f"the filter {text[:40]!r}… compares with {len(glob):,} characters; give at most {_LONGEST:,}")
    if "[" in _GLOB.sub("", glob):
        raise UsageError(f"the filter {text!r} has a [ without a ]; write [[] for the character itself")
    try:
        glob_pattern(glob, names=names)
    except re.error as error:
        raise UsageError(f"the filter {text!r} is not a glob ({error.msg}); a range is written as in [a-z]") from None


# -- Values of metadata ------------------------------------------------------------------------------------------------

_DATE = re.compile(r"\d{4}-\d\d(-\d\d([T ]\d\d:\d\d.*)?)?", re.DOTALL)
_LESS_PRECISE = re.compile(r"\d{4}(-\d\d(-\d\d)?)?")


def metadata_matches(metadata: str, key: str, operator: Operator, wanted: str) -> bool:
    """Return whether any value under a key matches; for !=, !~ and !.., whether none does. `key` is casefolded."""
    if metadata == "{}":  # of most documents
        return is_negative(operator)
    found = any(value_matches(value, positive(operator), wanted) for value in values_under(json.loads(metadata), key))
    return found != is_negative(operator)


def modified_matches(metadata: str, mtime_ns: int | None, operator: Operator, wanted: str) -> bool:
    """Return whether the time of a document's last change matches: as it says itself, or the time of its file."""
    if mtime_ns is None or says_modified(metadata):
        return metadata_matches(metadata, "modified", operator, wanted)
    return value_matches(file_time(mtime_ns), operator, wanted)


def says_modified(metadata: str) -> bool:
    """Return whether a document's metadata has a key `modified`."""
    return "odified" in metadata and any(key.casefold() == "modified" for key in json.loads(metadata))


def file_time(mtime_ns: int) -> str:
    """The time of a file as filters compare it: local date and time, to the second. Empty for one that no clock has."""
    try:
        return datetime.fromtimestamp(mtime_ns // 1_000_000_000).isoformat()  # local, as dates are written
    except (OverflowError, OSError, ValueError):
        return ""


def values_under(value: Any, key: str) -> Iterator[Any]:
    """Yield the single values under a key, which may lead into nested objects: author.name."""
    if isinstance(value, list):
        for item in value:
            yield from values_under(item, key)
    elif isinstance(value, dict):
        for name, item in value.items():
            name = name.casefold()
            if name == key:
                yield from item if isinstance(item, list) else [item]
            elif key.startswith(name + "."):
                yield from values_under(item, key[len(name) + 1 :])


def nested_values(key: str, item: Any) -> Iterator[tuple[str, Any]]:
    """The single values in the item of a key, with their keys, casefolded: author.name is the name inside author."""
    for each in item if isinstance(item, list) else [item]:
        if isinstance(each, dict):
            for name, inside in each.items():
                yield from nested_values(f"{key}.{name.casefold()}", inside)
        elif not isinstance(each, list):
            yield key, each


def value_matches(value: object, operator: Operator, wanted: str) -> bool:
    """Return whether one value of JSON matches. Null is compared as an empty text; lists and objects never match."""
    if isinstance(value, (dict, list)):
        return False
    if is_negative(operator):
        return not value_matches(value, positive(operator), wanted)
    text = text_of(value)
    if operator == "~":
        return bool(glob_pattern(wanted, names=True).fullmatch(text))
    if operator == "..":
        first, last = wanted.split("..")
        return (not first or value_matches(text, ">=", first)) and (not last or value_matches(text, "<=", last))
    if _LESS_PRECISE.fullmatch(wanted) and _DATE.fullmatch(text):
        text = text[: len(wanted)]
    right = number_of(wanted)
    left = None if right is None else number_of(text)
    if left is not None and right is not None:
        return compare(left, right, operator)
    return text.casefold() == wanted.casefold() if operator == "=" else compare(text, wanted, operator)


def text_of(value: object) -> str:
    """A single value of metadata as filters compare it."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return "" if value is None else str(value)


def number_of(text: str) -> float | None:
    """The number that a text is; None if it is none."""
    try:
        number = float(text)
    except ValueError:
        return None
    return number if number == number else None


# -- Parsing -----------------------------------------------------------------------------------------------------------

_COMPARISON = re.compile(r'\s*([\w.\-]+|"[^"]+")\s*(!=|!~|<=|>=|=|<|>|~)\s*(.*?)\s*', re.DOTALL)
_COMPARING = re.compile(r"=|[<>][<>=\s]*[\d.+-]")  # <x> is a value, >3 after an operator is none
_KEYLESS = re.compile(r"!=|!~|[<>=~]")
_PARTS = re.compile(r"((?:\\\||\[!?[^\]/]{1,500}\]|[^|])*)\|", re.DOTALL)
_BOUND = r"(?:\d{4}-\d\d(?:-\d\d(?:[T ][\d:.]+)?)?|[+-]?\d+(?:\.\d+)?)"
_RANGE = re.compile(rf"{_BOUND}\.\.(?:{_BOUND})?|\.\.{_BOUND}")
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
        return (comparison for alternative in self.alternatives for comparison in alternative)

    @property
    def key(self) -> str | None:
        """The key that all comparisons are on, casefolded; None if they are on several."""
        keys = {comparison.key.casefold() for comparison in self.comparisons}
        return keys.pop() if len(keys) == 1 else None

    @property
    def only(self) -> Filter | None:
        """The comparison, if it is the only one and not negated."""
        comparisons = list(self.comparisons)
        return comparisons[0] if len(comparisons) == 1 and not self.is_negated else None


def parse(text: str) -> FilterChoice:
    """Parse a filter. Raises UsageError for text that makes no sense as one."""
    if not text.strip("! \t\r\n"):
        raise UsageError("the filter is empty; give a glob such as 'guide/*.md' or a condition such as 'author=Ada'")
    try:
        text.encode()
    except UnicodeEncodeError:
        raise UsageError(f"the filter {text!r} is not valid Unicode; use * or ? for the invalid characters") from None
    stripped = text.strip()
    is_negated = stripped.startswith("!") and not _KEYLESS.match(stripped)
    parts = [part.replace("\\|", "|") for part in _PARTS.findall((stripped[1:] if is_negated else text) + "|")]
    before, alternatives = None, list[tuple[Filter, ...]]()
    for part in parts:
        filter_ = _comparison(text, part, before)
        if before is not None and is_negative(filter_.operator) and not _COMPARISON.fullmatch(part):
            alternatives[-1] += (filter_,)  # neither nor
        else:
            alternatives.append((filter_,))
        before = filter_
    return FilterChoice(tuple(alternatives), is_negated)


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
    if match is not None and _COMPARING.match(value):
        raise UsageError(
            f"the filter {text!r} has the unknown operator {operator}{value[0]}; there are = != < <= > >= ~ !~, and "
            f"{key}~[{value[0]}]* is of values that begin with {value[0]}"
        )
    if not value and (operator not in ("=", "!=") or not match):
        after = "|" if before is not None or not match else operator
        raise UsageError(f"the filter {text!r} has no value for {key}; write one after the {after}")
    return _checked(text, Filter(key, cast(Operator, operator), value))


def _checked(text: str, filter_: Filter) -> Filter:
    """A comparison whose value can be meant; one with a range has its operator. Raises UsageError."""
    is_path = filter_.key.casefold() == "path"
    if filter_.operator in ("~", "!~"):
        check_glob(text, filter_.value, names=not is_path)
    elif not is_path:
        ends = filter_.value.split("..")
        for end in ends:
            if (day := _DAY.fullmatch(end)) and not (1 <= int(day[1]) <= 12 and 1 <= int(day[2] or 1) <= 31):
                raise UsageError(f"the filter {text!r} has an invalid date, {end}; write it as in 2024-05-31")
        if filter_.operator in ("=", "!=") and _RANGE.fullmatch(filter_.value):
            first, last = ends
            if first and last and not value_matches(first, "<=", last):
                raise UsageError(f"the filter {text!r} ends before it begins; write {last}..{first}")
            return replace(filter_, operator=".." if filter_.operator == "=" else "!..")
    return filter_


# -- Conditions in SQL -------------------------------------------------------------------------------------------------
#
# Over `documents` and `roots`. The SQL is ours; what was typed is in its parameters. A record (a row of a table, a line
# of JSON) of which some columns were chosen as metadata has these besides the metadata of its document; under the same
# name its own win.

_COLUMNS = {"title": "documents.title", "format": "documents.format"}
_FOLDER = "iif(roots.single, substr(roots.path, 1, length(roots.path) - length(documents.path) - 1), roots.path)"

_AT_ONCE = 100  # conditions that are joined without brackets around some of them
_MOST_VALUES = 5000  # comparisons: SQLite takes 32,766 parameters, and a comparison has up to six


@dataclass(frozen=True, slots=True)
class Condition:
    """A condition in SQL, and its parameters."""

    sql: str
    parameters: tuple[str, ...]


def condition(filters: Sequence[FilterChoice], *, here: str = "", metadata: str = "documents.metadata") -> Condition:
    """Translate filters to SQL: all of them must hold. Paths may also be relative to the current folder, `here`.

    `metadata` is the SQL of what is compared by other keys than those of a column.
    """
    if (compared := sum(len(list(each.comparisons)) for each in filters)) > _MOST_VALUES:
        raise UsageError(f"the filters have {compared:,} comparisons; at most {_MOST_VALUES:,} are possible")
    return _joined(" AND ", [_choice(each, here, metadata) for each in filters])


def _choice(choice: FilterChoice, here: str, metadata: str) -> Condition:
    alternatives = [
        _joined(" AND ", [comparison(filter_, here=here, metadata=metadata) for filter_ in alternative])
        for alternative in choice.alternatives
    ]
    any_of_them = _joined(" OR ", alternatives)
    return Condition(f"NOT ({any_of_them.sql})", any_of_them.parameters) if choice.is_negated else any_of_them


def _joined(by: str, parts: Sequence[Condition]) -> Condition:
    """Join conditions by AND or OR. Many are joined half by half: SQLite takes an expression of a thousand levels."""
    if len(parts) > _AT_ONCE:
        middle = len(parts) // 2
        return _joined(by, [_joined(by, parts[:middle]), _joined(by, parts[middle:])])
    sql = by.join(f"({part.sql})" for part in parts) or "1"
    return Condition(sql, tuple(value for part in parts for value in part.parameters))


def comparison(filter_: Filter, *, here: str = "", metadata: str = "documents.metadata") -> Condition:
    """Translate one comparison to SQL."""
    wanted = (filter_.operator, filter_.value)
    key = filter_.key.casefold()
    if key == "path":
        return Condition(f"filter_path(documents.path, {_FOLDER}, ?, ?, ?)", (*wanted, here))
    if key in _COLUMNS:
        return Condition(f"filter_text({_COLUMNS[key]}, ?, ?)", wanted)
    # json() so that SQLite says of damaged metadata what it is
    if key == "modified":
        return Condition(f"filter_modified(json({metadata}), documents.mtime_ns, ?, ?)", wanted)
    return Condition(f"filter_metadata(json({metadata}), ?, ?, ?)", (key, *wanted))


FUNCTIONS: dict[str, tuple[int, Callable[..., bool]]] = {
    "filter_path": (5, path_matches),
    "filter_text": (3, value_matches),
    "filter_metadata": (4, metadata_matches),
    "filter_modified": (4, modified_matches),
}


def teach(db: sqlite3.Connection) -> None:
    """Define the functions that conditions call on a connection."""
    for name, (arguments, function) in FUNCTIONS.items():
        db.create_function(name, arguments, function, deterministic=True)
