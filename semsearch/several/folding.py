"""Fold the hits of several indexes that say the same (semsearch.text.near_duplicates): the best of them is the hit."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from semsearch.results.hits import DuplicatePassage, Hit
from semsearch.text.near_duplicates import first_alike


def fold(hits: Sequence[Hit]) -> list[Hit]:
    """The hits without those that say the same as a better one, which become its duplicates, with their own."""
    groups: dict[int, list[Hit]] = {}
    for hit, first in zip(hits, first_alike([hit.passage for hit in hits]), strict=True):
        groups.setdefault(first, []).append(hit)
    return [_with_others(best, others) for best, *others in groups.values()]


def _with_others(best: Hit, others: Sequence[Hit]) -> Hit:
    own = [replace(other, index=best.index) for other in best.duplicates]
    for hit in others:
        own += [_as_duplicate(hit), *(replace(other, index=hit.index) for other in hit.duplicates)]
    return replace(best, duplicates=tuple(own)) if own else best


def _as_duplicate(hit: Hit) -> DuplicatePassage:
    """A hit as a duplicate, which stands at the line of the hit's sentence."""
    return DuplicatePassage(
        index=hit.index,
        path=hit.path,
        root=hit.root,
        document=hit.document,
        title=hit.title,
        format=hit.format,
        line=hit.line,
        page=hit.page,
        place=hit.place,
        headings=hit.headings,
        passage_id=hit.passage_id,
    )
