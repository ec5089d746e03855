"""What gives points beside words and meaning: the place of a section in its guide, and the boosts of the user.

A section is a passage below a heading, and no source code. Only sections gain or lose by `short_sections`, `proximity`
and `support`; `crowding` takes points from passages of all kinds. All four count only where both retrievers know the
query. The lengths and the words side by side cost nothing alone; without both and the lists of other stages .014 of
first hits are lost.

Boosts are points for passages whose documents pass a filter, or are recent:

    guide/^0.1          a tenth more for what lies below a folder; any filter does (semsearch.filters)
    format=pdf^-0.05    points may be taken away
    recent^0.1          a tenth for what is new, halved with every year of age
    recent:30d^0.1      halved with every 30 days; d, w, m and y are days, weeks, months and years

Points count in the unit of the mode's scores, which in hybrid mode lie between about 0 and 1. A document's date is the
`date` of its metadata, or else when it was last modified. Boosts order what is found; they find nothing by themselves.
"""

from __future__ import annotations

import math
import re
import time
from collections.abc import Sequence
from datetime import datetime
from functools import partial
from typing import NamedTuple

import numpy as np

from semsearch import tuning
from semsearch.arrays.types import Float64
from semsearch.errors import UsageError
from semsearch.filters import Filter, metadata_texts, parse
from semsearch.results.origin import Boosted
from semsearch.search.candidates import Candidates, Query
from semsearch.search.index_reader import IndexView
from semsearch.storage.document_rows import FilterRow, filter_rows_of
from semsearch.text.languages import RULES


def _are_compared(query: Query, candidates: Candidates) -> bool:
    """Whether sections are compared by their places: both retrievers know a query that was typed."""
    return query.original is not None and candidates.weights.dense > 0 < candidates.weights.lexical


def short_sections(query: Query, candidates: Candidates, __: IndexView) -> Candidates:
    """A line below a heading that has a word of the question is high by that alone, and answers little.

    A short document, such as a note, loses nothing. Without it 2 of 295 first hits are lost over documentation.
    """
    tuned = tuning.TUNING
    if not _are_compared(query, candidates):
        return candidates
    loses = candidates.are_sections & (candidates.spans.passages >= tuned.short_from)
    short = np.where(loses, np.fmax(1 - candidates.lengths / tuned.short_words, 0.0), 0.0)
    return candidates.add("short", np.asarray(-tuned.short_weight * short, dtype=np.float64))


def proximity(query: Query, candidates: Candidates, index: IndexView) -> Candidates:
    """Points for the sections that may lead, by the share of the query's pairs of adjacent words that stand together.

        near = Σ_i min(idf_i, idf_(i+1)) / √d_i  /  Σ_i min(idf_i, idf_(i+1))

    d_i is the distance of the words of a pair, in any order; beyond three words a pair counts nothing. Without it 3 of
    295 first hits are lost over documentation, and 3 among five.
    """
    tuned, terms = tuning.TUNING, query.terms
    if not _are_compared(query, candidates) or terms is None or query.words is None:
        return candidates
    names = {name: at for at, name in enumerate(filter(str.isalnum, dict.fromkeys(terms.words)))}  # no joined ones
    word_of = {term: names[name] for term, name in zip(terms.terms.tolist(), terms.words, strict=True) if name in names}
    idf, lookup = [0.0] * len(names), query.words
    for term, value in zip(lookup.terms.tolist(), lookup.idf.tolist(), strict=True):
        if term in word_of:
            idf[word_of[term]] = max(idf[word_of[term]], value)
    weights, scores = [*map(min, idf, idf[1:])], candidates.scores
    first = np.argsort(-scores, kind="stable")[: tuned.proximity_passages]
    first = first[candidates.are_sections[first] & (scores[first] >= np.fmax.reduce(scores) - tuned.proximity_weight)]
    first = first[[id_ not in candidates.literal for id_ in candidates.ids[first].tolist()]]
    if not any(weights) or not len(first):
        return candidates
    points = np.zeros(len(scores))
    texts = [*index.texts(candidates.ids[first].tolist()).values()]
    for language in index.reader.languages_beside(query.language):
        if not RULES[language].pairs and not RULES[language].sequences:  # there, terms are not words
            for at, in_order in zip(first.tolist(), index.reader.memory.words.terms(texts, language), strict=True):
                places = [(place, word_of[term]) for place, term in enumerate(in_order.tolist()) if term in word_of]
                points[at] = max(points[at], tuned.proximity_weight * _nearness(places, weights))
    return candidates.add("proximity", points)


def _nearness(places: Sequence[tuple[int, int]], weights: Sequence[float]) -> float:
    """The share of the pairs, by their weights, that stand together in a text. `places`: where it has which word."""
    most, nearest = tuning.TUNING.proximity_words, [0.0] * len(weights)
    for at, (place, word) in enumerate(places):
        for other_place, other in places[max(at - most, 0) : at]:  # so many words that the query has may be between
            if abs(word - other) == 1 and place - other_place <= most:
                nearest[min(word, other)] = max(nearest[min(word, other)], (place - other_place) ** -0.5)
    return float(np.dot(nearest, weights)) / sum(weights)


