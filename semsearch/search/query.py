"""A query as both retrievers take it: its words, its vector, and the phrases in it.

In an index that is not in English alone, the share of a question's words that the word vectors know decides the weight
of the dense score. The vector of a question is made by the word vectors of its own language, which is guessed (see
semsearch.word_vectors.guess_language). A question in a language that has no word vectors, and that no document of the
index has, gives a warning.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Sequence
from dataclasses import field
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from semsearch import tuning
from semsearch.arrays.types import Float32, Float64, Int64, UInt64
from semsearch.embedding.word_finder import as_multilingual
from semsearch.errors import quoted
from semsearch.frozen import dataclass
from semsearch.results.options import Correction, SearchOptions
from semsearch.search.search_warnings import warn
from semsearch.text.languages import ENGLISH, RULES, clear_language_of, name_of, stop_words
from semsearch.text.terms import QuestionTerms, hashes_of, named_questions, named_terms, spelled, without_stop_words
from semsearch.text.tokens import hash_words, words
from semsearch.topics.topic_model import join
from semsearch.word_vectors.table import WordVectors

if TYPE_CHECKING:
    import sqlite3

    from semsearch.embedding.embedder import SentenceEmbedder
    from semsearch.lexical.bm25 import TermLookup, WordScores
    from semsearch.results.options import Mode, Syntax
    from semsearch.search.exact_words import QueryPart
    from semsearch.search.index_reader import IndexReader
    from semsearch.search.on_demand_vectors import TitleVectors
    from semsearch.search.query_syntax import QuerySyntax
    from semsearch.word_vectors.language_table import LanguageTable

logger = logging.getLogger(__name__)

_MAY_BE_EXACT = re.compile(r"[\d`_\\/()+#@$=~]|\w[A-Z]|-[A-Z]|\S[.:]\S|(?:^|\s)[.-]\w|--")  # likewise
_FEW_TERMS = 3  # of a query that may be only one word
_MAY_HAVE_SYNTAX = re.compile(r'(?:^|\s)-?["“„«]|(?:^|\s)-\w')  # cheaper than parsing each query


FindNames = Callable[[], "WordScores | None"]


@dataclass(frozen=True, slots=True)
class Query:
    """A query. Its vector or words are None for a retriever that is not used, or that knows no word of it."""

    text: str  # that is compared
    vector: Float32 | None  # (d,), or (d + k,) where the index has topics
    words: WordScores | None  # its terms, looked up in the postings
    hidden: Int64 = field(default_factory=lambda: np.zeros(0, np.int64))  # passages that must not answer
    syntax: QuerySyntax | None = None  # the phrases that passages must have, or must not have, if there are any
    asked: str | None = None  # as it was given; None for passages that stand for a query
    titles: TitleVectors | None = None  # by which titles are compared with it; None: they do not count
    parts: Sequence[QueryPart] = ()  # that passages may have literally
    unknown: float = 0.0  # share of its words without a vector of their own, for relevance
    share_known: float = 1.0  # share of its words that the word vectors know, for the weight of meaning
    named: QuestionTerms | None = None  # the words to align with sentences; None for passages that stand for a query
    near: float = field(default_factory=lambda: tuning.TUNING.near_weight)  # weight of feedback
    corrected: tuple[Correction, ...] = ()  # what its text does not have as it was asked
    language: str | None = None  # in which it was read; None where all is read as English
    names: FindNames | None = None  # those of its words that passages in other languages may have: names, numbers


@dataclass(frozen=True, slots=True)
class Embedded:
    """The vectors of texts (q, d + k), the share of the words of each that the word vectors have (q,), and the vectors
    of documents' titles to compare them with."""

    vectors: Float32
    known: Float64
    titles: TitleVectors


