"""Hits to a context for a language model: the best passages within a budget of words, each under a number to cite.

Words are counted as size.py does, so that the budget holds for text that has no spaces too.
"""

from __future__ import annotations

from collections.abc import Iterable

from semsearch.hits import Citation, Context, Hit
from semsearch.size import count_words, cut_to


def assemble(hits: Iterable[Hit], *, max_words: int) -> Context:
    """The hits' passages in their order, as many as fit; the first is cut to fit if it must be."""
    parts: list[str] = []
    citations: list[Citation] = []
    left = max_words
    for hit in hits:
        number = len(citations) + 1
        place = f"{hit.path}:{hit.line}" + (f" (page {hit.page})" if hit.page is not None else "")
        head = f"[{number}] {place}" + "".join(f" > {heading}" for heading in hit.headings)
        words = count_words(hit.passage)
        room = left - count_words(head)
        if words > room and (parts or room < 1):
            continue
        text = hit.passage if words <= room else cut_to(hit.passage, room) + " …"
        parts.append(f"{head}\n{text}")
        citations.append(Citation(number, hit.path, hit.line, hit.page, hit.headings, hit.title))
        left = room - words
    return Context("\n\n".join(parts), tuple(citations))
