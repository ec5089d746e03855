"""The configuration: defaults, the user's file, the project's, environment variables; later ones override earlier ones.

A project's file may come from elsewhere, with the project. So it names only paths in its own folder, and neither a
server, which would receive queries and a token, nor a store, which would receive vectors, nor a language model's
address, which would receive text.

Its keys are general ones, the options of a search (`SearchOptions`), the settings of new indexes (`IndexChoices`), and
profiles; the fields of these classes are the keys, and are checked as these are. TOML files are read with line numbers
for messages. Nothing in them is executed.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from semsearch.cli.configuration_files import project_file, users_file
from semsearch.cli.index_choices import IndexChoices
from semsearch.errors import UsageError
from semsearch.results.codec import from_dict
from semsearch.results.options import SearchOptions
from semsearch.system.bounded_toml import read_toml
from semsearch.system.locations import expanded, local_path, uri_scheme

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
class ProfileKeys:
    """The keys of a profile: which files an index covers."""

    roots: tuple[str, ...]  # files and folders
    include: tuple[str, ...] = ()  # globs, as --include
    exclude: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ModelKeys:
    """The keys of the language model that `ask` asks; only in the user's own file."""

    url: str | None = None  # as --url
    name: str | None = None  # as --model
    key: str | None = None  # sent to that address alone, and never shown
    plain_http: bool = False  # whether text may go to another machine without encryption
    seconds: float | None = None  # how long the server may be silent


@dataclass(frozen=True, slots=True)
class HistoryKeys:
    """The keys of the history; only in the user's own file."""

    enabled: bool = True  # whether questions that are asked at a terminal are kept


MODEL, HISTORY = "model", "history"
SECTIONS: Mapping[str, type] = {
    "": General,
    "search": SearchOptions,
    MODEL: ModelKeys,
    HISTORY: HistoryKeys,
    "settings": IndexChoices,
}
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
    """The value of a key, converted to its type. Raises UsageError for an unknown key or a wrong type."""
    known = names_in(section)
    if name not in known:
        raise UsageError(unknown(dotted(section, name), name, [dotted(section, each) for each in known]))
    cls: Any = SECTIONS[section]
    empty = dict.fromkeys(known) if cls is IndexChoices else {}
    try:
        return getattr(from_dict(cls, {**empty, name: value}), name)
    except UsageError as error:
        said = "ModelKeys.key must be a text" if dotted(section, name) == SECRET else str(error)
        raise UsageError(said.replace(f"{cls.__name__}.", f"{section}." if section else "", 1)) from None


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
        raise UsageError(f"{where}.roots is empty; list at least one file or folder")
    return found


def unknown(key: str, name: str, known: list[str]) -> str:
    """The message for an unknown key, with a similar known one."""
    last = {each.rpartition(".")[2]: each for each in known}
    close = get_close_matches(name, last, n=1)
    meant = f"did you mean {last[close[0]]}? " if close else ""
    return f"unknown key {key}; {meant}known keys: {', '.join(known)}"


# -- TOML files with line numbers --------------------------------------------------------------------------------------

_MOST = 1 << 16  # bytes; a configuration has some hundreds
_HEADER = re.compile(r"\s*\[([^\]]+)\]\s*(?:#.*)?")
_KEY = re.compile(r"""\s*(?:"([^"]*)"|'([^']*)'|([\w-]+))\s*=""")


@dataclass(frozen=True, slots=True)
class TomlFile:
    """The values of a TOML file, and the lines of its sections' headers and of their keys."""

    path: Path
    values: Mapping[str, Any]
    headers: Mapping[str, int]
    keys: Mapping[tuple[str, str], int]

    @classmethod
    def read(cls, path: Path) -> TomlFile:
        """Read a file. Raises UsageError if it cannot be read or is not TOML."""
        try:
            data = path.read_bytes()
            text = data.decode("utf-8-sig")
        except (OSError, ValueError) as error:
            raise UsageError(f"cannot read {path}: {getattr(error, 'strerror', None) or error}") from None
        if len(data) > _MOST:
            raise UsageError(f"{path} has {len(data):,} bytes; a configuration may have at most {_MOST:,}")
        try:
            values = read_toml(text)
        except (ValueError, RecursionError) as error:  # a number of thousands of digits is no TOMLDecodeError
            raise UsageError(f"{path} is not valid TOML: {error or 'nested too deeply'}") from None
        return cls(path, values, *_lines_of(text))

    def line_of(self, section: str, name: str) -> int:
        """The line of a key; that of its section, or the first, if the key is written in another form."""
        of_headers = [self.headers.get(header, 1) for header in (section, f"{section}.{name}".lstrip("."))]
        return self.keys.get((section, name)) or max(of_headers)

    def at(self, section: str, name: str) -> str:
        """The file and line of a key, as errors and `config show` name them."""
        return f"{self.path}:{self.line_of(section, name)}"


