"""Turn ranked passages into hits: their rows, the sentence to quote, its neighbours, a path to open, staleness.

A near-duplicate of a better passage is listed with that one, and is no hit of its own. A document is stale if its file
is no longer what was indexed (semsearch.sources.unchanged).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from semsearch.results.explanation import ExactWords, Origin
from semsearch.results.hits import DuplicatePassage, Hit
from semsearch.search.boosts import boosted
from semsearch.search.candidates import Candidates, Query, Quote, Ranking
from semsearch.search.index_reader import IndexView
from semsearch.sources.unchanged import stale_documents
from semsearch.storage.document_rows import DocumentRow, get_record_metadata
from semsearch.storage.find_document import path_of
from semsearch.storage.passage_rows import PassageRow, need_passages
from semsearch.system.locations import working_folder

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
    hits, scores, likely = list[Hit](), candidates.scores, candidates.relevance
    for at, passage, language, quote in zip(ranking.order, rows, index.languages_of(rows), quotes, strict=True):
        document = documents[passage.document_id]
        first, _, start, _, line = passage.sentences[quote.first].tolist()
        _, last, _, end, _ = passage.sentences[quote.last].tolist()
        before, after = _neighbours(index.db, document, passage, quote, query.options.context)
        own = records.get(passage.id)
        hits.append(
            Hit(
                rank=len(hits) + 1,
                score=float(scores[at]),
                dense=_known(candidates.dense.cosine[at]),
                lexical=_known(candidates.lexical.bm25[at]),
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
    others, boosts = candidates.other_languages, candidates.boosts
    points = {name: float(points[position]) for name, points in candidates.points.items()}
    cosines = {name: float(cosines[position]) for name, cosines in candidates.dense.cosines.items()}
    parts = candidates.literal.get(int(candidates.ids[position]))
    return Origin(
        query.original,
        query.options.mode,
        index.reader.generation,
        candidates.weights if others is None or not others.are_other[position] else others.weights,
        candidates.feedback,
        text=None if query.text == query.original else query.text,
        language=query.language,
        points={name: value for name, value in points.items() if value},
        cosines={name: value for name, value in cosines.items() if value == value},
        relevance=None if candidates.relevance is None else candidates.relevance.record(query, position),
        boosts=None if boosts is None else boosted(query, boosts[:, position]),
        exact=None if parts is None else ExactWords(points["exact"], parts),
    )


def _known(value: float) -> float | None:
    return None if math.isnan(value) else float(value)


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
