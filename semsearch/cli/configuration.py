"""The configuration: defaults, the user's semsearch.toml, the project's, environment variables; later ones win.

The fields of the classes below are the keys. A project's file may come from elsewhere, with the project: it has only
keys that send nothing anywhere and read no file but indexes.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextvars import ContextVar
from dataclasses import dataclass, fields
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from semsearch.cli.options import IndexSettings
from semsearch.errors import UsageError
from semsearch.results.codec import from_dict
from semsearch.results.options import SearchOptions
from semsearch.settings import Settings
from semsearch.system.bounded_toml import read_toml
from semsearch.system.locations import config_folder, expanded, folders_above, uri_scheme
from semsearch.system.source_files import read_source
from semsearch.word_vectors.table import DEFAULT_VECTORS

NAME = "semsearch.toml"

# -- Keys --------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class General:
    """The keys that stand in no section."""

    indexes: str | None = None  # the folder of the indexes, as --indexes
    ask: tuple[str, ...] | None = None  # the indexes to search if none is named
    server: str | None = None  # the server to search on, as --server; only in the user's own file
    rerank: str | None = None  # the reranking model, as --rerank
    rerank_seconds: float | None = None  # its time limit per query


@dataclass(frozen=True, slots=True)
class ModelKeys:
    """The language model that `ask` asks; only in the user's own file."""

    url: str | None = None  # as --url
    name: str | None = None  # as --model
    key: str | None = None  # sent to that address alone, and never shown
    plain_http: bool = False  # whether text may go to another machine without encryption
    seconds: float | None = None  # how long the server may be silent


_SECTIONS: Mapping[str, Any] = {"": General, "search": SearchOptions, "model": ModelKeys, "settings": IndexSettings}
_PATHS = ("indexes", "rerank", "settings.vectors")  # or names, all but the first
SECRET = "model.key"  # is never shown


def _keys(section: str) -> dict[str, str]:
    """The names of a section, by their keys: `search.k`: `k`."""
    prefix = f"{section}." if section else ""
    return {f"{prefix}{field.name}": field.name for field in fields(_SECTIONS[section])}


_OF_PROJECTS = {"indexes", "ask", "rerank_seconds", *_keys("search"), *_keys("settings")}  # keys of a project's file
_OF_PROJECTS -= {"settings.vectors", "settings.store"}


def _checked(section: str, key: str, value: Any) -> Any:
    """The value of a key, converted to its type. Raises UsageError for an unknown key or a wrong type."""
    cls, names = _SECTIONS[section], _keys(section)
    if key not in names:
        raise _unknown(key, [*names])
    try:
        return getattr(from_dict(cls, {names[key]: value}), names[key])
    except UsageError as error:
        message = f"{key} must be a text" if key == SECRET else str(error)
        raise UsageError(message.replace(f"{cls.__name__}.{names[key]}", key)) from None


def _unknown(key: str, keys: list[str]) -> UsageError:
    close = get_close_matches(key.strip("[]"), keys, n=1)
    similar = f"did you mean {close[0]}? " if close else ""
    return UsageError(f"unknown key {key}; {similar}known keys: {', '.join(keys)}")


# -- Files and variables -----------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Configuration:
    """The configured values and where each comes from, by key: a file, or a variable."""

    values: Mapping[str, Any]
    sources: Mapping[str, str]

    def of(self, section: str) -> dict[str, Any]:
        """The configured values of a section, by name."""
        return {name: self.values[key] for key, name in _keys(section).items() if key in self.values}


def users_file() -> Path:
    """The user's own configuration. It need not exist."""
    return config_folder() / NAME


def read_configuration() -> Configuration:
    """Read the whole configuration. Raises UsageError, which names the file and key, or the variable."""
    values: dict[str, Any] = {}
    sources: dict[str, str] = {}
    here = Path(NAME)
    projects_file = here.absolute() if here.is_file() else next(filter(Path.is_file, folders_above(NAME)), None)
    for path, is_users in ((users_file(), True), (projects_file, False)):
        if path is not None and path.is_file():
            try:
                of_file = dict(_from_file(path, is_users=is_users))
            except UsageError as error:
                raise UsageError(f"{path}: {error}") from None
            values |= of_file
            sources |= dict.fromkeys(of_file, str(path))
    for section in _SECTIONS:
        for key in _keys(section):
            variable = f"SEMSEARCH_{key.replace('.', '_')}".upper()
            if text := os.environ.get(variable, "").strip():
                try:
                    values[key] = _from_text(section, key, text)
                except UsageError as error:
                    raise UsageError(f"the environment variable {variable}: {error}") from None
                sources[key] = variable
    return Configuration(values, sources)


