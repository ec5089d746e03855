"""Turn ranked passages into hits: their rows, the sentence to quote, its neighbours, a path to open, staleness.

A near-duplicate of a better passage is listed with that one, and is no hit of its own. A document is stale if its file
is no longer what was indexed (semsearch.sources.unchanged). At the end is mode "exact", which ranks nothing.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np

from semsearch.arrays.types import Float64
from semsearch.errors import UsageError
from semsearch.filters import parse_boost
from semsearch.results.hits import DuplicatePassage, Hit, Hits, Occurrences
from semsearch.results.options import SearchOptions
from semsearch.results.origin import Boosted, ExactWords, Origin, Relevance
from semsearch.search.allowed_passages import TimedRegex, allowed_passages, in_order
from semsearch.search.candidates import Candidates, Query, Quote, Ranking, RelevanceOf
from semsearch.search.index_reader import IndexView
from semsearch.storage.document_rows import DocumentRow, get_record_metadata, require_documents
from semsearch.storage.find_document import DocumentKeys, document_keys
from semsearch.storage.passage_rows import PassageRow, require_passages
from semsearch.storage.stale_files import stale_documents
from semsearch.system.locations import working_folder
from semsearch.text.text_lengths import new_headings

if TYPE_CHECKING:
    import sqlite3

Sentences = tuple[str, ...]


def make_hits(query: Query, ranking: Ranking, quotes: Sequence[Quote], index: IndexView) -> list[Hit]:
    """The first k hits of a ranking, best first, which show these quotes, with `context` sentences of the document
    before and after."""
    candidates, order = ranking.candidates, [*ranking.order[: query.options.k]]
    alike = [position for at in order for position in ranking.near_duplicates[at]]
    ids = candidates.ids[[*order, *alike]].tolist()
    passages = index.passages(ids)
    documents = index.documents_of(passages.values())
    rows = [*passages.values()][: len(order)]
    languages, may_read_files = index.languages_of(rows), index.reader.may_read_files()
    quoted = [documents[id_] for id_ in {row.document_id: True for row in rows}]
    of_records = [row.id for row in rows if row.is_of_record]
    records = get_record_metadata(index.db, of_records) if of_records else {}
    stale, here = stale_documents(quoted) if may_read_files else {}, working_folder().as_posix()
    places = {id_: document_keys(document, here) for id_, document in documents.items()}
    duplicate = partial(_duplicate, passages, places)
    metadata: dict[int, dict[str, Any]] = {document.id: json.loads(document.metadata_json) for document in quoted}
    scores: list[float] = candidates.scores[order].tolist()
    dense, lexical = _known(candidates.cosine[order]), _known(candidates.bm25[order])
    likely = candidates.relevance
    relevances = [None] * len(order) if likely is None else likely.probability[order].tolist()
    origins, hits, context = origins_of(query, candidates, order, index), list[Hit](), query.options.context
    for number, (at, passage, quote) in enumerate(zip(order, rows, quotes[: len(order)], strict=True)):
        document, language = documents[passage.document_id], languages[number]
        first, _, start, _, line = passage.sentences[quote.first].tolist()
        _, last, _, end, _ = passage.sentences[quote.last].tolist()
        before, after = _neighbours(index.db, document, passage, quote, context) if context > 0 else ((), ())
        hits.append(
            Hit(
                rank=number + 1,
                score=scores[number],
                dense=dense[number],
                lexical=lexical[number],
                relevance=relevances[number],
                **places[document.id],
                line=line,
                page=passage.page,
                place=passage.place(quote.first) if passage.places else None,
                headings=passage.headings,
                sentence=passage.text[first:last],
                answer_span=quote.answer,
                passage=passage.text,
                start=start,
                end=end,
                passage_id=passage.id,
                sentence_id=passage.first_sentence + quote.first,
                metadata={**metadata[document.id], **records.get(passage.id, {})},
                before=before,
                after=after,
                duplicates=tuple(map(duplicate, candidates.ids[[*ranking.near_duplicates[at]]].tolist())),
                stale=document.id in stale,
                deleted=stale.get(document.id) or None,
                language=None if query.language in (None, language) else language,
                origin=origins[number],
            )
        )
    return hits


def origins_of(
    query: Query, candidates: Candidates, positions: Sequence[int], index: IndexView
) -> Sequence[Origin | None]:
    """The record of the score of each candidate; None for what stands for passages, which has no text to ask again."""
    if query.original is None:
        return [None] * len(positions)
    other, boosts, likely = candidates.are_other, candidates.boosts, candidates.relevance
    points, cosines = _by_passage(candidates.points, positions), _by_passage(candidates.cosines, positions)
    relevances = [] if likely is None else _relevances(query, likely, positions)
    origins = list[Origin | None]()
    for number, (at, id_) in enumerate(zip(positions, candidates.ids[positions].tolist(), strict=True)):
        parts = candidates.literal.get(id_)
        origins.append(
            Origin(
                query.original,
                query.options.mode,
                index.reader.generation,
                candidates.weights if other is None or not other[at] else candidates.weights_of_others,
                text=None if query.text == query.original else query.text,
                language=query.language,
                points={name: value for name, value in points[number].items() if value},
                cosines={name: value for name, value in cosines[number].items() if value == value},
                relevance=None if likely is None else relevances[number],
                boosts=None if boosts is None else _boosted(query, boosts[:, at]),
                exact=None if parts is None else ExactWords(points[number]["exact"], parts),
            )
        )
    return origins


def _relevances(query: Query, of: RelevanceOf, positions: Sequence[int]) -> list[Relevance]:
    """What there is to say of each of some passages."""
    has_vector, probability, share = query.vector is not None, of.probability.tolist(), of.share.tolist()
    return [
        Relevance(
            probability=probability[position],
            cosine=of.cosine if has_vector else None,
            trust=of.trust if has_vector else None,
            words=None if query.words is None else of.words,
            share=share[position],
            unknown=query.share_without_vectors,
        )
        for position in positions
    ]


def _boosted(query: Query, shares: Float64) -> tuple[Boosted, ...]:
    """The points that each boost adds to the score of a passage, by its shares of them. (b,)"""
    pairs = zip(map(parse_boost, query.options.boosts), shares.tolist(), strict=True)
    return tuple(Boosted(boost.text, boost.points * share, boost.points, share) for boost, share in pairs)


def _by_passage(values: Mapping[str, Float64], positions: Sequence[int]) -> list[dict[str, float]]:
    """Of each of some passages, what all have by name."""
    table = np.array([*values.values()]).reshape(len(values), -1)[:, positions].T.tolist() if values else []
    return [dict(zip(values, row, strict=True)) for row in table] or [{} for _ in positions]


def _known(values: Float64) -> list[float | None]:
    return [None if math.isnan(value) else value for value in values.tolist()]


def _duplicate(passages: Mapping[int, PassageRow], places: Mapping[int, DocumentKeys], id_: int) -> DuplicatePassage:
    """The source of a near-duplicate of a hit's passage."""
    passage = passages[id_]
    return DuplicatePassage(
        **places[passage.document_id],
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
    texts = passage.sentence_texts
    before, after = texts[: quote.first], texts[quote.last + 1 :]
    first, last = document.first_passage, document.first_passage + document.passages
    id_ = passage.id
    while len(before) < n and (id_ := id_ - 1) >= first:
        before = require_passages(db, [id_])[id_].sentence_texts + before
    id_ = passage.id
    while len(after) < n and (id_ := id_ + 1) < last:
        after = after + require_passages(db, [id_])[id_].sentence_texts
    return tuple(before[-n:]), tuple(after[:n])


# -- Mode "exact" ------------------------------------------------------------------------------------------------------
#
# Every passage in which a text stands literally, in the order of the documents, with how often. As `rg -F` counts, but
# over all formats that are read: in the text of a passage, and in those headings above it that the passage before does
# not have. Case counts. A space is any white space, so that a phrase may go on in the next line. Without a text, the
# matches of the regular expressions are counted. No word is looked up: all allowed passages are read.


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
    for row, heading in _with_headings(in_order(ids, index)):
        if places := places_in(f"{heading}{row.text}"):
            in_text = next((place for place in places if place >= len(heading)), 0)
            occurrences[row.id] = row, _quote(row, in_text - len(heading)), len(places)
    documents = require_documents(index.db, {row.document_id for row, _, _ in occurrences.values()})

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


def _with_headings(rows: Iterable[PassageRow]) -> Iterator[tuple[PassageRow, str]]:
    """The passages with their new headings, each on a line."""
    document, before = -1, tuple[str, ...]()
    for row in rows:
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
    candidates.scores = np.zeros(len(ids))
    positions = np.searchsorted(ids, np.array(order, dtype=np.int64)).tolist()
    return Query(text, options, None, None), Ranking(candidates, positions, dict.fromkeys(positions, ()), False)
