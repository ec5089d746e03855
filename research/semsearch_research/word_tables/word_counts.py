"""Files of word counts, and p(w) by them.

A line has a word, a space and its count, most frequent first. The SIF and uSIF releases use the same form, so their
files can be given as they are.
"""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Callable, Mapping
from pathlib import Path

import numpy as np

from semsearch.arrays.types import Float32, Float64
from semsearch.errors import StorageError, VectorsError
from semsearch.system.durable import write_durably
from semsearch.text.tokens import hash_words, normalise
from semsearch.word_vectors.table import WordVectors


def read_counts(path: Path, normal_form: Callable[[str], str] = normalise) -> Counter[str]:
    """Read a counts file. Counts of words that become equal are added; what is not one word is left out.

    Raises VectorsError, which names the line, if a line is not a word and a whole number, or if there are no counts.
    """
    counts: Counter[str] = Counter()
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise VectorsError(f"{path} cannot be read as a file of word counts: {error}") from error
    for number, line in enumerate(lines, 1):
        word, _, count = line.rpartition(" ")
        if not word or not (count.isascii() and count.isdigit()):
            raise VectorsError(f"{path}, line {number}: expected a word, a space and a count, found {line[:60]!r}")
        normal = normal_form(word)
        if normal and " " not in normal:
            counts[normal] += int(count)
    if not counts.total():
        raise VectorsError(f"{path} has no counts; expected lines of a word, a space and a count")
    return counts


def one_word(text: str) -> str:
    """A word of any language, lower-cased: unlike for English with its vowel signs, and of any characters (中国).

    "" for what is not one word with letters only. Numbers are the same in every language.
    """
    normal = unicodedata.normalize("NFC", text.lower())
    kinds = [unicodedata.category(char) for char in normal]
    is_word = any(kind[0] == "L" for kind in kinds) and all(kind[0] == "L" or kind in ("Mn", "Mc") for kind in kinds)
    return normal if is_word else ""


def shares(counts: Mapping[str, int]) -> Float64:
    """p(w) of each counted word, in the order of the counts. (n,)"""
    numbers = np.fromiter(counts.values(), dtype=np.float64, count=len(counts))
    return np.asarray(numbers / numbers.sum())


def probabilities(counts: Mapping[str, int], vectors: WordVectors) -> Float32:
    """p(w) of each word of a vector table, by a counts file; a word that it lacks gets its least probability. (V,)"""
    counted = shares(counts)
    ids = vectors.lookup(hash_words(list(counts)).hashes)
    p = np.full(len(vectors), counted.min())
    p[ids[ids >= 0]] = counted[ids >= 0]
    return p.astype(np.float32)


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
