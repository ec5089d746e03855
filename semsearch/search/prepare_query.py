"""From the text of a query, or an example, to a `Query` (semsearch.search.candidates), which the stages read.

It has the words of the text, its vector, the passages that may answer, and parts to find literally. In an index that is
not in English alone, the share of a question's words that the word vectors know decides the weight of the dense score,
and its vector is made by the word vectors of its own language, which is guessed
(semsearch.word_vectors.multilingual). A question in a language that has no word vectors, and that no document of
the index has, gives a notice.

An example is the passage of a hit, the one at a line or place, or a whole document (semsearch.storage.find_document).
Its vector is the direction of the sum of its passages' vectors, its words are their most telling ones; of a document
with very many passages, evenly spread ones are taken. A document is not similar to itself. For a passage, too, other
documents answer; other sections of its own do if they are asked for, or if there is no other document. Its neighbours
in the same section never do, which resemble it because they continue it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from semsearch import tuning
from semsearch.arrays.types import Int64
from semsearch.embedding.embedder import SentenceEmbedder
from semsearch.errors import SourceError, UsageError, quoted
from semsearch.lexical.corrections import correct, with_plain_verb
from semsearch.results.hits import Hit
from semsearch.results.options import SearchOptions
from semsearch.results.origin import Correction
from semsearch.search.allowed_passages import allowed_passages, parse_query
from semsearch.search.candidates import Query, dense_weight
from semsearch.search.exact_words import parts_of
from semsearch.search.index_reader import IndexReader, IndexView
from semsearch.storage.document_rows import DocumentRow, count_contents, require_documents
from semsearch.storage.find_document import find_passage
from semsearch.storage.passage_rows import PassageRow, get_passages
from semsearch.text.languages import ENGLISH, RULES, name_of, stop_words
from semsearch.text.terms import QuestionTerms, named_terms, without_stop_words
from semsearch.text.text_lengths import heading_text
from semsearch.text.tokens import hashes_of, words as words_of
from semsearch.topics.topic_model import join
from semsearch.word_vectors.language_words import split_words
from semsearch.word_vectors.multilingual import MultilingualVectors, english_of, guess_any_language, language_table
from semsearch.word_vectors.table import WordVectors, load_vectors

if TYPE_CHECKING:
    import sqlite3


_IS_SIGN = re.compile(r"(?=.*[$&|=<>%@^~:+])[^\w\s]{2,3}|[$@%]_")  # $_ => && ::, but not -- or ...
_MAY_BE_EXACT = re.compile(r"[\d`_\\/()+#@$=~]|\w[A-Z]|-[A-Z]|\S[.:]\S|(?:^|\s)[.-]\w|--")  # than taking it apart


def prepare(original: str, options: SearchOptions, index: IndexView) -> Query:
    """Read a query for the retrievers of the mode. Raises UsageError for a query without words."""
    if not isinstance(original, str) or not words_of(original):
        raise UsageError(f"the query {quoted(original)} has no words; ask with at least one; mode exact finds signs")
    reader, syntax = index.reader, parse_query(original, options.syntax)
    allowed, of_conditions = allowed_passages(options, index, syntax)
    embedder = None if options.mode == "lexical" else index.embedder
    language, of_language = _language_among(syntax.text, embedder, reader), tuple[str, ...]()
    text = syntax.text if language not in (None, ENGLISH) or syntax.must else with_plain_verb(syntax.text)
    typed = with_terms(text, language, options, index)
    if language is None:
        language, of_language = _language_beyond(typed, reader)
    corrected = tuple[Correction, ...]()
    if options.syntax == "full" and not of_language and language in (None, *reader.languages):
        better, corrected = _spelt(typed, syntax.must, language, index)
        typed = typed if better == text else with_terms(better, language, options, index)
    query = with_vector(typed, language, index)
    may_be_exact = syntax.must or syntax.must_not or _MAY_BE_EXACT.search(query.text)
    return replace(
        query,
        original=original,
        parts=() if options.mode == "dense" or not may_be_exact else parts_of(query.text, syntax.must),
        allowed=allowed,
        corrected=corrected,
        notices=(*of_language, *query.notices, *of_conditions, *_sign_notices(original)),
    )


def _sign_notices(text: str) -> list[str]:
    """A notice for signs of a programming language that stand alone, as in "what does => mean"."""
    pieces = [piece.strip("\"'`()?,;") for piece in text.split()]
    signs = [f"“{piece}”" for piece in dict.fromkeys(pieces) if _IS_SIGN.fullmatch(piece)]
    return [f"only mode exact finds signs that stand alone: {', '.join(signs)}"] if signs else []


def with_terms(text: str, language: str | None, options: SearchOptions, index: IndexView) -> Query:
    """A text with its terms, looked up in the postings by the rules of its language, or of those of the index."""
    lexical, languages = index.lexical, index.reader.languages_beside(language)
    embedder = None if options.mode == "lexical" else index.embedder
    terms = named_terms(text, languages)
    return Query(text, options, None, lexical.find(terms.terms), terms=terms, embedder=embedder, languages=languages)


def with_vector(typed: Query, language: str | None, index: IndexView) -> Query:
    """A query in a language, None for that of the index's texts, with the words and the vector that are compared."""
    reader, mode, text, terms, words = index.reader, typed.options.mode, typed.text, typed.terms, typed.words
    assert terms is not None  # as in every typed query
    embedder = typed.embedder
    if embedder is not None and language is not None and language not in reader.languages:
        terms = _foreign_terms(text, language, reader.languages, english_of(embedder.chosen_.vectors))
        words = index.lexical.find(terms.terms)
    query = replace(typed, words=None if mode == "dense" else words, terms=terms, language=language)
    if embedder is None:
        return replace(query, word_count=len(words_of(text)))
    embedder = embedder if language is None else reader.embedder_of(embedder, [language])
    names = [*dict.fromkeys(terms.words)]
    together = embedder.tokenize([text, *names], None if language is None else [language] * (1 + len(names)))
    ids, of_names = together.part(0, 1), together.part(1, len(together))
    (vector,), topics = embedder.transform_ragged(ids), reader.topics
    if topics is not None:
        (vector,) = join(vector[None], topics.of_terms(terms.terms)[None])
    share_known, weight, notices = float(np.mean(ids.ids >= 0)) if len(ids.ids) else 0.0, None, tuple[str, ...]()
    if mode == "hybrid" and typed.languages != (ENGLISH,):
        weight = dense_weight(share_known)
    if not vector.any():
        instead = "only the lexical retriever answers it" if mode == "hybrid" else "it finds nothing"
        notices = (f"the word vectors have no word of {quoted(text)}: {instead}",)
    return replace(
        query,
        vector=vector if vector.any() else None,
        embedder=embedder,
        vector_words=of_names,
        word_count=len(ids.ids),
        share_without_vectors=1 - share_known,
        dense_weight=weight,
        notices=notices,
    )


