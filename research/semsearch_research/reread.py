"""Sentences that gensim can read several times, with progress."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Generic, TypeVar

Sentence = TypeVar("Sentence")
_EVERY = 1000  # sentences between two reports


class Reread(Generic[Sentence]):
    """An iterable that calls `sentences()` for each reading, and `progress(n)` with the number read in all readings."""

    def __init__(self, sentences: Callable[[], Iterable[Sentence]], progress: Callable[[int], None] | None) -> None:
        self._sentences = sentences
        self._progress = progress
        self._read = 0

    def __iter__(self) -> Iterator[Sentence]:
        for sentence in self._sentences():
            self._read += 1
            if self._progress and self._read % _EVERY == 0:
                self._progress(self._read)
            yield sentence
