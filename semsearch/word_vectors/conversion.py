"""Convert word vectors of other formats to a table, once: it is kept beside the file in `<file>.semsearch/`.

Words are normalised as texts are. A word that the tokeniser would split, or that has no letter or digit, cannot occur
in a text and is dropped. Where several forms become one word (The, the), the form that equals the word gives the
vector, else the first form, which is the most frequent.

The formats do not give p(w). It comes from a counts file, or else from the shipped English table, whose least
probability is given to the words that it lacks; without that, by Zipf's law from the order of the file.
"""

from __future__ import annotations

import glob
import hashlib
import logging
import os
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from filelock import FileLock

from semsearch.arrays.types import Float32, Floating
from semsearch.errors import StorageError, VectorsError
from semsearch.system.locations import cache_folder
from semsearch.text.tokens import hash_words, normalise
from semsearch.word_vectors.table import DEFAULT_VECTORS, Dtype, VectorTable, shipped
from semsearch.word_vectors.table_writer import PARTIAL, TableWriter
from semsearch.word_vectors.vector_formats import Progress, Rows, VectorFile, identify
from semsearch.word_vectors.word_frequencies import read_counts

_log = logging.getLogger(__name__)

SUFFIX = ".semsearch"
_RULES = 1  # to be raised when a change of the code makes another table of the same file
_STAMP = "converted from"


def open_converted(
    path: Path,
    *,
    counts: Path | None = None,
    dtype: Dtype | None = None,
    progress: Progress | None = None,
    beside: bool = True,
) -> VectorTable:
    """Open the table of a file of word vectors: an earlier one if the file has not changed since, else a new one.

    It is kept in `<file>.semsearch/`, or, if that cannot be written, or not `beside` the file, in the user's cache
    folder. A new one is made if `counts` is given, or a `dtype` that the earlier one does not have; by default it is
    float32.
    Raises VectorsError if the file is broken, StorageError if the table cannot be written.
    """
    path = path.resolve()
    if counts is None and (table := _current(path, dtype)):
        return table
    identify(path)  # before anything is written beside a file that has no word vectors
    for folder in [*_homes(path)][0 if beside else 1 :]:
        with _locked(folder) as writable:
            if not writable:
                continue
            if counts is None and (table := _current(path, dtype)):  # another process made it meanwhile
                return table
            _sweep(folder)
            _log.info("converting %s into %s", path, folder)
            return convert(path, folder, counts=counts, dtype=dtype or "float32", replace=True, progress=progress)
    raise StorageError(
        f"neither {path.parent} nor {_cache_folder()} can be written; run: "
        f"semsearch vectors import {path.name} --to FOLDER"
    )


def convert(
    path: Path,
    folder: Path,
    *,
    counts: Path | None = None,
    dtype: Dtype = "float32",
    replace: bool = False,
    progress: Progress | None = None,
) -> VectorTable:
    """Make a table at `folder` from a file of word vectors. Only the words are all in memory at once.

    Raises VectorsError if the file is broken, or the folder exists and `replace` is false; StorageError if the table
    cannot be written.
    """
    stamp = _stamp_of(path)  # before it is read: a file that changes meanwhile is converted again the next time
    source = identify(path)
    probabilities = _Probabilities(counts)
    with TableWriter(folder, dtype=dtype, replace=replace) as writer:
        vocabulary = _Vocabulary()
        for batch in source.rows(progress):
            _store(batch, vocabulary, writer)
        if not writer.words:
            raise VectorsError(f"{path} has {vocabulary.rows} words, none of which is one word to the tokeniser")
        p, origin = probabilities.of(writer.words)
        return writer.finish(p, card=_card(source, vocabulary, origin, stamp, counts, dtype))


@dataclass(slots=True)
class _Vocabulary:
    """The words seen so far, and how many forms were dropped or merged."""

    ids: dict[str, int] = field(default_factory=dict)
    verbatim: bytearray = field(default_factory=bytearray)  # by id: whether the form that gave it was written so
    rows: int = 0
    dropped: int = 0
    merged: int = 0


def _store(batch: Rows, seen: _Vocabulary, writer: TableWriter) -> None:
    """Add the new words of a batch, and let a form that equals its word replace another form's vector."""
    kept, words, better = [], [], []
    for row, form in enumerate(batch.words):
        word = _one_word(form)
        if word is None:
            seen.dropped += 1
        elif (number := seen.ids.get(word)) is None:
            seen.ids[word] = len(seen.ids)
            seen.verbatim.append(form == word)
            kept.append(row)
            words.append(word)
        else:
            seen.merged += 1
            if form == word and not seen.verbatim[number]:
                seen.verbatim[number] = True
                better.append((number, row))
    seen.rows += len(batch.words)
    if kept:
        writer.add(words, batch.vectors[kept])
    for number, row in better:
        writer.overwrite(number, batch.vectors[row])


