"""Questions and passages in different languages: the language of a question, its words, and how passages compare.

The vector of a question is made by the word vectors of its own language, which is guessed (see
semsearch.word_vectors.guess_language). A question in a language that has no word vectors, and that no document of the
index has, gives a warning. An index in English alone is never here.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from semsearch import tuning
from semsearch.arrays.types import Float32, Float64
from semsearch.embedding.embedder import SentenceEmbedder
from semsearch.embedding.word_finder import as_multilingual
from semsearch.errors import quoted
from semsearch.lexical.bm25 import WordScores
from semsearch.results.options import Mode, Weights
from semsearch.search.candidates import Candidates, IndexView, Query
from semsearch.search.index_reader import IndexReader
from semsearch.search.quote import asked_words, similarities
from semsearch.search.scoring import fused, is_aligned_across, mean_cosine, weights_of
from semsearch.search.search_warnings import warn
from semsearch.storage.catalogue import PassageRow
from semsearch.text.detect_language import clear_language_of, is_clearly_english
from semsearch.text.languages import ENGLISH, RULES, name_of, stop_words
from semsearch.text.terms import QuestionTerms, hashes_of, named_terms, spelled, without_stop_words
from semsearch.text.tokens import hash_words, words
from semsearch.word_vectors.guess_language import guess_any_language
from semsearch.word_vectors.language_table import LanguageTable
from semsearch.word_vectors.language_words import split_words
from semsearch.word_vectors.multilingual import language_table
from semsearch.word_vectors.table import WordVectors

# -- The stage ---------------------------------------------------------------------------------------------------------

_NEAREST = 10  # passages in the query's own language, by which others are measured
_USUAL, _MOST_ACROSS = 1.0, 2.0  # squared cosines that speak for all weight; the largest weight of others
_MOST_ALIGNED, _FEW_BEYOND = 30, 5  # passages whose words are aligned, or so many beyond k


def across_languages(query: Query, candidates: Candidates, index: IndexView) -> Candidates:
    """Compare passages in another language than the query's, which have neither its topics nor its words.

    Of the words only names and numbers can be the same. The cosine has the weight by which the nearest passages in the
    query's own language would have about their scores, and counts how well the passage's words, and those of its
    headings, align with the query's: static vectors find a word's translation better than the mean of all words finds
    that of a text (docs/research/measurements.md, "Languages").
    """
    if query.language is None or not len(candidates.ids):
        return candidates
    languages = index.reader.languages_of(index.db, candidates.spans.documents)
    other = np.array([language != query.language for language in languages], dtype=np.bool_)
    if not other.any():
        return candidates
    if query.words is not None and query.names is not None:
        names, lexical = query.names(), np.full(len(other), np.nan)
        if names is not None:
            lexical, _ = names.scored(index.reader.lexical.locate(candidates.ids, candidates.neighbours))
        candidates.lexical = np.where(other, lexical, candidates.lexical)
    general = candidates.dense
    if candidates.cosines:
        cosines = candidates.cosines
        general = mean_cosine(cosines | {"topics": np.full(len(other), np.nan)})
        cosines["topics"] = np.where(other, np.nan, cosines["topics"])
        candidates.dense = np.where(other, general, candidates.dense)
    candidates.other = other
    candidates.weights_of_others = weights = _weights_of_others(weights_of(query, candidates), candidates, general)
    if candidates.cosines and is_aligned_across(query.language, index.reader.language_documents):
        _align(query, candidates, weights, index)
    return candidates


def _weights_of_others(own: Weights, candidates: Candidates, general: Float64) -> Weights:
    """The weights of passages in other languages, by ridge regression towards all weight, which the cosine has without
    any passage in the query's language that is near. `general`: the mean cosines without topics. (n,)"""
    assert candidates.other is not None  # there are several languages
    there = np.flatnonzero(~candidates.other & ~np.isnan(general))
    weight = own.dense + own.lexical
    if len(there):
        there = there[np.argsort(-general[there], kind="stable")[:_NEAREST]]
        dense, lexical = fused(candidates.dense[there], candidates.lexical[there], own)
        near = np.maximum(general[there], 0)
        weight = (float((dense + lexical) @ near) + _USUAL * weight) / (float(near @ near) + _USUAL)
        weight = min(weight, _MOST_ACROSS)
    return Weights(weight, tuning.TUNING.words_across * own.lexical, own.best, own.near)


def _align(query: Query, candidates: Candidates, weights: Weights, index: IndexView) -> None:
    """Let the alignment of words count for the best passages; the others as if theirs were as the worst of these."""
    assert candidates.other is not None  # there are several languages
    share = tuning.TUNING.aligned_across
    at = np.flatnonzero(candidates.other & ~np.isnan(candidates.dense))
    scores = sum(fused(candidates.dense[at], candidates.lexical[at], weights))
    best = at[np.argsort(-scores, kind="stable")[: max(_MOST_ALIGNED, query.options.k + _FEW_BEYOND)]]
    if not len(best):
        return
    passages, _ = index.reader.read_rows.with_documents(index.db, candidates.ids[best].tolist())
    rows = [passages[id_] for id_ in candidates.ids[best].tolist()]
    aligned = alignments(query, rows, index).sum(axis=1)
    values = np.full(len(candidates.ids), np.nan)
    values[at] = aligned.min()
    values[best] = aligned
    candidates.cosines["words"] = values
    candidates.dense[at] = (candidates.dense[at] + share * values[at]) / (1 + share)


