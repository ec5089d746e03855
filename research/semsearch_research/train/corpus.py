"""A corpus to train word vectors on: read once to count the vocabulary, then again as word ids, by paragraphs.

Two passes keep memory small: only the counts of the first are kept, and of the second a few million characters at a
time. Counts are sums: files are counted in any order and the results added. semsearch.embedding.weights
keeps them in files, for the p(w) of the papers.

Plain text, also compressed, is streamed, and its paragraphs are those that an index would see: between blank lines, or
the lines themselves if a file has one paragraph per line (semsearch.readers.text). Only at the edge of a streamed
piece, every four million characters, a paragraph may come in two parts.
"""

from __future__ import annotations

import gzip
import lzma
import shlex
import zlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO

import numpy as np

from semsearch.arrays.hash_table import HashIndex
from semsearch.arrays.types import Float32, Int64
from semsearch.errors import SourceError, UsageError
from semsearch.readers.read import read_file, read_text
from semsearch.readers.registry import FORMATS
from semsearch.sources.walk import find_files
from semsearch.text.ragged import Ragged
from semsearch.text.sentences import sentence_spans
from semsearch.text.tokens import hash_words, normalise
from semsearch_research.word_tables.table_writer import index_of
from semsearch_research.word_tables.word_counts import most_frequent

_COMPRESSED = (".txt.xz", ".txt.gz")
_PROSE = ("text", "markdown", "rst", "html")  # words of tables, mail and code would count as English


def count_words(
    paths: Iterable[Path],
    *,
    skipped: Callable[[str, str], None],
    progress: Callable[[int, int], None] | None = None,
) -> Counter[str]:
    """Count the words of files and folders.

    Plain text, also compressed (.txt, .txt.xz, .txt.gz), is streamed; other formats go through their readers, so that
    markup is not counted. `skipped(path, reason)` is called for a file that cannot be read; nothing of it is counted.
    `progress(files, words)` is called with the number counted so far.
    Raises SourceError if a path does not exist.
    """
    counts: Counter[str] = Counter()
    done = total = 0
    for path in paths:
        for file in each_file(path, skipped):
            found: Counter[str] = Counter()
            try:
                for texts in paragraphs_of(file):
                    found.update(normalise("\n".join(texts)).split())
                    if progress:
                        progress(done, total + found.total())
            except SourceError as error:
                skipped(str(file), str(error))
                continue
            counts.update(found)
            total += found.total()
            done += 1
    return counts


def each_file(path: Path, skipped: Callable[[str, str], None]) -> Iterator[Path]:
    """Yield a file itself, or the files of a folder that can be read. Raises SourceError if the path does not exist."""
    if path.is_file():
        yield path
    else:
        prose = (suffix for name in _PROSE for suffix in FORMATS[name].suffixes)
        include = [f"*{suffix}" for suffix in (*prose, *_COMPRESSED)]
        yield from (Path(found.absolute) for found in find_files(path, include=include, skipped=skipped))


def _open_text(path: Path) -> IO[str]:
    if path.suffix.lower() == ".xz":
        return lzma.open(path, "rt", encoding="utf-8")
    if path.suffix.lower() == ".gz":
        return gzip.open(path, "rt", encoding="utf-8")
    return path.open(encoding="utf-8")


# -- Corpus ------------------------------------------------------------------------------------------------------------

Skipped = Callable[[str, str], None]  # a path, and why it could not be read
Stages = Callable[[str, int, int], None]  # what is being done, how much of it is done, how much there is (0: unknown)

_PIECE = 1 << 22  # characters of streamed text at a time
_STREAMED = (".txt", ".xz", ".gz")


