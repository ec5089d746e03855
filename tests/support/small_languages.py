"""The small world in other languages: its words in Greek letters, or as pairs of Chinese characters; their tables."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest
from language_tables import write_language_table
from small import GLUE, TOPICS

from semsearch.word_vectors import language_table, multilingual
from semsearch.word_vectors.language_table import LanguageTable
from semsearch.word_vectors.multilingual import _with_tables
from semsearch.word_vectors.table import VectorTable

WORDS = [*GLUE, *dict.fromkeys(word for words in TOPICS.values() for word in words.split())]
_GREEK = str.maketrans("abcdefghijklmnopqrstuvwxyz", "αβψδεφγηιξκλμνοπχρστυωϝθζϑ")
_FIRST = 0x4E00


def in_greek(text: str) -> str:
    """A text of the small world in Greek letters."""
    return text.lower().translate(_GREEK)


def in_chinese(text: str) -> str:
    """A text of the small world without spaces: two characters for each word that it has, others left out."""
    found = (WORDS.index(word) for word in text.lower().replace(".", " ").replace("?", " ").split() if word in WORDS)
    return "".join(chr(_FIRST + number) + chr(_FIRST + 1000 + number) for number in found) + "。"


def write_small_table(
    folder: Path, language: str, english: VectorTable, *, leaving_out: Iterable[str] = (), shift: float = 1.0
) -> LanguageTable:
    """The table of a language ("el" or "zh"): the English vectors, all moved into one direction."""
    spell = {"el": in_greek, "zh": lambda word: in_chinese(word)[:2]}[language]
    chosen = [word for word in WORDS if word not in set(leaving_out)]
    ids = np.array([english.id_of(word) for word in chosen])
    direction = np.random.default_rng(len(language) + ord(language[0])).standard_normal(english.dimension)
    vectors = english.rows(ids) + shift * direction / np.linalg.norm(direction)
    return write_language_table(
        folder / f"{language}{language_table.SUFFIX}",
        language,
        [spell(word) for word in chosen],
        vectors,
        english.frequencies[ids],
        parts=english.dimension,
        card={"space": english.digest},
    )


@contextmanager
def languages_in(folder: Path) -> Iterator[None]:
    """Take the tables in a folder for those that come with semsearch."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(language_table, "_HERE", folder)
        forget_opened()
        yield
    forget_opened()


def forget_opened() -> None:
    """Open all tables anew, as a new process does."""
    multilingual.open_language.cache_clear()
    _with_tables.cache_clear()
