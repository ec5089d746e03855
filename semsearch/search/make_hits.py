"""Turn ranked passages into hits: their rows, the sentence to quote, its neighbours, a path to open, staleness.

A near-duplicate of a better passage is listed with that one, and is no hit of its own. A document is stale if its file
is no longer what was indexed (semsearch.sources.unchanged). At the end is mode "exact", which ranks nothing.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from typing import TYPE_CHECKING

import numpy as np

from semsearch.arrays.types import Float64, Int64
from semsearch.errors import UsageError
from semsearch.results.explanation import ExactWords, Origin
from semsearch.results.hits import DuplicatePassage, Hit, Hits, Occurrences
from semsearch.results.options import SearchOptions
from semsearch.search.allowed_passages import TimedRegex, allowed_passages
from semsearch.search.boosts import boosted
from semsearch.search.candidates import Candidates, Query, Quote, Ranking
from semsearch.search.index_reader import IndexView
from semsearch.storage.document_rows import DocumentRow, get_record_metadata, need_documents, stale_documents
from semsearch.storage.find_document import path_of
from semsearch.storage.passage_rows import PassageRow, need_passages
from semsearch.system.locations import working_folder
from semsearch.text.text_lengths import new_headings

if TYPE_CHECKING:
    import sqlite3

Sentences = tuple[str, ...]


def make_hits(query: Query, ranking: Ranking, quotes: Sequence[Quote], index: IndexView) -> list[Hit]:
    """The hits of a ranking, best first, which show these quotes, with `context` sentences of the document before and
    after."""
    candidates, ids, here = ranking.candidates, ranking.candidates.ids.tolist(), working_folder().as_posix()
    alike = [position for group in ranking.near_duplicates.values() for position in group]
    passages = index.passages([ids[position] for position in (*ranking.order, *alike)])
    documents = index.documents_of(passages.values())
    rows = [passages[ids[position]] for position in ranking.order]
    records = get_record_metadata(index.db, [id_ for id_, row in passages.items() if row.is_of_record])
    quoted = {row.document_id: documents[row.document_id] for row in rows}
    stale = stale_documents(quoted.values()) if index.reader.may_read_files() else {}
    order, scores, likely = [*ranking.order], candidates.scores, candidates.relevance
    dense, lexical = _known(candidates.cosine[order]), _known(candidates.bm25[order])
    languages = index.languages_of(rows)
    hits = list[Hit]()
    for rank, (at, passage, quote) in enumerate(zip(order, rows, quotes, strict=True)):
        document, language = documents[passage.document_id], languages[rank]
        first, _, start, _, line = passage.sentences[quote.first].tolist()
        _, last, _, end, _ = passage.sentences[quote.last].tolist()
        before, after = _neighbours(index.db, document, passage, quote, query.options.context)
        own = records.get(passage.id)
        hits.append(
            Hit(
                rank=rank + 1,
                score=float(scores[at]),
                dense=dense[rank],
                lexical=lexical[rank],
                relevance=None if likely is None else float(likely.probability[at]),
                path=path_of(document, here),
                root=document.root,
                document=document.path,
                title=document.title,
                format=document.format,
                line=line,
                page=passage.page,
                place=passage.place(quote.first),
                headings=passage.headings,
                sentence=passage.text[first:last],
                answer_span=quote.answer,
                passage=passage.text,
                start=start,
                end=end,
                passage_id=passage.id,
                sentence_id=passage.first_sentence + quote.first,
                metadata={**document.metadata, **own} if own else document.metadata,
                before=before,
                after=after,
                duplicates=tuple(
                    _duplicate(passages[ids[other]], documents, here) for other in ranking.near_duplicates[at]
                ),
                stale=document.id in stale,
                deleted=stale.get(document.id) or None,
                language=None if query.language in (None, language) else language,
                origin=origin_of(query, candidates, at, index),
            )
        )
    return hits


def origin_of(query: Query, candidates: Candidates, position: int, index: IndexView) -> Origin | None:
    """The record of the score of a candidate; None for what stands for passages, which has no text to ask again."""
    if query.original is None:
        return None
    other, boosts = candidates.are_other, candidates.boosts
    points = {name: float(points[position]) for name, points in candidates.points.items()}
    cosines = {name: float(cosines[position]) for name, cosines in candidates.cosines.items()}
    parts = candidates.literal.get(int(candidates.ids[position]))
    return Origin(
        query.original,
        query.options.mode,
        index.reader.generation,
        candidates.weights if other is None or not other[position] else candidates.weights_of_others,
        text=None if query.text == query.original else query.text,
        language=query.language,
        points={name: value for name, value in points.items() if value},
        cosines={name: value for name, value in cosines.items() if value == value},
        relevance=None if candidates.relevance is None else candidates.relevance.record(query, position),
        boosts=None if boosts is None else boosted(query, boosts[:, position]),
        exact=None if parts is None else ExactWords(points["exact"], parts),
    )


def _known(values: Float64) -> list[float | None]:
    return [None if math.isnan(value) else value for value in values.tolist()]


def _duplicate(passage: PassageRow, documents: Mapping[int, DocumentRow], here: str) -> DuplicatePassage:
    """The source of a near-duplicate of a hit's passage."""
    document = documents[passage.document_id]
    return DuplicatePassage(
        path=path_of(document, here),
        root=document.root,
        document=document.path,
        title=document.title,
        format=document.format,
        line=passage.line,
        page=passage.page,
        place=passage.place(0),
        headings=passage.headings,
        passage_id=passage.id,
    )