def _lines_of(text: str) -> tuple[dict[str, int], dict[tuple[str, str], int]]:
    """The lines of headers, and of keys by their section: of a header the last, of a key the first."""
    headers: dict[str, int] = {}
    keys: dict[tuple[str, str], int] = {}
    current = ""
    for number, line in enumerate(text.splitlines(), start=1):
        if header := _HEADER.fullmatch(line):
            current = re.sub("[\"' ]", "", header[1])
            headers[current] = number
        elif key := _KEY.match(line):
            keys.setdefault((current, next(name for name in key.groups() if name is not None)), number)
    return headers, keys


# -- The configuration -------------------------------------------------------------------------------------------------

DEFAULT = "default"
OWNER = "sentence-transformers"  # of a model whose name has none (semsearch.rerankers.transformer_models)
SECRET = "model.key"  # is never shown
_USERS_ALONE = (
    *("server", "settings.store", "history.enabled"),
    *(f"{MODEL}.{each.name}" for each in fields(ModelKeys)),
)


def is_users_alone(key: str) -> bool:
    """Whether only the user's own file may have a key: data would leave this machine by it, or be kept on it."""
    return key in _USERS_ALONE


@dataclass(frozen=True, slots=True)
class ConfiguredValue:
    """The value of a key and its source: a file with the line, a variable, or "default"."""

    section: str
    name: str
    value: Any
    source: str

    @property
    def key(self) -> str:
        """The name of the key with its section."""
        return dotted(self.section, self.name)


@dataclass(frozen=True, slots=True)
class Profile:
    """An index that `semsearch index` brings up to date without arguments: its name, roots, globs and folder."""

    name: str
    roots: tuple[str, ...]  # absolute
    include: tuple[str, ...]
    exclude: tuple[str, ...]
    indexes: Path
    source: str


@dataclass(frozen=True, slots=True)
class Configuration:
    """The configured values by key, and the profiles. It has no defaults."""

    settings: Mapping[str, ConfiguredValue]
    profiles: Mapping[str, Profile]

    def of(self, section: str) -> dict[str, Any]:
        """The values of a section, by name."""
        return {each.name: each.value for each in self.settings.values() if each.section == section}

    def with_defaults(self) -> Iterator[ConfiguredValue]:
        """All keys, with defaults for those that are not configured."""
        for section, cls in SECTIONS.items():
            for field in fields(cls):
                found = self.settings.get(dotted(section, field.name))
                yield found or ConfiguredValue(section, field.name, _default(section, field.name), DEFAULT)


def read_configuration() -> Configuration:
    """Read the whole configuration. Raises UsageError, which names the file and line, or the variable."""
    settings: dict[str, ConfiguredValue] = {}
    profiles: dict[str, Profile] = {}
    own = users_file()
    for path, is_users in ((own if own.is_file() else None, True), (project_file(), False)):
        if path is not None:
            file = TomlFile.read(path)
            settings |= {each.key: each for each in _settings_in(file, is_users=is_users)}
            profiles |= {each.name: each for each in _profiles_in(file, is_users=is_users)}
    settings |= {each.key: each for each in _settings_of_environment(dict(os.environ))}
    return Configuration(settings, profiles)


def _settings_in(file: TomlFile, *, is_users: bool) -> Iterator[ConfiguredValue]:
    for name, value in file.values.items():
        if name == PROFILES:
            continue
        if name not in SECTIONS or not name:
            yield _setting(file, "", name, value, is_users=is_users)
        elif not isinstance(value, Mapping):
            raise UsageError(f"{file.at('', name)}: [{name}] is a section with keys of its own, not {value!r}")
        else:
            for inner, each in value.items():
                yield _setting(file, name, inner, each, is_users=is_users)


def _setting(file: TomlFile, section: str, name: str, value: Any, *, is_users: bool) -> ConfiguredValue:
    where = file.at(section, name)
    try:
        if not section and isinstance(value, Mapping):
            raise UsageError(unknown(f"[{name}]", name, [*filter(None, SECTIONS), f"{PROFILES}.NAME"]))
        found = checked(section, name, value)
        if is_users_alone(key := dotted(section, name)) and not is_users:
            raise UsageError(f"{key} is allowed in your own configuration only, {users_file()}")
        if dotted(section, name) in ("indexes", "settings.vectors", "settings.frequencies"):
            found = _path(file, found, of_folder=name == "indexes", is_users=is_users)
        if dotted(section, name) == "rerank":
            found = _model(file, found, is_users=is_users)
    except UsageError as error:
        raise UsageError(f"{where}: {error}") from None
    return ConfiguredValue(section, name, found, where)


