"""Files to what an index takes in: read, cut into passages, their words found. Here or, many at a time, in processes.

What comes of a file depends on nothing but the file and the word vectors, so files can be prepared anywhere and in any
order; they are taken in one after the other, in the order in which they were asked for. Workers are fresh interpreters
(spawned), which hand back arrays and strings. A large file is not sent to a worker: it is worked through in stretches
where it is taken in.
"""

from __future__ import annotations

import json
import logging
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from semsearch.errors import MissingExtra, SourceError
from semsearch.indexing.spool import Batch, batch_of
from semsearch.lexical.postings import Gathered, PostingsBuilder
from semsearch.lexical.writer import gather
from semsearch.readers.document import Document
from semsearch.readers.read import read_file
from semsearch.text.passage_records import Cut, each_cut, storable
from semsearch.text.passage_words import find_words
from semsearch.text.ragged import Ragged
from semsearch.text.terms import Lexicon
from semsearch.text.tokens import WordChunk

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Prepared:
    """A file that was read, and its passages; or why it was not: then there is a `reason`."""

    digest: str = ""
    size: int = 0
    mtime_ns: int = 0
    checked_ns: int = 0
    title: str = ""
    format: str = ""
    metadata: str = "{}"  # JSON
    cuts: tuple[Cut, ...] = ()
    reason: str = ""
    is_lasting: bool = False  # it will not be read next time either, unless it changes


@dataclass(frozen=True, slots=True)
class Chunk:
    """Some files, and the words of all their passages, counted from 0 on."""

    files: tuple[Prepared, ...]
    batch: Batch
    postings: Gathered


def read(path: str, max_bytes: int, cuts: Callable[[Document], tuple[Cut, ...]]) -> tuple[Prepared, Document | None]:
    """Read a file; its document besides, where there is one. `cuts` makes its passages."""
    checked, is_lasting = time.time_ns(), False
    try:
        content = read_file(Path(path), max_bytes=max_bytes)
        document = content.document
        metadata = json.dumps(dict(document.metadata), allow_nan=False)
        file = Prepared(
            content.digest, content.size, content.mtime_ns, checked,
            storable(document.title), document.format, metadata, cuts(document),
        )  # fmt: skip
        return file, document
    except SourceError as error:
        reason, is_lasting = str(error), not isinstance(error.__cause__, OSError)
    except MissingExtra as error:  # it may be installed any time
        reason = f"{path} cannot be read: {error}"
    except Exception as error:  # a parser's own bug, on one file of thousands: told, not fatal
        logger.warning("%s could not be parsed", path, exc_info=True)
        reason, is_lasting = f"could not be parsed: {type(error).__name__}: {error}", not isinstance(error, ImportError)
    return Prepared(checked_ns=checked, reason=reason, is_lasting=is_lasting), None


class Preparer:
    """Prepares files with one table of word vectors. Remembers stems between chunks."""

    def __init__(self, ids_of: Callable[[Iterable[WordChunk]], Ragged]) -> None:
        self._ids_of = ids_of
        self._lexicon = Lexicon()

    def prepare(self, paths: Sequence[str], max_bytes: int) -> Chunk:
        """Read files and find their words."""
        files = tuple(read(path, max_bytes, lambda document: tuple(each_cut(document)))[0] for path in paths)
        cuts = [cut for file in files for cut in file.cuts]
        words = find_words(cuts)
        builder = PostingsBuilder(self._lexicon)
        if cuts:
            gather(builder, words)
        return Chunk(files, batch_of(words.sentence_counts, self._ids_of(words.chunks)), builder.gathered())
