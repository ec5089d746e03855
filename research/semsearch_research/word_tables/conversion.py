"""Convert word vectors of other formats to a table, once: it is kept beside the file in `<file>.semsearch/`.

Words are normalised as texts are. A word that the tokeniser would split, or that has no letter or digit, cannot occur
in a text and is dropped. Where several forms become one word (The, the), the form that equals the word gives the
vector, else the first form, which is the most frequent.

The formats do not give p(w). It comes from a counts file, or else from the shipped English table, whose least
probability is given to the words that it lacks; without that, by Zipf's law from the order of the file.
"""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Any

import numpy as np
from filelock import FileLock

from semsearch.arrays.types import Float32
from semsearch.errors import StorageError, VectorsError
from semsearch.text.tokens import hash_words, normalise
from semsearch.word_vectors.table import (
    DEFAULT_VECTORS,
    Dtype,
    VectorTable,
    WordVectors,
    WordVectorsLike,
    is_shipped,
    load_vectors as load_table,
    shipped,
)
from semsearch_research.word_tables.table_writer import TableWriter
from semsearch_research.word_tables.vector_formats import Progress, identify
from semsearch_research.word_tables.word_counts import read_counts

_log = logging.getLogger(__name__)

_RULES = 1  # to be raised when a change of the code makes another table of the same file
_STAMP = "converted from"


def folder_beside(path: Path) -> Path:
    """The folder in which the table of a file is kept."""
    return path.with_name(path.name + ".semsearch")


def load_vectors(name_or_path: str | Path, *, progress: Progress | None = None) -> VectorTable:
    """Open word vectors as `semsearch.load_vectors` does, or a GloVe, word2vec or fastText file, converted once.

    The table of a file is kept beside it, and made again if the file has changed. Raises VectorsError if the file is
    broken, StorageError if the table cannot be written.
    """
    path = Path(name_or_path)
    if is_shipped(str(name_or_path)) or not path.is_file():
        return load_table(name_or_path)
    path, folder = path.resolve(), folder_beside(path.resolve())
    if (table := _current(path, folder)) is not None:
        return table
    lock = FileLock(folder.with_name(folder.name + ".lock"))
    try:
        lock.acquire()
    except OSError as error:
        raise StorageError(
            f"{folder} cannot be written: {error.strerror or error}; choose another place: "
            f"semsearch vectors import {path.name} --to FOLDER"
        ) from error
    try:  # another process may have converted it meanwhile
        return _current(path, folder) or convert(path, folder, replace=True, progress=progress)
    finally:
        lock.release()


def open_vectors(vectors: WordVectorsLike) -> WordVectors:
    """Open word vectors by name or path, as `load_vectors`; a table that is open already is returned."""
    return load_vectors(vectors) if isinstance(vectors, str | Path) else vectors


def _current(path: Path, folder: Path) -> VectorTable | None:
    """The table in a folder, if it was made from the file as it is now."""
    try:
        table = VectorTable(folder)
    except VectorsError as error:  # absent, damaged, or made by another version
        _log.info("%s; the file is converted", error)
        return None
    return table if table.card.get(_STAMP) == _stamp_of(path) else None


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
    word_counts = read_counts(counts) if counts else None  # a bad file fails before anything is written
    ids: dict[str, int] = {}
    verbatim = bytearray()  # by id: whether the form that gave the vector is the word itself
    rows = dropped = merged = 0
    with TableWriter(folder, dtype=dtype, replace=replace) as writer:
        for batch in source.rows(progress):
            rows += len(batch.words)
            chosen, better = [], []
            for row, form in enumerate(batch.words):
                word = _one_word(form)
                if word is None:
                    dropped += 1
                elif (number := ids.get(word)) is None:
                    ids[word] = len(ids)
                    verbatim.append(form == word)
                    chosen.append((row, word))
                else:
                    merged += 1
                    if form == word and not verbatim[number]:
                        verbatim[number] = True
                        better.append((number, row))
            if chosen:
                writer.add([word for _, word in chosen], batch.vectors[[row for row, _ in chosen]])
            for number, row in better:
                writer.overwrite(number, batch.vectors[row])
        if not ids:
            raise VectorsError(f"{path} has {rows} words, none of which is one word to the tokeniser")
        p, origin = _probabilities(writer.words, counts, word_counts)
        options = (f" --counts {counts.name}" if counts else "") + (f" --dtype {dtype}" if dtype != "float32" else "")
        card = {
            "name": _bare(path.name),
            "source": f"{path.name} ({source.form}): {rows} rows, of which {dropped} are not one word to the "
            f"tokeniser and {merged} are other forms of a word",
            "licence": "unknown; see where the file is from",
            "frequencies": origin,
            "command": f"semsearch vectors import {path.name}{options}",
            _STAMP: stamp,
        }
        return writer.finish(p, card=card)


def _one_word(form: str) -> str | None:
    word = normalise(form)
    if not word or " " in word:
        return None
    return word if word.isascii() or normalise(word) == word else None


def _probabilities(words: list[str], path: Path | None, counts: dict[str, int] | None) -> tuple[Float32, str]:
    """p(w) of each word (V,), and its source in words for the card."""
    if path is not None and counts is not None:
        total, least = sum(counts.values()), min(counts.values())
        known = sum(word in counts for word in words)
        p = np.array([counts.get(word, least) for word in words], dtype=np.float64) / total
        return p.astype(np.float32), f"{path.name}, which has {known} of the words; for others its least"
    if (english := shipped(DEFAULT_VECTORS)) is not None:
        ids = english.lookup(hash_words(words).hashes)
        p = np.where(ids >= 0, english.frequencies[ids], english.frequencies.min())
        origin = f"the shipped {english.name}, which has {int((ids >= 0).sum())} of the words; for others its least"
        return p.astype(np.float32), origin
    ranks = 1 / np.arange(1, len(words) + 1)
    return (ranks / ranks.sum()).astype(np.float32), "Zipf's law, from the order of the file"


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