def _path(file: TomlFile, text: str, *, of_folder: bool, is_users: bool) -> str:
    """A path relative to the file, made absolute. Other values, such as the name of word vectors, stay."""
    if not of_folder and not any(sign in text for sign in ("/", os.sep)):
        return text
    return _inside(file, text, is_users=is_users)


def _model(file: TomlFile, text: str, *, is_users: bool) -> str:
    """A model's path relative to the file, made absolute; or its name, which may have a slash too.

    Raises UsageError if a project's file names a folder or file: a model may bring code, and comes from the user alone.
    """
    is_path = text.startswith((".", "~", os.sep)) or Path(text).is_absolute() or text.endswith(".onnx")
    if not is_users and (is_path or any(Path(folder, text).exists() for folder in (file.path.parent, "", OWNER))):
        raise UsageError(
            f"{text} is a folder or file; a project may only name a model that you have, and its path stands in your "
            f"own configuration, {users_file()}, or after --rerank"
        )
    return _inside(file, text, is_users=is_users) if is_path or (file.path.parent / text).exists() else text


def _inside(file: TomlFile, text: str, *, is_users: bool) -> str:
    """The absolute path. Raises UsageError if a project's file names a path outside its folder."""
    folder = file.path.parent
    path = os.path.normpath(folder / expanded(text))
    whole, inner = os.path.realpath(folder), os.path.realpath(path)
    if not is_users and inner != whole and not inner.startswith(whole.rstrip(os.sep) + os.sep):
        raise UsageError(
            f"{text} is outside {folder}; only your own configuration, {users_file()}, may name such a path"
        )
    return path


def _profiles_in(file: TomlFile, *, is_users: bool) -> Iterator[Profile]:
    given = file.values.get(PROFILES, {})
    if not isinstance(given, Mapping):
        raise UsageError(f"{file.at('', PROFILES)}: profiles are sections such as [profiles.notes], not {given!r}")
    for name, values in given.items():
        where = file.at(PROFILES, name)
        try:
            keys = checked_profile(name, values)
            if not name.strip() or Path(name).name != name or name.startswith("."):
                raise UsageError(f"{name!r} is not a valid index name; use a name such as 'notes'")
            roots = tuple(_root(file, root, is_users=is_users) for root in keys.roots)
            indexes = _indexes_of(file, is_users=is_users)
        except UsageError as error:
            raise UsageError(f"{where}: {error}") from None
        yield Profile(name, roots, keys.include, keys.exclude, indexes, where)


def _root(file: TomlFile, text: str, *, is_users: bool) -> str:
    """The absolute path of a root, or the URI of one in a store, which only the user's own file may name."""
    if not uri_scheme(text):
        return _inside(file, text, is_users=is_users)
    if not is_users:
        raise UsageError(f"{text} is in an object store; only your own configuration, {users_file()}, may name one")
    return local_path(text)


def _indexes_of(file: TomlFile, *, is_users: bool) -> Path:
    """The folder for the indexes of a file's profiles."""
    if "indexes" in file.values:
        return Path(_inside(file, checked("", "indexes", file.values["indexes"]), is_users=is_users))
    if is_users:
        from semsearch.cli.find_index import users_own  # start-up time: few have profiles

        return users_own()
    return file.path.parent / "indexes"


def _settings_of_environment(environment: Mapping[str, str]) -> Iterator[ConfiguredValue]:
    for section, cls in SECTIONS.items():
        for field in fields(cls):
            variable = variable_of(section, field.name)
            text = environment.get(variable, "")
            if not text.strip():
                continue
            try:
                yield ConfiguredValue(section, field.name, _from_text(section, field.name, text), variable)
            except UsageError as error:
                raise UsageError(f"the environment variable {variable}: {error}") from None


def _from_text(section: str, name: str, text: str) -> Any:
    """A variable's value: TOML, or else plain text. A text for a list becomes its only item."""
    try:
        value = read_toml(f"value = {text}")["value"]
    except (ValueError, RecursionError):
        value = text
    try:
        return checked(section, name, value)
    except UsageError:
        if not isinstance(value, str):
            return checked(section, name, text)
        return checked(section, name, [value])


def _default(section: str, name: str) -> Any:
    if section == "settings":
        from semsearch.settings import Settings  # start-up time: only `config show` asks
        from semsearch.word_vectors.table import DEFAULT_VECTORS

        return DEFAULT_VECTORS if name == "vectors" else Settings.__dataclass_fields__[name].default
    return getattr(SECTIONS[section](), name)
