"""Texts as callers give them: lists, arrays, columns of a table; each a string."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice

from semsearch.errors import UsageError

BATCH = 8192  # texts at a time


def batched(texts: Iterable[str]) -> Iterator[Sequence[str]]:
    """Some texts at a time, of any iterable. Raises UsageError for a single string, and for what is no string."""
    _check_several(texts)
    rest = iter(texts)
    while batch := list(islice(rest, BATCH)):
        yield checked(batch)


def listed(texts: Iterable[str]) -> Sequence[str]:
    """All texts, as a list unless they are a list or tuple already. Raises UsageError as `batched` does."""
    _check_several(texts)
    return checked(texts if isinstance(texts, list | tuple) else list(texts))


def checked(texts: Sequence[str]) -> Sequence[str]:
    """Return texts if each is a string. Raises UsageError, which names the first that is none."""
    for number, text in enumerate(texts):
        if not isinstance(text, str):
            raise UsageError(
                f"text {number} is {text!r}, not a string; give texts one by one, such as one column of a table"
            )
    return texts


def _check_several(texts: Iterable[str]) -> None:
    if isinstance(texts, str):
        raise UsageError("a single string is a sequence of letters; for one text give [text]")
    if not isinstance(texts, Iterable):
        raise UsageError(f"texts are a list of strings, not {texts!r}")
