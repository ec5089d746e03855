"""The text that a model reads of a passage: the document's title and the headings above it, then the passage."""

from __future__ import annotations

from semsearch.results.hits import Hit


def text_of(hit: Hit) -> str:
    """Write title, headings and passage of a hit as one text, each heading once."""
    heads = [head for head in dict.fromkeys((hit.title, *hit.headings)) if head]
    return "\n".join([*heads, hit.passage])