def alignments(query: Query, passages: Sequence[PassageRow], index: IndexView) -> Float64:
    """What each word of a query adds to how well passages have them all: idf_i (max_j A_ij + B_i) / 2 Σ idf.

    A_ij is how well sentence j of the passage has the word (semsearch.search.quote), B_i how well the headings above
    have it. They count as a sentence, too; where there are none, B_i = max_j A_ij. Rows sum to 0 to 1. (n, q)
    """
    asked = asked_words(query, index)
    languages = index.reader.languages_of_passages(index.db, passages)
    sentences = [sentence for passage in passages for sentence in passage.sentence_texts]
    counts = [len(passage.sentences) for passage in passages]
    headings = ["\n".join(passage.headings) for passage in passages]
    spoken = [language for language, count in zip(languages, counts, strict=True) for _ in range(count)]
    similar = similarities(asked, [*sentences, *headings], [*spoken, *languages])
    above: Float32 = similar[len(sentences) :]
    best = np.maximum(np.maximum.reduceat(similar[: len(sentences)], np.cumsum([0, *counts])[:-1], axis=0), above)
    bare = [at for at, passage in enumerate(passages) if not passage.headings]
    above[bare] = best[bare]
    idf = np.square(asked.weights)
    return np.asarray((best + above) / 2 * (idf / max(float(idf.sum()), 1e-9)))


# -- The language of a question ----------------------------------------------------------------------------------------

UNKNOWN = ""  # the language of a question that has no word vectors
LACKS_SOME = 0.2  # share of its terms that no passage has: passages in English may have de, la, and names
_LACKS_MOST = 0.5


def language_of_query(text: str, reader: IndexReader, embedder: SentenceEmbedder | None) -> str | None:
    """The language of a question, where the index has vectors of several languages; else None."""
    several = None if embedder is None else as_multilingual(embedder.chosen_.vectors)
    if several is None:
        return None
    known = tuple(dict.fromkeys((*reader.languages, ENGLISH)))
    return guess_any_language(text, several.english, known, reader.language_documents)


def other_language(
    question: str, reader: IndexReader, vectors: Callable[[], WordVectors], mode: Mode, lacking: float
) -> str | None:
    """The language of a question to an index that has no text in it, if that is clear and has word vectors.

    Warns, and returns `UNKNOWN`, if it has none, and most of its terms are `lacking`. None if the language is not
    clear.
    """
    if reader.languages == (ENGLISH,) and is_clearly_english(question):
        return None
    if mode != "lexical" and reader.languages == (ENGLISH,):
        language = guess_any_language(question, vectors(), reader.languages)
        if language != ENGLISH:
            return language
    return UNKNOWN if lacking > _LACKS_MOST and _warn_other_language(question, reader.languages) else None


def _warn_other_language(question: str, languages: Sequence[str]) -> bool:
    """Warn if a question is clearly in none of the languages of the index; return whether it is."""
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


# -- The words of a question -------------------------------------------------------------------------------------------


def known_share(question: str, vectors: WordVectors) -> float:
    """The share of a question's words that the word vectors have. Single Chinese characters say too little."""
    found = words(question)
    several = [word for word in found if len(word) > 1 or word.isascii()]
    known = vectors.lookup(hash_words([" ".join(several)]).hashes) >= 0
    return float(known.sum()) / max(len(found), 1)


def foreign_terms(text: str, language: str, languages: Sequence[str], vectors: WordVectors) -> QuestionTerms:
    """The terms of a question in a language that no document of an index is in, without the stop words of its own.

    Of a language that does not part words, they are those of its table.
    """
    if not RULES[language].pairs and not RULES[language].sequences:
        return named_terms(without_stop_words(text, (language,)), languages)
    table = language_table(language, vectors)
    if table is None:
        return named_terms(text, languages)
    idle = stop_words(language)
    found = [word for word in split_words(text, table) if word not in idle]
    latin = named_terms(" ".join(word for word in found if word.isascii()), languages)
    foreign = [word for word in found if not word.isascii()]
    return QuestionTerms(np.concatenate((latin.terms, hashes_of(foreign))), [*latin.words, *foreign])


_FREQUENT = 20_000  # words of a language, which are no names


def names_in(scores: WordScores, terms: QuestionTerms, language: str, vectors: WordVectors) -> WordScores:
    """The words of a question that are the same in other languages: with digits, or none of the frequent words of its
    language."""
    table = language_table(language, vectors) or vectors
    ids = table.lookup(hashes_of([spelled(word, language) for word in terms.words]))
    is_frequent = (ids >= 0) & (table.frequencies[np.maximum(ids, 0)] > _least_frequent(table))
    has_digit = np.array([any(map(str.isdigit, word)) for word in terms.words], dtype=np.bool_)
    return scores.only(terms.terms[has_digit | ~is_frequent])


_least: dict[str, float] = {}


def _least_frequent(table: WordVectors | LanguageTable) -> float:
    """The p(w) above which a word of a table is one of its frequent words."""
    if table.digest not in _least:  # it takes longer than all else that is done with a question's names
        p = table.frequencies
        _least[table.digest] = float(np.partition(p, -_FREQUENT)[-_FREQUENT]) if len(p) > _FREQUENT else 0.0
    return _least[table.digest]


def english_of(embedder: SentenceEmbedder) -> WordVectors:
    """The English word vectors of an embedder."""
    several = as_multilingual(embedder.chosen_.vectors)
    return embedder.chosen_.vectors if several is None else several.english
