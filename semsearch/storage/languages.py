"""The languages of an index: how many documents there are of each."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from semsearch.storage.meta import get_meta

if TYPE_CHECKING:
    import sqlite3

LANGUAGES = "languages"


def get_languages(db: sqlite3.Connection) -> dict[str, int]:
    """The number of documents of each language, most first; empty in an index that was made without looking."""
    found: dict[str, int] = json.loads(get_meta(db, LANGUAGES) or "{}")
    return dict(sorted(found.items(), key=lambda item: (-item[1], item[0])))