def make_queries(
    db: sqlite3.Connection,
    reader: IndexReader,
    queries: Sequence[str],
    options: SearchOptions,
    vectors: Callable[[], WordVectors],
) -> list[Query]:
    """Make a `Query` of each text, for the retrievers of the mode, and warn of those that the index cannot know."""
    syntaxes, mode = parse_queries(queries, options.syntax), options.mode
    texts = [query if own is None else own.text for query, own in zip(queries, syntaxes, strict=True)]
    named = named_questions(texts, reader.languages)
    terms = [each.terms for each in named]
    lexical = reader.lexical.scores_each(terms) if mode != "dense" or reader.are_languages_known else []
    told, corrected = [*texts], [tuple[Correction, ...]()] * len(texts)  # told: by which servers know the queries
    languages = _languages_of(db, reader, texts, mode)
    for number, own in enumerate(lexical):
        if languages[number] is None and own.lacking > _LACKS_SOME and reader.are_languages_known:
            languages[number] = _other_language(texts[number], reader, vectors, mode, own.lacking)
            if languages[number] is not None:
                continue
        if languages[number] not in (None, *reader.languages):
            continue  # its words are not those of the index
        if options.syntax == "full" and not own.lookup.idf.all():
            from semsearch.search.corrections import correct, warn_of  # start-up time: few queries have unknown words

            embedder = None if mode == "lexical" else reader.embedder(db)
            own_vectors = vectors if embedder is None else partial(_vectors_of, embedder)
            held = _held(named[number], own.lookup)
            text, corrected[number] = correct(texts[number], syntaxes[number], reader.lexical, own_vectors, held)
            if text != texts[number]:
                warn_of(corrected[number], texts[number])
                texts[number], (named[number],) = text, named_questions([text], reader.languages)
                terms[number] = named[number].terms
                lexical[number] = reader.lexical.scores(terms[number])
    spoken = [None if language == UNKNOWN else language for language in languages]
    opened = vectors
    if any(spoken) and (embedder := reader.embedder(db)) is not None:
        opened = partial(english_of, embedder)  # a language is known only where there are vectors
    for number, language in enumerate(spoken):
        if language is not None and language not in reader.languages:
            named[number] = foreign_terms(texts[number], language, reader.languages, opened)
            terms[number] = named[number].terms
            if lexical:
                lexical[number] = reader.lexical.scores(terms[number])
    embedded = None if mode == "lexical" else _embed(db, reader, texts, terms, spoken, mode, told)
    found = None if embedded is None else embedded.vectors
    titles = None if embedded is None else embedded.titles
    known = _are_known(embedded, syntaxes)
    may_be_word = [not is_known and len(own) <= _FEW_TERMS for is_known, own in zip(known, terms, strict=True)]
    shares = [1.0] * len(texts)
    if mode == "hybrid" and reader.languages != (ENGLISH,):
        for number, (text, language) in enumerate(zip(texts, spoken, strict=True)):
            if embedded is not None and language is not None:
                shares[number] = float(embedded.known[number])
            else:
                shares[number] = known_shares([text], opened())[0]
    return [
        Query(
            text,
            None if found is None or not found[number].any() else found[number],
            None if mode == "dense" else lexical[number],
            syntax=syntax,
            asked=queries[number],
            titles=titles,
            parts=() if mode == "dense" else _parts(text, syntax, reader.languages, may_be_word=may_be_word[number]),
            unknown=0.0 if embedded is None else 1 - float(embedded.known[number]),
            share_known=shares[number],
            named=named[number],
            corrected=corrected[number],
            language=spoken[number],
            names=None
            if mode == "dense"
            else partial(names_in, lexical[number], named[number], spoken[number], opened),
        )
        for number, (text, syntax) in enumerate(zip(texts, syntaxes, strict=True))
    ]


def embed_texts(
    db: sqlite3.Connection,
    reader: IndexReader,
    texts: Sequence[str],
    terms: Sequence[UInt64],
    languages: Sequence[str | None] = (),
) -> Embedded | None:
    """Embed texts, from these and their terms, each in its language, if that is known; None if nothing is indexed."""
    from semsearch.embedding.weighted_sums import FEW  # start-up time: a lexical query embeds nothing

    embedder = reader.embedder(db)
    if embedder is None:
        return None
    titles = reader.titles(embedder)
    if any(languages):
        spoken = [language or ENGLISH for language in languages]
        embedder = reader.embedder_of(embedder, spoken)
        ids = embedder.tokenize(texts, spoken)
    else:
        ids = embedder.tokenize(texts)
    found = np.concatenate([embedder.transform_ragged(part) for part in ids.parts(FEW)])
    if reader.topics is not None and len(texts):
        found = join(found, reader.topics.of_each(terms))
    return Embedded(found, ids.known_shares, titles)


