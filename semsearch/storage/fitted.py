"""The fitted embedder of an index."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable
from typing import Any

import numpy as np

from semsearch.embedding.embedder import SentenceEmbedder
from semsearch.errors import FitError, IndexDamaged, SemsearchError, VectorsError, VectorsMismatch, rebuild_command
from semsearch.storage.checksums import folder_of
from semsearch.system.durable import block_checksums
from semsearch.word_vectors.multilingual import as_multilingual, opened_tables
from semsearch.word_vectors.table import WordVectors


def load_embedder(db: sqlite3.Connection, vectors: WordVectors) -> SentenceEmbedder | None:
    """Load the fitted embedder; None if nothing was fitted yet. Raises VectorsMismatch, IndexDamaged."""
    row = db.execute("SELECT state, sums FROM fit").fetchone()
    if row is None:
        return None
    if not isinstance(row[0], bytes) or _sums(row[0]) != row[1]:
        raise _damage(db, "fitted state of this index does not match its checksums")
    try:
        return SentenceEmbedder.from_bytes(row[0], vectors)
    except FitError as error:
        raise _damage(db, f"fitted state of this index is damaged ({error})") from error
    except (VectorsError, VectorsMismatch) as error:
        raise _of_other_version(error, db) from None


def get_card(db: sqlite3.Connection) -> dict[str, Any]:
    """Read what a fit says of itself: dimension, a, components, digests of languages; empty if nothing was fitted."""
    row = db.execute("SELECT card FROM fit").fetchone()
    card: dict[str, Any] = {} if row is None else json.loads(row[0])
    return card


def require_languages(db: sqlite3.Connection, vectors: Callable[[], WordVectors]) -> None:
    """Check that a fit's word vectors of languages are those of this installation.

    `vectors` opens the English ones, if the index has other languages. Raises VectorsError, VectorsMismatch.
    """
    if not (digests := get_card(db).get("languages")):
        return
    opened = vectors()
    several = as_multilingual(opened)
    try:
        opened_tables(opened if several is None else several.english, digests)
    except (VectorsError, VectorsMismatch) as error:
        raise _of_other_version(error, db) from None


def _of_other_version(error: VectorsError | VectorsMismatch, db: sqlite3.Connection) -> SemsearchError:
    return type(error)(f"{error}, or run: {rebuild_command(folder_of(db))}")


def _damage(db: sqlite3.Connection, what: str) -> IndexDamaged:
    return IndexDamaged(f"the {what}; run: {rebuild_command(folder_of(db))}")


def _sums(data: bytes) -> bytes:
    return block_checksums(np.frombuffer(data, dtype=np.uint8)).astype("<u8").tobytes()


def fit_stamp(db: sqlite3.Connection) -> tuple[int, str, bytes] | None:
    """The identity of a fit, also among other indexes; None if nothing was fitted yet."""
    row = db.execute("SELECT generation, card, sums FROM fit").fetchone()
    return None if row is None else (int(row[0]), str(row[1]), row[2])


def get_fit(db: sqlite3.Connection) -> int | None:
    """The generation that fitted the present vectors; None if there are none."""
    stamp = fit_stamp(db)
    return None if stamp is None else stamp[0]


def get_fitted_sentences(db: sqlite3.Connection) -> int | None:
    """The number of sentences that the index had at its last fit; None if nothing was fitted yet."""
    row = db.execute("SELECT sentences FROM fit").fetchone()
    return None if row is None else int(row[0])


def save_fit(db: sqlite3.Connection, embedder: SentenceEmbedder, *, generation: int, sentences: int) -> None:
    """Save a fit to so many sentences."""
    state = embedder.to_bytes()
    row = json.dumps(embedder.card(), allow_nan=False), generation, sentences, _sums(state), state
    db.execute(
        "INSERT OR REPLACE INTO fit (id, card, generation, sentences, sums, state) VALUES (1, ?, ?, ?, ?, ?)", row
    )


def delete_fit(db: sqlite3.Connection) -> None:
    """Delete the fit of an index that has no text any more."""
    db.execute("DELETE FROM fit")
