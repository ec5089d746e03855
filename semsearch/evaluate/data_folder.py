"""A folder of data, as `semsearch evaluate data` lays it out, in place of the folders and files inside it.

Every experiment takes the whole folder, and finds its own part: sts/, supervised/, paraphrase/, frequencies/,
retrieval/. A folder that has no such part stands for itself.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from semsearch.errors import SourceError

_NAMED = ("vectors", "corpus", "uniform")  # sources of p(w) that are no files, whatever folders are here


def parts_of(paths: Iterable[Path], *names: str) -> Iterator[Path]:
    """Yield for each folder of data those of its sub-folders `names` that are there, and other paths as they are."""
    for path in paths:
        yield from [path / name for name in names if (path / name).is_dir()] or [path]


def files_of(paths: Iterable[Path], name: str, ending: str) -> list[Path]:
    """The files of that ending in the sub-folders `name` of folders of data, and in other folders; files as they are.

    Raises SourceError for a folder that has none.
    """
    found: list[Path] = []
    for path in parts_of(paths, name):
        files = sorted(path.glob(f"*{ending}")) if path.is_dir() else [path]
        if not files:
            raise SourceError(f"{path} has no {ending} files; give files, or a folder with {name}/")
        found += files
    return found


def counts_in(source: str | Path) -> str | Path:
    """The file of word counts in a folder of data; any other source of p(w) as it is. Raises SourceError."""
    if source in _NAMED or not Path(source).is_dir():
        return source
    files = files_of([Path(source)], "frequencies", ".txt")
    if len(files) > 1:
        raise SourceError(f"{source} has {len(files)} files of word counts; name one: {', '.join(map(str, files))}")
    return files[0]
