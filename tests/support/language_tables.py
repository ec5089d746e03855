"""Write small tables of languages, as semsearch-research writes large ones: each word has codes of its own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from semsearch.text.ragged import OovWords
from semsearch.text.terms import spelled
from semsearch.word_vectors.language_table import (
    CENTROIDS,
    FINE,
    SHIFT,
    STEP,
    LanguageTable,
    file_of_table,
    scales_of,
    steps_of,
)


def write_language_table(
    path: Path,
    language: str,
    words: Sequence[str],
    vectors: npt.NDArray[Any],
    p: npt.NDArray[Any],
    *,
    parts: int,
    card: Mapping[str, Any],
) -> LanguageTable:
    """Write words (n) with their vectors (n, d) and p(w) (n,); the vectors of more than 256 words are not kept."""
    chosen = sorted({spelled(words[row], language): row for row in np.argsort(p, kind="stable").tolist()}.values())
    words, vectors, p = [spelled(words[row], language) for row in chosen], np.asarray(vectors)[chosen], p[chosen]
    hashes = OovWords.of(words).hashes
    order = np.argsort(hashes, kind="stable")
    keys, vectors = hashes[order] >> SHIFT, vectors[order]
    lengths = np.linalg.norm(vectors, axis=1)
    scales = np.clip(np.rint(-FINE * np.log(lengths / lengths.max())), 0, 255).astype(np.uint8)
    units = (vectors / scales_of(float(lengths.max()))[scales][:, None])[:CENTROIDS]
    codebooks = np.zeros((parts, CENTROIDS, vectors.shape[1] // parts))
    codebooks[:, : len(units)] = units.reshape(len(units), parts, -1).swapaxes(0, 1)
    arrays = {
        "steps": steps_of(keys),
        "rarity": np.clip(np.rint(-STEP * np.log(p[order])), 0, 255),
        "scales": scales,
        "codes": np.tile(np.arange(len(words)) % CENTROIDS, (parts, 1)).T,
        "codebooks": codebooks,
    }
    details = {
        **card,
        "language": language,
        "words": len(words),
        "dimension": vectors.shape[1],
        "parts": parts,
        "longest": max(map(len, words)),
        "scale": float(lengths.max()),
    }
    path.write_bytes(file_of_table(arrays, details))
    return LanguageTable(path)
