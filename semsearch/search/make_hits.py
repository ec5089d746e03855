"""Turn ranked passages into hits: their rows, the sentence to quote, its neighbours, a path to open, staleness.

A near-duplicate of a better passage is listed with that one, and is no hit of its own. A document is stale if its file
is no longer what was indexed.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np

from semsearch.frozen import dataclass
from semsearch.results.hits import DuplicatePassage, Hit
from semsearch.results.options import Origin, Support, Weights
from semsearch.search.index_reader import IndexReader
from semsearch.search.quote import Quote
from semsearch.storage.catalogue import DocumentRow, PassageRow, need_passages
from semsearch.storage.checked_rows import get_record_metadata
from semsearch.system.locations import uri_scheme, working_folder
from semsearch.text.languages import language_of_passage
from semsearch.text.terms import named_terms

if TYPE_CHECKING:
    import sqlite3

    from semsearch.search.query import Query
    from semsearch.word_vectors.table import WordVectors


_language_of_passage = lru_cache(maxsize=4096)(language_of_passage)  # the same passages are found again
_AT_ONCE = 64  # answers whose passages are read together
_PATIENCE = 5.0  # seconds that a query reads a file which may have changed


def stale_documents(documents: Iterable[DocumentRow]) -> dict[int, bool]:
    """Find the documents whose files have changed since they were indexed, by their ids: true if the file is gone.

    Size and time are compared first, as a sync does; only a file of the same size with another time, such as one that
    was copied or checked out again, is read and compared by its digest. A text that a program added has no file, and of
    a file that we may not look at nothing is known, nor of an object in a store, which is not asked: none is stale.
    """
    read = [document for document in documents if document.root]
    local = {root for root in {document.root for document in read} if not uri_scheme(root)}
    found = {document.id: _is_gone(document) for document in read if document.root in local}
    return {id_: is_gone for id_, is_gone in found.items() if is_gone is not None}


def _is_gone(document: DocumentRow) -> bool | None:
    """Whether a document's file is gone (true) or has changed (false); None if neither."""
    try:
        found = os.stat(document.absolute)  # noqa: PTH116  # a quarter of Path's time, and every query pays it
    except (FileNotFoundError, NotADirectoryError, UnicodeEncodeError):  # in its locale no file can have such a name
        return True
    except OSError:
        return None
    if found.st_size != document.size or not stat.S_ISREG(found.st_mode):
        return False
    return False if found.st_mtime_ns != document.mtime_ns and _is_other(document, found) else None


def _is_other(document: DocumentRow, found: os.stat_result) -> bool:
    from semsearch.system.source_files import NotTheFile  # start-up time: few files have another time

    state = found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns
    try:
        return _digest_of(document.absolute, document.root, state) != document.digest
    except (FileNotFoundError, NotTheFile):
        return True
    except OSError:  # not readable, or not in time
        return False


@lru_cache(maxsize=4096)  # a folder that was copied has another time in every file, for each query
def _digest_of(path: str, root: str, _state: tuple[int, ...]) -> str:
    from semsearch.system.source_files import source_digest

    return source_digest(path, root=root, seconds=_PATIENCE)


# -- Hits --------------------------------------------------------------------------------------------------------------

Neighbours = tuple[tuple[str, ...], tuple[str, ...]]  # sentences before, sentences after


@dataclass(frozen=True, slots=True)
class Ranked:
    """A passage with its scores. `best` is the number of its sentence nearest in meaning, -1 if unknown."""

    passage_id: int
    score: float
    dense: float | None
    lexical: float | None
    best: int
    duplicates: tuple[int, ...] = ()  # near-duplicates
    boosted: tuple[float, ...] = ()  # its share of each boost
    relevance: float | None = None
    support: Support | None = None
    across: Weights | None = None  # its own, where it is in another language than the query


def make_hits(
    db: sqlite3.Connection,
    reader: IndexReader,
    queries: Sequence[Query],
    answers: Sequence[Sequence[Ranked]],
    *,
    context: int,
    origins: Sequence[Origin | None],
    may_read_files: bool = False,
) -> list[list[Hit]]:
    """Make the hits of each query's answer, with `context` sentences of the document before and after the quoted one.

    Rows are fetched once for all answers, but those that the reader has kept. `origins`: one for each answer, or none.
    Unless `may_read_files`, it is not looked whether files have changed: they lie elsewhere, or are not allowed.
    """
    has_several = any(query.language is not None for query in queries)
    rows = _rows(db, answers, reader, may_read_files=may_read_files, has_several=has_several)
    made: list[list[Hit]] = []
    for number, (query, ranked, origin) in enumerate(zip(queries, answers, origins, strict=True)):
        if len(queries) > 1 and number % _AT_ONCE == 0:
            together = slice(number, number + _AT_ONCE)
            _read_passages(db, reader, queries[together], answers[together], rows)
        hits = []
        for rank, (item, quote) in enumerate(
            zip(ranked, _quotes(db, reader, query, ranked, rows), strict=True), start=1
        ):
            around = rows.neighbours(db, item, quote, context)
            hits.append(rows.hit(item, quote, rank, origin, around, query.language))
        made.append(hits)
    return made


