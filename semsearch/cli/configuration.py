"""The configuration as a whole: defaults, the user's file, the project's, environment variables; the later win.

A project's file comes with the project, perhaps from elsewhere. So it names only what lies in its own folder, and
no
server, to which questions and a token would go, nor a store, to which vectors would.

Keys. The keys of a configuration: general ones, the options of a search, the settings of new indexes, and
profiles.

Search options and settings are declared where they are used (`SearchOptions`, `IndexChoices`); their fields are
the
keys here, and are checked as these are.

TOML files with line numbers. A configuration file, read: its values, each with the line it stands on. Nothing in
it is
run.
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
from semsearch.system.locations import local_path, uri_scheme

# -- Keys --------------------------------------------------------------------------------------------------------------


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
        """Read a file. Raises UsageError if it cannot be read, or is no TOML."""
        try:
            data = path.read_bytes()
            text = data.decode("utf-8-sig")
        except (OSError, ValueError) as error:
            raise UsageError(f"{path} cannot be read: {getattr(error, 'strerror', None) or error}") from None
        if len(data) > _MOST:
            raise UsageError(f"{path} has {len(data):,} bytes; a configuration has at most {_MOST:,}")
        try:
            values = read_toml(text)
        except (ValueError, RecursionError) as error:  # a number of thousands of digits is no TOMLDecodeError
            raise UsageError(f"{path} is not TOML: {error or 'it is too deep'}") from None
        return cls(path, values, *_lines_of(text))

    def line_of(self, section: str, name: str) -> int:
        """The line that a key stands on; that of its section, or the first, where it is written in another way."""
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
_OTHER_MACHINES = ("server", "settings.store")  # what would be sent elsewhere


@dataclass(frozen=True, slots=True)
class ConfiguredValue:
    """The value of a key, and where it came from: a file with its line, a variable, or "default"."""

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
    """An index that `semsearch index` keeps up to date by itself: its name, roots and globs, and where it lives."""

    name: str
    roots: tuple[str, ...]  # absolute
    include: tuple[str, ...]
    exclude: tuple[str, ...]
    indexes: Path
    source: str


@dataclass(frozen=True, slots=True)
class Configuration:
    """What is configured, by key and by profile. What is not configured is not in it."""

    settings: Mapping[str, ConfiguredValue]
    profiles: Mapping[str, Profile]

    def of(self, section: str) -> dict[str, Any]:
        """The values of a section, by name."""
        return {each.name: each.value for each in self.settings.values() if each.section == section}

    def with_defaults(self) -> Iterator[ConfiguredValue]:
        """All keys, also those that are not configured."""
        for section, cls in SECTIONS.items():
            for field in fields(cls):
                found = self.settings.get(dotted(section, field.name))
                yield found or ConfiguredValue(section, field.name, _default(section, field.name), DEFAULT)


def read_configuration() -> Configuration:
    """Read all that is configured. Raises UsageError, which names file and line, or the variable."""
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
            raise UsageError(f"{file.at('', name)}: [{name}] is a section, with keys of its own, not {value!r}")
        else:
            for inner, each in value.items():
                yield _setting(file, name, inner, each, is_users=is_users)


def _setting(file: TomlFile, section: str, name: str, value: Any, *, is_users: bool) -> ConfiguredValue:
    where = file.at(section, name)
    try:
        if not section and isinstance(value, Mapping):
            raise UsageError(unknown(f"[{name}]", name, [*filter(None, SECTIONS), f"{PROFILES}.NAME"]))
        found = checked(section, name, value)
        if (key := dotted(section, name)) in _OTHER_MACHINES and not is_users:
            raise UsageError(f"{key} is taken from your own configuration only, {users_file()}")
        if dotted(section, name) in ("indexes", "settings.vectors", "settings.frequencies"):
            found = _path(file, found, of_folder=name == "indexes", is_users=is_users)
        if dotted(section, name) == "rerank":
            found = _model(file, found, is_users=is_users)
    except UsageError as error:
        raise UsageError(f"{where}: {error}") from None
    return ConfiguredValue(section, name, found, where)


def _path(file: TomlFile, text: str, *, of_folder: bool, is_users: bool) -> str:
    """A path as it is meant, relative to the file. What is no path, such as the name of word vectors, stays."""
    if not of_folder and not any(sign in text for sign in ("/", os.sep)):
        return text
    return _inside(file, text, is_users=is_users)


def _model(file: TomlFile, text: str, *, is_users: bool) -> str:
    """A model's path, relative to the file, where that is one; else its name, which has a slash as well."""
    is_path = text.startswith((".", "~", os.sep)) or Path(text).is_absolute() or text.endswith(".onnx")
    return _inside(file, text, is_users=is_users) if is_path or (file.path.parent / text).exists() else text


def _inside(file: TomlFile, text: str, *, is_users: bool) -> str:
    """The absolute path. Raises UsageError where a project's file names what lies outside of its folder."""
    folder = file.path.parent
    path = os.path.normpath(folder / Path(text).expanduser())
    whole, inner = os.path.realpath(folder), os.path.realpath(path)
    if not is_users and inner != whole and not inner.startswith(whole.rstrip(os.sep) + os.sep):
        raise UsageError(f"{text} lies outside of {folder}; only your own configuration, {users_file()}, may name that")
    return path


def _profiles_in(file: TomlFile, *, is_users: bool) -> Iterator[Profile]:
    given = file.values.get(PROFILES, {})
    if not isinstance(given, Mapping):
        raise UsageError(f"{file.at('', PROFILES)}: profiles are sections, such as [profiles.notes], not {given!r}")
    for name, values in given.items():
        where = file.at(PROFILES, name)
        try:
            keys = checked_profile(name, values)
            if not name.strip() or Path(name).name != name or name.startswith("."):
                raise UsageError(f"{name!r} is not a name for an index; give one such as 'notes'")
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
        raise UsageError(f"{text} lies in a store; only your own configuration, {users_file()}, may name that")
    return local_path(text)


def _indexes_of(file: TomlFile, *, is_users: bool) -> Path:
    """The folder in which the indexes of a file's profiles live."""
    if "indexes" in file.values:
        return Path(_inside(file, checked("", "indexes", file.values["indexes"]), is_users=is_users))
    if is_users:
        from semsearch.cli.find_index import users_own  # start-up time: it imports platformdirs

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
    """A variable's value: written as in TOML, or a text as it is. A text for a list is its only item."""
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