@dataclass(frozen=True, slots=True)
class Corpus:
    """Files of text to train word vectors on, and the words that get vectors, most frequent first."""

    paths: tuple[Path, ...]  # as given
    files: tuple[Path, ...]  # those under the paths that were read
    words: list[str]
    counts: Int64  # occurrences of each of these words (V,)
    total: int  # occurrences of all words, with and without vectors
    _ids: HashIndex

    @property
    def described(self) -> str:
        """The names of the files that were read, for a card."""
        names = ", ".join(file.name for file in self.files[:3])
        return names if len(self.files) <= 3 else f"{names} and {len(self.files) - 3} more files"

    @property
    def arguments(self) -> str:
        """The names of the paths that were given, without their folders, for the command on a card."""
        return shlex.join(path.name or str(path) for path in self.paths)

    @property
    def frequencies(self) -> Float32:
        """p(w) of the words that get vectors, as their share of all words, also those without vectors. (V,)"""
        return (self.counts / self.total).astype(np.float32)

    def paragraphs(self) -> Iterator[Ragged]:
        """Yield the paragraphs of each piece of text as word ids, -1 for a word that gets no vector."""
        for file in self.files:
            for texts in paragraphs_of(file):
                yield self.ids_of(texts)

    def sentences(self) -> Iterator[tuple[int, Ragged]]:
        """Yield all sentences in order, some at a time, with the number of their file.

        They are ids of words; those that get no vector are left out.
        """
        for number, file in enumerate(self.files):
            for texts in paragraphs_of(file):
                yield number, known(self.ids_of(_sentences(texts)))

    def ids_of(self, texts: Sequence[str]) -> Ragged:
        """The word ids of texts, -1 for a word that gets no vector."""
        hashed = hash_words(texts)
        return Ragged(self._ids.look_up(hashed.hashes), hashed.indptr)


def read_corpus(
    paths: Sequence[Path],
    *,
    size: int,
    min_count: int,
    dimension: int,
    skipped: Skipped,
    progress: Stages | None = None,
) -> Corpus:
    """Count the words of files and folders, and choose the `size` most frequent of at least `min_count`.

    `skipped(path, reason)` is called for a file that cannot be read; it is left out of both readings.
    Raises SourceError if a path does not exist; UsageError if there are no words, if none is frequent enough, or if
    fewer are than the `dimension` that their vectors shall have.
    """
    left_out: set[str] = set()

    def leave_out(path: str, reason: str) -> None:
        left_out.add(path)
        skipped(path, reason)

    def report(_: int, words: int) -> None:
        if progress:
            progress("counting words", words, 0)

    counts = count_words(paths, skipped=leave_out, progress=report)
    if not counts:
        raise UsageError(f"there are no words in {_listed(paths)}; give files or folders of text")
    frequent = {word: count for word, count in counts.items() if count >= min_count}
    if not frequent:
        most = max(counts.values())
        raise UsageError(
            f"no word occurs {min_count} times in {_listed(paths)}, the most frequent {most} times; "
            "give more text or a lower --min-count"
        )
    words = most_frequent(frequent, size)
    if dimension > len(words):
        raise UsageError(
            f"{len(words)} words of {_listed(paths)} get a vector, which cannot have {dimension} dimensions; "
            f"give more text, a larger --size, or --dimension {len(words)} at the most"
        )
    files = tuple(file for path in paths for file in each_file(path, lambda *_: None) if str(file) not in left_out)
    return Corpus(
        tuple(paths), files, words, np.array([frequent[word] for word in words]), counts.total(), index_of(words)
    )


def paragraphs_of(file: Path) -> Iterator[list[str]]:
    """Yield the paragraphs of a file, a piece of it at a time. Raises SourceError if it cannot be read any more."""
    try:
        if file.suffix.lower() in _STREAMED:
            for piece in _pieces(file):
                yield [block.text for block in read_text(piece, file.name).blocks]
        else:
            yield [block.text for block in read_file(file).document.blocks]
    except (OSError, EOFError, lzma.LZMAError, zlib.error, UnicodeDecodeError) as error:
        raise SourceError(
            f"{file} is damaged, or changed while it was read ({error}); repair it, or run this again"
        ) from error


def _pieces(file: Path) -> Iterator[str]:
    """Yield the text of a file in parts that end with a line, or, if a line is longer than a part, between words."""
    with _open_text(file) as stream:
        rest = ""
        while read := stream.read(_PIECE):
            text = rest + read
            end = max(text.rfind("\n"), 0) or max(text.rfind(" "), 0) or len(text)
            if len(read) < _PIECE:
                end = len(text)  # the last part
            yield text[:end]
            rest = text[end:]
        if rest:
            yield rest


def _sentences(paragraphs: Sequence[str]) -> list[str]:
    return [text[start:end] for text in paragraphs for start, end in sentence_spans(text)]


def known(texts: Ragged) -> Ragged:
    """Texts without the words that get no vector, whose id is -1."""
    there = texts.ids >= 0
    kept = np.concatenate(([0], np.cumsum(there)))
    return Ragged(texts.ids[there], kept[texts.indptr])


def _listed(paths: Sequence[Path]) -> str:
    return ", ".join(map(str, paths))
