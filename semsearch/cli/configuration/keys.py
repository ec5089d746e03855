"""The keys of a configuration: general ones, the options of a search, the settings of new indexes, and profiles.

Search options and settings are declared where they are used (`SearchOptions`, `IndexChoices`); their fields are the
keys here, and are checked as these are.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from difflib import get_close_matches
from typing import Any

from semsearch.cli.index_choices import IndexChoices
from semsearch.errors import UsageError
from semsearch.results.codec import from_dict
from semsearch.results.options import SearchOptions


@dataclass(frozen=True, slots=True)
class General:
    """The keys that stand in no section."""

    indexes: str | None = None  # the folder of the indexes, as --indexes
    ask: tuple[str, ...] | None = None  # the indexes that are asked where none is named
    server: str | None = None  # the server that is asked, as --server; only in the user's own file
    rerank: str | None = None  # the model that reads the first passages again, as --rerank
    rerank_seconds: float | None = None  # its time for a question


@dataclass(frozen=True, slots=True)
class ProfileKeys:
    """The keys of a profile: what an index is of."""

    roots: tuple[str, ...]  # files and folders
    include: tuple[str, ...] = ()  # globs, as --include
    exclude: tuple[str, ...] = ()


SECTIONS: Mapping[str, type] = {"": General, "search": SearchOptions, "settings": IndexChoices}
PROFILES = "profiles"


def dotted(section: str, name: str) -> str:
    """The name of a key with its section."""
    return f"{section}.{name}" if section else name


def variable_of(section: str, name: str) -> str:
    """The environment variable for a key: SEMSEARCH_SEARCH_K."""
    return "_".join(part.upper() for part in ("semsearch", section, name) if part)


def names_in(section: str) -> list[str]:
    """The names of a section's keys."""
    return [field.name for field in fields(SECTIONS[section])]


def checked(section: str, name: str, value: Any) -> Any:
    """The value of a key, converted to its type. Raises UsageError for a key that there is not, or another type."""
    known = names_in(section)
    if name not in known:
        raise UsageError(unknown(dotted(section, name), name, [dotted(section, each) for each in known]))
    cls: Any = SECTIONS[section]
    empty = dict.fromkeys(known) if cls is IndexChoices else {}
    try:
        return getattr(from_dict(cls, {**empty, name: value}), name)
    except UsageError as error:
        raise UsageError(str(error).replace(f"{cls.__name__}.", f"{section}." if section else "", 1)) from None


def checked_profile(name: str, values: Any) -> ProfileKeys:
    """The keys of a profile. Raises UsageError."""
    where = f"{PROFILES}.{name}"
    if isinstance(values, Mapping):
        for key in values:
            if key not in (known := [field.name for field in fields(ProfileKeys)]):
                raise UsageError(unknown(f"{where}.{key}", key, [f"{where}.{each}" for each in known]))
    try:
        found = from_dict(ProfileKeys, values)
    except UsageError as error:
        raise UsageError(str(error).replace("ProfileKeys", where, 1)) from None
    if not found.roots:
        raise UsageError(f"{where}.roots is empty; give it a file or folder at least")
    return found


def unknown(key: str, name: str, known: list[str]) -> str:
    """The message that there is no such key, with the one that is meant, perhaps."""
    last = {each.rpartition(".")[2]: each for each in known}
    close = get_close_matches(name, last, n=1)
    meant = f"did you mean {last[close[0]]}? " if close else ""
    return f"there is no key {key}; {meant}there are {', '.join(known)}"
