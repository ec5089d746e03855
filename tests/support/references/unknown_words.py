"""Vectors for unknown words, transcribed literally and slowly: what the fast code must agree with."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt

Vector = npt.NDArray[np.float64]


def candidates(word: str) -> list[str]:
    """All parts of <word> of 2 to 8 bytes."""
    marked = f"<{word}>"
    parts = [marked[i:j] for i in range(len(marked)) for j in range(i + 1, len(marked) + 1)]
    return [part for part in parts if 2 <= len(part.encode()) <= 8]


def most_telling(words: Sequence[str], number: int) -> list[int]:
    """Occurrences times (bytes - 1) of the pieces that say most, greatest first."""
    counts = Counter(part for word in words for part in candidates(word))
    return sorted((times * (len(part.encode()) - 1) for part, times in counts.items()), reverse=True)[:number]


def beginning(word: str, known: Mapping[str, Vector]) -> Vector | None:
    """The vector of the longest proper beginning that is known, of three bytes at least."""
    parts = [word[:i] for i in range(1, len(word)) if word[:i] in known and len(word[:i].encode()) >= 3]
    return known[max(parts, key=len)] if parts else None


def ending(word: str, known: Mapping[str, Vector]) -> Vector | None:
    """The vector of the longest proper ending that is known, of three bytes at least."""
    parts = [word[i:] for i in range(1, len(word)) if word[i:] in known and len(word[i:].encode()) >= 3]
    return known[max(parts, key=len)] if parts else None


def guess(word: str, known: Mapping[str, Vector], pieces: Mapping[str, Vector], maps: Vector) -> Vector:
    """B·b + E·e + 1/√n Σ u."""
    total = np.zeros(maps.shape[1])
    found = [pieces[part] for part in candidates(word) if part in pieces]
    if found:
        total = total + sum(found) / np.sqrt(len(found))
    for vector, matrix in ((beginning(word, known), maps[0]), (ending(word, known), maps[1])):
        if vector is not None:
            total = total + vector @ matrix
    return np.asarray(total)


def ridge(
    words: Sequence[str], known: Mapping[str, Vector], pieces: Sequence[str], weak: float, strong: float
) -> tuple[Vector, Vector]:
    """u and Bᵀ, Eᵀ by the normal equations, written out. `weak` is the penalty of pieces, `strong` that of the maps."""
    d = len(known[words[0]])
    rows = []
    for word in words:
        counts = Counter(candidates(word))
        n = sum(counts[piece] for piece in pieces)
        shares = [counts[piece] / np.sqrt(max(n, 1)) for piece in pieces]
        sides = [side(word, known) for side in (beginning, ending)]
        rows.append([*shares, *(number for vector in sides for number in (np.zeros(d) if vector is None else vector))])
    x, y = np.array(rows), np.array([known[word] for word in words])
    penalties = np.diag([weak] * len(pieces) + [strong] * 2 * d)
    solved = np.linalg.solve(x.T @ x + penalties, x.T @ y)
    return solved[: len(pieces)], solved[len(pieces) :].reshape(2, d, d)
