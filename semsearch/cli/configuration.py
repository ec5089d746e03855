"""The configuration: defaults, the user's semsearch.toml, the project's, environment variables; later ones win.

The fields of the classes below are the keys. A project's file may come from elsewhere, with the project: it has only
keys that send nothing anywhere and read no file but indexes.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from contextvars import ContextVar
from dataclasses import asdict, fields
from difflib import get_close_matches
from pathlib import Path
from typing import Any, NamedTuple, TypedDict

from semsearch.embedding.weights import Unknown
from semsearch.errors import UsageError
from semsearch.results.codec import from_dict
from semsearch.results.options import SearchOptions
from semsearch.settings import Settings
from semsearch.system.bounded_toml import read_toml
from semsearch.system.locations import config_folder, expanded, folders_above
from semsearch.system.source_files import read_source
from semsearch.word_vectors.table import DEFAULT_VECTORS

NAME = "semsearch.toml"

# -- Keys --------------------------------------------------------------------------------------------------------------


class General(TypedDict, total=False):
    """The keys that stand in no section."""

    indexes: str | None  # the folder of the indexes, as --indexes
    ask: tuple[str, ...] | None  # the indexes to search if none is named
    server: str | None  # the server to search on, as --server
    rerank: str | None  # the reranking model, as --rerank
    rerank_seconds: float | None  # its time limit per query


class ModelKeys(TypedDict, total=False):
    """The language model that `ask` asks."""

    url: str | None  # as --url
    name: str | None  # as --model
    key: str | None  # sent to that address alone, and never shown
    plain_http: bool  # whether text may go to another machine without encryption
    seconds: float | None  # how long the server may be silent


class IndexSettings(TypedDict, total=False):
    """The settings of new indexes, as `semsearch index --set KEY=VALUE` gives them to one; see `SettingsKeywords`."""

    vectors: str | None
    method: str | None
    a: float | None
    components: int | None
    frequencies: str | None
    adapt: bool | None
    unknown: Unknown | None
    exact: bool | None
    store: str | None
    sentence_vectors: bool | None


_SECTIONS: Mapping[str, Any] = {"": General, "search": SearchOptions, "model": ModelKeys, "settings": IndexSettings}
_KEYS = {  # with their section and name: `search.k`: ("search", "k")
    f"{section}.{name}".removeprefix("."): (section, name)
    for section, cls in _SECTIONS.items()
    for name in cls.__annotations__
}
_PATHS = ("indexes", "rerank", "settings.vectors")  # keys of paths, or of names in all but the first
_USER_ONLY = {"indexes", "server", "rerank", "settings.vectors", "settings.store"}
_USER_ONLY |= {key for key, (section, _) in _KEYS.items() if section == "model"}  # keys that no project's file has
SECRET = "model.key"  # is never shown


def _checked(key: str, value: Any) -> Any:
    """The value of a key, converted to its type. Raises UsageError for an unknown key or a wrong type."""
    if key not in _KEYS:
        close = get_close_matches(key, _KEYS, n=1)
        similar = f"did you mean {close[0]}? " if close else ""
        raise UsageError(f"unknown key {key}; {similar}semsearch config lists all")
    section, name = _KEYS[key]
    cls = _SECTIONS[section]
    try:
        checked = from_dict(cls, {name: value})
        return checked[name] if isinstance(checked, dict) else getattr(checked, name)
    except UsageError as error:
        message = f"{key} must be a text" if key == SECRET else str(error)
        raise UsageError(message.replace(f"{cls.__name__}.{name}", key)) from None


def _from_text(key: str, text: str) -> Any:
    """A value of a variable or option: TOML, or else plain text. A text for a list becomes its only item."""
    try:
        value = read_toml(f"value = {text}")["value"]
    except (ValueError, RecursionError):
        value = text
    try:
        return _checked(key, value)
    except UsageError:
        return _checked(key, [value] if isinstance(value, str) else text)


def settings_from(texts: Iterable[str]) -> dict[str, Any]:
    """The settings of an index that texts KEY=VALUE give. Raises UsageError."""
    pairs = (text.partition("=") for text in texts)
    return {key.strip(): _from_text(f"settings.{key.strip()}", value.strip()) for key, _, value in pairs}


# -- Files and variables -----------------------------------------------------------------------------------------------


class Configuration(NamedTuple):
    """The configured values and where each comes from, by key: a file, or a variable."""

    values: Mapping[str, Any]
    sources: Mapping[str, str]

    def of(self, section: str) -> dict[str, Any]:
        """The configured values of a section, by name."""
        return {_KEYS[key][1]: value for key, value in self.values.items() if _KEYS[key][0] == section}


def users_file() -> Path:
    """The user's own configuration. It need not exist."""
    return config_folder() / NAME