def _from_text(section: str, key: str, text: str) -> Any:
    """A variable's value: TOML, or else plain text. A text for a list becomes its only item."""
    try:
        value = read_toml(f"value = {text}")["value"]
    except (ValueError, RecursionError):
        value = text
    try:
        return _checked(section, key, value)
    except UsageError:
        return _checked(section, key, [value] if isinstance(value, str) else text)


_LARGEST = 1_000_000  # bytes of a file


def _from_file(path: Path, *, is_users: bool) -> Iterator[tuple[str, Any]]:
    """The values of a file by key, checked."""
    try:
        data = read_source(path, _LARGEST + 1).data
        if len(data) > _LARGEST:
            raise UsageError(f"larger than {_LARGEST:,} bytes")
        content = read_toml(data.decode("utf-8-sig"))
    except OSError as error:
        raise UsageError(f"cannot be read: {error.strerror}") from None
    except (ValueError, RecursionError) as error:  # a number of thousands of digits is no TOMLDecodeError
        raise UsageError(f"not valid TOML: {error or 'nested too deeply'}") from None
    for name, value in content.items():
        is_section = isinstance(value, Mapping)
        if is_section and (not name or name not in _SECTIONS):
            raise _unknown(f"[{name}]", [*filter(None, _SECTIONS)])
        if not is_section and name and name in _SECTIONS:
            raise UsageError(f"[{name}] is a section with keys of its own, not {value!r}")
        section, items = (name, value) if is_section else ("", {name: value})
        for item_name, item in items.items():
            key = f"{section}.{item_name}" if section else item_name
            yield key, _permitted(key, _checked(section, key, item), path.parent, is_users=is_users)


def _permitted(key: str, value: Any, folder: Path, *, is_users: bool) -> Any:
    """A value, its path made absolute. Raises UsageError for what only the user's own file may have."""
    if not is_users and key not in _OF_PROJECTS:
        raise UsageError(f"{key} is allowed in your own configuration only, {users_file()}")
    if key == "ask" and not is_users and (places := list(filter(_is_place, value))):
        raise UsageError(f"{places[0]} is not a name; only your own configuration may name an index by its place")
    if key not in _PATHS or not (key == "indexes" or _is_path(value) or (folder / value).exists()):
        return value
    if "\0" in value:
        raise UsageError(f"{value!r} is not a path")
    path = os.path.normpath(folder / expanded(value))
    if not is_users and not Path(os.path.realpath(path)).is_relative_to(os.path.realpath(folder)):
        raise UsageError(f"{value} is outside {folder}; only your own configuration may name such a path")
    return path


def _is_path(text: str) -> bool:
    return text.startswith((".", "~")) or Path(text).is_absolute()


def _is_place(text: str) -> bool:
    return _is_path(text) or "/" in text or os.sep in text or bool(uri_scheme(text))


# -- Of the running command --------------------------------------------------------------------------------------------

_CURRENT: ContextVar[Configuration | None] = ContextVar("configuration", default=None)
_SEARCHING = ("query", "similar", "context", "ask")
_RERANKING = ("query", "context", "ask", "serve", "mcp")
_UNCONFIGURED = (None, "config", "doctor")  # commands that must run with a wrong configuration too


def configuration_of() -> Configuration:
    """The configuration of the running command."""
    return _CURRENT.get() or Configuration({}, {})


def use_configuration(command: str | None) -> dict[str, dict[str, Any]]:
    """Read the configuration for the command that begins now; the defaults of its options, as typer takes them."""
    if command in _UNCONFIGURED:
        _CURRENT.set(None)
        return {}
    configuration = read_configuration()
    _CURRENT.set(configuration)
    general = configuration.of("")
    options = {"indexes": "indexes"}  # that are configured, with their keys
    if command in _RERANKING:
        options |= {"rerank": "rerank", "rerank_seconds": "rerank_seconds"}
    if command in _SEARCHING:
        options |= {"index": "ask", "server": "server"}
    defaults = {option: general[key] for option, key in options.items() if general.get(key) is not None}
    return {str(command): defaults | (configuration.of("search") if command in _SEARCHING else {})}


def all_items(configuration: Configuration) -> Iterator[tuple[str, Any, str]]:
    """All keys with their values and sources, `default` where nothing is configured."""
    of_index = {field.name: field.default for field in fields(Settings)} | {"vectors": DEFAULT_VECTORS}
    for section, cls in _SECTIONS.items():
        for key, name in _keys(section).items():
            default = of_index[name] if section == "settings" else getattr(cls(), name)
            yield key, configuration.values.get(key, default), configuration.sources.get(key, "default")
