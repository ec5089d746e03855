"""Verify that the parts of an index agree: every row has its vector and every vector its row, and both match."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from semsearch.arrays.types import Float32
from semsearch.dense.engines import keeps_sentences, open_stores
from semsearch.dense.vector_store import NO_IDS, SegmentsReader
from semsearch.errors import IndexDamaged, SemsearchError
from semsearch.lexical.postings import LexicalSegment
from semsearch.settings import Settings
from semsearch.storage.audit import (
    find_damaged_pages,
    find_damaged_rows,
    find_stray_ids,
    find_wrong_relations,
    find_wrong_values,
)
from semsearch.storage.checksums import check_digests
from semsearch.storage.database import SEGMENTS, IndexDatabase
from semsearch.storage.document_rows import evenly_spaced_passages
from semsearch.storage.fitted import load_embedder
from semsearch.storage.passage_rows import get_passages, stored_texts, with_documents
from semsearch.storage.schema import StoreAddress, get_address, get_meta
from semsearch.storage.segments import KINDS, Segment, get_segments
from semsearch.system.durable import file_digest
from semsearch.text.languages import ENGLISH
from semsearch.text.terms import Lexicon, with_parts
from semsearch.topics.topic_model import join, named_topics, open_topics
from semsearch.trust import require
from semsearch.word_vectors.multilingual import as_multilingual
from semsearch.word_vectors.table import WordVectors

if TYPE_CHECKING:
    import sqlite3


_MOST = 20  # damaged rows that are named
_SAMPLE = 64  # passages that are embedded again and compared


def verify_index(db: sqlite3.Connection, database: IndexDatabase, vectors: Callable[[], WordVectors]) -> list[str]:
    """Verify an index as a transaction sees it; its problems, a line each. Reads all files."""
    folder, address = database.folder, get_address(db)
    problems = [f"the database is damaged: {line}" for line in find_damaged_pages(db)]
    if damaged := _damaged(db) or list(find_wrong_values(db)):
        return problems + damaged  # what follows takes the rows as they are
    problems += find_wrong_relations(db)
    require(database, db, ["store"])
    opened = list(_opened(db, folder, address, problems))
    settings = Settings.from_json(get_meta(db, "settings"))
    for kind in KINDS if settings.sentence_vectors and keeps_sentences(address) else ("passage", "words"):
        problems += find_stray_ids(db, kind, [segment.id_ranges for segment, _ in opened if segment.kind == kind])
    passages = [
        source for segment, source in opened if segment.kind == "passage" and not isinstance(source, LexicalSegment)
    ]
    lexical = [source for _, source in opened if isinstance(source, LexicalSegment)]
    for sample in (_vector_sample(db, folder / SEGMENTS, passages, vectors), _words_sample(db, lexical)):
        try:
            problems += sample
        except IndexDamaged as error:  # the digest has reported the file already; this says where
            problems.append(str(error))
    return problems


def _damaged(db: sqlite3.Connection) -> list[str]:
    """The damage of the small tables, by their digests, and of rows, by their checksums."""
    damages = list(islice(find_damaged_rows(db), _MOST))
    try:
        check_digests(db)
    except IndexDamaged as error:
        damages.append(str(error))
    return damages


def _opened(
    db: sqlite3.Connection, folder: Path, address: StoreAddress | None, problems: list[str]
) -> Iterator[tuple[Segment, LexicalSegment | SegmentsReader]]:
    """Open the segments that can be read, each by itself; all that is wrong with any is added to `problems`."""
    stores = open_stores(address, folder)
    for segment in get_segments(db):
        path = folder / SEGMENTS / segment.file
        try:
            if segment.kind in stores:
                problems += stores[segment.kind].check(segment)
                yield segment, stores[segment.kind].open([segment], NO_IDS)
                continue
            if file_digest(path) != segment.digest:
                problems.append(f"{path.name} does not match its digest")
            if segment.kind == "topics":
                open_topics(path, segment.sums)
            else:
                lexical = LexicalSegment(path, segment)
                lexical.postings.check()
                yield segment, lexical
        except FileNotFoundError:
            problems.append(f"{segment.file} is missing")
        except IndexDamaged as error:
            problems.append(str(error))


def _vector_sample(
    db: sqlite3.Connection, folder: Path, opened: list[SegmentsReader], vectors: Callable[[], WordVectors]
) -> Iterator[str]:
    """Check that some passages, embedded again from their stored text, have the vectors that are stored."""
    wanted = evenly_spaced_passages(db, _SAMPLE)
    if not wanted:
        return
    try:
        embedder = load_embedder(db, vectors())
    except SemsearchError as error:
        yield str(error)
        return
    if embedder is None:
        yield "the index has passages but no fitted embedder"
        return
    several = as_multilingual(embedder.chosen_.vectors)
    for table in () if several is None else several.tables.values():
        if not table.verify():
            yield f"the word vectors {table.path} are damaged; install semsearch again"
    try:
        topics = named_topics(folder, get_segments(db))
    except (IndexDamaged, FileNotFoundError):
        return  # reported already
    rows = get_passages(db, wanted).values()
    for (row, document), stored in zip(with_documents(db, rows), stored_texts(db, rows), strict=True):
        texts = [stored.heading, *stored.sentences]
        words = embedder.tokenize(texts, [stored.language] * len(texts))
        fresh = embedder.transform_ragged(words.joined(np.array([0, len(words)])))
        if topics is not None:
            text = with_parts(row.text, document.format)
            fresh = join(fresh, topics.of_passage(stored.heading, text, document.language or ENGLISH)[None])
        kept = [(reader.fetch(np.array([row.id])).rows, reader.rounding) for reader in opened]
        if any(len(vectors) and not _is_same(vectors, fresh, most) for vectors, most in kept):
            yield f"the vector of passage {row.id} does not match its text"


def _is_same(stored: Float32, fresh: Float32, rounding: float) -> bool:
    return stored.shape == fresh.shape and np.allclose(stored, fresh, atol=rounding)


def _words_sample(db: sqlite3.Connection, opened: list[LexicalSegment]) -> Iterator[str]:
    """Check that some passages are found under all terms of their stored text."""
    lexicon = Lexicon(keeps_spellings=False)
    rows = get_passages(db, evenly_spaced_passages(db, _SAMPLE) if opened else [])
    for row, document in with_documents(db, rows.values()):
        numbers = np.unique(lexicon.in_language([row.text], document.language or ENGLISH).numbers)
        ids = np.array([row.id])
        for source in (source for source in opened if source.id_ranges.has(ids)[0]):
            number = source.id_ranges.below(ids)[0]
            if not all(number in having for having, _ in source.postings.of_each(lexicon.terms[numbers].tolist())):
                yield f"the lexical entries of passage {row.id} do not match its text"
