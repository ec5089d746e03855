"""From the text of a query to a `Query`: its words, its vector, the phrases in it, what passages may have literally.

In an index that is not in English alone, the share of a question's words that the word vectors know decides the weight
of the dense score, and its vector is made by the word vectors of its own language.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Sequence
from functools import partial

import numpy as np

from semsearch import tuning
from semsearch.arrays.types import Float32, UInt64
from semsearch.embedding.embedder import SentenceEmbedder
from semsearch.errors import UsageError, quoted
from semsearch.lexical.bm25 import TermLookup
from semsearch.results.options import Correction, SearchOptions, Syntax
from semsearch.search.across_languages import (
    LACKS_SOME,
    UNKNOWN,
    english_of,
    foreign_terms,
    known_share,
    language_of_query,
    names_in,
    other_language,
)
from semsearch.search.candidates import IndexView, Query, QueryPart
from semsearch.search.corrections import correct, warn_of
from semsearch.search.exact_words import parts_of
from semsearch.search.filter_sql import allowed_by_filters
from semsearch.search.query_syntax import QuerySyntax, allowed_by_phrases, parse_query
from semsearch.text.languages import ENGLISH
from semsearch.text.terms import QuestionTerms, named_terms, without_stop_words
from semsearch.text.tokens import words
from semsearch.topics.topic_model import join
from semsearch.word_vectors.table import WordVectors

logger = logging.getLogger(__name__)

_MAY_HAVE_SYNTAX = re.compile(r'(?:^|\s)-?["“„«]|(?:^|\s)-\w')  # cheaper than parsing each query
_MAY_BE_EXACT = re.compile(r"[\d`_\\/()+#@$=~]|\w[A-Z]|-[A-Z]|\S[.:]\S|(?:^|\s)[.-]\w|--")  # likewise
_FEW_TERMS = 3  # of a query that may be only one word


def prepare(asked: str, options: SearchOptions, index: IndexView) -> Query:
    """Read a query for the retrievers of the mode, and warn of what the index cannot know.

    Raises UsageError for a query without words.
    """
    if not isinstance(asked, str) or not words(asked):
        raise UsageError(f"the query {quoted(asked)} has no words; ask with at least one")
    reader, mode, syntax = index.reader, options.mode, parse_syntax(asked, options.syntax)
    text = asked if syntax is None else syntax.text
    terms = named_terms(text, reader.languages)
    has_words = mode != "dense" or reader.are_languages_known
    scores = reader.lexical.scores(terms.terms) if has_words else None
    embedder = None if mode == "lexical" else reader.embedder(index.db)
    vectors = reader.word_vectors if embedder is None else partial(english_of, embedder)
    language = language_of_query(text, reader, embedder)
    if scores is not None and language is None and reader.are_languages_known and scores.lacking > LACKS_SOME:
        language = other_language(text, reader, vectors, mode, scores.lacking)
    corrected: tuple[Correction, ...] = ()
    may_correct = options.syntax == "full" and language in (None, *reader.languages)
    if scores is not None and may_correct and not scores.lookup.idf.all():
        table = vectors if embedder is None else partial(_vectors_of, embedder)
        better, corrected = correct(text, syntax, reader.lexical, table, _held(terms, scores.lookup))
        if better != text:
            warn_of(corrected, text)
            text, terms = better, named_terms(better, reader.languages)
            scores = reader.lexical.scores(terms.terms)
    language = None if language == UNKNOWN else language
    if language is not None and language not in reader.languages:
        terms = foreign_terms(text, language, reader.languages, vectors())
        scores = None if scores is None else reader.lexical.scores(terms.terms)
    vector, known = None, 0.0
    if embedder is not None:
        embedder = embedder if language is None else reader.embedder_of(embedder, [language])
        vector, known = embed(text, terms.terms, language, embedder, index)
        if not vector.any():
            instead = "only the lexical retriever answers it" if mode == "hybrid" else "it finds nothing"
            warned = asked if syntax is None else syntax.text  # by which servers know the query
            logger.warning("the word vectors have no word of %s: %s", quoted(text), instead, extra={"query": warned})
            vector = None
    share = 1.0
    if mode == "hybrid" and reader.languages != (ENGLISH,):
        share = known if embedder is not None and language is not None else known_share(text, vectors())
    is_known = embedder is not None and known >= tuning.TUNING.least_known and not (syntax and syntax.must)
    names = None
    if scores is not None and language is not None and mode != "dense":
        names = partial(names_in, scores, terms, language, vectors())
    allowed = allowed_by_filters(index, options)
    if syntax is not None:
        allowed = allowed_by_phrases(index.db, reader.lexical, syntax, allowed)
    return Query(
        text=text,
        options=options,
        vector=vector,
        words=None if mode == "dense" else scores,
        asked=asked,
        terms=terms,
        embedder=embedder,
        syntax=syntax,
        parts=() if mode == "dense" else _parts(text, syntax, reader.languages, terms, is_known=is_known),
        allowed=allowed,
        unknown=0.0 if embedder is None else 1 - known,
        known=share,
        corrected=corrected,
        language=language,
        names=names,
    )


def embed(
    text: str, terms: UInt64, language: str | None, embedder: SentenceEmbedder, index: IndexView
) -> tuple[Float32, float]:
    """Embed a text from its words and its terms, and find the share of its words that the vectors have. -> (d + k,)"""
    ids = embedder.tokenize([text]) if language is None else embedder.tokenize([text], [language])
    vector = embedder.transform_ragged(ids)
    topics = index.reader.topics
    if topics is not None:
        vector = join(vector, topics.of_each([terms]))
    return np.asarray(vector[0]), float(ids.known_shares[0])


def parse_syntax(query: str, syntax: Syntax) -> QuerySyntax | None:
    """What a query says besides its words (semsearch.search.query_syntax); None where it says no more."""
    if syntax != "full" or not _MAY_HAVE_SYNTAX.search(query):
        return None
    parsed = parse_query(query)
    return parsed if parsed.decides else None


def _held(terms: QuestionTerms, lookup: TermLookup) -> set[str]:
    """The words of a query that passages have."""
    held = {term for term, idf in zip(lookup.terms.tolist(), lookup.idf.tolist(), strict=True) if idf}
    return {word for term, word in zip(terms.terms.tolist(), terms.words, strict=True) if term in held}


def _parts(
    text: str, syntax: QuerySyntax | None, languages: Sequence[str], terms: QuestionTerms, *, is_known: bool
) -> Sequence[QueryPart]:
    """The parts of a query that passages may have literally; also a plain word, if it is all there is and unknown."""
    alone = without_stop_words(text, languages) if not is_known and len(terms.terms) <= _FEW_TERMS else " "
    is_word = not any(map(str.isspace, alone))
    if not is_word and syntax is None and not _MAY_BE_EXACT.search(text):
        return ()
    return parts_of(alone if is_word else text, () if syntax is None else syntax.must, with_words=is_word)


def _vectors_of(embedder: SentenceEmbedder) -> WordVectors:
    return embedder.chosen_.vectors
