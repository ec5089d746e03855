"""Hits to a context for a language model: the best passages within a budget of words, each under a number to cite."""

from __future__ import annotations

from collections.abc import Iterable

from semsearch.hits import Citation, Context, Hit


def assemble(hits: Iterable[Hit], *, max_words: int) -> Context:
    """The hits' passages in their order, as many as fit; the first is cut to fit if it must be."""
    parts: list[str] = []
    citations: list[Citation] = []
    left = max_words
    for hit in hits:
        number = len(citations) + 1
        place = f"{hit.path}:{hit.line}" + (f" (page {hit.page})" if hit.page is not None else "")
        head = f"[{number}] {place}" + "".join(f" > {heading}" for heading in hit.headings)
        words = hit.passage.split()
        room = left - len(head.split())
        if len(words) > room and (parts or room < 1):
            continue
        text = hit.passage if len(words) <= room else " ".join(words[:room]) + " …"
        parts.append(f"{head}\n{text}")
        citations.append(Citation(number, hit.path, hit.line, hit.page, hit.headings, hit.title))
        left -= len(head.split()) + min(len(words), room)
    return Context("\n\n".join(parts), tuple(citations))