def _one_word(form: str) -> str | None:
    word = normalise(form)
    if not word or " " in word:
        return None
    return word if word.isascii() or normalise(word) == word else None


class _Probabilities:
    """p(w) for the words of a file, and its source. Counts are read at once, so that a bad file fails early."""

    def __init__(self, path: Path | None) -> None:
        self.path = path
        self.counts = read_counts(path) if path else None
        self.english = None if path else shipped(DEFAULT_VECTORS)

    def of(self, words: list[str]) -> tuple[Float32, str]:
        """p(w) of each word (V,), and its source in words for the card."""
        if self.counts is not None and self.path is not None:
            total, least = sum(self.counts.values()), min(self.counts.values())
            known = sum(word in self.counts for word in words)
            counted = np.fromiter((self.counts.get(word, least) for word in words), dtype=np.float64, count=len(words))
            return _float32(counted / total), f"{self.path.name}, which has {known} of the words; for others its least"
        if self.english is not None:
            ids, p = self.english.lookup(hash_words(words).hashes), self.english.frequencies
            origin = f"the shipped {self.english.name}, which has {int((ids >= 0).sum())} of the words"
            return _float32(np.where(ids >= 0, p[ids], p.min())), f"{origin}; for others its least"
        ranks = 1 / np.arange(1, len(words) + 1)
        return _float32(ranks / ranks.sum()), "Zipf's law, from the order of the file"


def _float32(p: Floating) -> Float32:
    return p.astype(np.float32)


def _card(
    source: VectorFile, seen: _Vocabulary, origin: str, stamp: Mapping[str, Any], counts: Path | None, dtype: Dtype
) -> dict[str, Any]:
    name = source.path.name
    options = (f" --counts {counts.name}" if counts else "") + (f" --dtype {dtype}" if dtype != "float32" else "")
    return {
        "name": _bare(name),
        "source": f"{name} ({source.form}): {seen.rows} rows, of which {seen.dropped} are not one word to the "
        f"tokeniser and {seen.merged} are other forms of a word",
        "licence": "unknown; see where the file is from",
        "frequencies": origin,
        "command": f"semsearch vectors import {name}{options}",
        _STAMP: dict(stamp),
    }


def _bare(name: str) -> str:
    for suffix in (".gz", ".txt", ".vec", ".bin"):
        name = name.removesuffix(suffix) or name
    return name


def _stamp_of(path: Path) -> dict[str, Any]:
    """The name, size and time of a file, which tell whether a table was made from it as it is now."""
    try:
        status = path.stat()
    except OSError as error:
        raise VectorsError(f"{path} cannot be read: {error.strerror or error}") from error
    return {"file": path.name, "bytes": status.st_size, "modified_ns": status.st_mtime_ns, "rules": _RULES}


def _current(path: Path, dtype: Dtype | None) -> VectorTable | None:
    """The table that was made from the file as it is now; None if there is none with that dtype."""
    stamp = _stamp_of(path)
    for folder in _homes(path):
        if not folder.is_dir():
            continue
        try:
            table = VectorTable(folder)
        except VectorsError as error:  # damaged, or made by another version
            _log.info("%s; converting it again", error)
            continue
        if table.card.get(_STAMP) == stamp and dtype in (None, table.card.get("dtype")):
            return table
    return None


def _homes(path: Path) -> Iterator[Path]:
    """The folders in which a file's table may be: beside it, or in the user's cache."""
    yield path.with_name(path.name + SUFFIX)
    digest = hashlib.blake2b(os.fsencode(path), digest_size=8).hexdigest()
    yield _cache_folder() / f"{_bare(path.name)}-{digest}"


def _cache_folder() -> Path:
    return cache_folder("vectors")


@contextmanager
def _locked(folder: Path) -> Iterator[bool]:
    """Hold the lock for writing a folder. Gives False if nothing can be written there."""
    lock = FileLock(folder.with_name(folder.name + ".lock"))
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        lock.acquire()
    except OSError as error:
        _log.info("%s cannot be written: %s", folder.parent, error)
        yield False
        return
    try:
        yield True
    finally:
        lock.release()


def _sweep(folder: Path) -> None:
    """Remove the partial folders of killed conversions. Only under the lock."""
    for left in folder.parent.glob(f"{glob.escape(folder.name)}.*{PARTIAL}"):
        shutil.rmtree(left, ignore_errors=True)
