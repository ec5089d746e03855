"""Ignore rules: the files that .gitignore and .semsearchignore leave out, as git would.

A folder's rules hold for everything under it; the rules of deeper folders win, and in one folder those of
.semsearchignore win over those of .gitignore, the later line over the earlier. A file in an ignored folder cannot be
included again. The patterns are matched by pathspec. A user's own rules (core.excludesFile) are not read.
"""

from __future__ import annotations

import re
import stat
import unicodedata
import warnings
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from pathspec import GitIgnoreSpec

from semsearch.errors import UsageError, is_resource_exhaustion
from semsearch.sources.roots import IGNORE_FILES
from semsearch.system.source_files import read_source

Skipped = Callable[[str, str], None]  # (path, reason); the path of a folder ends in a slash

_MOST_BYTES = 1 << 24  # of a file of rules
_EXCLUDE = ".git/info/exclude"
_WHOLE = re.compile(r"\\.|\[[!^]?\]?(?:\\.|[^\]\\])*\]")  # an escaped character, or a class such as [a-z]
_MOST_STARS = 4  # in one part of a path, and ** in a pattern: pathspec's time grows as a power, with one more for each


@dataclass(frozen=True, slots=True)
class Rules:
    """Ignore rules that hold in one folder: its own, and those of the folders above it."""

    spec: GitIgnoreSpec
    folder: str  # absolute and composed, with forward slashes and a slash at the end: patterns are relative to it
    places: Sequence[str]  # of each pattern: the file and line, `docs/.gitignore:3`
    above: Rules | None = None

    def ignore(self, path: str) -> bool:
        """Return whether a path is left out. It is absolute and composed, with slashes, and one at a folder's end."""
        return bool(self.rule_for(path))

    def rule_for(self, path: str) -> str:
        """The place of the rule that leaves a path out; empty if none does."""
        rules: Rules | None = self
        while rules is not None:
            result = rules.spec.check_file(path[len(rules.folder) :])
            if result.include is not None:
                return rules.places[result.index or 0] if result.include else ""
            rules = rules.above
        return ""


def text_here(path: str) -> str:
    """The text of a file of this machine. Raises OSError."""
    text = read_source(path, _MOST_BYTES).data.decode("utf-8-sig", errors="replace")
    return text.replace("\r\n", "\n").replace("\r", "\n")


def rules_of_folder(
    folder: str,
    names: Iterable[str],
    above: Rules | None,
    skipped: Skipped,
    *,
    text_of: Callable[[str], str] = text_here,
) -> Rules | None:
    """The rules that hold in `folder` (absolute, ending in a slash): those of its ignore files `names`, then `above`.

    If the files add no rules, it is `above` itself. `text_of` reads a file, by its absolute path, or raises OSError.
    """
    lines, places = list[str](), list[str]()
    for name in names:
        try:
            text = text_of(folder + name)
        except OSError as error:
            if is_resource_exhaustion(error):
                raise  # what the rules leave out would be indexed
            skipped(folder + name, f"its rules cannot be read: {error.strerror or error}")
            continue
        for number, line in enumerate(text.splitlines(), start=1):
            if _is_pattern(line, folder + name, skipped):
                lines.append(compose(line))
                places.append(f"{folder}{name}:{number}: {line.strip()}")
    return Rules(_compiled(lines), compose(folder), places, above) if lines else above


def rules_above(root: Path, skipped: Skipped) -> Rules | None:
    """The rules of the git work tree that `root` (absolute) is in, from its top to the folder above `root`.

    If these rules leave out `root` itself, it was named on purpose: then there are none.
    """
    top = next((folder for folder in (root, *root.parents) if _kind(folder / ".git")), None)
    if top is None:
        return None
    names = {top: [_EXCLUDE]} if _kind(top / _EXCLUDE) == stat.S_IFREG else {}
    for folder in reversed(root.parents):
        if folder == top or top in folder.parents:
            names[folder] = names.get(folder, []) + [
                name for name in IGNORE_FILES if _kind(folder / name) == stat.S_IFREG
            ]
    rules: Rules | None = None
    for folder, ignore_files in names.items():
        rules = rules_of_folder(slashed(folder), ignore_files, rules, skipped)
    return None if rules and rules.ignore(compose(slashed(root))) else rules


def _kind(path: Path) -> int:
    """The file type at a path, as the stat module names it; 0 if there is nothing, or we may not look."""
    try:
        return stat.S_IFMT(path.stat().st_mode)
    except OSError:
        return 0


def globs(patterns: Sequence[str]) -> GitIgnoreSpec:
    """Compile the patterns of --include and --exclude, which are written as in .gitignore.

    Raises UsageError for text that is not a pattern, or a pattern that can match nothing. In an ignore file such a line
    is harmless; given by hand it is a mistake, and would look as if the folder had no files.
    """
    if isinstance(patterns, str):
        raise UsageError(f"patterns must be a list, got the string {patterns!r}; write [{patterns!r}]")
    composed = [compose(pattern) for pattern in patterns]
    expected = "expected patterns as in .gitignore, like '*.md' or 'guide/**'"
    for pattern in composed:
        if not pattern.strip() or pattern.startswith("#") or not pattern.strip("/"):
            raise UsageError(f"the pattern {pattern!r} matches nothing; {expected}")
        if "[" in _WHOLE.sub("", pattern):
            raise UsageError(f"the pattern {pattern!r} has a [ without its ]; write \\[ for the character itself")
        if _has_too_many_stars(pattern):
            raise UsageError(f"the pattern {pattern!r} has more than {_MOST_STARS} stars; split it")
    try:
        return _compiled(composed)
    except re.error as error:
        raise UsageError(f"a pattern of {', '.join(composed)} has an invalid character class: {error}") from error
    except ValueError as error:
        raise UsageError(f"{error}; {expected}") from error


def _compiled(patterns: Sequence[str]) -> GitIgnoreSpec:
    """Compile patterns. Raises ValueError, re.error."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)  # of Python's expressions, about [[:alpha:]] within them
        return GitIgnoreSpec.from_lines(patterns)


def _has_too_many_stars(pattern: str) -> bool:
    """Return whether a path could be made up that takes minutes to be compared with a pattern."""
    parts = _WHOLE.sub("", pattern).split("/")
    return parts.count("**") > _MOST_STARS or any(part.count("*") > _MOST_STARS for part in parts)


def compose(text: str) -> str:
    """Convert to Unicode's composed form (NFC), in which paths are stored and matched: macOS may decompose them."""
    return text if text.isascii() else unicodedata.normalize("NFC", text)


def slashed(folder: Path) -> str:
    """A folder's path with forward slashes, and one at the end."""
    return folder.as_posix().rstrip("/") + "/"


def _is_pattern(line: str, file: str, skipped: Skipped) -> bool:
    """Return whether a line is a pattern; a bad line is reported and has no effect on others, as in git."""
    if not line.strip() or line.startswith("#"):
        return False
    if _has_too_many_stars(line):
        skipped(file, f"{line[:80]!r} has more than {_MOST_STARS} stars; the line is ignored")
        return False
    try:
        _compiled([line])
    except (ValueError, re.error):  # re.error: a class such as [z-a]
        skipped(file, f"{line!r} is not a valid pattern; the line is ignored")
        return False
    return True
