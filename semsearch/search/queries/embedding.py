"""Turn the texts of queries into `Query`s: what they say besides their words, their terms, and their vectors."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from semsearch import tuning
from semsearch.results.options import SearchOptions
from semsearch.search.queries.query import Query, understood
from semsearch.text.languages.rules import ENGLISH
from semsearch.text.terms.question_terms import of_questions
from semsearch.text.tokens import UInt64
from semsearch.topics.joined import join

if TYPE_CHECKING:
    import sqlite3

    from semsearch.results.hits import Mode
    from semsearch.search.queries.query_syntax import QuerySyntax
    from semsearch.search.snapshot import Snapshot
    from semsearch.word_vectors.table import WordVectors

logger = logging.getLogger(__name__)
Float32 = npt.NDArray[np.float32]
Float64 = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Embedded:
    """The vectors of texts (q, d + k), and the share of the words of each that the word vectors have (q,)."""

    vectors: Float32
    known: Float64


def make_queries(
    db: sqlite3.Connection,
    snapshot: Snapshot,
    queries: Sequence[str],
    options: SearchOptions,
    vectors: Callable[[], WordVectors],
) -> list[Query]:
    """Make a `Query` of each text, for the halves that the mode asks, and warn of those that an index cannot know."""
    syntaxes, mode = understood(queries, options.syntax), options.mode
    texts = [query if own is None else own.text for query, own in zip(queries, syntaxes, strict=True)]
    terms = of_questions(texts, snapshot.languages)
    embedded = None if mode == "lexical" else _embed(db, snapshot, texts, terms, mode)
    found = None if embedded is None else embedded.vectors
    known = _are_known(embedded, syntaxes)
    embedder = None if embedded is None else snapshot.embedder(db)
    titles = None if embedder is None else snapshot.titles(embedder)
    shares = [1.0] * len(texts)
    if mode == "hybrid" and snapshot.languages != (ENGLISH,):
        from semsearch.search.queries.known_words import known_shares  # start-up time: most indexes are in English

        shares = known_shares(texts, vectors())
    _tell_other_languages(snapshot, texts, terms)
    return [
        Query(
            text,
            None if found is None or not found[number].any() else found[number],
            None if mode == "dense" else terms[number],
            syntax=syntax,
            is_known=known[number],
            titles=titles,
            share_known=shares[number],
        )
        for number, (text, syntax) in enumerate(zip(texts, syntaxes, strict=True))
    ]


def embed_texts(
    db: sqlite3.Connection, snapshot: Snapshot, texts: Sequence[str], terms: Sequence[UInt64]
) -> Embedded | None:
    """Embed texts, from these and their terms; None if nothing is indexed."""
    embedder = snapshot.embedder(db)
    if embedder is None:
        return None
    ids = embedder.tokenize(texts)
    found = embedder.transform_ragged(ids)
    if snapshot.topics is not None and len(texts):
        found = join(found, snapshot.topics.of_each(terms))
    return Embedded(found, ids.known_shares)


def _embed(
    db: sqlite3.Connection, snapshot: Snapshot, queries: Sequence[str], terms: Sequence[UInt64], mode: Mode
) -> Embedded | None:
    """Embed queries as `embed_texts` does, and warn of those without a vector."""
    embedded = embed_texts(db, snapshot, queries, terms)
    for query, vector in zip(queries, [] if embedded is None else embedded.vectors, strict=embedded is not None):
        if not vector.any():
            instead = "only its words were looked for" if mode == "hybrid" else "nothing can be found"
            told = {"query": query}  # for a server, which answers several at once
            logger.warning("no word of %r is among the word vectors: %s", query, instead, extra=told)
    return embedded


def _are_known(embedded: Embedded | None, syntaxes: Sequence[QuerySyntax | None]) -> list[bool]:
    """Whether so much of each query is known that it can be told how likely a passage answers.

    A passage that has a phrase which it must have answers in any case, as far as anyone can tell.
    """
    if embedded is None:
        return [False] * len(syntaxes)
    enough = (embedded.known >= tuning.TUNING.least_known).tolist()
    return [known and not (syntax and syntax.must) for known, syntax in zip(enough, syntaxes, strict=True)]


def _tell_other_languages(snapshot: Snapshot, texts: Sequence[str], terms: Sequence[UInt64]) -> None:
    """Warn of queries in a language that no document of the index has."""
    for text, own in zip(texts, terms, strict=True):
        if snapshot.are_languages_known and snapshot.lexical.lacks_most(own):
            # start-up time: few questions are
            from semsearch.search.queries.other_languages import tell_other_language

            tell_other_language(text, snapshot.languages)
