"""The fitted embedder of an index, and the sums over its present sentences."""

from __future__ import annotations

import json
import math
import sqlite3
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from semsearch.embedding.components import SentenceSums
from semsearch.embedding.embedder import SentenceEmbedder
from semsearch.errors import FitError, IndexDamaged, SemsearchError, VectorsError, VectorsMismatch, rebuild_command
from semsearch.storage.checksums import folder_of
from semsearch.system.durable import BLOCK, block_sums
from semsearch.word_vectors.multilingual import as_multilingual, opened_tables
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
    row = db.execute("SELECT state, sums FROM fit").fetchone()
    if row is None:
        return None
    _check(db, row[0], row[1], "fitted state", start=0)
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


def _check(db: sqlite3.Connection, data: bytes, sums: bytes, name: str, *, start: int) -> None:
    """Compare a blob with its checksums, which begin at `start` in the stored ones. Raises IndexDamaged."""
    current = _sums(data) if isinstance(data, bytes) else b""
    if not current or current != sums[start : start + len(current)]:
        raise _damage(db, f"{name} of this index does not match its checksums")


def _damage(db: sqlite3.Connection, what: str) -> IndexDamaged:
    return IndexDamaged(f"the {what}; run: {rebuild_command(folder_of(db))}")


def _sums(data: bytes) -> bytes:
    return block_sums(np.frombuffer(data, dtype=np.uint8)).astype("<u8").tobytes()


def fit_stamp(db: sqlite3.Connection) -> tuple[int, str, bytes] | None:
    """The identity of a fit, also among other indexes; None if nothing was fitted yet."""
    row = db.execute("SELECT generation, card, sums, length(state) FROM fit").fetchone()
    return None if row is None else (int(row[0]), str(row[1]), row[2][: _sums_size(row[3])])


def get_fit(db: sqlite3.Connection) -> int | None:
    """The generation that fitted the present vectors; None if there are none."""
    stamp = fit_stamp(db)
    return None if stamp is None else stamp[0]


def load_fit(db: sqlite3.Connection, vectors: WordVectors) -> Fit | None:
    """Load the fitted embedder and the sums over today's sentences; None if nothing was fitted yet."""
    embedder = load_embedder(db, vectors)
    if embedder is None:
        return None
    statistics, sums, size = db.execute("SELECT statistics, sums, length(state) FROM fit").fetchone()
    _check(db, statistics, sums, "array of sums over sentences", start=_sums_size(size))
    numbers = np.frombuffer(statistics, dtype="<f8")
    side = math.isqrt(len(numbers) - 2)
    gram, rest = numbers[2 : 2 + side * side].reshape(side, side), numbers[2 + side * side :]
    return Fit(embedder, SentenceSums(gram, float(numbers[0]), float(numbers[1]), float(rest[0])))


def save_fit(db: sqlite3.Connection, embedder: SentenceEmbedder, generation: int) -> None:
    """Save a new fit. Today's sums are those that it was fitted on."""
    card, state, statistics = embedder.card(), embedder.to_bytes(), _to_bytes(embedder.statistics_)
    row = json.dumps(card, allow_nan=False), state, statistics, generation, _sums(state) + _sums(statistics)
    db.execute(
        "INSERT OR REPLACE INTO fit (id, card, state, statistics, generation, sums) VALUES (1, ?, ?, ?, ?, ?)", row
    )


def delete_fit(db: sqlite3.Connection) -> None:
    """Delete the fit of an index that has no text any more."""
    db.execute("DELETE FROM fit")


def save_today(db: sqlite3.Connection, today: SentenceSums) -> None:
    """Save today's sums; the fit stays."""
    statistics = _to_bytes(today)
    size, sums = db.execute("SELECT length(state), sums FROM fit").fetchone()
    db.execute("UPDATE fit SET statistics = ?, sums = ?", (statistics, sums[: _sums_size(size)] + _sums(statistics)))


def _sums_size(size: int) -> int:
    """The bytes that the checksums of so many bytes take."""
    return 8 * -(-size // BLOCK)


def _to_bytes(sums: SentenceSums) -> bytes:
    numbers = np.concatenate(([sums.sentences, sums.words], sums.gram.ravel(), [sums.rounding]))
    return numbers.astype("<f8").tobytes()