@dataclass(frozen=True, slots=True)
class _Rows:
    """The rows that hits are made of, by id, fetched once for all answers."""

    passages: Mapping[int, PassageRow]
    documents: Mapping[int, DocumentRow]
    of_records: Mapping[int, Mapping[str, Any]]  # metadata of a passage's own record
    paths: Mapping[int, str]  # to open documents from here
    stale: Mapping[int, bool]  # documents: whether the file is gone
    languages: Mapping[int, str]  # of passages, if questions are read in several

    def hit(
        self, item: Ranked, quote: Quote, rank: int, origin: Origin | None, around: Neighbours, asked: str | None
    ) -> Hit:
        """The hit of a passage that quotes one of its sentences. `asked`: the language of the question, if known."""
        passage = self.passages[item.passage_id]
        document = self.documents[passage.document_id]
        first, last, start, end, line = passage.sentences[quote.first].tolist()
        if quote.last > quote.first:
            last, end = passage.sentences[quote.last, [1, 3]].tolist()
        own = self.of_records.get(passage.id)
        if origin is not None and item.support is not None:
            origin = replace(origin, support=item.support)
        if origin is not None and item.across is not None:
            ratio = item.across.dense / (origin.weights.dense or 1.0)
            relative = origin.relative and replace(
                origin.relative,
                dense=origin.relative.dense * ratio,
                lexical=origin.relative.dense * item.across.lexical / (origin.weights.dense or 1.0),
            )
            origin = replace(origin, weights=item.across, relative=relative)
        return Hit(
            rank=rank,
            score=item.score,
            dense=item.dense,
            lexical=item.lexical,
            relevance=item.relevance,
            path=self.paths[document.id],
            root=document.root,
            document=document.path,
            title=document.title,
            format=document.format,
            line=line,
            page=passage.page,
            place=passage.place(quote.first),
            headings=passage.headings,
            sentence=passage.text[first:last],
            passage=passage.text,
            start=start,
            end=end,
            passage_id=passage.id,
            sentence_id=passage.first_sentence + quote.first,
            metadata={**document.metadata, **own} if own else document.metadata,
            before=around[0],
            after=around[1],
            duplicates=tuple(self.duplicate(id_) for id_ in item.duplicates),
            stale=document.id in self.stale,
            deleted=self.stale.get(document.id) or None,
            language=None if asked is None or self.languages[passage.id] == asked else self.languages[passage.id],
            origin=origin,
        )

    def compared(
        self, ids: Sequence[int], query: Query, vectors: WordVectors | None
    ) -> tuple[list[PassageRow], list[str], list[str]]:
        """Passages, the formats of their documents and, if they are compared by vectors of several, their languages."""
        passages = [self.passages[id_] for id_ in ids]
        formats = [self.documents[passage.document_id].format for passage in passages]
        has_several = query.language is not None and vectors is not None
        return passages, formats, [self.languages[id_] for id_ in ids] if has_several else []

    def neighbours(self, db: sqlite3.Connection, item: Ranked, quote: Quote, context: int) -> Neighbours:
        """The sentences just before and after what is quoted of a passage, as many as asked for."""
        passage = self.passages[item.passage_id]
        return _neighbours(db, self.documents[passage.document_id], passage, quote, context)

    def duplicate(self, id_: int) -> DuplicatePassage:
        """The source of a near-duplicate of a hit's passage."""
        passage = self.passages[id_]
        document = self.documents[passage.document_id]
        return DuplicatePassage(
            path=self.paths[document.id],
            root=document.root,
            document=document.path,
            title=document.title,
            format=document.format,
            line=passage.line,
            page=passage.page,
            place=passage.place(0),
            headings=passage.headings,
            passage_id=passage.id,
        )


