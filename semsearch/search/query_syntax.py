"""The syntax of queries, and the passages that comply with all conditions of a search.

    "key rotation"      these words, one after the other: in double quotes, straight or curly ones
    -draft  -"old key"  not this word, not this phrase

A hyphen leaves out only what follows it directly, behind a blank or at the beginning: a word that begins with a letter
and has two letters or more. So -5, -x, --rerank, e-mail, state-of-the-art and "- item" are text, and in a query of
several lines so is what begins one: it is an item of a list. A quote opens behind a blank or at the beginning; one that
is not closed, or has no word in it, is text, as in 5" disk.

A phrase stands in a passage if its words follow each other in the text, in the title or in a heading above it, as the
tokeniser sees them and in any form that search treats alike: case, accents and English endings do not count. The
postings know which passages have all words of a phrase; only their texts are read. A phrase that no passage has is
text, if the query has other words: what a question quotes is often a name that its answer has in another form.

A regular expression (`SearchOptions.regex`) is looked for in the texts of all passages that the other conditions allow,
as it is typed, for a limited time.
"""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from semsearch.arrays.id_ranges import IdRanges
from semsearch.arrays.types import Bool, Int64, UInt64
from semsearch.errors import UsageError, quoted
from semsearch.results.options import SearchOptions, Syntax
from semsearch.search.boosts import parse_boost
from semsearch.search.filter_sql import allowed_by_filters, unmatched
from semsearch.search.index_reader import IndexView
from semsearch.storage.catalogue import get_titled_texts, need_passages
from semsearch.text.terms import Lexicon
from semsearch.text.text_lengths import heading_text
from semsearch.text.tokens import HashedWords, words

# -- Parsing -----------------------------------------------------------------------------------------------------------

_MAY_HAVE_SYNTAX = re.compile(r'(?:^|\s)-?["“„«]|(?:^|\s)-\w')  # cheaper than parsing each query
_QUOTED = r'"([^"]*)"|“([^“”]*)”|„([^„“”]*)[“”]|«([^«»]*)»'
_MOST = 500  # phrases and words to leave out: each is looked up in the index
_PARTS = re.compile(rf"(?<!\S)(-?)(?:{_QUOTED})|(?<!\S)-([^\W\d_]\S*)")


@dataclass(frozen=True, slots=True)
class QuerySyntax:
    """A parsed query: the text that is compared, and the phrases, of one word or more, that decide."""

    text: str
    must: tuple[str, ...] = ()  # phrases that a passage must have
    must_not: tuple[str, ...] = ()
    has_other_words: bool = False  # beside the phrases


def parse_query(query: str, syntax: Syntax) -> QuerySyntax:
    """Parse a query; with the syntax "plain" all of it is text. Raises UsageError for one that only excludes words."""
    if syntax != "full" or not _MAY_HAVE_SYNTAX.search(query):
        return QuerySyntax(query)
    must, must_not, text, other, done = list[str](), list[str](), "", "", 0
    for match, phrase, is_excluded in _phrases(query):
        between = query[done : match.start()]
        (must_not if is_excluded else must).append(phrase)
        text += between + ("" if is_excluded else phrase)
        other += between
        done = match.end()
    if not must and not must_not:
        return QuerySyntax(query)
    if len(must) + len(must_not) > _MOST:
        raise UsageError(f"the query has more than {_MOST} phrases and excluded words; give it as plain text")
    text = (text + query[done:]).strip()
    if not words(text):
        raise UsageError(f"the query {quoted(query)} only excludes words; add words to search for")
    return QuerySyntax(text, tuple(must), tuple(must_not), has_other_words=bool(words(other + query[done:])))


def _phrases(query: str) -> Iterator[tuple[re.Match[str], str, bool]]:
    """The parts of a query that are phrases or words to leave out, and whether they are left out."""
    for match in _PARTS.finditer(query):
        minus, *in_quotes, word = match.groups()
        phrase = word or next((text for text in in_quotes if text is not None), "")
        is_excluded = bool(minus or word)
        if words(phrase) and not (is_excluded and _is_text(query, match.start(), word)):
            yield match, phrase, is_excluded


def _is_text(query: str, start: int, word: str | None) -> bool:
    """Return whether what a hyphen stands before is not left out: one letter, as of an option; an item of a list."""
    if word is not None and len(parts := words(word)) == 1 and len(parts[0]) == 1 and parts[0].isascii():
        return True
    return "\n" in query and query[:start].rpartition("\n")[2].strip() == ""


# -- Passages that may answer ------------------------------------------------------------------------------------------


