"""Word vectors from a sentence encoder: each word encoded alone, centred, reduced by principal components.

A sentence encoder knows much about single words, and static vectors keep most of what an average of words can use of
it. The words are the most frequent of a counts file; the counts are also the p(w) of the weights.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from semsearch.errors import MissingExtra, UsageError, VectorsError
from semsearch.frequencies import most_frequent, read_counts
from semsearch.vectors.table import VectorTable
from semsearch.vectors.writer import TableWriter

Float32 = npt.NDArray[np.float32]


def distill(
    teacher: str,
    counts: Path,
    target: Path,
    *,
    size: int = 130_000,
    dimension: int = 256,
    licence: str = "unknown",
    counted: str = "",
    batch: int = 256,
    progress: Callable[[int, int], None] | None = None,
) -> VectorTable:
    """Make a folder of word vectors at `target` from a sentence-transformers model (a name or a folder).

    `licence` (the teacher's) and `counted` (what the words were counted in) are for the card.
    Raises UsageError where `dimension` is above the teacher's, MissingExtra without the extra `train`, VectorsError
    where `target` exists; all before the long work.
    """
    frequencies = read_counts(counts)
    words = most_frequent(frequencies, size)
    with TableWriter(target, dtype="int8") as writer:
        encoded = encode_words(words, teacher, dimension=dimension, batch=batch, progress=progress)
        writer.add(words, reduce_dimension(encoded, dimension))
        total = sum(frequencies.values())
        name = Path(teacher).name
        card = {
            "source": f"{len(words)} words, each encoded alone by {name}; {dimension} principal components",
            "licence": licence,
            **({"counted": counted} if counted else {}),
            "counted words": total,
            "command": f"semsearch vectors distill --teacher {name} --counts {counts.name} "
            f"--size {size} --dimension {dimension}",
        }
        share = np.array([frequencies[word] / total for word in words])
        return writer.finish(share, card=card)


def encode_words(
    words: Sequence[str],
    teacher: str,
    *,
    dimension: int = 1,
    batch: int = 256,
    progress: Callable[[int, int], None] | None = None,
) -> Float32:
    """Encode each word alone. (n,) words -> (n, d) unit vectors. Raises UsageError where d is below `dimension`."""
    model = _load_teacher(teacher)
    order = sorted(range(len(words)), key=lambda place: len(words[place]))  # like lengths together: little padding
    step = batch * 16
    encoded: Float32 | None = None
    for first in range(0, len(words), step):
        places = order[first : first + step]
        part = model.encode(
            [words[place] for place in places],
            batch_size=batch,
            normalize_embeddings=True,
            convert_to_numpy=True,
            show_progress_bar=False,
        )
        if encoded is None:
            _check_dimension(dimension, part.shape[1])
            encoded = np.zeros((len(words), part.shape[1]), dtype=np.float32)
        encoded[places] = part
        if progress:
            progress(min(first + step, len(words)), len(words))
    if encoded is None:
        raise VectorsError("there are no words to encode; expected a counts file with at least one word")
    return encoded


def reduce_dimension(vectors: Float32, dimension: int) -> Float32:
    """Centre, then keep the first principal components. (n, d) -> (n, dimension).

    Each component's sign is fixed (its largest entry is positive), so that every run gives the same vectors.
    """
    _check_dimension(dimension, vectors.shape[1])
    centred = vectors.astype(np.float64) - vectors.mean(axis=0, dtype=np.float64)
    _, axes = np.linalg.eigh(centred.T @ centred)
    axes = axes[:, ::-1][:, :dimension]
    axes = axes * np.sign(axes[np.abs(axes).argmax(axis=0), np.arange(dimension)])
    return np.asarray(centred @ axes, dtype=np.float32)


def _check_dimension(asked: int, there: int) -> None:
    if not 1 <= asked <= there:
        raise UsageError(f"the teacher has {there} dimensions; {asked} were asked for")


def _load_teacher(name: str) -> Any:
    try:
        from sentence_transformers import SentenceTransformer  # an optional dependency
    except ImportError as error:
        raise MissingExtra("sentence-transformers", "train") from error
    try:
        return SentenceTransformer(name, device=None)
    except (OSError, ValueError) as error:
        raise VectorsError(f"{name} is not a model that sentence-transformers can load: {error}") from error
