"""Passages of a ranking that say the same, put together (semsearch.text.near_duplicates)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from json import dumps
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from semsearch.arrays.id_ranges import distinct
from semsearch.text.near_duplicates import first_alike, marks_of
from semsearch.text.tokens import UInt64

if TYPE_CHECKING:
    import sqlite3

Int64 = npt.NDArray[np.int64]

_BEYOND = 20  # passages beyond the page that are always looked at for what says the same


def folded(db: sqlite3.Connection, rankings: Sequence[Int64], k: int) -> list[list[list[int]]]:
    """Places in each ranking of passages, those together that say the same, in the order of the first of each.

    All of a ranking is looked at only where its beginning has such passages: that is the cost of most answers.
    """
    beginning = k + max(_BEYOND, k // 4)
    beginnings = [ids[:beginning] for ids in rankings]
    together = distinct(np.concatenate([np.zeros(0, dtype=np.int64), *beginnings]))
    texts = _texts(db, together.tolist())
    suspects = _suspects(list(texts), marks_of(list(texts.values())))
    return [_folded(db, ids.tolist(), beginning, texts, suspects) for ids in rankings]


def _suspects(ids: Sequence[int], marks: UInt64) -> dict[int, list[int]]:
    """The passages that have a mark in common with another, with their marks. (n,), (n, 3)"""
    order = np.argsort(marks, axis=None)
    rising = marks.ravel()[order]
    same = np.flatnonzero(rising[1:] == rising[:-1])
    places = np.concatenate((order[same], order[same + 1])) // marks.shape[1]
    return {ids[place]: marks[place].tolist() for place in places.tolist()}


def _folded(
    db: sqlite3.Connection,
    ids: Sequence[int],
    beginning: int,
    texts: Mapping[int, str],
    suspects: Mapping[int, Sequence[int]],
) -> list[list[int]]:
    """Fold one ranking: `texts` has those of its beginning, `suspects` the marks of passages that may be alike."""
    firsts = list(range(min(len(ids), beginning)))
    places = [place for place in firsts if ids[place] in suspects]
    marks = [mark for place in places for mark in suspects[ids[place]]]
    if len(set(marks)) == len(marks):
        return [[place] for place in firsts]
    for place, first in zip(places, first_alike([texts[ids[place]] for place in places]), strict=True):
        firsts[place] = places[first]
    if len(ids) > beginning and len(set(firsts)) < beginning:
        every = _texts(db, ids)
        firsts = first_alike([every[id_] for id_ in ids])
    groups: dict[int, list[int]] = {}
    for place, first in enumerate(firsts):
        groups.setdefault(first, []).append(place)
    return list(groups.values())


def _texts(db: sqlite3.Connection, ids: Sequence[int]) -> dict[int, str]:
    """The texts of passages by id."""
    rows = db.execute("SELECT id, text FROM passages WHERE id IN (SELECT value FROM json_each(?))", [dumps(ids)])
    return dict(rows.fetchall())
