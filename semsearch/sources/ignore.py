"""What .gitignore and .semsearchignore files leave out, by the rules of git.

A folder's rules hold for everything under it; the rules of deeper folders win, and in one folder those of
.semsearchignore win over those of .gitignore, the later line over the earlier. What lies in an ignored folder cannot
be included again. The patterns themselves are pathspec's. A user's own rules (core.excludesFile) are not read.
"""

from __future__ import annotations

import re
import stat
import unicodedata
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from pathspec import GitIgnoreSpec

from semsearch.errors import UsageError

Skipped = Callable[[str, str], None]  # (path, reason); the path of a folder ends in a slash

IGNORE_FILES = (".gitignore", ".semsearchignore")
_EXCLUDE = ".git/info/exclude"
_WHOLE = re.compile(r"\\.|\[[!^]?\]?(?:\\.|[^\]\\])*\]")  # an escaped character, or a class such as [a-z]


@dataclass(frozen=True, slots=True)
class Rules:
    """The rules that hold in one folder: its own, and those of the folders above it."""

    spec: GitIgnoreSpec
    folder: str  # absolute and composed, with forward slashes and a slash at the end: patterns are relative to it
    above: Rules | None = None

    def ignore(self, path: str) -> bool:
        """Whether a path (absolute and composed, forward slashes, a slash at the end of a folder) is left out."""
        rules: Rules | None = self
        while rules is not None:
            left_out = rules.spec.check_file(path[len(rules.folder) :]).include
            if left_out is not None:
                return left_out
            rules = rules.above
        return False


def rules_of_folder(folder: str, names: Iterable[str], above: Rules | None, skipped: Skipped) -> Rules | None:
    """The rules in `folder` (absolute, ends in a slash), whose ignore files are `names`; `above` if they add none."""
    lines: list[str] = []
    for name in names:
        try:
            text = Path(folder, name).read_text(encoding="utf-8-sig", errors="replace")
        except OSError as error:
            skipped(folder + name, f"its rules cannot be read: {error.strerror or error}")
            continue
        lines += [compose(line) for line in text.splitlines() if _is_pattern(line, folder + name, skipped)]
    return Rules(GitIgnoreSpec.from_lines(lines), compose(folder), above) if lines else above


def rules_above(root: Path, skipped: Skipped) -> Rules | None:
    """The rules of the git work tree that `root` (absolute) is in, from its top to the folder above `root`.

    A root that these rules leave out was named on purpose: then none of them holds for it.
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
    for folder, own in names.items():
        rules = rules_of_folder(slashed(folder), own, rules, skipped)
    return None if rules and rules.ignore(compose(slashed(root))) else rules


def _kind(path: Path) -> int:
    """What is there, as the stat module names it; 0 if nothing is, or if that is hidden from us."""
    try:
        return stat.S_IFMT(path.stat().st_mode)
    except OSError:
        return 0


def globs(patterns: Sequence[str]) -> GitIgnoreSpec:
    """Patterns of --include and --exclude, in the same language.

    Raises UsageError for what is no pattern, or one that can match nothing. In an ignore file such a line is harmless;
    given by hand it is a slip, and would be taken for a folder without files.
    """
    if isinstance(patterns, str):
        raise UsageError(f"patterns are given as a list, not as the string {patterns!r}; write [{patterns!r}]")
    composed = [compose(pattern) for pattern in patterns]
    expected = "expected patterns as in .gitignore, like '*.md' or 'guide/**'"
    for pattern in composed:
        if not pattern.strip() or pattern.startswith("#") or not pattern.strip("/"):
            raise UsageError(f"the pattern {pattern!r} matches nothing; {expected}")
        if "[" in _WHOLE.sub("", pattern):
            raise UsageError(f"the pattern {pattern!r} has a [ without its ]; write \\[ for the character itself")
    try:
        return GitIgnoreSpec.from_lines(composed)
    except ValueError as error:
        raise UsageError(f"{error}; {expected}") from error


def compose(text: str) -> str:
    """Unicode's composed form (NFC), in which paths are stored and matched: macOS may decompose them on disk."""
    return text if text.isascii() else unicodedata.normalize("NFC", text)


def slashed(folder: Path) -> str:
    """A folder with forward slashes, and one at the end."""
    return folder.as_posix().rstrip("/") + "/"


def _is_pattern(line: str, place: str, skipped: Skipped) -> bool:
    """Whether a line is a pattern; a bad one costs only itself, as in git."""
    if not line.strip() or line.startswith("#"):
        return False
    try:
        GitIgnoreSpec.from_lines([line])
    except ValueError:
        skipped(place, f"{line!r} is no pattern; that line is ignored")
        return False
    return True
