"""Choose the texts that word vectors are trained on: an even share of a corpus, as passages and as sentences.

Each paragraph gets a number between 0 and 1 from a hash of its text and the seed. Paragraphs below `passages` are taken
whole, those from there to `passages + sentences` give their sentences. So a share does not depend on the order in which
files are read, a larger share contains a smaller one, and no paragraph is in both. Texts that are too short to mean
anything, or so long that a teacher would cut them, are left out.

So are texts of the data that something is measured on: a training text is dropped if it shares a run of `RUN` words
with any text of the excluded files, or, having fewer words than that, if its words are exactly those of an excluded
text: a field of a table, a line, or a sentence.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from semsearch.arrays.types import Bool, Int64, UInt64
from semsearch.errors import SourceError, StorageError, UsageError
from semsearch.system.durable import write_durably
from semsearch.text.sentences import each_sentence_span, sentence_spans
from semsearch.text.tokens import hash_words, mix
from semsearch_research.train.corpus import each_file, paragraphs_of
from semsearch_research.train.teacher_encodings import hash_texts

RUN = 13  # words
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


def _run_hashes(words: UInt64, indptr: Int64) -> tuple[UInt64, Int64]:
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
    except (OSError, ValueError, RecursionError) as error:
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


# -- Choice ------------------------------------------------------------------------------------------------------------

PASSAGE_WORDS = (25, 120)
SENTENCE_WORDS = (4, 40)


@dataclass(frozen=True, slots=True)
class Chosen:
    """The texts that were chosen, each once, and the number of those left out as excluded."""

    texts: list[str]
    excluded: int


def choose_texts(
    paths: Iterable[Path],
    *,
    passages: float = 0.0,
    sentences: float = 1.0,
    exclude: Iterable[Path] = (),
    seed: int = 0,
    skipped: Callable[[str, str], None],
    progress: Callable[[int, int], None] | None = None,
) -> Chosen:
    """Choose texts of files and folders: shares of their paragraphs as `passages` and as `sentences`.

    `skipped(path, reason)` is called for a file that cannot be read, `progress(files, texts)` with the number chosen so
    far. Raises UsageError for shares outside 0 to 1 or that choose nothing, SourceError if a path does not exist.
    """
    if not (passages >= 0 and sentences >= 0 and 0 < passages + sentences <= 1):
        raise UsageError(f"the shares {passages} and {sentences} must be zero or more, and 1 together at most")
    excluded = Excluded(exclude)
    texts: dict[str, None] = {}
    left_out = 0
    for number, file in enumerate(file for path in paths for file in each_file(Path(path), skipped)):
        try:
            for paragraphs in paragraphs_of(file):
                chosen = list(_chosen(paragraphs, passages, sentences, seed))
                shared = excluded.shared_by(chosen)
                texts.update((text, None) for text, is_shared in zip(chosen, shared, strict=True) if not is_shared)
                left_out += int(shared.sum())
                if progress:
                    progress(number, len(texts))
        except SourceError as error:
            skipped(str(file), str(error))
    if not texts:
        raise UsageError("no text was chosen; give more text, or larger shares")
    return Chosen(list(texts), left_out)


def without_excluded(texts: list[str], exclude: Iterable[Path]) -> list[str]:
    """The texts that share nothing with excluded files. Raises SourceError, or UsageError if no text is left."""
    shared = Excluded(exclude).shared_by(texts)
    left = [text for text, is_shared in zip(texts, shared, strict=True) if not is_shared]
    if not left:
        raise UsageError(f"all {len(texts)} texts are excluded; give others, or exclude less")
    return left


def write_texts(texts: Iterable[str], to: Path) -> None:
    """Write texts to a file, one per line. Raises StorageError if it cannot be written."""
    data = "".join(text + "\n" for text in texts).encode()
    try:
        write_durably(to, lambda write: write(data))
    except OSError as error:
        raise StorageError(f"{to} cannot be written: {error.strerror or error}; choose another place") from error


def read_texts(files: Iterable[Path]) -> list[str]:
    """Read the texts of files that have one per line: each text once, in order.

    Raises SourceError if a file cannot be read, UsageError if there are no texts.
    """
    texts: dict[str, None] = {}
    for file in files:
        try:
            texts.update((line, None) for line in file.read_text(encoding="utf-8").split("\n") if line.strip())
        except (OSError, ValueError) as error:
            raise SourceError(f"{file} cannot be read as text, a text a line: {error}") from error
    if not texts:
        raise UsageError("there are no texts in these files; expected a text a line")
    return list(texts)


def _chosen(paragraphs: list[str], passages: float, sentences: float, seed: int) -> Iterator[str]:
    numbers = hash_texts(paragraphs, seed=seed).astype(np.float64) / 2.0**64
    for paragraph, number in zip(paragraphs, numbers.tolist(), strict=True):
        if number < passages:
            yield from _fitting([_one_line(paragraph)], *PASSAGE_WORDS)
        elif number < passages + sentences:
            spans = sentence_spans(paragraph)
            yield from _fitting([_one_line(paragraph[start:end]) for start, end in spans], *SENTENCE_WORDS)


def _fitting(texts: list[str], least: int, most: int) -> list[str]:
    return [text for text in texts if least <= text.count(" ") + 1 <= most]


def _one_line(text: str) -> str:
    return " ".join(text.split())
