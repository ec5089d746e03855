"""Choose the texts that word vectors are trained on: an even share of a corpus, as passages and as sentences.

Each paragraph gets a number between 0 and 1 from a hash of its text and the seed. Paragraphs below `passages` are taken
whole, those from there to `passages + sentences` give their sentences. So a share does not depend on the order in which
files are read, a larger share contains a smaller one, and no paragraph is in both. Texts that are too short to mean
anything, or so long that a teacher would cut them, are left out; so are texts that something is measured on
(semsearch.train.exclusion).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from semsearch.errors import SourceError, StorageError, UsageError
from semsearch.system.durable import write_durably
from semsearch.text.sentences import sentence_spans
from semsearch.train.corpus import paragraphs_of
from semsearch.train.counts import each_file
from semsearch.train.encodings import hash_texts
from semsearch.train.exclusion import Excluded

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
        raise UsageError(f"the shares {passages} and {sentences} must not be negative, and be 1 together at the most")
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
