"""A hit that no search found."""

from __future__ import annotations

from typing import Any

from semsearch.results.hits import Hit


def some_hit(sentence: str = "A ship.", **fields: Any) -> Hit:
    """A hit of a passage that is this sentence, but for other fields that are given."""
    usual: dict[str, Any] = {
        "rank": 1, "score": 0.5, "dense": 0.5, "lexical": None, "path": "docs/a.md", "root": "/r", "document": "a.md",
        "title": "", "format": "markdown", "line": 3, "page": None, "headings": (), "sentence": sentence,
        "passage": sentence, "start": 0, "end": fields.get("start", 0) + len(sentence), "passage_id": 1,
        "sentence_id": 1,
    }  # fmt: skip
    return Hit(**usual | fields)
