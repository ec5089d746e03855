"""Count how often each word occurs in a body of text: for the p(w) of the papers, and to choose the vocabulary.

Counts are sums: files are counted in any order and the results added. `semsearch.text.word_counts` keeps them in files.
"""

from __future__ import annotations

import gzip
import lzma
import zlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import IO

from semsearch.errors import SourceError
from semsearch.readers.read import read_file
from semsearch.readers.registry import FORMATS
from semsearch.sources.walk import find_files
from semsearch.text.tokens import normalise

_COMPRESSED = (".txt.xz", ".txt.gz")
_PROSE = ("text", "markdown", "rst", "html")  # words of tables, mail and code would count as English
_BLOCK = 1 << 22  # characters counted at a time


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
                for block in _blocks(file):
                    found.update(normalise(block).split())
                    if progress:
                        progress(done, total + found.total())
            except (SourceError, OSError, EOFError, lzma.LZMAError, zlib.error, UnicodeDecodeError) as error:
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


def _blocks(path: Path) -> Iterator[str]:
    """Yield the text of a file in pieces of whole lines."""
    if path.suffix.lower() in (".txt", ".xz", ".gz"):
        with _open_text(path) as file:
            while lines := file.readlines(_BLOCK):
                yield "".join(lines)
    else:
        yield "\n".join(block.text for block in read_file(path).document.blocks)


def _open_text(path: Path) -> IO[str]:
    if path.suffix.lower() == ".xz":
        return lzma.open(path, "rt", encoding="utf-8")
    if path.suffix.lower() == ".gz":
        return gzip.open(path, "rt", encoding="utf-8")
    return path.open(encoding="utf-8")
