"""Prepare text as the paper of CBOS does: stemmed words in lower case, in sentences of fewer than 120.

Yuan and Zhang, section IV.B: words are stemmed, special symbols dropped, long sentences split, and words seen fewer
than 5 times left out. Where we differ: the paper does not say which of NLTK's stemmers it took; ours is Porter's, by
Snowball. Words are those of our tokeniser, which drops the ends of contractions too (don't: don).
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

import numpy as np
import numpy.typing as npt
import Stemmer

from semsearch.errors import UsageError
from semsearch.text.ragged import Ragged
from semsearch.text.sentences import sentence_spans
from semsearch.text.tokens import words
from semsearch_research.train.cbos import LONGEST, Sentences, parts_of
from semsearch_research.train.corpus import Skipped, Stages, each_file, paragraphs_of

Int64 = npt.NDArray[np.int64]
_EVERY = 5000  # sentences between two reports


class Stemming:
    """Turns texts into stems, or into words as they are. Remembers the stem of every word that it has seen."""

    def __init__(self, *, stem: bool = True) -> None:
        self.stem = stem
        self._stemmer = Stemmer.Stemmer("porter", 0)
        self._stems: dict[str, str] = {}

    def __call__(self, text: str) -> list[str]:
        found = words(text)
        return [self._of(word) for word in found] if self.stem else found

    def _of(self, word: str) -> str:
        if (stem := self._stems.get(word)) is None:
            stem = self._stems[word] = self._stemmer.stemWord(word)
        return stem


@dataclass(frozen=True, slots=True)
class StemmedText:
    """The words that are frequent enough (V), most frequent first, their counts (V,), and the sentences."""

    words: list[str]
    counts: Int64
    sentences: Sentences

    def as_words(self) -> Iterator[list[str]]:
        """Yield each sentence as a list of words."""
        ids, bounds = self.sentences.texts.ids, self.sentences.texts.indptr.tolist()
        for number in range(len(self.sentences)):
            yield [self.words[i] for i in ids[bounds[number] : bounds[number + 1]].tolist()]


def read_stemmed(
    paths: Sequence[Path],
    stemming: Stemming,
    *,
    limit: int | None = None,
    min_count: int = 5,
    skipped: Skipped = lambda _path, _reason: None,
    progress: Stages | None = None,
) -> StemmedText:
    """Read files and folders of text, sentence by sentence; of all of them the first `limit` sentences with words.

    Raises SourceError for a path that is missing or broken, UsageError if no word is frequent enough or no file has two
    sentences.
    """
    ids, lengths, files = array("i"), array("i"), array("i")
    numbers: dict[str, int] = {}
    for number, (file, found) in enumerate(islice(_each_sentence(paths, stemming, skipped), limit)):
        ids.extend([numbers.setdefault(word, len(numbers)) for word in found])
        lengths.append(len(found))
        files.append(file)
        if progress and number % _EVERY == 0:
            progress("reading sentences", number, limit or 0)
    given = ", ".join(map(str, paths))
    seen = np.frombuffer(ids, dtype=np.int32) if ids else np.zeros(0, dtype=np.int32)
    counts = np.bincount(seen, minlength=len(numbers))
    kept = np.flatnonzero(counts >= min_count)
    if not len(kept):
        raise UsageError(f"no word occurs {min_count} times in {given}; give more text")
    kept = kept[np.argsort(-counts[kept], kind="stable")]
    renumbered = np.full(len(numbers), -1, dtype=np.int32)
    renumbered[kept] = np.arange(len(kept), dtype=np.int32)
    sentences = _sentences(renumbered[seen], np.array(lengths), np.array(files))
    if not sentences.any_neighbours:
        raise UsageError(f"no file of {given} has two sentences with frequent words; give more text")
    vocabulary = list(numbers)
    return StemmedText([vocabulary[i] for i in kept.tolist()], counts[kept].astype(np.int64), sentences)


def ids_of(texts: Iterable[Sequence[str]], numbers: dict[str, int]) -> Ragged:
    """The known words of texts by number; those that are not known are left out."""
    known = [[numbers[word] for word in text if word in numbers] for text in texts]
    flat = np.array([number for text in known for number in text], dtype=np.int32)
    return Ragged(flat, np.cumsum([0, *map(len, known)], dtype=np.int64))


def _each_sentence(paths: Sequence[Path], stemming: Stemming, skipped: Skipped) -> Iterator[tuple[int, list[str]]]:
    """The number of a file, and the words of the next of its sentences that has words."""
    for number, file in enumerate(file for path in paths for file in each_file(path, skipped)):
        for paragraphs in paragraphs_of(file):
            for text in paragraphs:
                for start, end in sentence_spans(text):
                    if found := stemming(text[start:end]):
                        yield number, found


def _sentences(ids: npt.NDArray[np.int32], lengths: npt.NDArray[np.int32], files: npt.NDArray[np.int32]) -> Sentences:
    """Without the words below zero, without the sentences that had no others, and long ones in parts."""
    known = ids >= 0
    before = np.concatenate(([0], np.cumsum(known, dtype=np.int64)))
    left: Int64 = np.diff(before[np.concatenate(([0], np.cumsum(lengths, dtype=np.int64)))])
    bounds = np.concatenate(([0], np.cumsum(parts_of(left), dtype=np.int64)))
    of = np.repeat(files, -(-left // LONGEST))
    return Sentences(Ragged(ids[known], np.append(bounds, bounds[-1])), of.astype(np.int32))
