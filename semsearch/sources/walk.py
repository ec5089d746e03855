"""Find the files to index under a path: a walk over its folders, on this machine or another file system.

Left out silently, unless `left_out` is told: hidden files and folders (but for the folders within a Maildir), what
ignore files and --exclude leave out (see ignore.py), what --include does not name, and index folders and published
snapshots of semsearch itself, whatever their names. With the pattern HIDDEN in `exclude` (--hidden), hidden files are
found, but those of version control. Files that no reader supports are found too, and marked as such. Reported as
skipped: folders that cannot be listed; /proc, /sys and /dev, whose files may block a reader or never end; folders of
packages of others, such as node_modules, unless one is the root; broken links, names that are not Unicode, links to
folders, which are not followed (so there are no loops, and nothing is read twice), and links that lead out of the
root (so nothing is read that the user has not named); a link to a file in the root is read as that file. A single
file is taken whatever its name.
"""

from __future__ import annotations

import errno
import os
import stat
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from operator import attrgetter
from pathlib import Path
from types import ModuleType
from typing import Protocol

from semsearch.errors import SourceError, is_resource_exhaustion
from semsearch.sources.ignore import (
    Rules,
    Skipped,
    compose,
    globs,
    rules_above,
    rules_of_folder,
    slashed,
    text_here,
)
from semsearch.sources.roots import IGNORE_FILES
from semsearch.sources.unchanged import FoundFile


class FolderEntry(Protocol):
    """The part of `os.DirEntry` that a walk uses."""

    @property
    def name(self) -> str: ...

    @property
    def path(self) -> str: ...

    def is_symlink(self) -> bool: ...

    def is_dir(self, *, follow_symlinks: bool = True) -> bool: ...

    def is_file(self, *, follow_symlinks: bool = True) -> bool: ...

    def stat(self, *, follow_symlinks: bool = True) -> os.stat_result: ...


# names that a folder has all of: an index (storage/database.py), a snapshot store (snapshots/snapshot_store.py)
_OWN = ({"index.sqlite", "segments"}, {"index.sqlite", "lock"}, {"semsearch.json", "current.json", "blocks"})
_MAILDIR = {"cur", "new", "tmp"}  # in such a folder, hidden folders that have them too are folders of mail (Maildir++)
_VENDORED = frozenset(("node_modules", "bower_components", "site-packages", "dist-packages"))  # packages of others
_VENDOR, _VENDOR_LISTS = "/vendor/", frozenset(("modules.txt", "autoload.php"))  # that folder, with Go's or PHP's list
_OF_OTHERS = "packages of others are left out; to read them, index this folder itself"
HIDDEN = "!.*"  # in --exclude: hidden files are not left out
_VERSION_CONTROL = frozenset((".git", ".hg", ".svn", ".jj"))
_LOOKED_FOR = frozenset[str](IGNORE_FILES).union(_VENDOR_LISTS, *_OWN, _MAILDIR)
_HAS_JUNCTIONS = sys.platform == "win32"
_MOUNT_POINT = 0xA0000003  # the tag of a junction
UNSEEN = ("cannot be listed", "cannot be read")  # how the reason begins for a path below which files may still be
_OF_KERNEL = frozenset(("/proc", "/sys", "/dev"))
_NAME = attrgetter("name")


class Folders:
    """The folders of this machine; those of an object store override all of it.

    Folders are named in full, with forward slashes and one at the end; `root` is the one at which a walk begins.
    """

    def __init__(self, root: Path) -> None:
        self._root = root
        self.root: str = slashed(root)

    def entries(self, folder: str) -> Sequence[FolderEntry]:
        """List a folder, in order of names. Raises OSError."""
        with os.scandir(folder) as listing:
            return sorted(listing, key=_NAME)

    def expect(self, folders: Sequence[str]) -> None:
        """Take note that these folders are listed next, in this order. Here listing one takes microseconds."""

    def text_of(self, path: str) -> str:
        """The text of a file of ignore rules in the folder that was listed last. Raises OSError."""
        return text_here(path)

    def rules_above(self, skipped: Skipped) -> Rules | None:
        """The rules of the git work tree that the root is in."""
        return rules_above(self._root, skipped)

    def is_inside(self, path: str) -> bool:
        """Return whether a path that may be a link leads to something in the root."""
        return is_inside(os.path.realpath(path), os.path.realpath(self._root))


def is_inside(path: str, folder: str, *, paths: ModuleType = os.path) -> bool:
    """Return whether a real path is a real folder or lies in it. On Windows it may be on another drive."""
    try:
        return bool(paths.normcase(paths.commonpath([folder, path])) == paths.normcase(folder))
    except ValueError:  # of two drives
        return False


# -- Walk --------------------------------------------------------------------------------------------------------------


