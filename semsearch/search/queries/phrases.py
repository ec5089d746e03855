"""The passages that have all phrases of a query, and none of those that it leaves out.

A phrase stands in a passage if its words follow each other in the text, in the title or in a heading above it, as the
tokeniser sees them and in any form that search takes for the same: case, accents and English endings do not count. The
postings know which passages have all words of a phrase; only their texts are read, to see whether the words are
together.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from semsearch.arrays.id_ranges import IdRanges
from semsearch.lexical.search import WordSearch
from semsearch.search.queries.query_syntax import QuerySyntax
from semsearch.search.telling import tell
from semsearch.storage.catalogue import get_titled_texts
from semsearch.text.headings import heading_text
from semsearch.text.terms.lexicon import Lexicon
from semsearch.text.tokens import HashedWords, UInt64

if TYPE_CHECKING:
    import sqlite3

Int64 = npt.NDArray[np.int64]
Bool = npt.NDArray[np.bool_]

_AT_ONCE = 4096  # passages whose texts are read at a time


def allowed_by_phrases(
    db: sqlite3.Connection, lexical: WordSearch, asked: QuerySyntax, allowed: IdRanges | None
) -> IdRanges:
    """The ids of the passages that phrases let through, of those that filters allow. None: filters allow all."""
    found = lexical.ids if allowed is None else allowed
    for phrase in asked.must:
        having = _having(db, lexical, phrase, found)
        if not len(having):
            who = "no passage has" if allowed is None else "no passage that may answer has"
            tell(f"{who} the phrase {phrase!r}", query=asked.text)
        found = IdRanges.of_ids(having)
    for phrase in asked.must_not:
        found = found.without(IdRanges.of_ids(_having(db, lexical, phrase, found)))
    return found


def _having(db: sqlite3.Connection, lexical: WordSearch, phrase: str, allowed: IdRanges) -> Int64:
    """The ids of the allowed passages that have a phrase, rising."""
    found = [_having_in(db, lexical, phrase, language, allowed) for language in lexical.languages]
    return found[0] if len(found) == 1 else np.unique(np.concatenate(found))


def _having_in(db: sqlite3.Connection, lexical: WordSearch, phrase: str, language: str, allowed: IdRanges) -> Int64:
    """The ids of the allowed passages that have a phrase by the rules of a language, rising."""
    wanted = Lexicon().in_order([phrase], language).hashes
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
    lexicon = Lexicon()
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