def _spelt(typed: Query, must: Sequence[str], code: str | None, index: IndexView) -> tuple[str, tuple[Correction, ...]]:
    """The text, in the language of a code, with its misspelt words corrected, if it has a word of no passage."""
    lookup, terms = typed.words, typed.terms
    if lookup is None or terms is None or lookup.idf.all():
        return typed.text, ()
    indexed = set(lookup.terms[lookup.idf > 0].tolist())
    words = {word for term, word in zip(terms.terms.tolist(), terms.words, strict=True) if term in indexed}

    def vectors() -> WordVectors:
        return index.reader.word_vectors() if typed.embedder is None else typed.embedder.chosen_.vectors

    return correct(typed.text, must, index.reader.lexical, vectors, indexed_words=words, language=code)


# -- The language of a question ----------------------------------------------------------------------------------------

_LACKS_SOME = 0.2  # share of its terms that no passage has: passages in English may have de, la, and names
_LACKS_MOST = 0.5
# openings of questions that no other language has: nothing needs to be guessed from them, which opens many tables
_ASKS_IN_ENGLISH = re.compile(r"\W*(?:how|what|why|where|which|whose|does|should|could|would)\b", re.IGNORECASE)


def _language_among(text: str, embedder: SentenceEmbedder | None, reader: IndexReader) -> str | None:
    """The language of a question, where the index has word vectors of several; None if they say nothing of it."""
    vectors = None if embedder is None else embedder.chosen_.vectors
    if not isinstance(vectors, MultilingualVectors):
        return None
    known = tuple(dict.fromkeys((*reader.languages, ENGLISH)))
    return guess_any_language(text, vectors.english, known, reader.language_documents)


def _language_beyond(typed: Query, reader: IndexReader) -> tuple[str | None, tuple[str, ...]]:
    """The language of a question to an index in one language, None for that; and a notice if it has no vectors.

    A question to an index in English alone, which lacks its words, is in another language if that is clear and has
    word vectors.
    """
    languages, embedder, words = reader.languages, typed.embedder, typed.words
    is_english = ENGLISH in languages and _ASKS_IN_ENGLISH.match(typed.text) is not None
    if not reader.language_documents or is_english or words is None or (missing := words.missing_share) <= _LACKS_SOME:
        return None, ()
    of_index = None if embedder is None or languages != (ENGLISH,) else english_of(embedder.chosen_.vectors)
    language = guess_any_language(typed.text, load_vectors() if of_index is None else of_index, languages)
    if language in languages:
        return None, ()
    if of_index is not None:
        return language, ()
    notice = (
        f"the question {quoted(typed.text)} seems to be in {name_of(language)}, in which the index has no document; "
        f"ask in a language that it has: {', '.join(map(name_of, languages))}"
    )
    return None, (notice,) if missing > _LACKS_MOST else ()