def find_files(
    root: Path,
    paths: Iterable[str] | None = None,
    *,
    include: Sequence[str] = (),
    exclude: Sequence[str] = (),
    skipped: Skipped,
    left_out: Skipped | None = None,
) -> Iterator[FoundFile]:
    """Find the files under a folder, folder by folder in order of their names, or the one file that `root` is.

    With `paths`, relative to the root, with forward slashes, none of which lies in another: what is found at them, a
    file, or a folder with all that is in it. Only what lies there, and the folders above, is listed.

    `include` and `exclude` are patterns as in .gitignore, relative to the root: `*.md` at any depth, `guide/**`.
    `skipped(path, reason)` is called for what is reported as skipped, `left_out(path, rule)` for what is left out.
    Raises SourceError if `root` does not exist, cannot be listed, or is neither a file nor a folder; UsageError for
    a pattern that can match nothing.
    """
    choice = Choice(include, exclude)
    try:
        status = root.stat()
        if stat.S_ISREG(status.st_mode):
            file = _absolute(root)
            return iter([FoundFile(compose(file.name), status.st_size, status.st_mtime_ns, str(file))])
        if not stat.S_ISDIR(status.st_mode):
            raise SourceError(f"{root} is neither a file nor a folder")
        os.scandir(root).close()
    except OSError as error:
        if is_resource_exhaustion(error):
            raise
        raise SourceError(f"{root} cannot be read: {error.strerror or error}") from error
    return Walk(Folders(_absolute(root)), slashed(root), choice, skipped, left_out).files(paths)


def _absolute(path: Path) -> Path:
    """The absolute path with links not resolved, as the user named it."""
    return Path(os.path.normpath(path.absolute()))


class Choice:
    """Which files to take: by --include and --exclude."""

    def __init__(self, include: Sequence[str], exclude: Sequence[str]) -> None:
        self._include = globs(include) if include else None
        self._exclude = globs(exclude) if exclude else None
        self.is_all: bool = not include and not exclude
        self.hidden: bool = HIDDEN in exclude

    def excludes(self, path: str) -> bool:
        return self._exclude is not None and self._exclude.match_file(path)

    def takes(self, path: str) -> bool:
        return self._include is None or self._include.match_file(path)


@dataclass(frozen=True, slots=True)
class _Folder:
    """A folder to list, and the paths in it that are wanted; None: all of it."""

    path: str  # relative to the root, as on disk: "" or with a slash at the end
    rules: Rules | None
    wanted: frozenset[str] | None = None


