"""The syntax of queries: phrases that a passage must have, words that it must not have, and the passages that comply.

    "key rotation"      these words, one after the other: in double quotes, straight or curly ones
    -draft  -"old key"  not this word, not this phrase

A hyphen leaves out only what follows it directly, behind a blank or at the beginning: a word that begins with a letter
and has two letters or more. So -5, -x, --rerank, e-mail, state-of-the-art and "- item" are text, and in a query of
several lines so is what begins one: it is an item of a list. A quote opens behind a blank or at the beginning; one that
is not closed, or has no word in it, is text, as in 5" disk.

A phrase stands in a passage if its words follow each other in the text, in the title or in a heading above it, as the
tokeniser sees them and in any form that search treats alike: case, accents and English endings do not count. The
postings know which passages have all words of a phrase; only their texts are read, to see whether the words follow each
other. A phrase that no passage has is text, if the query has other words: what a question quotes is often a name that
its answer has in another form.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from semsearch.arrays.id_ranges import IdRanges
from semsearch.arrays.types import Bool, Int64, UInt64
from semsearch.errors import UsageError, quoted
from semsearch.lexical.bm25 import WordSearch
from semsearch.storage.catalogue import get_titled_texts
from semsearch.text.terms import Lexicon
from semsearch.text.text_lengths import heading_text
from semsearch.text.tokens import HashedWords, words

if TYPE_CHECKING:
    import sqlite3

# -- Parsing -----------------------------------------------------------------------------------------------------------

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

    @property
    def decides(self) -> bool:
        """Return whether there is a phrase that passages must have, or must not have."""
        return bool(self.must or self.must_not)


def parse_query(query: str) -> QuerySyntax:
    """Parse a query. Raises UsageError for one that only excludes words."""
    must, must_not, text, done, other = list[str](), list[str](), list[str](), 0, ""
    for match, phrase, is_excluded in _phrases(query):
        (must_not if is_excluded else must).append(phrase)
        text += [query[done : match.start()], "" if is_excluded else phrase]
        other += query[done : match.start()]
        done = match.end()
        if len(must) + len(must_not) > _MOST:
            raise UsageError(f"the query has more than {_MOST} phrases and excluded words; give it as plain text")
    if not must and not must_not:
        return QuerySyntax(query)
    whole = "".join([*text, query[done:]]).strip()
    if not words(whole):
        raise UsageError(f"the query {quoted(query)} only excludes words; add words to search for")
    return QuerySyntax(whole, tuple(must), tuple(must_not), has_other_words=bool(words(other + query[done:])))


def _phrases(query: str) -> Iterator[tuple[re.Match[str], str, bool]]:
    """The parts of a query that are phrases or words to leave out, and whether they are left out."""
    for match in _PARTS.finditer(query):
        minus, *quoted, word = match.groups()
        phrase = word or next((each for each in quoted if each is not None), "")
        is_excluded = bool(minus or word)
        if words(phrase) and not (is_excluded and _is_text(query, match.start(), word)):
            yield match, phrase, is_excluded


def _is_text(query: str, start: int, word: str | None) -> bool:
    """Return whether what a hyphen stands before is not left out: one letter, as of an option; an item of a list."""
    if word is not None and len(found := words(word)) == 1 and len(found[0]) == 1 and found[0].isascii():
        return True
    return "\n" in query and query[:start].rpartition("\n")[2].strip() == ""


# -- Passages with the phrases -----------------------------------------------------------------------------------------


_AT_ONCE = 4096  # passages whose texts are read at a time


def allowed_by_phrases(
    db: sqlite3.Connection, lexical: WordSearch, syntax: QuerySyntax, allowed: IdRanges | None
) -> tuple[IdRanges, list[str]]:
    """The ids of the passages that phrases let through, of those that filters allow (None: all); and a notice of each
    phrase that none of these has. If the query has other words too, such a phrase lets all through."""
    passing, notices = lexical.ids if allowed is None else allowed, list[str]()
    for phrase in syntax.must:
        having = _having(db, lexical, phrase, passing)
        if not len(having):
            who = "no passage has" if allowed is None else "no passage that the filters allow has"
            notices.append(f"{who} the phrase {quoted(phrase)}")
            if syntax.has_other_words:
                notices[-1] += "; its words are searched for one by one"
                continue
        passing = IdRanges.of_ids(having)
    for phrase in syntax.must_not:
        passing = passing.without(IdRanges.of_ids(_having(db, lexical, phrase, passing)))
    return passing, notices


def _having(db: sqlite3.Connection, lexical: WordSearch, phrase: str, allowed: IdRanges) -> Int64:
    """The ids of the allowed passages that have a phrase, rising."""
    found = [_having_in(db, lexical, phrase, language, allowed) for language in lexical.languages]
    return found[0] if len(found) == 1 else np.unique(np.concatenate(found))


def _having_in(db: sqlite3.Connection, lexical: WordSearch, phrase: str, language: str, allowed: IdRanges) -> Int64:
    """The ids of the allowed passages that have a phrase by the rules of a language, rising."""
    wanted = Lexicon(keeps_spellings=False).in_order([phrase], language).hashes
    candidates = lexical.having(wanted)
    candidates = candidates[allowed.has(candidates)]
    if len(wanted) == 1:
        return candidates
    parts = [candidates[first : first + _AT_ONCE] for first in range(0, len(candidates), _AT_ONCE)]
    return np.concatenate([candidates[:0], *(_checked(db, part, wanted, language) for part in parts)])


def _checked(db: sqlite3.Connection, ids: Int64, wanted: UInt64, language: str) -> Int64:
    """Those of the passages with rising ids in whose texts the wanted terms follow each other."""
    rows = get_titled_texts(db, ids.tolist())
    above = {(row.title, row.headings): heading_text(row.title, row.headings).split("\n") for row in rows}
    lines = list(dict.fromkeys(line for each in above.values() for line in each))  # passages share theirs
    lexicon = Lexicon(keeps_spellings=False)
    in_line = dict(zip(lines, follow_each_other(lexicon.in_order(lines, language), wanted).tolist(), strict=True))
    in_text = follow_each_other(lexicon.in_order([row.text for row in rows], language), wanted).tolist()
    having = [
        row.passage_id
        for row, has in zip(rows, in_text, strict=True)
        if has or any(in_line[line] for line in above[row.title, row.headings])
    ]
    return np.sort(np.array(having, dtype=np.int64))


def follow_each_other(found: HashedWords, wanted: UInt64) -> Bool:
    """In which texts the wanted terms follow each other, given the terms of n texts in order. -> (n,)"""
    has = np.zeros(len(found.indptr) - 1, dtype=np.bool_)
    places = len(found.hashes) - len(wanted) + 1
    if places <= 0:
        return has
    matches = np.ones(places, dtype=np.bool_)
    for step, term in enumerate(wanted):
        matches &= found.hashes[step : step + places] == term
    starts = np.flatnonzero(matches)
    texts = np.searchsorted(found.indptr, starts, side="right") - 1
    has[texts[starts + len(wanted) <= found.indptr[texts + 1]]] = True
    return has
