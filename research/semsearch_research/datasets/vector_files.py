"""Word vectors as they are downloaded: GloVe, PSL (Paragram), ParaNMT and others, in formats that `--vectors` takes.

They are the largest of all, and are not read into memory. A file that lies on the same disk is linked; one in an
archive is unpacked. Its lines are counted, since a download that broke off is the usual fault.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path

from semsearch.errors import SourceError, VectorsError
from semsearch.system.durable import Write, sync_folder, write_durably
from semsearch.word_vectors.vector_formats import identify
from semsearch_research.datasets.originals import Original

FOLDER = "vectors"
_NAMES = re.compile(
    r"(glove|paragram|psl|paranmt|word2vec|fasttext|googlenews|wiki-news|crawl-300d)[\w.+-]*\.(txt|vec|bin)|[\w.+-]+\.vec",
    re.IGNORECASE,
)
_ROWS = {
    **dict.fromkeys((f"glove.6B.{dimension}d.txt" for dimension in (50, 100, 200, 300)), 400_000),
    "glove.42B.300d.txt": 1_917_494,
    "glove.840B.300d.txt": 2_196_017,
    **dict.fromkeys((f"glove.twitter.27B.{dimension}d.txt" for dimension in (25, 50, 100, 200)), 1_193_514),
}
_BLOCK = 1 << 20


class VectorFiles:
    """Put files of word vectors into a folder's `vectors`. What is there already stays."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder / FOLDER
        self.written: list[str] = []

    def wants(self, name: str) -> bool:
        """Return whether a file is called like word vectors, and none of that name is there."""
        base = name.rpartition("/")[2]
        return _NAMES.fullmatch(base) is not None and not (self._folder / base).exists()

    def take(self, original: Original) -> None:
        """Link or write a file. Raises SourceError if it is none of word vectors, or not whole."""
        self._folder.mkdir(parents=True, exist_ok=True)
        path = self._folder / original.base
        temporary = path.with_name(path.name + ".tmp")
        try:
            if original.file is None or not _linked(original.file, temporary):
                write_durably(temporary, lambda write: _copy(original, write))
            _check(temporary, original)
            temporary.replace(path)
        finally:
            temporary.unlink(missing_ok=True)
        sync_folder(self._folder)
        self.written.append(f"{FOLDER}/{path.name}")

    def made(self) -> Iterator[str]:
        """Yield nothing: all was written as it was taken."""
        yield from ()


def _linked(file: Path, path: Path) -> bool:
    path.unlink(missing_ok=True)
    try:
        os.link(file.resolve(), path)
    except OSError:  # another disk, or one without links
        return False
    return True


def _copy(original: Original, write: Write) -> None:
    while block := original.stream.read(_BLOCK):
        write(block)


def _check(path: Path, original: Original) -> None:
    try:
        form = identify(path).form
    except VectorsError as error:
        raise SourceError(f"{original.name}: {str(error).replace(str(path), 'it')}") from error
    expected = _ROWS.get(original.base)
    if expected is not None and form == "GloVe text" and (found := _lines(path)) != expected:
        raise SourceError(
            f"{original.name} has {found:,} lines, not {expected:,}; it may be cut short, so get it again"
        )


def _lines(path: Path) -> int:
    with path.open("rb") as file:
        return sum(block.count(b"\n") for block in iter(lambda: file.read(_BLOCK), b""))


def described(folder: Path) -> Iterator[str]:
    """What word vectors are in a folder of data, in words."""
    for path in sorted((folder / FOLDER).glob("*")):
        if path.is_file() and _NAMES.fullmatch(path.name):
            try:
                yield f"{path.name}: {identify(path).form}, {identify(path).dimension} dimensions"
            except VectorsError as error:
                yield str(error)
