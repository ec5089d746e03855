"""The passages that may answer: those that comply with all conditions of a search; and notices of conditions that none
fulfils.

A phrase stands in a passage if its words follow each other in the text, in the title or in a heading above it, as the
tokeniser sees them and in any form that search treats alike: case, accents and English endings do not count. The
postings know which passages have all words of a phrase; only their texts are read. A phrase that no passage has is
text, if the query has other words: what a question quotes is often a name that its answer has in another form.

A regular expression (`SearchOptions.regex`) is looked for in the texts of all passages that the other conditions allow,
as it is typed, for a limited time.

A filter matches nothing where no document has its key, or where a value or path is misspelt. Of a filter that excludes
documents, those that it would exclude are looked for. Each filter is checked once in a generation.
"""

from __future__ import annotations

import json
import re
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from itertools import islice
from typing import TYPE_CHECKING

import numpy as np

from semsearch.arrays.id_ranges import IdRanges, distinct
from semsearch.arrays.types import Bool, Int64, UInt64
from semsearch.errors import UsageError, quoted
from semsearch.results.options import SearchOptions, Syntax
from semsearch.search.boosts import parse_boost
from semsearch.search.filters import Filter, comparison, condition, nested_values, parse, positive, teach
from semsearch.search.index_reader import IndexView
from semsearch.storage.document_rows import has_record_metadata
from semsearch.storage.passage_rows import need_passages, with_documents
from semsearch.system.locations import working_folder
from semsearch.text.terms import Lexicon
from semsearch.text.text_lengths import heading_text
from semsearch.text.tokens import HashedWords, words

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


_NO_SYNTAX = QuerySyntax("")


# -- All conditions of a search ----------------------------------------------------------------------------------------


def allowed_passages(
    options: SearchOptions, index: IndexView, syntax: QuerySyntax = _NO_SYNTAX
) -> tuple[IdRanges | None, list[str]]:
    """The passages that filters, phrases, excluded words and regular expressions let through, None for all; and a
    notice of each condition that nothing fulfils, or that excludes all that is left."""
    of_boosts = (boost.text for boost in map(parse_boost, options.boosts) if boost.filter is not None)
    notices = _unmatched((*options.filters, *of_boosts), index)
    allowed = _allowed_by_filters(index, options)
    if allowed is not None and not allowed and options.filters and not notices:
        notices.append(f"no document passes {' and '.join(map(quoted, options.filters))}")
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

_PASSAGES_OF_DOCUMENTS = (
    "SELECT first_passage, passages FROM documents LEFT JOIN roots ON roots.id = documents.root_id WHERE "
)
_PASSAGES_OF_RECORDS = """SELECT passages.id, 1 FROM documents JOIN passages ON passages.id >= documents.first_passage
    AND passages.id < documents.first_passage + documents.passages LEFT JOIN roots ON roots.id = documents.root_id
    LEFT JOIN record_metadata ON record_metadata.passage_id = passages.id
    WHERE documents.id IN (SELECT document_id FROM record_metadata) AND """
_PASSAGES_NOT_OF_RECORDS = " AND documents.id NOT IN (SELECT document_id FROM record_metadata)"
_BOTH = "json_patch(documents.metadata, coalesce(record_metadata.metadata, '{}'))"


def _allowed_by_filters(index: IndexView, options: SearchOptions) -> IdRanges | None:
    """The ids of the passages that the filters and passages of a search allow; None if there are none.

    Raises UsageError for a filter that means nothing.
    """
    if not options.filters and options.passages is None:
        return None
    if options.filters:
        index.check_documents()
    allowed = _passing(index.db, options.filters)
    if options.passages is None:
        return allowed
    wanted = distinct(np.array(options.passages, dtype=np.int64))
    return IdRanges.of_ids(wanted[allowed.has(wanted)])


