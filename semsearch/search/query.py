"""From the text of a query to a `Query`: its words, its vector, the passages that may answer, parts to find literally.

In an index that is not in English alone, the share of a question's words that the word vectors know decides the weight
of the dense score, and its vector is made by the word vectors of its own language.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from semsearch import tuning
from semsearch.arrays.types import Float32, UInt64
from semsearch.embedding.embedder import SentenceEmbedder
from semsearch.errors import UsageError, quoted
from semsearch.lexical.bm25 import WordScores
from semsearch.results.options import SearchOptions
from semsearch.results.origin import Correction
from semsearch.search.across_languages import english_of, foreign_terms, known_share, language_of_question
from semsearch.search.allowed_passages import allowed_passages
from semsearch.search.candidates import Query, QueryPart
from semsearch.search.corrections import correct
from semsearch.search.exact_words import parts_of
from semsearch.search.fusion import dense_weight
from semsearch.search.index_reader import IndexView
from semsearch.search.query_syntax import QuerySyntax, parse_query
from semsearch.text.languages import ENGLISH
from semsearch.text.ragged import Ragged
from semsearch.text.terms import QuestionTerms, named_terms, without_stop_words
from semsearch.text.tokens import words as words_of
from semsearch.topics.topic_model import join
from semsearch.word_vectors.table import WordVectors

_MAY_BE_EXACT = re.compile(r"[\d`_\\/()+#@$=~]|\w[A-Z]|-[A-Z]|\S[.:]\S|(?:^|\s)[.-]\w|--")  # than taking it apart
_FEW_TERMS = 3  # of a query that may be only one word


@dataclass(frozen=True, slots=True)
class LookedUp:
    """A text, its terms by the rules of the index's languages, and their postings."""

    text: str
    terms: QuestionTerms
    words: WordScores

    @classmethod
    def of(cls, text: str, index: IndexView) -> LookedUp:
        """Look up the terms of a text."""
        terms = named_terms(text, index.reader.languages)
        return cls(text, terms, index.reader.lexical.scores(terms.terms))


def prepare(original: str, options: SearchOptions, index: IndexView) -> Query:
    """Read a query for the retrievers of the mode. Raises UsageError for a query without words."""
    if not isinstance(original, str) or not words_of(original):
        raise UsageError(f"the query {quoted(original)} has no words; ask with at least one")
    syntax = parse_query(original, options.syntax)
    typed = LookedUp.of(syntax.text, index)
    embedder = None if options.mode == "lexical" else index.embedder
    language, of_language = language_of_question(typed.text, typed.words, embedder, index.reader)
    compared, corrected = typed, tuple[Correction, ...]()
    if options.syntax == "full" and not of_language and language in (None, *index.reader.languages):
        better, corrected = _corrected(typed, syntax, embedder, index)
        compared = typed if better == typed.text else LookedUp.of(better, index)
    query = as_compared(compared, language, options, index)
    allowed, of_conditions = allowed_passages(options, index, syntax)
    return replace(
        query,
        original=original,
        parts=() if options.mode == "dense" else _parts(query, syntax, index.reader.languages),
        allowed=allowed,
        corrected=corrected,
        notices=(*of_language, *query.notices, *of_conditions),
    )


def as_compared(typed: LookedUp, language: str | None, options: SearchOptions, index: IndexView) -> Query:
    """A text in a language, None for that of the index's texts, with the words and the vector that are compared."""
    reader, mode, text, terms, words = index.reader, options.mode, typed.text, typed.terms, typed.words
    embedder = None if mode == "lexical" else index.embedder
    english = None if embedder is None else english_of(embedder)
    if english is not None and language is not None and language not in reader.languages:
        terms = foreign_terms(text, language, reader.languages, english)
        words = reader.lexical.scores(terms.terms)
    query = Query(text, options, None, None if mode == "dense" else words, terms=terms, language=language)
    if embedder is None or english is None:
        return replace(query, word_count=len(words_of(text)))
    embedder = embedder if language is None else reader.embedder_of(embedder, [language])
    ids = embedder.tokenize([text], None if language is None else [language])
    vector, share_known = embed(ids, terms.terms, embedder, index), float(ids.known_shares[0])
    weight, notices = None, tuple[str, ...]()
    if mode == "hybrid" and reader.languages != (ENGLISH,):
        weight = dense_weight(share_known if language is not None else known_share(text, english))
    if not vector.any():
        instead = "only the lexical retriever answers it" if mode == "hybrid" else "it finds nothing"
        notices = (f"the word vectors have no word of {quoted(text)}: {instead}",)
    return replace(
        query,
        vector=vector if vector.any() else None,
        embedder=embedder,
        word_count=len(ids.ids),
        share_without_vectors=1 - share_known,
        dense_weight=weight,
        notices=notices,
    )


def embed(ids: Ragged, terms: UInt64, embedder: SentenceEmbedder, index: IndexView) -> Float32:
    """Embed a text, given by the ids of its words and by its terms. -> (d + k,)"""
    vector = embedder.transform_ragged(ids)
    topics = index.reader.topics
    return np.asarray((vector if topics is None else join(vector, topics.of_each([terms])))[0])


def _corrected(
    typed: LookedUp,
    syntax: QuerySyntax,
    embedder: SentenceEmbedder | None,
    index: IndexView,
) -> tuple[str, tuple[Correction, ...]]:
    """The text with its misspelt words corrected, if there is a word that no passage has."""
    lookup, reader = typed.words.lookup, index.reader
    if lookup.idf.all():
        return typed.text, ()
    held_terms = set(lookup.terms[lookup.idf > 0].tolist())
    held = {
        word for term, word in zip(typed.terms.terms.tolist(), typed.terms.words, strict=True) if term in held_terms
    }

    def vectors() -> WordVectors:
        return reader.word_vectors() if embedder is None else embedder.chosen_.vectors

    return correct(typed.text, syntax.must, reader.lexical, vectors, held)


def _parts(query: Query, syntax: QuerySyntax, languages: Sequence[str]) -> Sequence[QueryPart]:
    """The parts of a query that passages may have literally; a word without a vector too, if it is all there is."""
    assert query.terms is not None  # a query that was typed has some
    has_vectors = query.embedder is not None and query.share_without_vectors <= 1 - tuning.TUNING.least_known
    may_be_word = (not has_vectors or syntax.must) and len(query.terms.terms) <= _FEW_TERMS
    alone = without_stop_words(query.text, languages) if may_be_word else " "
    is_word = not any(map(str.isspace, alone))
    if not is_word and not syntax.must and not syntax.must_not and not _MAY_BE_EXACT.search(query.text):
        return ()
    return parts_of(alone if is_word else query.text, syntax.must, with_words=is_word)
