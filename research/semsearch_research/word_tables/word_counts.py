"""Write counts of words to a file, and choose the most frequent words; semsearch.word_vectors reads such files."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from semsearch.errors import StorageError
from semsearch.system.durable import write_durably


def write_counts(counts: Mapping[str, int], path: Path) -> None:
    """Write a counts file. Equal counts are ordered by word, so that the same text always gives the same file.

    Raises StorageError if it cannot be written.
    """
    data = "".join(f"{word} {count}\n" for word, count in sorted(counts.items(), key=_rank)).encode()
    try:
        write_durably(path, lambda write: write(data))
    except OSError as error:
        raise StorageError(f"{path} cannot be written: {error.strerror or error}; choose another place") from error


def most_frequent(counts: Mapping[str, int], size: int) -> list[str]:
    """The `size` most frequent words, most frequent first."""
    return [word for word, _ in sorted(counts.items(), key=_rank)[:size]]


def _rank(item: tuple[str, int]) -> tuple[int, str]:
    return -item[1], item[0]
