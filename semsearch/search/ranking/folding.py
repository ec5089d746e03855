"""Fold the passages of a ranking that say the same into groups (semsearch.text.near_duplicates)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np
import numpy.typing as npt

from semsearch.arrays.id_ranges import distinct
from semsearch.text.near_duplicates import first_alike, marks_of
from semsearch.text.tokens import UInt64

Int64 = npt.NDArray[np.int64]
ReadTexts = Callable[[Sequence[int]], Mapping[int, str]]  # of passages, by id

_BEYOND = 20  # passages beyond the page that are always compared too


def folded(read: ReadTexts, rankings: Sequence[Int64], k: int) -> list[list[list[int]]]:
    """Group the positions in each ranking whose passages say the same; groups are in the order of their first ones.

    A ranking is compared beyond its beginning only if passages of the beginning say the same, which most answers' do
    not.
    """
    beginning = k + max(_BEYOND, k // 4)
    beginnings = [ids[:beginning] for ids in rankings]
    together = distinct(np.concatenate([np.zeros(0, dtype=np.int64), *beginnings]))
    texts = read(together.tolist())
    suspects = _suspects(list(texts), marks_of(list(texts.values())))
    return [_folded(read, ids.tolist(), beginning, texts, suspects) for ids in rankings]


def _suspects(ids: Sequence[int], marks: UInt64) -> dict[int, list[int]]:
    """The ids of passages that share a mark with another one, with their marks. (n,), (n, 3)"""
    order = np.argsort(marks, axis=None)
    rising = marks.ravel()[order]
    same = np.flatnonzero(rising[1:] == rising[:-1])
    positions = np.concatenate((order[same], order[same + 1])) // marks.shape[1]
    return {ids[position]: marks[position].tolist() for position in positions.tolist()}


def _folded(
    read: ReadTexts,
    ids: Sequence[int],
    beginning: int,
    texts: Mapping[int, str],
    suspects: Mapping[int, Sequence[int]],
) -> list[list[int]]:
    """Fold one ranking. `texts` has those of its beginning, `suspects` the marks of passages that may say the same."""
    firsts = list(range(min(len(ids), beginning)))
    positions = [position for position in firsts if ids[position] in suspects]
    marks = [mark for position in positions for mark in suspects[ids[position]]]
    if len(set(marks)) == len(marks):
        return [[position] for position in firsts]
    for position, first in zip(positions, first_alike([texts[ids[position]] for position in positions]), strict=True):
        firsts[position] = positions[first]
    if len(ids) > beginning and len(set(firsts)) < beginning:
        every = read(ids)
        firsts = first_alike([every[id_] for id_ in ids])
    groups: dict[int, list[int]] = {}
    for position, first in enumerate(firsts):
        groups.setdefault(first, []).append(position)
    return list(groups.values())