# -- The words of a question in another language -----------------------------------------------------------------------


def _foreign_terms(text: str, language: str, languages: Sequence[str], vectors: WordVectors) -> QuestionTerms:
    """The terms of a question in a language that no document of an index is in, without the stop words of its own.

    Of a language that does not part words, they are those of its table.
    """
    if not RULES[language].pairs and not RULES[language].sequences:
        return named_terms(without_stop_words(text, (language,)), languages)
    table = language_table(language, vectors)
    if table is None:
        return named_terms(text, languages)
    ignored = stop_words(language)
    telling = [word for word in split_words(text, table) if word not in ignored]
    latin = named_terms(" ".join(filter(str.isascii, telling)), languages)
    foreign = [word for word in telling if not word.isascii()]
    hashes = hashes_of(foreign)
    return QuestionTerms(
        np.concatenate((latin.terms, hashes)), [*latin.words, *foreign], np.concatenate((latin.hashes, hashes))
    )


# -- Search by example: a passage, or a whole document -----------------------------------------------------------------


_MOST_PASSAGES = 500  # passages that stand for a document


def query_of_example(
    example: Hit | str, line: int | None, options: SearchOptions, index: IndexView, *, same_document: bool
) -> Query:
    """A query for what is similar to the passage of a hit, the one at a line (from 1), or a document or place at a path
    (`a.pptx slide 3`).

    Raises SourceError for a path that is not in the index, or is ambiguous; UsageError for a line that the document
    does not have.
    """
    document, cited = _example(example, line, index.db)
    of_document = np.arange(document.first_passage, document.first_passage + document.passages)
    ids, hidden = of_document[:: -(-len(of_document) // _MOST_PASSAGES)], of_document
    if cited is not None:
        ids = np.array([cited.id])
        if same_document or count_contents(index.db).passages == document.passages:
            near = get_passages(index.db, [cited.id - 1, cited.id, cited.id + 1]).values()
            same = [row.id for row in near if (row.document_id, row.headings) == (document.id, cited.headings)]
            hidden = np.array(sorted(same), dtype=np.int64)
    return _query_of(document, ids, hidden, options, index)


def _example(example: Hit | str, line: int | None, db: sqlite3.Connection) -> tuple[DocumentRow, PassageRow | None]:
    """The document of an example, and its passage if not all of it is meant."""
    if isinstance(example, Hit):
        if line is not None:
            raise UsageError("a hit has a line already; give a line only with a path")
        passage = passage_of(db, example)
        return require_documents(db, [passage.document_id])[passage.document_id], passage
    if line is not None and (not isinstance(line, int) or isinstance(line, bool) or line < 1):
        raise UsageError(f"a line is a whole number from 1 on, not {line!r}")
    document, cited = find_passage(db, example, line)
    if not document.passages:
        raise SourceError(f"{example} has no text to compare with")
    return document, cited


def passage_of(db: sqlite3.Connection, hit: Hit) -> PassageRow:
    """The passage of a hit. Raises UsageError if it has gone or changed, or if the hit is of another index."""
    passage = get_passages(db, [hit.passage_id]).get(hit.passage_id)
    if passage is None or passage.text != hit.passage:
        raise UsageError(f"the passage of that hit in {hit.path} is no longer in the index; search again")
    return passage


def _query_of(document: DocumentRow, ids: Int64, hidden: Int64, options: SearchOptions, index: IndexView) -> Query:
    """Passages of a document as a query: the direction of the sum of their vectors, and the words that say most."""
    reader, vector, words = index.reader, None, None
    passages = [*index.passages(ids.tolist()).values()]
    texts = [passage.text for passage in passages]
    allowed, notices = allowed_passages(options, index)
    embedder = None if options.mode == "lexical" else index.embedder
    if embedder is not None:
        vector = reader.halves.direction(reader.passage_vectors.fetch(ids).rows)
        if not vector.any():
            vector = None
            notices.append(f"the word vectors have no word of {document.path}: only the lexical retriever answers")
    if options.mode != "dense":
        headings = [heading_text(document.title, passage.headings) for passage in passages]
        terms = reader.lexical.characteristic_terms(headings, texts, tuning.TUNING.characteristic_terms)
        words = reader.lexical.find(terms)
    text = "\n".join(texts)
    return Query(
        text=text,
        options=options,
        vector=vector,
        words=words,
        terms=named_terms(text, reader.languages) if vector is None else None,  # to choose what is shown
        embedder=index.embedder,
        allowed=allowed,
        hidden=hidden,
        notices=tuple(notices),
    )
