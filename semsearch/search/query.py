"""From the text of a query to a `Query`: its words, its vector, the phrases in it, what passages may have literally.

In an index that is not in English alone, the share of a question's words that the word vectors know decides the weight
of the dense score, and its vector is made by the word vectors of its own language.
"""

from __future__ import annotations

import re
from collections.abc import Sequence, Set as AbstractSet
from dataclasses import replace

import numpy as np

from semsearch import tuning
from semsearch.arrays.types import Float32, UInt64
from semsearch.embedding.embedder import SentenceEmbedder
from semsearch.errors import UsageError, quoted
from semsearch.lexical.bm25 import WordScores
from semsearch.results.options import SearchOptions, Syntax
from semsearch.results.origin import Correction
from semsearch.search.across_languages import english_of, foreign_terms, known_share, language_of_question
from semsearch.search.boosts import parse_boost
from semsearch.search.candidates import Query, QueryPart
from semsearch.search.corrections import correct
from semsearch.search.exact_words import parts_of
from semsearch.search.filter_sql import allowed_by_filters, unmatched
from semsearch.search.index_reader import IndexView
from semsearch.search.query_syntax import QuerySyntax, allowed_by_phrases, parse_query
from semsearch.search.scoring import dense_weight
from semsearch.text.languages import ENGLISH
from semsearch.text.ragged import Ragged
from semsearch.text.terms import QuestionTerms, named_terms, without_stop_words
from semsearch.text.tokens import words as words_of
from semsearch.topics.topic_model import join
from semsearch.word_vectors.table import WordVectors

_MAY_HAVE_SYNTAX = re.compile(r'(?:^|\s)-?["“„«]|(?:^|\s)-\w')  # cheaper than parsing each query
_MAY_BE_EXACT = re.compile(r"[\d`_\\/()+#@$=~]|\w[A-Z]|-[A-Z]|\S[.:]\S|(?:^|\s)[.-]\w|--")  # than taking it apart
_FEW_TERMS = 3  # of a query that may be only one word


def prepare(
    original: str, options: SearchOptions, index: IndexView, *, uncorrected: AbstractSet[str] = frozenset()
) -> Query:
    """Read a query for the retrievers of the mode. `uncorrected`: words that are not taken for misspelt.

    Raises UsageError for a query without words.
    """
    if not isinstance(original, str) or not words_of(original):
        raise UsageError(f"the query {quoted(original)} has no words; ask with at least one")
    reader, mode = index.reader, options.mode
    syntax = parse_syntax(original, options.syntax)
    text = original if syntax is None else syntax.text
    embedder = None if mode == "lexical" else index.embedder
    terms = named_terms(text, reader.languages)
    words = reader.lexical.scores(terms.terms)
    language, of_language = language_of_question(text, words, embedder, reader)
    better, corrected = text, tuple[Correction, ...]()
    if options.syntax == "full" and not of_language and language in (None, *reader.languages):
        better, corrected = _corrected(text, syntax, (terms, words), uncorrected, embedder, index)
    query = as_compared(better, language, options, index, looked_up=(terms, words) if better == text else None)
    allowed, of_phrases = allowed_by_filters(index, options), list[str]()
    if syntax is not None:
        allowed, of_phrases = allowed_by_phrases(index.db, reader.lexical, syntax, allowed)
    of_filters = unmatched(filters_of(options), index)
    return replace(
        query,
        original=original,
        parts=() if mode == "dense" else _parts(query, syntax, reader.languages),
        allowed=allowed,
        corrected=corrected,
        notices=(*of_language, *query.notices, *of_filters, *of_phrases),
    )


def as_compared(
    text: str,
    language: str | None,
    options: SearchOptions,
    index: IndexView,
    *,
    looked_up: tuple[QuestionTerms, WordScores] | None = None,
) -> Query:
    """A text in a language, None for that of the index's texts, with the words and the vector that are compared.

    `looked_up`: its terms by the rules of the index's languages, and their postings, if they are known.
    """
    reader, mode = index.reader, options.mode
    embedder = None if mode == "lexical" else index.embedder
    if language is not None and language not in reader.languages and embedder is not None:
        terms = foreign_terms(text, language, reader.languages, english_of(embedder))
        words = reader.lexical.scores(terms.terms)
    elif looked_up is not None:
        terms, words = looked_up
    else:
        terms = named_terms(text, reader.languages)
        words = reader.lexical.scores(terms.terms)
    query = Query(text, options, None, None if mode == "dense" else words, terms=terms, language=language)
    if embedder is None:
        return replace(query, word_count=len(words_of(text)))
    english = english_of(embedder)
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


def parse_syntax(query: str, syntax: Syntax) -> QuerySyntax | None:
    """What a query says besides its words (semsearch.search.query_syntax); None where it says no more."""
    if syntax != "full" or not _MAY_HAVE_SYNTAX.search(query):
        return None
    parsed = parse_query(query)
    return parsed if parsed.decides else None


def _corrected(
    text: str,
    syntax: QuerySyntax | None,
    looked_up: tuple[QuestionTerms, WordScores],
    uncorrected: AbstractSet[str],
    embedder: SentenceEmbedder | None,
    index: IndexView,
) -> tuple[str, tuple[Correction, ...]]:
    """The text with its misspelt words corrected, if there is a word that no passage has."""
    terms, words = looked_up
    lookup, reader = words.lookup, index.reader
    if lookup.idf.all():
        return text, ()
    held_terms = set(lookup.terms[lookup.idf > 0].tolist())
    held = {word for term, word in zip(terms.terms.tolist(), terms.words, strict=True) if term in held_terms}

    def vectors() -> WordVectors:
        return reader.word_vectors() if embedder is None else embedder.chosen_.vectors

    return correct(text, syntax, reader.lexical, vectors, held, uncorrected)


def filters_of(options: SearchOptions) -> list[str]:
    """The filters of a search, with those of its boosts."""
    return [*options.filters, *(boost.text for boost in map(parse_boost, options.boosts) if boost.filter is not None)]


def _parts(query: Query, syntax: QuerySyntax | None, languages: Sequence[str]) -> Sequence[QueryPart]:
    """The parts of a query that passages may have literally; also a plain word, if it is all there is and unknown."""
    assert query.terms is not None  # a query that was typed has some
    phrases = () if syntax is None else syntax.must
    has_vectors = query.embedder is not None and query.share_without_vectors <= 1 - tuning.TUNING.least_known
    is_known = has_vectors and not phrases
    alone = without_stop_words(query.text, languages) if not is_known and len(query.terms.terms) <= _FEW_TERMS else " "
    is_word = not any(map(str.isspace, alone))
    if not is_word and syntax is None and not _MAY_BE_EXACT.search(query.text):
        return ()
    return parts_of(alone if is_word else query.text, phrases, with_words=is_word)
