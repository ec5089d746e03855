"""The passages that may answer: those that comply with all conditions of a search; and notices of conditions that none
fulfils.

A phrase stands in a passage if its words follow each other in the text, in the title or in a heading above it, in any
form that search treats alike: case, accents and English endings do not count. The postings know which passages have all
words of a phrase; only their texts are read. A phrase that no passage has is text, if the query has other words: what a
question quotes is often a name that its answer has in another form.

A filter matches nothing where no document has its key, or where a value or path is misspelt. Of a filter that excludes
documents, those that it would exclude are looked for. Each filter is checked once in a generation.
"""

from __future__ import annotations

import re
import time
from collections.abc import Iterator, Sequence
from difflib import get_close_matches
from itertools import islice, pairwise
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from semsearch.arrays.id_ranges import IdRanges, distinct
from semsearch.arrays.types import Int64
from semsearch.errors import UsageError, quoted
from semsearch.filters import Comparison, all_match, metadata_texts, parse, parse_boost
from semsearch.results.options import SearchOptions, Syntax
from semsearch.search.index_reader import IndexView
from semsearch.storage.document_rows import filter_rows
from semsearch.storage.passage_rows import PassageRow, require_passages, with_documents
from semsearch.system.locations import working_folder
from semsearch.text.terms import Lexicon
from semsearch.text.text_lengths import heading_text
from semsearch.text.tokens import words

if TYPE_CHECKING:
    import sqlite3

# -- The syntax of queries: phrases that passages must have, and words that they must not have -------------------------
#
#     "key rotation"      these words, one after the other: in double quotes, straight or curly ones
#     -draft  -"old key"  not this word, not this phrase
#
# A hyphen leaves out only what follows it directly, behind a blank or at the beginning: a word that begins with a
# letter and has two letters or more. So -5, -x, --rerank, e-mail and "- item" are text, and in a query of several lines
# so is what begins one: an item of a list. A quote opens behind a blank or at the beginning; one that is not closed, or
# has no word in it, is text, as in 5" disk.

_QUOTED = r'"([^"]*)"|“([^“”]*)”|„([^„“”]*)[“”]|«([^«»]*)»'
_MOST = 500  # phrases and words to leave out: each is looked up in the index
_PARTS = re.compile(rf"(?<!\S)(-?)(?:{_QUOTED})|(?<!\S)-([^\W\d_]\S*)")


class QuerySyntax(NamedTuple):
    """A parsed query: the text that is compared, and the phrases, of one word or more, that decide."""

    text: str
    must: tuple[str, ...] = ()  # phrases that a passage must have
    must_not: tuple[str, ...] = ()
    has_other_words: bool = False  # beside the phrases


def parse_query(query: str, syntax: Syntax) -> QuerySyntax:
    """Parse a query; with the syntax "plain" all of it is text. Raises UsageError for one that only excludes words."""
    if syntax != "full":
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
        is_option = word is not None and re.fullmatch("[a-zA-Z]", "".join(words(word))) is not None
        is_item = "\n" in query and not query[: match.start()].rpartition("\n")[2].strip()
        if words(phrase) and not ((minus or word) and (is_option or is_item)):
            yield match, phrase, bool(minus or word)


_NO_SYNTAX = QuerySyntax("")


# -- All conditions of a search ----------------------------------------------------------------------------------------


def allowed_passages(
    options: SearchOptions, index: IndexView, syntax: QuerySyntax = _NO_SYNTAX
) -> tuple[IdRanges | None, list[str]]:
    """The passages that filters, phrases, excluded words and regular expressions let through, None for all; and a
    notice of each condition that nothing fulfils, or that excludes all that is left."""
    allowed, unmatched = _allowed_by_filters(options, index)
    notices = [*unmatched]
    if options.passages is not None:
        wanted = distinct(np.array(options.passages, dtype=np.int64))
        known = index.reader.lexical.ids if allowed is None else allowed
        allowed = IdRanges.of_ids(wanted[known.has(wanted)])
    if not syntax.must and not syntax.must_not and not options.regex:
        return allowed, notices
    passing = index.reader.lexical.ids if allowed is None else allowed
    left = "passage" if allowed is None else "passage that the filters allow"
    for phrase in syntax.must:
        having = _having(phrase, passing, index)
        if not having:
            notices.append(f"no {left} has the phrase {quoted(phrase)}")
            if syntax.has_other_words:
                notices[-1] += "; its words are searched for one by one"
                continue
        left = "passage that is left" if len(having) < len(passing) else left
        passing = having
    for phrase in syntax.must_not:
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


# -- Filters -----------------------------------------------------------------------------------------------------------

_OWN = ("path", "title", "format", "modified")
_MEANT = {"type": "format", "ext": "format", "extension": "format", "folder": "path", "dir": "path", "file": "path"}


def _allowed_by_filters(options: SearchOptions, index: IndexView) -> tuple[IdRanges | None, Sequence[str]]:
    """The passages that all filters let through, None without any; and notices of filters, also those of boosts, that
    match nothing. They are remembered while the generation lasts."""
    of_boosts = tuple(boost.filter.text for boost in map(parse_boost, options.boosts) if boost.filter is not None)
    if not options.filters and not of_boosts:
        return None, ()
    key = tuple(options.filters), of_boosts, working_folder()
    return index.reader.caches.filtered.of([key], lambda _: {key: _read_filtered(*key[:2], index)})[key]


