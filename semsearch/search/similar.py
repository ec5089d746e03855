"""Search by example: a passage, a document or given texts in place of a query.

An example is the passage of a hit, the one at a line or place, or a whole document (semsearch.storage.find_document).
Its vector is the direction of the sum of its passages' vectors, its words are their most telling ones; of a document
with very many passages, evenly spread ones are taken. A document is not similar to itself. For a passage, too, other
documents answer; other sections of its own do if they are asked for, or if there is no other document. Its neighbours
in the same section never do, which resemble it because they continue it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from semsearch import tuning
from semsearch.arrays.types import Int64
from semsearch.errors import SourceError, UsageError
from semsearch.results.hits import Hit
from semsearch.results.options import SearchOptions
from semsearch.search.allowed_passages import allowed_passages
from semsearch.search.candidates import Query
from semsearch.search.index_reader import IndexView
from semsearch.search.prepare_query import embed
from semsearch.storage.document_rows import DocumentRow, count_contents, need_documents
from semsearch.storage.find_document import find_passage
from semsearch.storage.passage_rows import PassageRow, get_passages, need_passages
from semsearch.text.terms import named_terms, of_question
from semsearch.text.text_lengths import heading_text

if TYPE_CHECKING:
    import sqlite3

MOST_PASSAGES = 500  # that stand for a document


@dataclass(frozen=True, slots=True)
class Example:
    """Passages that similar ones are searched for: of this index, or without ids."""

    name: str
    headings: Sequence[str]  # title and headings above each of the n passages
    texts: Sequence[str]
    ids: Int64 | None = None  # (n,), rising
    hidden: Int64 = field(default_factory=lambda: np.zeros(0, dtype=np.int64))  # ids of passages that must not answer


def find_example(
    db: sqlite3.Connection, like: Hit | str, line: int | None = None, *, same_document: bool = False
) -> Example:
    """Find the passages that a hit names, or a path and perhaps a line (from 1) or a place (`a.pptx slide 3`).

    Raises SourceError for a path that is not in the index, or is ambiguous; UsageError for a line that the document
    does not have.
    """
    if isinstance(like, Hit):
        if line is not None:
            raise UsageError("a hit has a line already; give a line only with a path")
        passage = passage_of(db, like)
        document = need_documents(db, [passage.document_id])[passage.document_id]
        return _like_passage(db, document, passage, same_document=same_document)
    if line is not None and (not isinstance(line, int) or isinstance(line, bool) or line < 1):
        raise UsageError(f"a line is a whole number from 1 on, not {line!r}")
    document, cited = find_passage(db, like, line)
    if not document.passages:
        raise SourceError(f"{like} has no text to compare with")
    if cited is None:
        ids = _ids_of(document)
        chosen = ids[:: -(-len(ids) // MOST_PASSAGES)]
        return _example(document, [*need_passages(db, chosen.tolist()).values()], ids)
    return _like_passage(db, document, cited, same_document=same_document)


def passage_of(db: sqlite3.Connection, hit: Hit) -> PassageRow:
    """The passage of a hit. Raises UsageError if it has gone or changed, or if the hit is of another index."""
    passage = get_passages(db, [hit.passage_id]).get(hit.passage_id)
    if passage is None or passage.text != hit.passage:
        raise UsageError(f"the passage of that hit in {hit.path} is no longer in the index; search again")
    return passage


def _like_passage(
    db: sqlite3.Connection, document: DocumentRow, passage: PassageRow, *, same_document: bool
) -> Example:
    hidden = _ids_of(document)
    if same_document or count_contents(db).passages == document.passages:
        near = get_passages(db, [passage.id - 1, passage.id, passage.id + 1]).values()
        section = document.id, passage.headings
        hidden = np.array(sorted(row.id for row in near if (row.document_id, row.headings) == section), dtype=np.int64)
    return _example(document, [passage], hidden)


def _ids_of(document: DocumentRow) -> Int64:
    return np.arange(document.first_passage, document.first_passage + document.passages)


def _example(document: DocumentRow, passages: Sequence[PassageRow], hidden: Int64) -> Example:
    headings = [heading_text(document.title, passage.headings) for passage in passages]
    ids = np.array([passage.id for passage in passages])
    return Example(document.path, headings, [passage.text for passage in passages], ids, hidden)


def query_of_example(example: Example, options: SearchOptions, index: IndexView) -> Query:
    """An example as a query: the direction of the sum of its unit vectors, and the words that say most about it."""
    reader, vector, words, text = index.reader, None, None, "\n".join(example.texts)
    allowed, notices = allowed_passages(options, index)
    embedder = None if options.mode == "lexical" else index.embedder
    if embedder is not None:
        if example.ids is not None:
            rows = reader.passage_vectors.fetch(example.ids).rows
        else:
            terms = [of_question(text, reader.languages) for text in example.texts]
            tokens = map(embedder.tokenize, ([text] for text in example.texts))
            rows = np.stack([embed(ids, of_text, embedder, index) for ids, of_text in zip(tokens, terms, strict=True)])
        vector = reader.halves.direction(rows)
        if not vector.any():
            vector = None
            notices.append(f"the word vectors have no word of {example.name}: only the lexical retriever answers")
    if options.mode != "dense":
        telling = reader.lexical.telling_terms(example.headings, example.texts, tuning.TUNING.telling_terms)
        words = reader.lexical.scores(telling)
    return Query(
        text=text,
        options=options,
        vector=vector,
        words=words,
        terms=named_terms(text, reader.languages) if vector is None else None,  # to choose what is shown
        embedder=index.embedder,
        allowed=allowed,
        hidden=example.hidden,
        notices=tuple(notices),
    )
