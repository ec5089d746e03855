"""Exclude texts from training that something is measured on.

A training text is dropped if it shares a run of `RUN` words with any text of the excluded files, or, having fewer words
than that, if its words are exactly those of an excluded text: a field of a table, a line, or a sentence.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from semsearch.errors import SourceError
from semsearch.text.sentences import each_sentence_span
from semsearch.text.tokens import hash_words, mix

RUN = 13  # words
UInt64 = npt.NDArray[np.uint64]
Bool = npt.NDArray[np.bool_]
_BASE = np.uint64(0xD1342543DE82EF95)  # odd
_BATCH = 50_000  # texts at a time


class Excluded:
    """The excluded texts, read from files and all files in folders: JSON lines, tables with tabs, or plain lines.

    Raises SourceError if a path does not exist, or a file is not text.
    """

    def __init__(self, paths: Iterable[Path]) -> None:
        runs: list[UInt64] = [np.zeros(0, dtype=np.uint64)]
        wholes: list[UInt64] = [np.zeros(0, dtype=np.uint64)]
        fields = (field for path in paths for file in _files(Path(path)) for field in _fields(file))
        while batch := list(islice(fields, _BATCH)):
            words = hash_words(batch)
            runs.append(np.unique(_run_hashes(words.hashes, words.indptr)[0]))
            sentences = [text[start:end] for text in batch for start, end in each_sentence_span(text)]
            wholes.append(np.unique(_whole_hashes([*batch, *sentences])))
        self._runs = np.unique(np.concatenate(runs))
        self._wholes = np.setdiff1d(np.concatenate(wholes), [np.uint64(0)])

    def shared_by(self, texts: Sequence[str]) -> Bool:
        """Return which texts are to be dropped, because they share words with excluded ones. n texts -> (n,)"""
        found = np.zeros(len(texts), dtype=bool)
        for first in range(0, len(texts), _BATCH):
            batch = texts[first : first + _BATCH]
            words = hash_words(batch)
            hashes, rows = _run_hashes(words.hashes, words.indptr)
            found[first + rows[np.isin(hashes, self._runs)]] = True
            found[first : first + len(batch)] |= np.isin(_whole_hashes(batch), self._wholes)
        return found


def _run_hashes(words: UInt64, indptr: npt.NDArray[np.int64]) -> tuple[UInt64, npt.NDArray[np.int64]]:
    """A hash of each run of RUN words within a text, and the index of the text."""
    count = len(words) - RUN + 1
    if count <= 0:
        return np.zeros(0, dtype=np.uint64), np.zeros(0, dtype=np.int64)
    total: UInt64 = np.zeros(count, dtype=np.uint64)
    for offset in range(RUN):
        total = total * _BASE + words[offset : offset + count]
    rows = np.repeat(np.arange(len(indptr) - 1), np.diff(indptr))
    inside = rows[:count] == rows[RUN - 1 :]
    return mix(total[inside]), rows[:count][inside]


def _whole_hashes(texts: Sequence[str]) -> UInt64:
    """A hash of all words of each text that has fewer than RUN, in order; 0 for others. n texts -> (n,)"""
    words = hash_words(texts)
    total = np.zeros(len(texts), dtype=np.uint64)
    lengths = np.diff(words.indptr)
    for offset in range(RUN - 1):
        longer = np.flatnonzero(lengths > offset)
        total[longer] = total[longer] * _BASE + words.hashes[words.indptr[longer] + offset]
    return np.where((lengths > 0) & (lengths < RUN), mix(total), np.uint64(0))  # 0: not a short text; mix keeps it free


def _files(path: Path) -> Iterator[Path]:
    if not path.exists():
        raise SourceError(f"there is no {path}; give files and folders whose texts are to be left out")
    if path.is_file():
        yield path
    else:
        yield from sorted(file for file in path.rglob("*") if file.is_file())


def _fields(file: Path) -> Iterator[str]:
    """Yield the texts of a file: the strings of JSON lines, the columns of a table, or the lines."""
    suffix = file.suffix.lower()
    try:
        with file.open(encoding="utf-8") as lines:
            for line in lines:
                if suffix in (".jsonl", ".json") and line.lstrip().startswith(("{", "[", '"')):
                    yield from _strings(json.loads(line))
                else:
                    yield from line.rstrip("\n").split("\t")
    except (OSError, ValueError) as error:
        raise SourceError(f"{file} cannot be read as text ({error}); convert it or leave it out") from error


def _strings(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for part in value.values():
            yield from _strings(part)
    elif isinstance(value, list):
        for part in value:
            yield from _strings(part)
