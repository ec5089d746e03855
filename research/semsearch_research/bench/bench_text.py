"""The text to measure on: made up, or given; as plain text files. It is written as it comes, never held as a whole.

Made up, words are drawn from the word vectors' own p(w), which falls off as in any language (Zipf's law), so that
look-ups, postings and caches meet frequent and rare words as they would. Sentences have 13 words on average and
paragraphs five sentences. It is grammatical in nothing, which no measurement of speed notices.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

import numpy as np
import numpy.typing as npt

from semsearch import VectorTable
from semsearch.errors import SourceError, UsageError
from semsearch.text.sentences import sentence_spans
from semsearch.text.tokens import words

Report = Callable[[str, int, int], None]  # name of the stage, how much of it is done, how much there is

LEAST = 1000  # sentences, below which everything is start-up
_SHORTEST, _MORE = 3, 10  # words of a sentence: three and a Poisson number about ten
_PARAGRAPH = 4  # sentences of a paragraph: one and a Poisson number about four
_FILE = 20  # paragraphs: a file of about a hundred sentences, eight kilobytes
_FOLDER = 1000  # files
_BATCH = 10_000  # sentences made at once
_ENDS = 4  # letters of a sentence's last word: "a.", "no." and "st." could be abbreviations, and end nothing
_QUERY = 5  # words of a query
_QUERIES = 64
_MANY = 1000  # queries, with these, that are asked at once


@dataclass(frozen=True, slots=True)
class SampleParagraph:
    """A paragraph without line ends, and the number of its sentences."""

    text: str
    sentences: int


@dataclass(frozen=True, slots=True)
class TextFiles:
    """A folder of plain text files, paragraphs between blank lines."""

    folder: Path
    files: int
    paragraphs: int
    sentences: int
    words: int
    bytes: int

    def paths(self) -> Iterator[Path]:
        """The paths of the files, in order."""
        return (_path(self.folder, number) for number in range(self.files))

    def each_paragraph(self) -> Iterator[str]:
        """Yield all paragraphs, file by file."""
        for path in self.paths():
            yield from path.read_text(encoding="utf-8").rstrip("\n").split("\n\n")


@dataclass(frozen=True, slots=True)
class TextSample:
    """The beginning of a corpus, in memory, and queries about it."""

    paragraphs: list[str]
    sentences: list[str]
    many: list[str]  # queries to be asked at once

    @property
    def queries(self) -> list[str]:
        """The queries that are also asked one by one."""
        return self.many[:_QUERIES]


def made_up(vectors: VectorTable, sentences: int, *, seed: int = 0) -> Iterator[SampleParagraph]:
    """Make up sentences in paragraphs, the same for the same word vectors and seed; fewer are the first of more."""
    generator = np.random.default_rng(seed)
    known = np.array(vectors.words, dtype=object)
    rising = _rising(vectors.frequencies)
    ends = np.flatnonzero([len(word) >= _ENDS and word.isalpha() for word in vectors.words])
    ends = ends if len(ends) else np.arange(len(known))
    rising_ends = _rising(vectors.frequencies[ends])
    for first in range(0, sentences, _BATCH):
        lengths = _SHORTEST + generator.poisson(_MORE, size=_BATCH)
        stops = np.cumsum(lengths)
        ids = np.searchsorted(rising, generator.random(int(stops[-1])))
        ids[stops - 1] = ends[np.searchsorted(rising_ends, generator.random(_BATCH))]
        drawn: list[str] = known[ids].tolist()
        starts = (stops - lengths).tolist()
        made = (" ".join(drawn[start:stop]) for start, stop in zip(starts, stops.tolist(), strict=True))
        wanted = islice(made, sentences - first)
        rest = (f"{sentence[:1].upper()}{sentence[1:]}." for sentence in wanted)
        while paragraph := list(islice(rest, 1 + int(generator.poisson(_PARAGRAPH)))):
            yield SampleParagraph(" ".join(paragraph), len(paragraph))


def given(path: Path, sentences: int) -> Iterator[SampleParagraph]:
    """Yield the paragraphs of a file, one a line, until they have enough sentences. Blank lines are skipped.

    Raises SourceError if it cannot be read, UsageError if it is too short to measure on.
    """
    found = 0
    try:
        with path.open(encoding="utf-8") as lines:
            for line in lines:
                text = " ".join(line.split())
                if text and found < sentences:
                    count = len(sentence_spans(text))
                    found += count
                    yield SampleParagraph(text, count)
                elif found >= sentences:
                    break
    except UnicodeDecodeError as error:
        raise SourceError(f"{path} is not UTF-8 ({error.reason} at byte {error.start}); convert it first") from error
    except OSError as error:
        raise SourceError(f"{path} cannot be read: {error.strerror or error}; give a file of text") from error
    if found < LEAST:
        raise UsageError(
            f"{path} has {found:,} sentences, and a measurement needs {LEAST:,} at least; give a longer text, a "
            "paragraph a line, or none, and text is made up"
        )


def write_corpus(paragraphs: Iterable[SampleParagraph], folder: Path, sentences: int, report: Report) -> TextFiles:
    """Write paragraphs as files in a new folder; `sentences` is the expected number, for the progress."""
    rest = iter(paragraphs)
    files = total = count = spoken = size = 0
    while batch := list(islice(rest, _FILE)):
        path = _path(folder, files)
        path.parent.mkdir(parents=True, exist_ok=True)
        data = ("\n\n".join(paragraph.text for paragraph in batch) + "\n").encode()
        path.write_bytes(data)
        files += 1
        total += len(batch)
        count += sum(paragraph.sentences for paragraph in batch)
        spoken += sum(len(paragraph.text.split()) for paragraph in batch)
        size += len(data)
        report("text", min(count, sentences), sentences)
    return TextFiles(folder, files, total, count, spoken, size)


def take_sample(corpus: TextFiles, most: int, *, seed: int = 0) -> TextSample:
    """Take the first sentences of a corpus, at most `most`; queries are five consecutive words of a sentence."""
    paragraphs: list[str] = []
    sentences: list[str] = []
    for paragraph in corpus.each_paragraph():
        if len(sentences) >= most:
            break
        paragraphs.append(paragraph)
        sentences += [paragraph[start:end] for start, end in sentence_spans(paragraph)]
    return TextSample(paragraphs, sentences[:most], _questions(sentences, random.Random(seed)))


def _questions(sentences: list[str], generator: random.Random) -> list[str]:
    spoken: list[str] = []
    for sentence in generator.sample(sentences, len(sentences)):
        found = words(sentence)
        if found:
            first = generator.randrange(max(1, len(found) - _QUERY + 1))
            spoken.append(" ".join(found[first : first + _QUERY]))
        if len(spoken) == _MANY:
            break
    if not spoken:
        raise UsageError("the text has no words, so nothing can be asked of it; give another")
    return spoken


def _rising(frequencies: npt.NDArray[np.float32]) -> npt.NDArray[np.float64]:
    """The distribution function of p(w), which ends at 1. (V,) -> (V,)"""
    rising: npt.NDArray[np.float64] = np.cumsum(frequencies, dtype=np.float64)
    rising /= rising[-1]
    rising[-1] = 1
    return rising


def _path(folder: Path, number: int) -> Path:
    return folder / f"{number // _FOLDER:03}" / f"{number:06}.txt"
