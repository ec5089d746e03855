"""Passages, or texts that are not of the index, in place of a query: their direction, and the words that tell most."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from semsearch import tuning
from semsearch.search.queries.embedding import embed_texts
from semsearch.search.queries.query import Query
from semsearch.text.terms.question_terms import of_questions
from semsearch.text.tokens import UInt64

if TYPE_CHECKING:
    import sqlite3

    from semsearch.results.hits import Mode
    from semsearch.search.queries.similar import ExamplePassages, ExampleTexts
    from semsearch.search.snapshot import Snapshot

logger = logging.getLogger(__name__)


def query_of_passages(subject: ExamplePassages, snapshot: Snapshot, mode: Mode) -> Query:
    """Passages as a query: the direction of the sum of their unit vectors, and the words that say most about them."""
    vector = None
    if mode != "lexical":
        vector = snapshot.halves.direction(snapshot.vectors("passage", subject.ids))
        if not vector.any():
            vector = None
            logger.warning("no word of %s is among the word vectors: its meaning was not looked for", subject.name)
    terms = None
    if mode != "dense":
        terms = _telling_terms(snapshot, subject)
    return Query("\n".join(subject.texts), vector, terms, subject.hidden, near=0.0)


def query_of_texts(db: sqlite3.Connection, example: ExampleTexts, snapshot: Snapshot, mode: Mode) -> Query:
    """Texts that are not of the index as a query, as `query_of_passages` takes passages that are."""
    vector = terms = None
    if mode != "lexical":
        embedded = embed_texts(db, snapshot, example.texts, of_questions(example.texts, snapshot.languages))
        vector = None if embedded is None else snapshot.halves.direction(embedded.vectors)
    if mode != "dense":
        terms = _telling_terms(snapshot, example)
    vector = vector if vector is not None and vector.any() else None
    return Query("\n".join(example.texts), vector, terms, near=0.0)


def _telling_terms(snapshot: Snapshot, subject: ExamplePassages | ExampleTexts) -> UInt64:
    return snapshot.lexical.telling_terms(subject.headings, subject.texts, tuning.TUNING.telling_terms)
