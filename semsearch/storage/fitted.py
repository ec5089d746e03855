"""The fitted embedder of an index, and the sums over the sentences that the index holds today."""

from __future__ import annotations

import json
import math
import sqlite3
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from semsearch.embedding.components import SentenceSums
from semsearch.embedding.embedder import SentenceEmbedder
from semsearch.errors import FitError, IndexDamaged, rebuild_command
from semsearch.system.working_folder import working_folder
from semsearch.word_vectors.table import WordVectors


@dataclass(frozen=True, slots=True)
class Fit:
    """The embedder as it was fitted, and the sums from which today's components would follow."""

    embedder: SentenceEmbedder
    today: SentenceSums

    @property
    def drift(self) -> float:
        """The angle in degrees between today's components and those in use."""
        return self.embedder.drift(self.today) if self.today.sentences > 0 else 0.0


def load_embedder(db: sqlite3.Connection, vectors: WordVectors) -> SentenceEmbedder | None:
    """Load the fitted embedder; None if nothing was fitted yet. Raises VectorsMismatch, IndexDamaged."""
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
    """The folder of an open index, relative to the current folder if it lies there."""
    folder = Path(db.execute("PRAGMA database_list").fetchone()[2]).parent
    here = working_folder()
    return folder.relative_to(here) if folder.is_relative_to(here) else folder


def load_fit(db: sqlite3.Connection, vectors: WordVectors) -> Fit | None:
    """Load the fitted embedder and the sums over today's sentences; None if nothing was fitted yet."""
    embedder = load_embedder(db, vectors)
    if embedder is None:
        return None
    numbers = np.frombuffer(db.execute("SELECT statistics FROM fit").fetchone()[0], dtype="<f8")
    side = math.isqrt(len(numbers) - 2)
    gram, rest = numbers[2 : 2 + side * side].reshape(side, side), numbers[2 + side * side :]
    today = SentenceSums.in_single(gram, float(numbers[0]), float(numbers[1]))
    return Fit(embedder, replace(today, rounding=float(rest[0])) if len(rest) else today)


def save_fit(db: sqlite3.Connection, embedder: SentenceEmbedder, generation: int) -> None:
    """Save a new fit. Today's sums are those that it was fitted on."""
    row = (
        json.dumps(embedder.card(), allow_nan=False),
        embedder.to_bytes(),
        _to_bytes(embedder.statistics_),
        generation,
    )
    db.execute("INSERT OR REPLACE INTO fit (id, card, state, statistics, generation) VALUES (1, ?, ?, ?, ?)", row)


def save_today(db: sqlite3.Connection, today: SentenceSums) -> None:
    """Save today's sums; the fit stays."""
    db.execute("UPDATE fit SET statistics = ?", (_to_bytes(today),))


def _to_bytes(sums: SentenceSums) -> bytes:
    numbers = np.concatenate(([sums.sentences, sums.words], sums.gram.ravel(), [sums.rounding]))
    return numbers.astype("<f8").tobytes()
