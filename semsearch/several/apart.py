"""Give the passages of several indexes ids that keep them apart, so that one context can be assembled of them. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from semsearch.results.hits import Hit
from semsearch.storage.catalogue import PassageRow

_STEP = 1 << 48  # more than an index has passages, sentences or documents; and neighbours of two indexes never meet


@dataclass(frozen=True, slots=True)
class ApartPassages:
    """Hits of several indexes, and passages by their new ids."""

    hits: Sequence[Hit]
    passages: Mapping[int, PassageRow]


def ids_apart(hits: Sequence[Hit], passages: Mapping[str, Mapping[int, PassageRow]]) -> ApartPassages:
    """Number hits and passages anew: the ids of each index from a number of its own on. `passages`: by index."""
    firsts = {name: _STEP * number for number, name in enumerate(passages)}
    apart = {
        firsts[name] + id_: replace(
            row,
            id=firsts[name] + row.id,
            document_id=firsts[name] + row.document_id,
            first_sentence=firsts[name] + row.first_sentence,
        )
        for name, rows in passages.items()
        for id_, row in rows.items()
    }
    return ApartPassages([_moved(hit, firsts[str(hit.index)]) for hit in hits], apart)


def _moved(hit: Hit, first: int) -> Hit:
    return replace(hit, passage_id=first + hit.passage_id, sentence_id=first + hit.sentence_id)
