"""Locations: the current folder and those above it, the user's folders, names as disks list them, and URIs.

Only this module asks for the process's current folder. Files are also looked for in the folders above it, as git does;
there, only what belongs to the user, to root or to the owner of the current folder counts: in a folder that everybody
may write to, such as /tmp, a stranger could have left something to be found. URIs are those of fsspec:
`s3://bucket/docs`, `memory://docs`.
"""

from __future__ import annotations

import errno
import os
import re
import sys
import unicodedata
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import SplitResult, unquote, urlsplit

from semsearch.errors import UsageError, quoted


def working_folder() -> Path:
    """The absolute path of the current folder."""
    return Path.cwd()


# -- Upward ------------------------------------------------------------------------------------------------------------


def folders_above(name: str) -> Iterator[Path]:
    """The paths of this name in the folders above the current one, nearest first, that exist and can be trusted.

    A folder that cannot be looked into has none. There is nothing above a current folder that has been deleted.
    """
    try:
        here = working_folder()
    except OSError:
        return
    for folder in here.parents:
        path = folder / name
        if os.path.lexists(path) and _is_trusted(path, here):
            yield path


def _is_trusted(path: Path, here: Path) -> bool:
    if os.name == "nt":
        return path.exists()
    try:
        owners = {path.lstat().st_uid, path.stat().st_uid}  # of a link, too: it could lead to another file of the user
        return owners <= {os.getuid(), 0, here.stat().st_uid}
    except OSError:  # a broken or circular link
        return False


# -- User folders ------------------------------------------------------------------------------------------------------


def cache_folder(kind: str) -> Path:
    """The cache folder for one kind of file. It need not exist yet."""
    from platformdirs import user_cache_path  # 50 ms, and few runs keep anything

    return user_cache_path("semsearch", appauthor=False, opinion=False) / kind


def config_folder() -> Path:
    """The folder for the user's settings and decisions, as platformdirs has it. It need not exist yet."""
    return _folder_of_user(os.environ.get("XDG_CONFIG_HOME", ""), ".config")


def _folder_of_user(folder: str, usual: str) -> Path:
    """A folder of the user, found without platformdirs, whose import takes longer than all the rest of a command."""
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA") or home_folder() / "AppData" / "Local") / "semsearch"
    if sys.platform == "darwin":
        return home_folder() / "Library" / "Application Support" / "semsearch"
    return Path(folder.strip() or home_folder() / usual) / "semsearch"


def home_folder() -> Path:
    """The user's home folder; for a user without one a path that cannot exist."""
    try:
        return _known_home()
    except RuntimeError:
        return Path(os.devnull) / "home"


def _known_home() -> Path:
    return Path.home()


def data_folder() -> Path:
    """The folder for the user's personal data: $SEMSEARCH_HOME, if it is set, or as platformdirs has it."""
    if home := os.environ.get("SEMSEARCH_HOME"):
        return Path(home).expanduser()
    return _folder_of_user(os.environ.get("XDG_DATA_HOME", ""), ".local/share")


# -- Names -------------------------------------------------------------------------------------------------------------


def usable_path(path: object) -> Path:
    """A path that a file or folder can have here. Raises UsageError for another type, and for what no system looks up:
    an empty one, a NUL character, characters that its names cannot have, too many of them.
    """
    if not isinstance(path, str | Path):
        several = "; give each path as an argument of its own" if isinstance(path, list | tuple | set) else ""
        raise UsageError(f"a path must be a string or a Path, not {path!r}{several}")
    if path == "":
        raise UsageError("a path is empty; the current folder is '.'")
    try:
        os.lstat(path)
    except ValueError as error:  # a NUL character, or half of a surrogate pair
        raise UsageError(f"{str(path)!a} cannot be a path ({error}); give another") from None
    except OSError as error:
        if error.errno == errno.ENAMETOOLONG:
            raise UsageError(f"{quoted(str(path))} cannot be a path: {error.strerror}; give a shorter one") from None
    return Path(path)


def expanded(path: str | Path) -> Path:
    """A path with the user's home folder for its ~; as it is, as in the shell, where there is no such user or home."""
    return Path(os.path.expanduser(path))  # noqa: PTH111  # Path's raises RuntimeError


def as_spelled(path: Path) -> Path:
    """An absolute path with each name as its folder lists it, where a disk also finds it by another case or form.

    What is not there, or cannot be listed, stays as it is given. Links are not followed. On most disks this looks at
    one other name for each part of the path; where that is the same file, it lists the folder.
    """
    spelled = Path(path.anchor)
    for name in path.parts[1:]:
        spelled /= listed_name(str(spelled), name)
    return spelled


def listed_name(folder: str, name: str) -> str:
    """The name by which a folder lists what it finds by a name; the name itself where there is nothing."""
    others = {name.swapcase(), *(unicodedata.normalize(form, name) for form in ("NFC", "NFD"))} - {name}
    here = _file_id(f"{folder}/{name}")
    if here is None or all(_file_id(f"{folder}/{other}") != here for other in others):
        return name
    try:
        names = os.listdir(folder)  # noqa: PTH208  # names are all that is needed
    except OSError:
        return name
    same = (entry for entry in names if _folded(entry) == _folded(name) and _file_id(f"{folder}/{entry}") == here)
    return name if name in names else next(same, name)


def _file_id(path: str) -> tuple[int, int] | None:
    try:
        status = os.lstat(path)
    except (OSError, ValueError):
        return None
    return status.st_dev, status.st_ino


def _folded(name: str) -> str:
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", name).casefold())


# -- Uris --------------------------------------------------------------------------------------------------------------

_SCHEME = re.compile(r"([a-z][a-z0-9+.-]+)://", re.IGNORECASE)
_SECRET = re.compile(r"(?<=//)([^/@:]*):[^/@]*@")


def uri_scheme(text: str) -> str:
    """The scheme of a text that begins as a URI does, in lower case; empty for anything else, such as a path."""
    match = _SCHEME.match(text) if "://" in text else None
    return match[1].lower() if match else ""


def split_uri(uri: str) -> SplitResult:
    """The parts of a URI. Raises UsageError for one that is none: a bracket without its other, a port that is none."""
    try:
        parts = urlsplit(uri)
        parts.port  # noqa: B018  # which is parsed when it is asked for
    except ValueError as error:
        raise UsageError(f"{shown_uri(uri)!r} is not a valid address: {error}") from error
    return parts


def divided(uri: str) -> tuple[str, str]:
    """The address and the options, with their question mark, of a URI."""
    address, mark, options = uri.partition("?")
    return address, mark + options


def local_path(path: str) -> str:
    """A path, or the one that a `file:` URI names. Raises UsageError for the file of another machine."""
    if uri_scheme(path) != "file":
        return path
    parts = split_uri(path)
    if parts.netloc not in ("", "localhost"):
        raise UsageError(f"{path} names the machine {parts.netloc!r}; a folder is file:///folder, with three slashes")
    from urllib.request import url2pathname  # it imports http and ssl, and few paths are URIs

    return url2pathname(parts.path)


def has_password(uri: str) -> bool:
    """Return whether a URI has a password in it, or in the address of an endpoint among its options."""
    return _SECRET.search(uri) is not None or _SECRET.search(unquote(uri)) is not None


def shown_uri(uri: str) -> str:
    """A URI as it may be printed: without its password."""
    return _SECRET.sub(r"\1:…@", uri)
