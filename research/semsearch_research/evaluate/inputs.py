"""Check the inputs of a measurement: arguments, optional packages, lines of data files, folders of data, word vectors.

A folder of data is one that `semsearch evaluate data` lays out; it stands for the folders and files inside it. Word
vectors that were distilled from a sentence encoder are marked in tables, since they are not unsupervised.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any, TypeAlias

from semsearch.embedding.weights import check_a
from semsearch.errors import MissingExtra, SourceError, UsageError
from semsearch.word_vectors.table import VectorTable, WordVectors
from semsearch_research.word_tables.nearest_words import one_word

Progress: TypeAlias = Callable[[str, int, int], None]  # the stage, how much of it is done, of how much (0: unknown)


def check_positive(**given: float | Iterable[float | None] | None) -> None:
    """Check that numbers are above zero and finite. None stands for a default. Raises UsageError."""
    for name, values in given.items():
        for value in values if isinstance(values, Iterable) else (values,):
            if value is not None and not 0 < value < float("inf"):
                raise UsageError(f"{name} must be above zero, not {value}")


def check_each_a(a: float | Iterable[float | None] | None) -> None:
    """Check one or several values of SIF's a. None stands for a default. Raises UsageError."""
    for value in a if isinstance(a, Iterable) else (a,):
        if value is not None:
            check_a(value)


def distinct_names(vectors: Sequence[WordVectors], form: str = "{} {}") -> list[str]:
    """The names of word vectors, with the digest if several have one name. Raises UsageError for the same twice."""
    if len({one.digest for one in vectors}) != len(vectors):
        raise UsageError(f"word vectors must be different, got {', '.join(one.name for one in vectors)}")
    names = [one.name for one in vectors]
    return [form.format(one.name, one.digest[:8]) if names.count(one.name) > 1 else one.name for one in vectors]


def ids_of_words(words: Iterable[str], table: VectorTable) -> list[int]:
    """The ids of words in a table. Raises UsageError for a text that is not one word, or not in the table."""
    ids = []
    for word in words:
        normal = one_word(word)
        ids.append(table.id_of(normal))
        if ids[-1] < 0:
            raise UsageError(f"{normal!r} is not among the {len(table)} words of {table.name}")
    return ids


def import_extra(module: str, *, package: str, extra: str = "", distribution: str = "./research") -> Any:
    """Import an optional package's module. Raises MissingExtra, which names the extra to install."""
    try:
        return import_module(module)
    except ImportError as error:
        raise MissingExtra(package, extra, distribution=distribution) from error


def check_scores(path: Path, scores: Sequence[float]) -> None:
    """Check that scores differ, since a correlation needs that. Raises SourceError."""
    if len(set(scores)) < 2:
        raise SourceError(f"{path} has fewer than two different scores; a correlation needs at least two")


_NAMED = ("vectors", "corpus", "uniform")  # sources of p(w) that are not files, whatever folders are here


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


MARK = "†"
MEANING = f"{MARK} distilled from a sentence encoder that was trained with supervision; not an unsupervised method."


def is_distilled(vectors: WordVectors) -> bool:
    """Return whether the card of word vectors says that they were distilled. Vectors without a card are not."""
    card = getattr(vectors, "card", {})
    return str(card.get("command", "")).startswith("semsearch vectors distill")


def marked(name: str, taught: Iterable[str]) -> str:
    """The name of word vectors, marked if they are among those that were distilled."""
    return f"{name}{MARK}" if name in taught else name