def _passing(db: sqlite3.Connection, filters: Sequence[str]) -> IdRanges:
    """The ids of the passages that pass all filters."""
    parsed, here = [parse(text) for text in filters], working_folder().as_posix()
    teach(db)
    where = condition(parsed, here=here)
    sql = _PASSAGES_OF_DOCUMENTS + where.sql  # the SQL is ours, what was typed is in parameters
    if not has_record_metadata(db):
        return IdRanges.of(db.execute(sql, where.parameters))
    of_records = condition(parsed, here=here, metadata=_BOTH)
    return IdRanges.of(
        [
            *db.execute(sql + _PASSAGES_NOT_OF_RECORDS, where.parameters),
            *db.execute(_PASSAGES_OF_RECORDS + of_records.sql, of_records.parameters),
        ]
    )


# -- Phrases and regular expressions -----------------------------------------------------------------------------------

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
            rows = need_passages(index.db, part).values()
            lines = [
                (row.text, *heading_text(document.title, row.headings).split("\n"))
                for row, document in with_documents(index.db, rows)
            ]
            owners = np.repeat([row.id for row in rows], [*map(len, lines)])
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
    timed, matching = TimedRegex(pattern), list[int]()
    for part in _parts(allowed.all_ids()):
        matching += [id_ for id_, row in need_passages(index.db, part).items() if timed.starts(row.text, most=1)]
    return IdRanges.of_ids(np.sort(np.array(matching, dtype=np.int64)))


def _parts(ids: Int64) -> Iterator[list[int]]:
    return (ids[first : first + _AT_ONCE].tolist() for first in range(0, len(ids), _AT_ONCE))


# -- Filters that match nothing ----------------------------------------------------------------------------------------

_OWN = ("path", "title", "format", "modified")
_MEANT = {"type": "format", "ext": "format", "extension": "format", "folder": "path", "dir": "path", "file": "path"}
_ANY_DOCUMENT = "SELECT 1 FROM documents LEFT JOIN roots ON roots.id = root_id WHERE {} LIMIT 1"
_ANY_RECORD = "SELECT 1 FROM record_metadata WHERE {} LIMIT 1"
_METADATA = "SELECT DISTINCT metadata FROM documents UNION SELECT DISTINCT metadata FROM record_metadata"


def _unmatched(filters: Iterable[str], index: IndexView) -> list[str]:
    """A notice of each comparison in filters that matches no document. Raises UsageError for one without a meaning."""
    notices = list[str]()
    checked = index.reader.memory.unmatched_filters
    for text in filters:
        if text not in checked:
            index.check_documents()
            teach(index.db)
            wanted = [replace(each, operator=positive(each.operator)) for each in parse(text).comparisons]
            checked[text] = tuple(_sentence(index.db, each) for each in wanted if not _matches_any(index.db, each))
        notices += checked[text]
    return notices


def _matches_any(db: sqlite3.Connection, wanted: Filter) -> bool:
    where = comparison(wanted, here=working_folder().as_posix())
    if db.execute(_ANY_DOCUMENT.format(where.sql), where.parameters).fetchone():
        return True
    if wanted.key.casefold() in _OWN or not has_record_metadata(db):
        return False
    where = comparison(wanted, metadata="record_metadata.metadata")
    return db.execute(_ANY_RECORD.format(where.sql), where.parameters).fetchone() is not None


def _sentence(db: sqlite3.Connection, wanted: Filter) -> str:
    """What a filter lacks; of a key that no document has, the one that is perhaps meant."""
    key, sign = wanted.key.casefold(), "=" if wanted.operator == ".." else wanted.operator
    if key == "path":
        return f"no path matches {wanted.value!r}"
    keys = {*_OWN} if key in _OWN else {*_OWN, *_keys(db)}
    if key in keys:
        return f"no document has {wanted.key}{sign}{wanted.value}"
    meant = [_MEANT[key]] if key in _MEANT else get_close_matches(key, sorted(keys), 1, 0.7)
    return f"no document has the key {wanted.key!r}{f'; did you mean {meant[0]}?' if meant else ''}"


def _keys(db: sqlite3.Connection) -> set[str]:
    """The keys of all metadata, casefolded."""
    metadata = (json.loads(text) for (text,) in db.execute(_METADATA))
    return {
        key for fields in metadata for name, item in fields.items() for key, _ in nested_values(name.casefold(), item)
    }