def _neighbours(
    db: sqlite3.Connection, document: DocumentRow, passage: PassageRow, quote: Quote, n: int
) -> tuple[Sentences, Sentences]:
    """Up to n sentences before and after what a passage shows, if need be from the document's other passages."""
    if n <= 0:
        return (), ()
    texts = passage.sentence_texts
    before, after = texts[: quote.first], texts[quote.last + 1 :]
    first, last = document.first_passage, document.first_passage + document.passages
    id_ = passage.id
    while len(before) < n and (id_ := id_ - 1) >= first:
        before = need_passages(db, [id_])[id_].sentence_texts + before
    id_ = passage.id
    while len(after) < n and (id_ := id_ + 1) < last:
        after = after + need_passages(db, [id_])[id_].sentence_texts
    return tuple(before[-n:]), tuple(after[:n])


# -- Mode "exact" ------------------------------------------------------------------------------------------------------
#
# Every passage in which a text stands literally, in the order of the documents, with how often. As `rg -F` counts, but
# over all formats that are read: in the text of a passage, and in those headings above it that the passage before does
# not have. Case counts. A space is any white space, so that a phrase may go on in the next line. Without a text, the
# matches of the regular expressions are counted. No word is looked up: all allowed passages are read.

_AT_ONCE = 4096  # passages whose texts are read at a time


def find_occurrences(text: str, options: SearchOptions, index: IndexView) -> Hits:
    """The first k passages that have a text, or match regular expressions, and the numbers of all.

    Raises UsageError for neither, and for an expression that takes too long.
    """
    words = text.split()
    if not words and not options.regex:
        raise UsageError("mode exact looks for a text or a regular expression; give one")
    literal = re.compile(r"\s+".join(map(re.escape, words)))
    timed = [] if words else [TimedRegex(pattern) for pattern in options.regex]

    def places_in(text: str) -> list[int]:
        if words:
            return [match.start() for match in literal.finditer(text)]
        by_pattern = [pattern.starts(text) for pattern in timed]
        return sorted(chain.from_iterable(by_pattern)) if all(by_pattern) else []

    allowed, notices = allowed_passages(options if words else replace(options, regex=()), index)
    ids = (index.reader.lexical.ids if allowed is None else allowed).all_ids()
    occurrences = dict[int, tuple[PassageRow, Quote, int]]()
    for row, heading in _in_order(ids, index):
        if places := places_in(f"{heading}{row.text}"):
            in_text = next((place for place in places if place >= len(heading)), 0)
            occurrences[row.id] = row, _quote(row, in_text - len(heading)), len(places)
    documents = need_documents(index.db, {row.document_id for row, _, _ in occurrences.values()})

    def order_of(id_: int) -> tuple[str, str, int]:
        document = documents[occurrences[id_][0].document_id]
        return document.root, document.path, id_

    first_k = sorted(occurrences, key=order_of)[: options.k]
    query, ranking = _as_ranking(text, options, first_k, index)
    hits = make_hits(query, ranking, [occurrences[id_][1] for id_ in first_k], index)
    counts = {id_: count for id_, (_, _, count) in occurrences.items()}
    return Hits(
        [replace(hit, score=float(n), lexical=None, occurrences=n) for hit in hits for n in [counts[hit.passage_id]]],
        total=Occurrences(sum(counts.values()), len(counts), len(documents)),
        notices=tuple(notices),
    )


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
    candidates.bm25 = np.zeros(len(ids))
    positions = np.searchsorted(ids, np.array(order, dtype=np.int64)).tolist()
    return Query(text, options, None, None), Ranking(candidates, positions, dict.fromkeys(positions, ()), False)
