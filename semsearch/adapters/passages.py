"""A hit as other frameworks keep a passage: an id, and metadata that says where it stands and why it is there."""

from __future__ import annotations

from typing import Any
from uuid import UUID, uuid5

from semsearch import Hit, Searchable, location
from semsearch.adapters.opened import name_of

_PASSAGES = UUID("6f3f2f0e-6c0b-5d0c-9a5e-6f0d1f0a7c11")  # any that is nobody else's


def passage_id(hit: Hit) -> str:
    """The id of a hit's passage: the same whenever, and in whichever index, this document has this text.

    Passages of one document that say exactly the same have one id.
    """
    return str(uuid5(_PASSAGES, "\0".join((hit.root, hit.document, hit.passage))))


def passage_metadata(hit: Hit, index: Searchable) -> dict[str, Any]:
    """The document's own metadata, and over it where the passage stands, its best sentence, its score and its index.

    `source` is how one would cite it (`guide.md:10`, `report.pdf p. 3`), unless the document says otherwise.
    """
    found = {
        "source": location(hit.path, hit.format, hit.position),
        **hit.metadata,
        "path": hit.path,
        "title": hit.title,
        "headings": [*hit.headings],
        "place": hit.place,
        "line": hit.line,
        "page": hit.page,
        "format": hit.format,
        "sentence": hit.sentence,
        "score": hit.score,
        "dense": hit.dense,
        "lexical": hit.lexical,
        "relevance": hit.relevance,
        "stale": hit.stale,
        "index": hit.index or name_of(index),
    }
    around = {"before": [*hit.before], "after": [*hit.after]} if hit.before or hit.after else {}
    return found | around | _also(hit)


def _also(hit: Hit) -> dict[str, Any]:
    """The paths of documents that say the same, where there are any."""
    return {"also_in": [duplicate.path for duplicate in hit.duplicates]} if hit.duplicates else {}