def read_configuration() -> Configuration:
    """Read the whole configuration. Raises UsageError, which names the file and key, or the variable."""
    values: dict[str, Any] = {}
    sources: dict[str, str] = {}
    file = Path(NAME)
    projects_file = file.absolute() if file.is_file() else next(filter(Path.is_file, folders_above(NAME)), None)
    for path, is_users in ((users_file(), True), (projects_file, False)):
        if path is not None and path.is_file():
            try:
                of_file = {key: _allowed(key, value, path, is_users=is_users) for key, value in _from_file(path)}
            except UsageError as error:
                raise UsageError(f"{path}: {error}") from None
            values |= of_file
            sources |= dict.fromkeys(of_file, str(path))
    for key in _KEYS:
        variable = f"SEMSEARCH_{key.replace('.', '_')}".upper()
        if text := os.environ.get(variable, "").strip():
            try:
                values[key] = _from_text(key, text)
            except UsageError as error:
                raise UsageError(f"the environment variable {variable}: {error}") from None
            sources[key] = variable
    return Configuration(values, sources)


_LARGEST = 1_000_000  # bytes of a file


def _from_file(path: Path) -> Iterator[tuple[str, Any]]:
    """The keys of a file with their values as they are."""
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
        if name in _SECTIONS and isinstance(value, Mapping):
            yield from ((f"{name}.{key}", item) for key, item in value.items())
        else:
            yield name, value


def _allowed(key: str, value: Any, file: Path, *, is_users: bool) -> Any:
    """A checked value, its path made absolute. Raises UsageError for what only the user's own file may have."""
    value = _checked(key, value)
    if not is_users and key in _USER_ONLY:
        raise UsageError(f"{key} is allowed in your own configuration only, {users_file()}")
    paths = [name for name in value if _is_path(name) or "/" in name or os.sep in name] if key == "ask" else []
    if not is_users and paths:
        raise UsageError(f"{paths[0]} is not a name; only your own configuration may name an index by its place")
    if key in _PATHS and (key == "indexes" or _is_path(value)):
        return os.path.normpath(file.parent / expanded(value))
    return value


def _is_path(text: str) -> bool:
    return text.startswith((".", "~")) or Path(text).is_absolute()


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
    options = {"indexes": "indexes"}  # options that are configured, with their keys
    if command in _RERANKING:
        options |= {"rerank": "rerank", "rerank_seconds": "rerank_seconds"}
    if command in _SEARCHING:
        options |= {"index": "ask", "server": "server"}
    defaults = {option: general[key] for option, key in options.items() if general.get(key) is not None}
    return {str(command): defaults | (configuration.of("search") if command in _SEARCHING else {})}


def all_items(configuration: Configuration) -> Iterator[tuple[str, Any, str]]:
    """All keys with their values and sources, `default` where nothing is configured."""
    of_index = {field.name: field.default for field in fields(Settings)} | {"vectors": DEFAULT_VECTORS}
    defaults = {"search": asdict(SearchOptions()), "model": {"plain_http": False}, "settings": of_index}
    for key, (section, name) in _KEYS.items():
        default = defaults.get(section, {}).get(name)
        yield key, configuration.values.get(key, default), configuration.sources.get(key, "default")
