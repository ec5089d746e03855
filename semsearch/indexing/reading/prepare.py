"""Prepare files for the intake: read them, divide them into passages, find the words. Here or in worker processes.

The result depends only on the file and the word vectors, so files can be prepared anywhere and in any order; they are
taken in one after the other, in the order in which they were asked for. See semsearch.indexing.reading.workers.
"""

from __future__ import annotations

import json
import logging
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from semsearch.errors import MissingExtra, SourceError, StorageError
from semsearch.indexing.reading.file_to_read import FileToRead, Opened
from semsearch.indexing.reading.intake import reading_of
from semsearch.indexing.reading.spool import SpooledBatch, batch_of
from semsearch.lexical.postings import GatheredPostings, PostingsBuilder
from semsearch.lexical.writer import gather
from semsearch.readers.document import Document
from semsearch.readers.read import read_file
from semsearch.system.lacking import is_lacking
from semsearch.text.languages.rules import ENGLISH
from semsearch.text.passage_records import PassageRecord, each_record, language_of_records, storable
from semsearch.text.passage_words import find_words
from semsearch.text.ragged import Ragged
from semsearch.text.terms.lexicon import Lexicon
from semsearch.text.tokens import WordChunk

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Prepared:
    """A file that was read, with its passages; or a file that was not, with the `reason`."""

    digest: str = ""
    size: int = 0
    mtime_ns: int = 0
    checked_ns: int = 0
    title: str = ""
    format: str = ""
    metadata: str = "{}"  # JSON
    records: tuple[PassageRecord, ...] = ()
    reading: tuple[int, str] = (0, "[]")  # characters of its text, and what is not in that, as JSON
    reason: str = ""
    columns: tuple[str, ...] = ()  # names of the columns that it has
    is_lasting: bool = False  # it cannot be read next time either, unless it changes
    language: str = ""  # of its text, if that was found


@dataclass(frozen=True, slots=True)
class Chunk:
    """Files that were prepared together, with the words of all their passages, which are numbered from 0 on."""

    files: tuple[Prepared, ...]
    batch: SpooledBatch
    postings: GatheredPostings


def each_opened(files: Sequence[FileToRead], max_bytes: int) -> Iterator[Opened]:
    """Yield the function that reads each file; objects of stores are fetched a few ahead."""
    if not any(file.listed for file in files):
        return (partial(read_file, Path(file.path), max_bytes=max_bytes, columns=file.columns) for file in files)
    from semsearch.indexing.reading.present_objects import opened_objects  # start-up time: few lie in stores

    return opened_objects(files, max_bytes)


def read(
    file: FileToRead, opened: Opened, records: Callable[[Document], tuple[PassageRecord, ...]]
) -> tuple[Prepared, Document | None]:
    """Read a file, and return its document too if it could be read. `records` makes the records of its passages.

    Raises StorageError if its store cannot be reached.
    """
    path, checked, is_lasting = file.path, time.time_ns(), False
    try:
        content = opened()
        document = content.document
        metadata = json.dumps(dict(document.metadata), allow_nan=False)
        prepared = Prepared(
            content.digest, content.size, content.mtime_ns, checked,
            storable(document.title), document.format, metadata, records(document), reading_of(document),
            columns=document.columns,
        )  # fmt: skip
        return prepared, document
    except SourceError as error:
        reason, is_lasting = str(error), not isinstance(error.__cause__, OSError)
    except StorageError:  # of a store of objects: none of them could be read
        raise
    except MissingExtra as error:  # it may be installed any time
        reason = f"{path} cannot be read: {error}"
    except Exception as error:  # a parser's own bug, on one file of thousands: reported, not fatal
        if isinstance(error, OSError) and is_lacking(error):
            raise
        logger.warning("%s could not be parsed", path, exc_info=True)
        reason = f"could not be parsed: {type(error).__name__}: {error}"
        is_lasting = not isinstance(error, ImportError | MemoryError)
    return Prepared(checked_ns=checked, reason=reason, is_lasting=is_lasting), None


class Preparer:
    """Prepares files with one table of word vectors, and remembers stems between chunks."""

    def __init__(self, ids_of: Callable[[Iterable[WordChunk]], Ragged], *, languages: bool = False) -> None:
        self._ids_of = ids_of
        self._languages = languages
        self._lexicon = Lexicon()

    def prepare(self, chosen: Sequence[FileToRead], max_bytes: int) -> Chunk:
        """Prepare a chunk of files. Raises StorageError if the store of some cannot be reached."""
        files = tuple(
            read(file, opened, lambda document: tuple(each_record(document)))[0]
            for file, opened in zip(chosen, each_opened(chosen, max_bytes), strict=True)
        )
        if self._languages:
            files = tuple(replace(file, language=language_of_records(file.records)) for file in files)
        records = [record for file in files for record in file.records]
        words = find_words(records, [file.language or ENGLISH for file in files for _ in file.records])
        builder = PostingsBuilder(self._lexicon)
        if records:
            gather(builder, words)
        return Chunk(files, batch_of(words.sentence_counts, self._ids_of(words.chunks)), builder.gathered())