def allowed_passages(
    options: SearchOptions, index: IndexView, syntax: QuerySyntax | None = None
) -> tuple[IdRanges | None, list[str]]:
    """The passages that filters, phrases, excluded words and regular expressions let through, None for all; and a
    notice of each condition that nothing fulfils, or that excludes all that is left."""
    of_boosts = (boost.text for boost in map(parse_boost, options.boosts) if boost.filter is not None)
    notices = unmatched((*options.filters, *of_boosts), index)
    allowed = allowed_by_filters(index, options)
    if allowed is not None and not allowed and options.filters and not notices:
        notices.append(f"no document passes {' and '.join(map(quoted, options.filters))}")
    must, must_not = ((), ()) if syntax is None else (syntax.must, syntax.must_not)
    if not must and not must_not and not options.regex:
        return allowed, notices
    passing = index.reader.lexical.ids if allowed is None else allowed
    left = "passage" if allowed is None else "passage that the filters allow"
    for phrase in must:
        having = _having(phrase, passing, index)
        if not having:
            notices.append(f"no {left} has the phrase {quoted(phrase)}")
            if syntax is not None and syntax.has_other_words:
                notices[-1] += "; its words are searched for one by one"
                continue
        left = "passage that is left" if len(having) < len(passing) else left
        passing = having
    for phrase in must_not:
        rest = passing.without(_having(phrase, passing, index))
        if passing and not rest:
            notices.append(f"every {left} has {quoted(phrase)}, which the query excludes")
        passing = rest
    for pattern in options.regex:
        matching = _matching(pattern, passing, index)
        if passing and not matching:
            notices.append(f"no {left} matches the regular expression {quoted(pattern)}")
        passing = matching
    return passing, notices


_AT_ONCE = 4096  # passages whose texts are read at a time


def _having(phrase: str, allowed: IdRanges, index: IndexView) -> IdRanges:
    """The allowed passages that have a phrase, by the rules of any language of the index."""
    lexical, lexicon, having = index.reader.lexical, Lexicon(keeps_spellings=False), [np.zeros(0, dtype=np.int64)]
    for language in lexical.languages:
        terms = lexicon.in_order([phrase], language).hashes
        ids = lexical.having(terms)
        ids = ids[allowed.has(ids)]
        if len(terms) == 1:
            having.append(ids)
            continue
        for part in _parts(ids):
            rows = get_titled_texts(index.db, part)
            lines = [(row.text, *heading_text(row.title, row.headings).split("\n")) for row in rows]
            owners = np.repeat([row.passage_id for row in rows], [*map(len, lines)])
            in_order = lexicon.in_order([line for of_row in lines for line in of_row], language)
            having.append(owners[follow_each_other(in_order, terms)])
    return IdRanges.of_ids(np.unique(np.concatenate(having)))


def follow_each_other(texts: HashedWords, wanted: UInt64) -> Bool:
    """In which texts the wanted terms follow each other, given the terms of n texts in order. -> (n,)"""
    has = np.zeros(len(texts.indptr) - 1, dtype=np.bool_)
    places = len(texts.hashes) - len(wanted) + 1
    if places <= 0:
        return has
    matches = np.ones(places, dtype=np.bool_)
    for step, term in enumerate(wanted):
        matches &= texts.hashes[step : step + places] == term
    starts = np.flatnonzero(matches)
    numbers = np.searchsorted(texts.indptr, starts, side="right") - 1
    has[numbers[starts + len(wanted) <= texts.indptr[numbers + 1]]] = True
    return has


_REGEX_SECONDS = 5.0  # for all passages, reading them included


def _matching(pattern: str, allowed: IdRanges, index: IndexView) -> IdRanges:
    """The allowed passages in whose text a regular expression matches. Raises UsageError for one that takes too long,
    and for one that is none."""
    import regex  # which few searches need; of Python's own, matching cannot be stopped

    try:
        compiled = regex.compile(pattern, regex.MULTILINE)
    except regex.error as error:
        raise UsageError(f"{pattern!r} is not a regular expression: {error}") from None
    ids, matching, end = allowed.all_ids(), list[int](), time.monotonic() + _REGEX_SECONDS
    try:
        for part in _parts(ids):
            for id_, row in need_passages(index.db, part).items():
                if compiled.search(row.text, timeout=max(end - time.monotonic(), 1e-9)):
                    matching.append(id_)
    except TimeoutError:
        raise UsageError(
            f"the regular expression {pattern!r} takes more than {_REGEX_SECONDS:g} seconds for {len(ids):,} "
            "passages; make it simpler, or choose fewer passages by a filter"
        ) from None
    return IdRanges.of_ids(np.sort(np.array(matching, dtype=np.int64)))


def _parts(ids: Int64) -> Iterator[list[int]]:
    return (ids[first : first + _AT_ONCE].tolist() for first in range(0, len(ids), _AT_ONCE))
