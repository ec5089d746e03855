"""Topics of a collection, and texts as vectors of topics: latent semantic analysis. Deerwester et al. 1990.

    x_t = (1 + log f_t) · idf_t,  idf_t = log(N / N_t);  A: passages' x at length one;  A ≈ U Σ Vᵀ;  topics of x: x V

f_t is how often a text has the term t, N_t how many of the N passages have it. Terms that occur in the same passages
have similar rows of V, the loadings, so that a query finds passages that have none of its own words. Unlike in the
paper, the singular values are left out: with them the first few topics drown the others.

Two unit vectors of a passage are joined to one: the general one (d,), of its words, and that of its topics (k,).

    [√(3/7) · general ; √(4/7) · topics]

The inner product of two such vectors is three sevenths of the one cosine and four of the other, so that one scan ranks
by both. Of a passage's score four parts are the cosine of its topics, three each those of the general vectors of the
passage and of its best sentence, and one that of its document's title. A half is zero where nothing is known, and the
score is then the mean of the others, under the same weights: a query of words that the corpus lacks is answered as if
there were no topics, a query of words that only the corpus has by topics alone. In the scan, which has only one inner
product, a passage that lacks a half loses that half's score. Without topics, general vectors stay as they are.

The file is a short header and four arrays, read by memory mapping: a query touches only the rows of its own terms.

    terms     (t,) uint64, rising, as in semsearch.text.terms
    idf       (t,) float32
    scales    (t,) float32
    loadings  (t, k) int8: a row of V is loadings[i] · scales[i]
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import accumulate, pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from semsearch import tuning
from semsearch.arrays.id_ranges import IdRanges
from semsearch.arrays.types import Float32, Int8, UInt64
from semsearch.arrays.vectors import row_lengths, to_unit, unit
from semsearch.errors import IndexDamaged, rebuild_command
from semsearch.lexical.postings import MOST, Postings
from semsearch.storage.segments import Segment, segment_name
from semsearch.system.durable import CheckedFile, write_durably
from semsearch.text.languages import ENGLISH
from semsearch.text.terms import Lexicon

if TYPE_CHECKING:
    from semsearch.system.durable import Write


def join(general: Float32, topics: Float32) -> Float32:
    """Join general and topic vectors, both of length one or zero, by their weights. (n, d), (n, k) -> (n, d + k)"""
    return np.concatenate((general * _general_length(), topics * _topics_length()), axis=1)


class Halves(NamedTuple):
    """Splits joined vectors into their halves. The last k dimensions are topics; with k = 0 there are none."""

    k: int

    def of(self, vectors: Float32) -> tuple[Float32, Float32]:
        """Both halves of joined vectors: the general and the topics' one. (..., d + k) -> (..., d), (..., k)"""
        return self.general(vectors), self.topics(vectors)

    def general(self, vectors: Float32) -> Float32:
        """The general half of joined vectors, of length one or zero. (..., d + k) -> (..., d)"""
        return np.asarray(vectors[..., : -self.k] / _general_length()) if self.k else vectors

    def topics(self, vectors: Float32) -> Float32:
        """The topics' half of joined vectors, of length one or zero. (..., d + k) -> (..., k)"""
        return np.asarray(vectors[..., vectors.shape[-1] - self.k :] / _topics_length())

    def without_topics(self, vectors: Float32) -> Float32:
        """Joined vectors whose topics are zero. (..., d + k) -> (..., d + k)"""
        if not self.k:
            return vectors
        result = vectors.copy()
        result[..., -self.k :] = 0
        return result

    def direction(self, vectors: Float32) -> Float32:
        """One vector for several passages: the direction of their sum, in each half. (n, d + k) -> (d + k,)"""
        total: Float32 = vectors.sum(axis=0, dtype=np.float32)
        general = _direction(self.general(total))
        return join(general[None], _direction(self.topics(total))[None])[0] if self.k else general


def _general_length() -> np.float32:
    tuned = tuning.TUNING
    return np.float32((tuned.passage_share / (tuned.passage_share + tuned.topics_share)) ** 0.5)


def _topics_length() -> np.float32:
    tuned = tuning.TUNING
    return np.float32((tuned.topics_share / (tuned.passage_share + tuned.topics_share)) ** 0.5)


def _direction(vector: Float32) -> Float32:
    length = float(np.linalg.norm(vector))
    return np.asarray(vector / np.float32(length or 1))


# -- Model -------------------------------------------------------------------------------------------------------------


_MAGIC = b"semsearch topic2"
_HEADER = 40  # the magic and three int64: t, k, and of how many passages
_ROWS = 4096  # passages at a time
_FAINT = 1e-3  # of a text's length: if less of it lies in the topics, nothing is known of the text