def _rows(
    db: sqlite3.Connection,
    answers: Sequence[Sequence[Ranked]],
    reader: IndexReader,
    *,
    may_read_files: bool,
    has_several: bool,
) -> _Rows:
    """Fetch the rows of all passages that answers show; with the languages of these, if there are several."""
    shown_ids = {id_ for ranked in answers for item in ranked for id_ in (item.passage_id, *item.duplicates)}
    passages, documents = reader.read_rows.with_documents(db, shown_ids)
    languages: dict[int, str] = {}
    if has_several:
        languages = dict(zip(passages, languages_of_passages(db, reader, [*passages.values()]), strict=True))
    here = working_folder().as_posix()
    quoted = {passages[item.passage_id].document_id for item in chain(*answers)}
    return _Rows(
        passages,
        documents,
        get_record_metadata(db, shown_ids, needed=[id_ for id_, row in passages.items() if row.is_of_record]),
        {id_: path_of(document, here) for id_, document in documents.items()},
        stale_documents(documents[id_] for id_ in quoted) if may_read_files else {},
        languages,
    )


def languages_of_passages(db: sqlite3.Connection, reader: IndexReader, passages: Sequence[PassageRow]) -> list[str]:
    """The language of each passage, which may be another than its document's."""
    of_documents = reader.languages_of(db, np.array([row.document_id for row in passages], dtype=np.int64))
    return [_language_of_passage(row.text, code) for row, code in zip(passages, of_documents, strict=True)]


def path_of(document: DocumentRow, here: str) -> str:
    """The path of a document, relative to the folder `here` if it lies there; the id of a text that a program added."""
    return shown(document.absolute, here) if document.root else document.absolute


def shown(path: str, here: str) -> str:
    """Shorten an absolute path as one would write it in the folder `here`: relative if it lies there.

    At the root of the file system, where programs with windows start others, a path stays whole.
    """
    prefix = here.rstrip("/") + "/"
    if prefix.count("/") == 1:
        return path
    if os.name == "nt":
        return path[len(prefix) :] if path.casefold().startswith(prefix.casefold()) else path
    return path.removeprefix(prefix)


def _quotes(
    db: sqlite3.Connection, reader: IndexReader, query: Query, ranked: Sequence[Ranked], rows: _Rows
) -> list[Quote]:
    """The sentence to quote of each passage. What stands for a query has no words to align: its best one by meaning."""
    best = [item.best for item in ranked]
    if query.named is None and min(best, default=0) >= 0:
        return [Quote(number, number) for number in best]
    named = query.named or named_terms(query.text, reader.languages)
    lookup = None if query.words is None else query.words.lookup
    vectors = _vectors_for(db, reader, query)
    asked = reader.aligner.asked(named, lookup, vectors, query.language)
    passages, formats, languages = rows.compared([item.passage_id for item in ranked], query, vectors)
    return reader.aligner.choose(asked, vectors, passages, best, formats, languages)


def _vectors_for(db: sqlite3.Connection, reader: IndexReader, query: Query) -> WordVectors | None:
    """The word vectors by which a query is aligned with sentences; None if it is by the words alone."""
    embedder = None if query.vector is None else reader.embedder(db)
    if embedder is None:
        return None
    return (embedder if query.language is None else reader.embedder_of(embedder, [query.language])).chosen_.vectors


def _read_passages(
    db: sqlite3.Connection,
    reader: IndexReader,
    queries: Sequence[Query],
    answers: Sequence[Sequence[Ranked]],
    rows: _Rows,
) -> None:
    """Read the words of the passages of several answers, which together takes a quarter of the time."""
    shown: dict[tuple[str | None, bool], dict[int, Query]] = {}  # by passage, a query that it is compared with
    for query, ranked in zip(queries, answers, strict=True):
        if query.named is not None or min((item.best for item in ranked), default=0) < 0:
            kind = query.language, query.vector is None
            shown.setdefault(kind, {}).update((item.passage_id, query) for item in ranked)
    for having in shown.values():
        several = [id_ for id_ in having if len(rows.passages[id_].sentences) > 1]
        if several:
            query = having[several[0]]
            vectors = _vectors_for(db, reader, query)
            reader.aligner.read(vectors, *rows.compared(several, query, vectors))


def _neighbours(db: sqlite3.Connection, document: DocumentRow, passage: PassageRow, quote: Quote, n: int) -> Neighbours:
    """Up to n sentences before and after what is quoted of a passage, if need be from the document's other passages."""
    if n <= 0:
        return (), ()
    texts = passage.sentence_texts
    before, after = texts[: quote.first], texts[quote.last + 1 :]
    first, last = document.first_passage, document.first_passage + document.passages
    id_ = passage.id
    while len(before) < n and (id_ := id_ - 1) >= first:
        before = need_passages(db, [id_])[id_].sentence_texts + before
    id_ = passage.id
    while len(after) < n and (id_ := id_ + 1) < last:
        after = after + need_passages(db, [id_])[id_].sentence_texts
    return tuple(before[-n:]), tuple(after[:n])