class Walk:
    """A walk over folders, here or elsewhere. Reports call the root `shown`, as the user wrote it, with a slash."""

    def __init__(
        self, folders: Folders, shown: str, choice: Choice, skipped: Skipped, left_out: Skipped | None = None
    ) -> None:
        self._left_out_by = left_out
        self._shown = shown
        self._disk = folders
        self._slashed = folders.root
        self._choice = choice
        self._skipped = skipped

    def files(self, paths: Iterable[str] | None = None) -> Iterator[FoundFile]:
        """All files, folder by folder in order of their names; or those at some paths, or in the folders there."""
        wanted = None if paths is None else frozenset(map(compose, paths))
        waiting = [_Folder("", self._disk.rules_above(self._skipped), wanted)]
        while waiting:
            folders: list[_Folder] = []
            yield from self._folder(waiting.pop(), folders)
            self._disk.expect([self._slashed + folder.path for folder in folders])
            waiting += reversed(folders)

    def _folder(self, folder: _Folder, folders: list[_Folder]) -> list[FoundFile]:
        """The files in one folder; the folders in it are appended to `folders`."""
        try:
            entries = self._disk.entries(self._slashed + folder.path)
        except OSError as error:
            if is_resource_exhaustion(error):
                raise  # the folder would be passed over
            self._report(folder.path, f"cannot be listed: {error.strerror or error}")
            return []
        names = _LOOKED_FOR.intersection(map(_NAME, entries))
        if any(markers <= names for markers in _OWN):
            self._report_left_out(folder.path, "an index or snapshot of semsearch")
            return []
        if f"/{folder.path}".endswith(_VENDOR) and not names.isdisjoint(_VENDOR_LISTS):
            if folder.wanted is None:
                self._report(folder.path, _OF_OTHERS)
            return []
        ignore_files = [name for name in IGNORE_FILES if name in names]
        where, text_of = self._slashed + folder.path, self._disk.text_of
        rules = rules_of_folder(where, ignore_files, folder.rules, self._skipped, text_of=text_of)
        below: dict[str, set[str]] = {}  # what is wanted in each entry; "" is the entry itself
        for path in folder.wanted or ():
            name, _, rest = path.partition("/")
            below.setdefault(name, set()).add(rest)
        seen, files = set[str](), list[FoundFile]()
        for entry in entries:
            name = entry.name
            wanted = None if folder.wanted is None else below.get(compose(name))
            if folder.wanted is not None and wanted is None:
                continue
            if (
                name.startswith(".")
                and not (names >= _MAILDIR and self._is_maildir(f"{folder.path}{name}/"))
                and (not self._choice.hidden or name in _VERSION_CONTROL)
            ):
                self._report_left_out(folder.path + name, "hidden")
                continue
            inside = frozenset(wanted) if wanted and "" not in wanted else None
            file = self._take(entry, _Folder(folder.path + name, rules, inside), seen, folders)
            if file is not None:
                files.append(file)
        return files

    def _take(self, entry: FolderEntry, place: _Folder, seen: set[str], folders: list[_Folder]) -> FoundFile | None:
        """The file that an entry is, if it is wanted; a folder is appended to `folders`. `seen`: the names before."""
        path, rules = place.path, place.rules
        is_file = entry.is_file(follow_symlinks=False)
        is_folder = not is_file and _is_folder(entry, follow_symlinks=False) and not _is_junction(entry)
        if is_folder:
            path += "/"  # in a store, a folder and an object may have one name
        if not path.isascii() and not self._is_good_name(path, seen):
            return None
        if not is_folder:
            return self._file(entry, path, rules, is_file=is_file) if place.wanted is None else None
        if self._left_out(path, rules):
            return None
        if entry.name in _VENDORED:
            reason = _OF_OTHERS
        elif entry.path in _OF_KERNEL:
            reason = "a file system of the kernel is left out; to read a folder in it, name that one"
        else:
            folders.append(_Folder(path, rules, place.wanted))
            return None
        if place.wanted is None:
            self._report(path, reason)
        return None

    def _is_maildir(self, folder: str) -> bool:
        try:
            return set(map(_NAME, self._disk.entries(self._slashed + folder))) >= _MAILDIR
        except OSError:
            return False

    def _file(self, entry: FolderEntry, path: str, rules: Rules | None, *, is_file: bool) -> FoundFile | None:
        """The file that an entry is, or is a link to, if it is wanted."""
        linked = not is_file and (entry.is_symlink() or (_HAS_JUNCTIONS and _is_junction(entry)))
        if linked and _is_folder(entry, follow_symlinks=True):
            if not self._left_out(path + "/", rules):
                self._report(path + "/", "a link to a folder is not followed; index the folder itself")
            return None
        composed = path if path.isascii() else compose(path)
        is_limited = rules is not None or not self._choice.is_all
        if is_limited and self._left_out(path, rules):
            return None
        if is_limited and not self._choice.takes(composed):
            self._report_left_out(path, "no --include names it")
            return None
        try:
            status = entry.stat()
        except OSError as error:
            gone = isinstance(error, (FileNotFoundError, NotADirectoryError)) or error.errno == errno.ELOOP
            broken = linked and gone
            self._report(path, "a broken link" if broken else f"cannot be read: {error.strerror or error}")
            return None
        if not stat.S_ISREG(status.st_mode):
            self._report(path, "not a regular file")
            return None
        if linked and not self._disk.is_inside(entry.path):
            self._report(path, "a link that leads out of the folder is not followed; index the file itself")
            return None
        return FoundFile(composed, status.st_size, status.st_mtime_ns, entry.path)

    def _left_out(self, path: str, rules: Rules | None) -> bool:
        path = compose(path)
        if self._choice.excludes(path):
            rule = "--exclude"
        else:
            rule = "" if rules is None else rules.rule_for(compose(self._slashed) + path)
        if rule:
            self._report_left_out(path, rule)
        return bool(rule)

    def _report_left_out(self, path: str, rule: str) -> None:
        """Report a path that is left out, and the rule."""
        if self._left_out_by is not None:
            self._left_out_by(self._shown + path, rule)

    def _is_good_name(self, path: str, seen: set[str]) -> bool:
        """Return whether a name that is not ASCII can be stored, and is not another form of one in the same folder."""
        if any("\ud800" <= character <= "\udfff" for character in path):
            self._report(path, "its name is not valid Unicode; rename it")
            return False
        composed = compose(path)
        if composed in seen:
            self._report(path, "another file there has the same name in another Unicode form; rename one")
            return False
        seen.add(composed)
        return True

    def _report(self, path: str, reason: str) -> None:
        self._skipped((self._shown + path).encode("utf-8", "backslashreplace").decode(), reason)


def _is_folder(entry: FolderEntry, *, follow_symlinks: bool) -> bool:
    """Return whether an entry is surely a folder: not if it is a circular link, or if we may not look."""
    try:
        return entry.is_dir(follow_symlinks=follow_symlinks)
    except OSError:
        return False


def _is_junction(entry: FolderEntry, *, system: str = sys.platform) -> bool:
    """Return whether an entry is a Windows junction: a link that `is_symlink` does not know."""
    if system != "win32":
        return False
    return bool(getattr(entry.stat(follow_symlinks=False), "st_reparse_tag", 0) == _MOUNT_POINT)
