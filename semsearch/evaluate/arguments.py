"""Check the arguments of experiments: non-empty sequences, numbers above zero, known words."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from semsearch.embedding.weights import check_a
from semsearch.errors import UsageError
from semsearch.text.tokens import normalise
from semsearch.word_vectors.table import VectorTable, WordVectors


def check_several(**given: Any) -> None:
    """Check that arguments are sequences of at least one; a single path or name is none. Raises UsageError."""
    for name, values in given.items():
        if isinstance(values, str | Path) or not isinstance(values, Sequence) or not values:
            raise UsageError(f"{name} are a sequence of at least one, not {values!r}")


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
        raise UsageError(f"word vectors are named once each, not {', '.join(one.name for one in vectors)}")
    names = [one.name for one in vectors]
    return [form.format(one.name, one.digest[:8]) if names.count(one.name) > 1 else one.name for one in vectors]


def ids_of_words(words: Iterable[str], table: VectorTable) -> list[int]:
    """The ids of words in a table. Raises UsageError for a text that is not one word, or not in the table."""
    ids = []
    for word in words:
        normal = normalise(word)
        if not normal or " " in normal:
            raise UsageError(f"{word!r} is not one word; give one word without spaces or signs")
        ids.append(table.id_of(normal))
        if ids[-1] < 0:
            raise UsageError(f"{normal!r} is not among the {len(table)} words of {table.name}")
    return ids
