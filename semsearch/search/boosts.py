"""Boosts: points that are added to the scores of passages whose documents pass a filter, or are recent.

    guide/^0.1          a tenth more for what lies below a folder; any filter does (semsearch.search.filters)
    format=pdf^-0.05    points may be taken away
    recent^0.1          a tenth for what is new, halved with every year of age
    recent:30d^0.1      halved with every 30 days; d, w, m and y are days, weeks, months and years

Points count in the unit of the mode's scores, which in hybrid mode lie between about 0 and 1. A document's date is the
`date` of its metadata, or else when it was last modified. Boosts order what is found; they find nothing by themselves.
"""

from __future__ import annotations

import json
import math
import re
import time
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from semsearch.arrays.types import Float64, Int64
from semsearch.errors import UsageError
from semsearch.results.origin import Boosted
from semsearch.search.candidates import Candidates, Query
from semsearch.search.filters import FilterChoice, condition, parse, teach, values_under
from semsearch.search.index_reader import IndexView
from semsearch.storage.document_rows import WITH_RECORDS, has_record_metadata
from semsearch.system.locations import working_folder

if TYPE_CHECKING:
    import sqlite3

_RECENT = re.compile(r"recent(?::(\d+(?:\.\d+)?)([dwmy]))?", re.IGNORECASE)
_DAYS = {"d": 1.0, "w": 7.0, "m": 365.25 / 12, "y": 365.25}
_DAY = re.compile(r"(\d{4})-(\d\d)(?:-(\d\d))?")
_SECONDS_OF_DAY = 86_400
_ROWS = """SELECT passages.id, {columns} FROM passages JOIN documents ON documents.id = passages.document_id
    LEFT JOIN roots ON roots.id = documents.root_id
    LEFT JOIN record_metadata ON record_metadata.passage_id = passages.id
    WHERE passages.id IN (SELECT value FROM json_each(?)) ORDER BY passages.id"""


@dataclass(frozen=True, slots=True)
class Boost:
    """A boost: what it is for, and its points. Without a filter it is for recent documents."""

    text: str
    points: float
    filter: FilterChoice | None = None
    half_life: float = _DAYS["y"]  # days


@lru_cache(maxsize=256)
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
    teach(db)
    metadata = WITH_RECORDS if has_record_metadata(db) else "documents.metadata"
    filters = [each.filter for each in boosts if each.filter is not None]
    where = [condition([each], here=working_folder().as_posix(), metadata=metadata) for each in filters]
    columns = ", ".join([f"json({metadata})", "documents.mtime_ns", *(f"({each.sql})" for each in where)])
    parameters = [value for each in where for value in each.parameters]
    rows = db.execute(_ROWS.format(columns=columns), (*parameters, json.dumps(ids.tolist()))).fetchall()
    shares = np.zeros((len(boosts), len(ids)))
    positions = np.searchsorted(ids, [row[0] for row in rows])
    truths = iter(range(3, 3 + len(filters)))
    for number, boost in enumerate(boosts):
        if boost.filter is not None:
            column = next(truths)
            shares[number, positions] = [float(row[column]) for row in rows]
        else:
            shares[number, positions] = [_recency(row[1], row[2], boost.half_life, now) for row in rows]
    return shares


def _recency(metadata: str, mtime_ns: int | None, half_life: float, now: float) -> float:
    """1 for what is new, a half after a half-life; 0 for what has no date."""
    date = _date(json.loads(metadata), mtime_ns)
    return 0.0 if date is None else float(0.5 ** (max(0.0, now - date) / _SECONDS_OF_DAY / half_life))


def _date(metadata: dict[str, Any], mtime_ns: int | None) -> float | None:
    """The date of a document, in seconds since 1970."""
    for key in ("date", "modified"):
        for value in values_under(metadata, key):
            if (match := _DAY.match(str(value))) is not None:
                try:
                    return datetime(int(match[1]), int(match[2]), int(match[3] or 1)).astimezone().timestamp()
                except (ValueError, OverflowError, OSError):
                    continue
    return None if mtime_ns is None else mtime_ns / 1e9
