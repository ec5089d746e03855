"""Boosts: points that are added to the scores of passages whose documents pass a filter, or are recent.

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
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from semsearch.arrays.types import Float64, Int64
from semsearch.errors import UsageError
from semsearch.filters import Filter, metadata_texts, parse
from semsearch.results.explanation import Boosted
from semsearch.search.candidates import Candidates, Query
from semsearch.search.index_reader import IndexView
from semsearch.storage.document_rows import FilterRow, filter_rows_of

if TYPE_CHECKING:
    import sqlite3

_RECENT = re.compile(r"recent(?::(\d+(?:\.\d+)?)([dwmy]))?", re.IGNORECASE)
_DAYS = {"d": 1.0, "w": 7.0, "m": 365.25 / 12, "y": 365.25}
_DAY = re.compile(r"(\d{4})-(\d\d)(?:-(\d\d))?")
_SECONDS_OF_DAY = 86_400


@dataclass(frozen=True, slots=True)
class Boost:
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
    candidates.boosts = shares = shares_of(index.db, chosen, candidates.ids, time.time())
    return candidates.add("boosts", np.array([boost.points for boost in chosen]) @ shares)


def boosted(query: Query, shares: Float64) -> tuple[Boosted, ...]:
    """What each boost adds to the score of a passage, which gets these shares of them. (b,)"""
    chosen = [parse_boost(text) for text in query.options.boosts]
    return tuple(
        Boosted(boost.text, boost.points * share, boost.points, share)
        for boost, share in zip(chosen, shares.tolist(), strict=True)
    )


def shares_of(db: sqlite3.Connection, boosts: Sequence[Boost], ids: Int64, now: float) -> Float64:
    """How much of each boost's points each passage gets, 0 to 1. (n,) rising -> (b, n)

    `now`: the time, in seconds since 1970.
    """
    rows, shares = [*filter_rows_of(db, ids.tolist())], np.zeros((len(boosts), len(ids)))
    positions = np.searchsorted(ids, [row.first_passage for row in rows])
    for number, boost in enumerate(boosts):
        matches = partial(_recency, boost.half_life, now) if boost.filter is None else boost.filter.matches
        shares[number, positions] = [float(matches(row)) for row in rows]
    return shares


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
