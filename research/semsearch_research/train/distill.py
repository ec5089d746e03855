"""Make word vectors from a sentence encoder, in two steps: encode each word alone, then train on text.

A sentence encoder knows much about single words: encoded alone, centred and reduced by principal components they have
good vectors already. The second step makes averages of them agree with the encoder's vectors of whole texts
(matching.py). The words are the most frequent of a text; their counts also give the p(w) of the weights.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np

from semsearch.arrays.randomised_svd import signs
from semsearch.arrays.types import Float32
from semsearch.errors import UsageError, VectorsError
from semsearch.text.ragged import Ragged
from semsearch.text.tokens import hash_words
from semsearch.word_vectors.table import VectorTable
from semsearch_research.train.corpus import Stages, known
from semsearch_research.train.matching import Matching, match
from semsearch_research.train.piece_vectors import NUMBER, learn_pieces, piece_files
from semsearch_research.train.teacher_encodings import Encodings, Teacher
from semsearch_research.word_tables.table_writer import TableWriter, index_of
from semsearch_research.word_tables.word_counts import most_frequent

_NOTHING = 1e-6  # of the largest singular value: below it, rounding


@dataclass(frozen=True, slots=True)
class Provenance:
    """The sources of word vectors, for their card."""

    licence: str = "unknown"  # the teacher's
    counted: str = ""  # what the words were counted in
    texts: str = ""  # what they were trained on
    command: str = ""


def distill_words(
    teacher: Teacher,
    counts: dict[str, int],
    target: Path,
    *,
    encodings: Path,
    texts: Sequence[str] = (),
    size: int = 130_000,
    dimension: int = 256,
    matching: Matching | None = None,
    pieces: int = NUMBER,
    provenance: Provenance | None = None,
    progress: Stages | None = None,
) -> VectorTable:
    """Make a folder of word vectors with `pieces` pieces at `target`. Without texts, only the first step is done.

    The teacher's vectors are cached in the folder `encodings`: a run that was stopped is resumed, and a run with other
    settings encodes nothing twice. Raises UsageError if `dimension` is above the teacher's, VectorsError if `target`
    exists or there are no words; all before the long work.
    """
    provenance = provenance or Provenance()
    words = most_frequent(counts, size)
    if not words:
        raise VectorsError("there are no words to encode; expected a counts file with at least one word")
    _check_dimension(dimension, teacher.dimension)
    with TableWriter(target, dtype="int8") as writer:
        kept = Encodings(encodings, teacher.name, teacher.precision)
        kept.complete(words, teacher.encode, progress=partial(progress, "words encoded") if progress else None)
        vectors = reduce_dimension(kept.of(words).astype(np.float32), dimension)
        share = np.array([counts[word] for word in words]) / sum(counts.values())
        if texts:
            kept.complete(texts, teacher.encode, progress=partial(progress, "texts encoded") if progress else None)
            matching = matching or Matching()
            ids = _ids_of(texts, words)
            steps = partial(progress, "steps") if progress else None
            vectors = match(vectors, share.astype(np.float32), ids, kept.of(texts), matching, progress=steps)
        writer.add(words, vectors)
        learned = piece_files(learn_pieces(words, vectors, number=pieces)) if pieces else None
        card = _card(teacher, len(words), dimension, len(texts), sum(counts.values()), provenance)
        return writer.finish(share, card=card, pieces=learned)


def _card(
    teacher: Teacher, words: int, dimension: int, texts: int, counted: int, provenance: Provenance
) -> dict[str, str | int]:
    trained = f"; trained to have {teacher.name}'s similarities on {texts} texts" if texts else ""
    card: dict[str, str | int] = {
        "source": f"{words} words, each encoded alone by {teacher.name}; {dimension} principal components{trained}",
        "licence": provenance.licence,
        "counted": provenance.counted,
        "counted words": counted,
        "texts": provenance.texts,
        "command": provenance.command,
    }
    return {key: value for key, value in card.items() if value != ""}


def _ids_of(texts: Sequence[str], words: Sequence[str]) -> Ragged:
    """The known words of texts as ids, which are their positions in `words`."""
    hashed = hash_words(texts)
    return known(Ragged(index_of(words).look_up(hashed.hashes), hashed.indptr))


def reduce_dimension(vectors: Float32, dimension: int) -> Float32:
    """Centre vectors, then keep their first principal components. (n, d) -> (n, dimension).

    Each component's sign is fixed (semsearch.arrays.randomised_svd), and components beyond the rank are 0: every run
    gives the same vectors, but for rounding. Components of the same variance are not determined by the words: another
    processor may rotate them, and only products and cosines of words stay the same. If the cut falls between such
    components, not even those do: it is arbitrary which of them are kept.
    """
    _check_dimension(dimension, vectors.shape[1])
    centred = vectors.astype(np.float64) - vectors.mean(axis=0, dtype=np.float64)
    squares, axes = np.linalg.eigh(centred.T @ centred)
    squares, axes = squares[::-1][:dimension], axes[:, ::-1][:, :dimension]
    axes = np.where(squares > _NOTHING**2 * squares[0], axes * signs(axes), 0)
    return np.asarray(centred @ axes, dtype=np.float32)


def _check_dimension(asked: int, there: int) -> None:
    if not 1 <= asked <= there:
        raise UsageError(f"the teacher has {there} dimensions; {asked} were requested")
