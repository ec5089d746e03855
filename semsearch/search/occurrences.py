"""Mode "exact": every passage in which a text stands literally, in the order of the documents, with how often.

As `rg -F` counts, but over all formats that are read: in the text of a passage, and in those headings above it that the
passage before does not have. Case counts. A space is any white space, so that a phrase may go on in the next line.
Without a text, the matches of the regular expressions are counted. No word is looked up: all allowed passages are read.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import islice

import numpy as np

from semsearch.arrays.types import Int64
from semsearch.errors import UsageError
from semsearch.results.hits import Hits, Occurrences
from semsearch.results.options import SearchOptions
from semsearch.search.allowed_passages import TimedRegex, allowed_passages
from semsearch.search.candidates import Candidates, LexicalScores, Query, Quote, Ranking
from semsearch.search.index_reader import IndexView
from semsearch.search.make_hits import make_hits
from semsearch.storage.document_rows import need_documents
from semsearch.storage.passage_rows import PassageRow, need_passages
from semsearch.text.text_lengths import new_headings

_AT_ONCE = 4096  # passages whose texts are read at a time

Spans = Callable[[str], list[int]]  # where matches begin in a text


def find_occurrences(text: str, options: SearchOptions, index: IndexView) -> Hits:
    """The first k passages that have a text, or match regular expressions, and the numbers of all.

    Raises UsageError for neither, and for an expression that takes too long.
    """
    words = text.split()
    if words:
        starts, filters = _starts_of(re.compile(r"\s+".join(map(re.escape, words)))), options
    elif options.regex:
        starts, filters = _starts_of_all([TimedRegex(pattern) for pattern in options.regex]), replace(options, regex=())
    else:
        raise UsageError("mode exact looks for a text or a regular expression; give one")
    allowed, notices = allowed_passages(filters, index)
    ids = (index.reader.lexical.ids if allowed is None else allowed).all_ids()
    quotes: dict[int, Quote] = {}
    counts: dict[int, int] = {}
    documents: dict[int, int] = {}  # of these passages
    for row, heading in _in_order(ids, index):
        if places := starts(f"{heading}{row.text}"):
            counts[row.id], documents[row.id] = len(places), row.document_id
            in_text = next((place for place in places if place >= len(heading)), 0)
            quotes[row.id] = _quote(row, in_text - len(heading))
    paths = {id_: (row.root, row.path) for id_, row in need_documents(index.db, {*documents.values()}).items()}
    order = [*islice(sorted(counts, key=lambda id_: (paths[documents[id_]], id_)), options.k)]
    hits = make_hits(*_as_ranking(text, options, order, index), [quotes[id_] for id_ in order], index)
    return Hits(
        [replace(hit, score=float(n), lexical=None, occurrences=n) for hit in hits for n in [counts[hit.passage_id]]],
        total=Occurrences(sum(counts.values()), len(counts), len(paths)),
        notices=tuple(notices),
    )


def _starts_of(pattern: re.Pattern[str]) -> Spans:
    return lambda text: [match.start() for match in pattern.finditer(text)]


def _starts_of_all(patterns: list[TimedRegex]) -> Spans:
    """Where any of several expressions matches in a text that all of them match; nowhere in others."""

    def starts(text: str) -> list[int]:
        by_pattern = [pattern.starts(text) for pattern in patterns]
        return sorted(start for of_pattern in by_pattern for start in of_pattern) if all(by_pattern) else []

    return starts


def _in_order(ids: Int64, index: IndexView) -> Iterator[tuple[PassageRow, str]]:
    """The passages with their new headings, each on a line."""
    document, before = -1, tuple[str, ...]()
    for first in range(0, len(ids), _AT_ONCE):
        part = ids[first : first + _AT_ONCE].tolist()
        rows = need_passages(index.db, part)
        for id_ in part:
            row = rows[id_]
            headings = new_headings(before if row.document_id == document else (), row.headings)
            document, before = row.document_id, row.headings
            yield row, "".join(f"{heading}\n" for heading in headings)


def _quote(row: PassageRow, place: int) -> Quote:
    """The sentence at a place of a passage; the first for one in the headings."""
    number = max(int(np.searchsorted(row.sentences[:, 0], place, side="right")) - 1, 0)
    return Quote(number, number)


def _as_ranking(text: str, options: SearchOptions, order: list[int], index: IndexView) -> tuple[Query, Ranking]:
    """Passages in an order, as hits are made of them."""
    ids = np.array(sorted(order), dtype=np.int64)
    candidates = Candidates(ids, index.spans(ids), {})
    candidates.lexical = LexicalScores(np.zeros(len(ids)), np.zeros(len(ids)))
    positions = np.searchsorted(ids, np.array(order, dtype=np.int64)).tolist()
    return Query(text, options, None, None), Ranking(candidates, positions, dict.fromkeys(positions, ()), False)
