"""The embedder of an index, as it was fitted, and the sums over the sentences that the index holds today."""

from __future__ import annotations

import json
import math
import sqlite3
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from semsearch.embedding.components import Statistics
from semsearch.embedding.embedder import SentenceEmbedder
from semsearch.errors import FitError, IndexDamaged, rebuild_command
from semsearch.system.working_folder import working_folder
from semsearch.word_vectors.table import WordVectors


@dataclass(frozen=True, slots=True)
class Fit:
    """Frozen weights and components, and what the components of today would follow from."""

    embedder: SentenceEmbedder
    today: Statistics

    @property
    def drift(self) -> float:
        """By how many degrees today's components have turned from those in use."""
        return self.embedder.drift(self.today) if self.today.sentences > 0 else 0.0


def load_embedder(db: sqlite3.Connection, vectors: WordVectors) -> SentenceEmbedder | None:
    """The fitted embedder; None where nothing was fitted yet. Raises VectorsMismatch, IndexDamaged."""
    row = db.execute("SELECT state FROM fit").fetchone()
    if row is None:
        return None
    try:
        return SentenceEmbedder.from_bytes(row[0], vectors)
    except FitError as error:
        raise IndexDamaged(
            f"the fitted state of this index is damaged ({error}); run: {rebuild_command(_folder(db))}"
        ) from error


def _folder(db: sqlite3.Connection) -> Path:
    """Where an open index lies, from here where it lies below."""
    place = Path(db.execute("PRAGMA database_list").fetchone()[2]).parent
    here = working_folder()
    return place.relative_to(here) if place.is_relative_to(here) else place


def load_fit(db: sqlite3.Connection, vectors: WordVectors) -> Fit | None:
    """The fitted embedder with the sums over today's sentences; None where nothing was fitted yet."""
    embedder = load_embedder(db, vectors)
    if embedder is None:
        return None
    numbers = np.frombuffer(db.execute("SELECT statistics FROM fit").fetchone()[0], dtype="<f8")
    side = math.isqrt(len(numbers) - 2)
    gram, rest = numbers[2 : 2 + side * side].reshape(side, side), numbers[2 + side * side :]
    today = Statistics.in_single(gram, float(numbers[0]), float(numbers[1]))
    return Fit(embedder, replace(today, rounding=float(rest[0])) if len(rest) else today)


def save_fit(db: sqlite3.Connection, embedder: SentenceEmbedder, generation: int) -> None:
    """Keep a new fit. Today's sums are those it was fitted on."""
    row = (
        json.dumps(embedder.card(), allow_nan=False),
        embedder.to_bytes(),
        _to_bytes(embedder.statistics_),
        generation,
    )
    db.execute("INSERT OR REPLACE INTO fit (id, card, state, statistics, generation) VALUES (1, ?, ?, ?, ?)", row)


def save_today(db: sqlite3.Connection, today: Statistics) -> None:
    """Keep today's sums under the same fit."""
    db.execute("UPDATE fit SET statistics = ?", (_to_bytes(today),))


def _to_bytes(statistics: Statistics) -> bytes:
    sums = [statistics.sentences, statistics.words]
    numbers = np.concatenate((sums, statistics.gram.ravel(), [statistics.rounding]))
    return numbers.astype("<f8").tobytes()
