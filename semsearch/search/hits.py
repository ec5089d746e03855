"""Ranked passages to hits: their rows, the sentence to quote, its neighbours, and a path to open from here.

What says the same as a better one (semsearch.text.near_duplicates) is told with that one, and takes no place of its
own.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from semsearch.results.hits import Hit, Place
from semsearch.results.origin import Origin
from semsearch.storage.catalogue import DocumentRow, PassageRow, get_documents, get_passages
from semsearch.system.working_folder import working_folder
from semsearch.text.terms import count_shared

if TYPE_CHECKING:
    import sqlite3

Int64 = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Ranked:
    """A passage with its scores. `best` is the sentence to quote, -1 where meaning did not choose one."""

    passage_id: int
    score: float
    dense: float | None
    lexical: float | None
    best: int
    duplicates: tuple[int, ...] = ()  # passages that say the same


def make_hits(
    db: sqlite3.Connection,
    queries: Sequence[str],
    answers: Sequence[Sequence[Ranked]],
    *,
    context: int,
    origins: Sequence[Origin] = (),
) -> list[list[Hit]]:
    """Hits for the answer to each query, in the same order, with `context` sentences of the document before and after.

    Rows are fetched once for all of them. `origins`: one for each answer, or none.
    """
    shown_ids = {id_ for ranked in answers for item in ranked for id_ in (item.passage_id, *item.duplicates)}
    passages = get_passages(db, shown_ids)
    documents = get_documents(db, {passage.document_id for passage in passages.values()})
    here = working_folder().as_posix()
    paths = {id_: path_of(document, here) for id_, document in documents.items()}
    made: list[list[Hit]] = []
    whence: Sequence[Origin | None] = origins or [None] * len(queries)
    for query, ranked, origin in zip(queries, answers, whence, strict=True):
        numbers = _most_words(query, [passages[item.passage_id] for item in ranked if item.best < 0])
        hits: list[Hit] = []
        for rank, item in enumerate(ranked, start=1):
            passage = passages[item.passage_id]
            document = documents[passage.document_id]
            number = item.best if item.best >= 0 else numbers[item.passage_id]
            before, after = _neighbours(db, document, passage, number, context)
            first, last, start, end, line = passage.sentences[number].tolist()
            hits.append(
                Hit(
                    rank=rank,
                    score=item.score,
                    dense=item.dense,
                    lexical=item.lexical,
                    path=paths[document.id],
                    root=document.root,
                    document=document.path,
                    title=document.title,
                    line=line,
                    page=passage.page,
                    headings=passage.headings,
                    sentence=passage.text[first:last],
                    passage=passage.text,
                    start=start,
                    end=end,
                    passage_id=passage.id,
                    sentence_id=passage.first_sentence + number,
                    metadata=document.metadata,
                    before=before,
                    after=after,
                    duplicates=tuple(_place(passages[id_], documents, paths) for id_ in item.duplicates),
                    origin=origin,
                )
            )
        made.append(hits)
    return made


def _place(passage: PassageRow, documents: Mapping[int, DocumentRow], paths: Mapping[int, str]) -> Place:
    document = documents[passage.document_id]
    return Place(
        path=paths[document.id],
        root=document.root,
        document=document.path,
        title=document.title,
        line=passage.line,
        page=passage.page,
        headings=passage.headings,
        passage_id=passage.id,
    )


def path_of(document: DocumentRow, here: str) -> str:
    """The path of a document, relative to the folder `here` if it lies below; the id of a text that a program added."""
    return shown(document.place, here) if document.root else document.place


def shown(place: str, here: str) -> str:
    """An absolute path as one would write it in the folder `here`: relative where it lies below."""
    prefix = here.rstrip("/") + "/"
    if os.name == "nt":
        return place[len(prefix) :] if place.casefold().startswith(prefix.casefold()) else place
    return place.removeprefix(prefix)


def _most_words(query: str, passages: Sequence[PassageRow]) -> dict[int, int]:
    """For each passage the first of its sentences that share the most terms with the question."""
    texts = [text for passage in passages for text in passage.sentence_texts]
    shares = iter(count_shared(query, texts) if texts else [])
    numbers: dict[int, int] = {}
    for passage in passages:
        own = list(islice(shares, len(passage.sentences)))
        numbers[passage.id] = own.index(max(own))
    return numbers


def _neighbours(
    db: sqlite3.Connection, document: DocumentRow, passage: PassageRow, number: int, n: int
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Up to n sentences on either side, also from the document's passages around this one."""
    if n <= 0:
        return (), ()
    texts = passage.sentence_texts
    before, after = texts[:number], texts[number + 1 :]
    first, last = document.first_passage, document.first_passage + document.passages
    id_ = passage.id
    while len(before) < n and (id_ := id_ - 1) >= first:
        before = get_passages(db, [id_])[id_].sentence_texts + before
    id_ = passage.id
    while len(after) < n and (id_ := id_ + 1) < last:
        after = after + get_passages(db, [id_])[id_].sentence_texts
    return tuple(before[-n:]), tuple(after[:n])