def _read_filtered(
    texts: Sequence[str], of_boosts: Sequence[str], index: IndexView
) -> tuple[IdRanges | None, Sequence[str]]:
    filters, passing = [parse(text) for text in texts], list[tuple[int, int]]()
    comparisons = (comparison for filter_ in (*filters, *map(parse, of_boosts)) for comparison in filter_.comparisons)
    unmatched = [(comparison, *test) for comparison in comparisons for test in comparison.tests.items()]
    index.check_documents()
    for row in filter_rows(index.db):
        unmatched = [(comparison, value, test) for comparison, value, test in unmatched if not test(row)]
        if all_match(filters, row):
            passing.append((row.first_passage, row.passages))
    notices = [_notice(comparison, value, index.db) for comparison, value, _ in unmatched]
    if filters and not passing and not notices:
        notices = [f"no document passes {' and '.join(map(quoted, texts))}"]
    return IdRanges.of(passing) if filters else None, notices


def _notice(comparison: Comparison, value: str, db: sqlite3.Connection) -> str:
    """Why a comparison matches nothing; for a key that no document has, the one that is perhaps meant."""
    key = comparison.key
    if key == "path":
        return f"no path matches {value!r}"
    keys = {*_OWN, *(name for row in filter_rows(db) for name in metadata_texts(row.metadata_json))}
    if key in keys:
        return f"no document has {key}{comparison.operator.lstrip('!')}{value}"
    meant = [_MEANT[key]] if key in _MEANT else get_close_matches(key, sorted(keys), 1, 0.7)
    return f"no document has the key {key!r}{f'; did you mean {meant[0]}?' if meant else ''}"


# -- Phrases and regular expressions -----------------------------------------------------------------------------------

_AT_ONCE = 4096  # passages whose texts are read at a time


def _having(phrase: str, allowed: IdRanges, index: IndexView) -> IdRanges:
    """The allowed passages that have a phrase, by the rules of any language of the index."""
    lexical, lexicon, having = index.reader.lexical, Lexicon(keeps_spellings=False), [np.zeros(0, dtype=np.int64)]
    for language in lexical.languages:
        terms = lexicon.in_order([phrase], language).hashes
        ids = lexical.passages_with(terms)
        ids = ids[allowed.has(ids)]
        if len(terms) == 1:
            having.append(ids)
            continue
        for part in _parts(ids):
            rows = require_passages(index.db, part).values()
            lines = [
                (row.text, *heading_text(document.title, row.headings).split("\n"))
                for row, document in with_documents(index.db, rows)
            ]
            owners = [row.id for row, of_row in zip(rows, lines, strict=True) for _ in of_row]
            terms_in_order = lexicon.in_order([line for of_row in lines for line in of_row], language)
            ends = pairwise(terms_in_order.indptr.tolist())
            lines_in_order = (terms_in_order.hashes[start:end] for start, end in ends)
            has = [terms.tobytes() in line.tobytes() for line in lines_in_order]  # words of eight bytes
            having.append(np.array(owners, dtype=np.int64)[has])
    return IdRanges.of_ids(distinct(np.concatenate(having)))


_REGEX_SECONDS = 5.0  # for all passages, reading them included


class TimedRegex:
    """A regular expression that is looked for in many texts, for a limited time from now on.

    Raises UsageError for a text that is none, and, when it is asked, after this time.
    """

    def __init__(self, pattern: str) -> None:
        import regex  # which few searches need; of Python's own, matching cannot be stopped

        try:
            self._compiled = regex.compile(pattern, regex.MULTILINE)
        except regex.error as error:
            raise UsageError(f"{pattern!r} is not a regular expression: {error}") from None
        self._end = time.monotonic() + _REGEX_SECONDS

    def starts(self, text: str, *, most: int | None = None) -> list[int]:
        """Where it matches in a text, at most so often."""
        try:
            matches = self._compiled.finditer(text, timeout=max(self._end - time.monotonic(), 1e-9))
            return [match.start() for match in islice(matches, most)]
        except TimeoutError:
            raise UsageError(
                f"the regular expression {self._compiled.pattern!r} takes more than {_REGEX_SECONDS:g} seconds in all "
                "passages; make it simpler, or choose fewer passages by a filter"
            ) from None


def _matching(pattern: str, allowed: IdRanges, index: IndexView) -> IdRanges:
    """The allowed passages in whose text a regular expression matches. Raises UsageError as `TimedRegex`."""
    timed = TimedRegex(pattern)
    ids = [row.id for row in in_order(allowed.all_ids(), index) if timed.starts(row.text, most=1)]
    return IdRanges.of_ids(np.array(ids, dtype=np.int64))


def in_order(ids: Int64, index: IndexView) -> Iterator[PassageRow]:
    """The rows of many passages with rising ids, read some at a time."""
    for part in _parts(ids):
        rows = require_passages(index.db, part)
        yield from map(rows.__getitem__, part)


def _parts(ids: Int64) -> Iterator[list[int]]:
    return (ids[first : first + _AT_ONCE].tolist() for first in range(0, len(ids), _AT_ONCE))
