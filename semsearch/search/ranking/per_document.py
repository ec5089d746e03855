"""At most so many passages of each document in an answer."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    import sqlite3

Int64 = npt.NDArray[np.int64]

_DOCUMENTS = "SELECT id, document_id FROM passages WHERE id IN (SELECT value FROM json_each(?))"


def best_of_each(db: sqlite3.Connection, ids: Int64, orders: Sequence[Int64], most: int) -> list[Int64]:
    """The first `most` passages of each document in each order. `orders`: positions among ids (p,), best first."""
    owner = dict(db.execute(_DOCUMENTS, (json.dumps(sorted(set(ids.tolist()))),)).fetchall())
    return [_first(order, [owner[id_] for id_ in ids[order].tolist()], most) for order in orders]


def _first(order: Int64, documents: Sequence[int], most: int) -> Int64:
    seen: Counter[int] = Counter()
    kept = np.ones(len(order), dtype=np.bool_)
    for position, document in enumerate(documents):
        seen[document] += 1
        kept[position] = seen[document] <= most
    return order[kept]