def _embed(
    db: sqlite3.Connection,
    reader: IndexReader,
    queries: Sequence[str],
    terms: Sequence[UInt64],
    languages: Sequence[str | None],
    mode: Mode,
    told: Sequence[str],
) -> Embedded | None:
    """Embed queries as `embed_texts` does, and warn of those without a vector. `told`: they as they were asked."""
    embedded = embed_texts(db, reader, queries, terms, languages)
    for number, vector in enumerate([] if embedded is None else embedded.vectors):
        if not vector.any():
            query = queries[number]
            instead = "only the lexical retriever answers it" if mode == "hybrid" else "it finds nothing"
            extra = {"query": told[number]}  # for a server, which answers several at once
            logger.warning("the word vectors have no word of %s: %s", quoted(query), instead, extra=extra)
    return embedded


def _held(named: QuestionTerms, lookup: TermLookup) -> set[str]:
    """The words of a query that passages have."""
    held = {term for term, idf in zip(lookup.terms.tolist(), lookup.idf.tolist(), strict=True) if idf}
    return {word for term, word in zip(named.terms.tolist(), named.words, strict=True) if term in held}


def _are_known(embedded: Embedded | None, syntaxes: Sequence[QuerySyntax | None]) -> list[bool]:
    """Whether the vectors know enough of each query, which has no required phrases, that it is no exact word."""
    if embedded is None:
        return [False] * len(syntaxes)
    enough = (embedded.known >= tuning.TUNING.least_known).tolist()
    return [known and not (syntax and syntax.must) for known, syntax in zip(enough, syntaxes, strict=True)]


def parse_queries(queries: Sequence[str], syntax: Syntax) -> list[QuerySyntax | None]:
    """What each query says besides its words (semsearch.search.query_syntax); None where it says no more."""
    return [_parse(query) if syntax == "full" and _MAY_HAVE_SYNTAX.search(query) else None for query in queries]


def _parse(query: str) -> QuerySyntax | None:
    from semsearch.search.query_syntax import parse_query  # start-up time: most queries have only words

    found = parse_query(query)
    return found if found.decides else None


def _parts(
    text: str, syntax: QuerySyntax | None, languages: Sequence[str], *, may_be_word: bool
) -> Sequence[QueryPart]:
    """The parts of a query that passages may have literally; also a plain word, if it is all there is and unknown."""
    alone = without_stop_words(text, languages) if may_be_word else " "
    is_word = not any(map(str.isspace, alone))
    if not is_word and syntax is None and not _MAY_BE_EXACT.search(text):
        return ()
    from semsearch.search.exact_words import parts_of  # start-up time: most queries are questions

    return parts_of(alone if is_word else text, () if syntax is None else syntax.must, with_words=is_word)


def known_shares(questions: Sequence[str], vectors: WordVectors) -> list[float]:
    """The share of each question's words that the word vectors have. Single Chinese characters say too little."""
    shares: list[float] = []
    for question in questions:
        found = words(question)
        several = [word for word in found if len(word) > 1 or word.isascii()]
        known = vectors.lookup(hash_words([" ".join(several)]).hashes) >= 0
        shares.append(float(known.sum()) / max(len(found), 1))
    return shares


# -- Languages ---------------------------------------------------------------------------------------------------------

UNKNOWN = ""  # the language of a question that has no word vectors


def _languages_of(db: sqlite3.Connection, reader: IndexReader, texts: Sequence[str], mode: Mode) -> list[str | None]:
    """The language of each question, where the index has vectors of several languages; else None."""
    embedder = None if mode == "lexical" else reader.embedder(db)
    several = None if embedder is None else as_multilingual(_vectors_of(embedder))
    if several is None:
        return [None] * len(texts)
    from semsearch.word_vectors.guess_language import guess_any_language  # start-up time: English indexes need none

    known = tuple(dict.fromkeys((*reader.languages, ENGLISH)))
    return [guess_any_language(text, several.english, known, reader.language_documents) for text in texts]