class Topics(NamedTuple):
    """Topics as frozen loadings of terms, learned from `passages` passages. They turn texts into vectors.

    A text's vector has length one, or is zero if the topics know too little of it.
    """

    terms: UInt64  # (t,) rising
    idf: Float32  # (t,)
    loadings: Int8  # (t, k)
    scales: Float32  # (t,)
    passages: int

    @classmethod
    def of(cls, terms: UInt64, idf: Float32, loadings: Float32, passages: int) -> Topics:
        """Round loadings V (t, k), each row by its largest entry."""
        largest = np.abs(loadings).max(axis=1, initial=0)
        scales = np.where(largest > 0, largest, 1).astype(np.float32) / np.float32(127)
        return cls(terms, idf, np.rint(loadings / scales[:, None]).astype(np.int8), scales, passages)

    @property
    def dimension(self) -> int:
        """The number of topics, k."""
        return int(self.loadings.shape[1])

    def rows(self, positions: npt.NDArray[np.integer[Any]]) -> Float32:
        """The loadings of terms at some positions, the rows of V. (n,) -> (n, k)"""
        return np.asarray(self.loadings[positions] * self.scales[positions][:, None])

    def of_terms(self, terms: UInt64) -> Float32:
        """The topic vector of a text, given by its terms, repetitions included. (n,) -> (k,)"""
        return np.asarray(self.shares(terms).sum(axis=0))

    def shares(self, terms: UInt64) -> Float32:
        """The share of each term in `of_terms`; a repeated term has the same share each time. (n,) -> (n, k)"""
        names, which, times = np.unique(terms, return_inverse=True, return_counts=True)
        positions = np.minimum(np.searchsorted(self.terms, names), len(self.terms) - 1)
        weights = np.where(
            self.terms[positions] == names, log_counts(np.minimum(times, MOST)) * self.idf[positions], np.float32(0)
        )
        rows = weights[:, None] * self.rows(positions)
        factor = to_unit(rows.sum(axis=0)[None], scale=row_lengths(weights[None]) * _SCALE)
        return np.asarray((rows * factor / times[:, None])[which.reshape(-1)], dtype=np.float32)

    def of_passage(self, heading: str, text: str, language: str = ENGLISH) -> Float32:
        """The topic vector of a passage, as in the index: the terms of its headings count double. (k,)"""
        lexicon = Lexicon(keeps_spellings=False)
        above, below = (lexicon.in_language([part], language).numbers for part in (heading, text))
        doubled = np.repeat(above, tuning.TUNING.heading_weight)
        return self.of_terms(lexicon.terms[np.concatenate((doubled, below))])

    def of_postings(self, postings: Postings) -> Iterator[Float32]:
        """The topic vectors of all passages of a segment, some thousands at a time. (≤ n, k)"""
        from scipy.sparse import csr_array  # SciPy is large, and a question needs no sparse product

        positions = postings.positions(self.terms)
        held = np.flatnonzero(positions >= 0)
        idf = self.idf[held]
        loadings = self.rows(held) * idf[:, None]
        counts, logs = postings.by_passage(positions[held]), log_counts(np.arange(MOST + 1))
        for first in range(0, len(postings), _ROWS):  # what is made of them takes several times their memory
            part: Any = counts[first : first + _ROWS]
            x = csr_array((logs[part.data], part.indices, part.indptr), shape=part.shape)
            scale = np.sqrt(x.power(2) @ idf**2) * _SCALE
            yield unit(np.asarray(x @ loadings, dtype=np.float32), scale=scale)


def log_counts(times: npt.NDArray[Any]) -> Float32:
    """The weight of a count f in a text: 1 + log f, and 0 for 0. (n,) -> (n,)"""
    return np.asarray(np.where(times > 0, 1 + np.log(np.maximum(times, 1)), 0), dtype=np.float32)


def write_topics(topics: Topics, folder: Path, *, generation: int) -> Segment:
    """Write topics to a new file in `folder`. It has no effect until the database names it."""
    name = segment_name("topics", generation)
    sizes = np.array([len(topics.terms), topics.dimension, topics.passages], dtype="<i8")

    def fill(write: Write) -> None:
        write(_MAGIC + sizes.tobytes())
        write(topics.terms.astype("<u8").data)
        write(topics.idf.astype("<f4").data)
        write(topics.scales.astype("<f4").data)
        write(np.ascontiguousarray(topics.loadings).data)

    written = write_durably(folder / name, fill)
    return Segment("topics", name, written.size, IdRanges.of(()), written.digest, sums=written.sums)


def open_topics(path: Path, sums: bytes) -> Topics:
    """Open a file of topics. Raises FileNotFoundError if it has gone, IndexDamaged if it is not such a file.

    It is compared with the `sums` of its blocks as it was written (semsearch.system.durable).
    """
    cure = f"run: {rebuild_command(path.parents[1])}"
    file = CheckedFile(path, sums)
    data = file.data
    if len(data) < _HEADER or data[: len(_MAGIC)].tobytes() != _MAGIC:
        raise IndexDamaged(f"{path} is no file of topics; {cure}")
    terms, dimension, passages = data[len(_MAGIC) : _HEADER].view("<i8").tolist()
    edges = list(accumulate([8 * terms, 4 * terms, 4 * terms, terms * dimension], initial=_HEADER))
    if min(terms, dimension) < 1 or edges[-1] != len(data):
        raise IndexDamaged(f"{path} has {len(data)} bytes, not {edges[-1]}; {cure}")
    file.check()
    parts = [data[start:end] for start, end in pairwise(edges)]
    loadings = parts[3].view(np.int8).reshape(terms, dimension)
    return Topics(parts[0].view("<u8"), parts[1].view("<f4"), loadings, parts[2].view("<f4"), passages)


def named_topics(folder: Path, segments: Sequence[Segment]) -> Topics | None:
    """Open the topics among the segments of an index; None if it was not adapted. Raises as `open_topics`."""
    return next(
        (open_topics(folder / segment.file, segment.sums) for segment in segments if segment.kind == "topics"), None
    )


_SCALE = np.float32(_FAINT / 1e-6)  # `unit` takes a millionth of the scale for rounding error