def support(query: Query, candidates: Candidates, __: IndexView) -> Candidates:
    """Sections of a guide support each other, and the best of very many passages is high by chance.

        u · (w · mean(e_2, e_3) - v · min(log10(n / n_0), l))

    e_2 is by how much the document's second best passage is above half of the best score of all, 0 if it is below; n
    is the number of the document's passages, from n_0 on; u is one, but falls to zero where the best score comes near
    one: a question that a passage meets word for word needs no support. Only passages below a heading count, and no
    source code. Without the first term, first hits fall by .043, without the second by .014.
    """
    if not _are_compared(query, candidates):
        return candidates
    tuned, weights, spans, scores = tuning.TUNING, candidates.weights, candidates.spans, candidates.scores
    best, is_section = float(np.fmax.reduce(scores)), candidates.are_sections
    first = np.argsort(-scores, kind="stable")[: tuned.depth]
    above = first[is_section[first] & (scores[first] > best / 2)]
    excesses: dict[int, list[float]] = {}
    for document, score in zip(spans.documents[above].tolist(), scores[above].tolist(), strict=True):
        excesses.setdefault(document, []).append(score - best / 2)
    means = {
        id_: sum(values[1 : 1 + tuned.support_passages]) / tuned.support_passages for id_, values in excesses.items()
    }
    others = is_section * np.array([means.get(document, 0.0) for document in spans.documents.tolist()])
    powers = np.log10(np.maximum(spans.passages, 1) / tuned.length_from)
    length = is_section * tuned.length_weight * np.clip(powers, 0.0, tuned.length_most)
    share = min(max((1 - best / (weights.dense + weights.lexical)) / tuned.support_least, 0.0), 1.0)
    return candidates.add("support", share * tuned.support_weight * others).add("long", -share * length)


def crowding(query: Query, candidates: Candidates, __: IndexView) -> Candidates:
    """A document that has three hits gives way to others: five hits of one page are one result to a reader.

    Of 180 facts over six guides, 160 instead of 152 have a right document among the first five hits.
    """
    tuned = tuning.TUNING
    if not _are_compared(query, candidates):
        return candidates
    is_crowded = candidates.ranks_in_documents() >= tuned.crowding_from
    return candidates.add("crowding", np.where(is_crowded, -tuned.crowding_weight, 0.0))


# -- Boosts ------------------------------------------------------------------------------------------------------------


_RECENT = re.compile(r"recent(?::(\d+(?:\.\d+)?)([dwmy]))?", re.IGNORECASE)
_DAYS = {"d": 1.0, "w": 7.0, "m": 365.25 / 12, "y": 365.25}
_DAY = re.compile(r"(\d{4})-(\d\d)(?:-(\d\d))?")
_SECONDS_OF_DAY = 86_400


class Boost(NamedTuple):
    """A boost: what it is for, and its points. Without a filter it is for recent documents."""

    text: str
    points: float
    filter: Filter | None = None
    half_life: float = _DAYS["y"]  # days


def parse_boost(text: str) -> Boost:
    """Parse a boost. Raises UsageError for text that makes no sense as one."""
    of, mark, number = text.rpartition("^")
    try:
        points = float(number) if mark else math.nan
    except ValueError:
        points = math.nan
    if not math.isfinite(points) or not of.strip():
        raise UsageError(f"the boost {text!r} has no points; write them behind a ^, as in 'guide/^0.1' or 'recent^0.1'")
    if match := _RECENT.fullmatch(of.strip()):
        days = float(match[1] or 1) * _DAYS[(match[2] or "y").lower()]
        if not days:
            raise UsageError(f"the boost {text!r} has a half-life of zero; give a time such as 30d")
        return Boost(of.strip(), points, half_life=days)
    return Boost(of.strip(), points, parse(of))


def boosts(query: Query, candidates: Candidates, index: IndexView) -> Candidates:
    """Points for what the user prefers; how much of each a passage gets is kept for the explanation."""
    chosen = [parse_boost(text) for text in query.options.boosts]
    if not chosen:
        return candidates
    index.check_documents()
    rows = [*filter_rows_of(index.db, candidates.ids.tolist())]
    positions, now = np.searchsorted(candidates.ids, [row.first_passage for row in rows]), time.time()
    candidates.boosts = shares = np.zeros((len(chosen), len(candidates.ids)))
    for of_boost, boost in zip(shares, chosen, strict=True):
        matches = partial(_recency, boost.half_life, now) if boost.filter is None else boost.filter.matches
        of_boost[positions] = [float(matches(row)) for row in rows]
    return candidates.add("boosts", np.array([boost.points for boost in chosen]) @ shares)


def boosted(query: Query, shares: Float64) -> tuple[Boosted, ...]:
    """What each boost adds to the score of a passage, which gets these shares of them. (b,)"""
    chosen = [parse_boost(text) for text in query.options.boosts]
    return tuple(
        Boosted(boost.text, boost.points * share, boost.points, share)
        for boost, share in zip(chosen, shares.tolist(), strict=True)
    )


def _recency(half_life: float, now: float, row: FilterRow) -> float:
    """1 for what is new, a half after a half-life."""
    return float(0.5 ** (max(0.0, now - _date(row)) / _SECONDS_OF_DAY / half_life))


def _date(row: FilterRow) -> float:
    """The date of a document, in seconds since 1970."""
    texts = metadata_texts(row.metadata_json)
    for text in (*texts.get("date", ()), *texts.get("modified", ())):
        if (match := _DAY.match(text)) is not None:
            try:
                return datetime(int(match[1]), int(match[2]), int(match[3] or 1)).astimezone().timestamp()
            except (ValueError, OverflowError, OSError):
                continue
    return row.mtime_ns / 1e9