_LACKS_SOME = 0.2  # share of its terms that no passage has: passages in English may have de, la, and names
_LACKS_MOST = 0.5


def _other_language(
    question: str, reader: IndexReader, vectors: Callable[[], WordVectors], mode: Mode, lacking: float
) -> str | None:
    """The language of a question to an index that has no text in it, if that is clear and has word vectors.

    Warns, and returns `UNKNOWN`, if it has none, and most of its terms are `lacking`. None if the language is not
    clear.
    """
    if mode != "lexical" and reader.languages == (ENGLISH,):
        from semsearch.word_vectors.guess_language import guess_any_language  # start-up time, as above

        language = guess_any_language(question, vectors(), reader.languages)
        if language != ENGLISH:
            return language
    return UNKNOWN if lacking > _LACKS_MOST and warn_other_language(question, reader.languages) else None


def foreign_terms(
    text: str, language: str, languages: Sequence[str], vectors: Callable[[], WordVectors]
) -> QuestionTerms:
    """The terms of a question in a language that no document of an index is in, without the stop words of its own.

    Of a language that does not part words, they are those of its table.
    """
    if not RULES[language].pairs and not RULES[language].sequences:
        return named_terms(without_stop_words(text, (language,)), languages)
    from semsearch.word_vectors.language_words import split_words  # start-up time, as above
    from semsearch.word_vectors.multilingual import language_table

    table = language_table(language, vectors())
    if table is None:
        return named_terms(text, languages)
    idle = stop_words(language)
    found = [word for word in split_words(text, table) if word not in idle]
    latin = named_terms(" ".join(word for word in found if word.isascii()), languages)
    own = [word for word in found if not word.isascii()]
    return QuestionTerms(np.concatenate((latin.terms, hashes_of(own))), [*latin.words, *own])


_FREQUENT = 20_000  # words of a language, which are no names


def names_in(
    scores: WordScores, found: QuestionTerms, language: str | None, vectors: Callable[[], WordVectors]
) -> WordScores | None:
    """The words of a question that are the same in other languages: with digits, or none of the frequent words of its
    language. None if it is not known."""
    if language is None:
        return None
    from semsearch.word_vectors.multilingual import language_table  # start-up time, as above

    table = language_table(language, vectors()) or vectors()
    ids = table.lookup(hashes_of([spelled(word, language) for word in found.words]))
    is_frequent = (ids >= 0) & (table.frequencies[np.maximum(ids, 0)] > _least_frequent(table))
    has_digit = np.array([any(map(str.isdigit, word)) for word in found.words], dtype=np.bool_)
    return scores.only(found.terms[has_digit | ~is_frequent])


_least: dict[str, float] = {}


def _least_frequent(table: WordVectors | LanguageTable) -> float:
    """The p(w) above which a word of a table is one of its frequent words."""
    if table.digest not in _least:  # it takes longer than all else that is done with a question's names
        p = table.frequencies
        _least[table.digest] = float(np.partition(p, -_FREQUENT)[-_FREQUENT]) if len(p) > _FREQUENT else 0.0
    return _least[table.digest]


def english_of(embedder: SentenceEmbedder) -> WordVectors:
    several = as_multilingual(_vectors_of(embedder))
    return _vectors_of(embedder) if several is None else several.english


def _vectors_of(embedder: SentenceEmbedder) -> WordVectors:
    return embedder.chosen_.vectors


def warn_other_language(question: str, languages: Sequence[str]) -> bool:
    """Warn if a question, most of whose words no passage has, is clearly in none of the languages of the index; return
    whether it is."""
    language = clear_language_of(question, languages)
    if language is None or language in languages:
        return False
    held = ", ".join(map(name_of, languages))
    warn(
        f"the question {quoted(question)} seems to be in {name_of(language)}, in which the index has no document; "
        f"ask in a language that it has: {held}",
        query=question,
    )
    return True
