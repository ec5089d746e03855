"""Postings: which passages have which terms, and how often, in segments that are written once and never changed.

The file is a short header and its arrays, read by memory mapping: a query touches only the lists of its own terms.

    terms    (T,) uint64, rising: the terms
    bounds   (T + 1,) int64: term i has the postings bounds[i] to bounds[i + 1]
    lengths  (R,) float32: how many words each passage has, headings included
    rows     (P,) int32: the passages' rows, rising within a term
    spelled  the words as they are spelled (semsearch.lexical.spelling)
    counts   (P,) uint8: how often, words of title and headings counted double, at most 255
    letters  (U,) uint8: the letters of the spelled words
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from itertools import accumulate, pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from semsearch import tuning
from semsearch.arrays.id_ranges import IdRanges
from semsearch.arrays.types import Bool, Float32, Int32, Int64, UInt8, UInt64
from semsearch.errors import IndexDamaged, rebuild_command
from semsearch.lexical import spelling
from semsearch.lexical.spelling import SpelledWords
from semsearch.storage.segments import LARGEST_WORDS, Segment, segment_name
from semsearch.system.durable import CheckedFile, durable_file, written_file
from semsearch.text.passage_words import PassageWords
from semsearch.text.terms import Lexicon, Terms

if TYPE_CHECKING:
    from scipy.sparse import csr_array

_MAGIC = b"semsearch words2"
_HEADER = len(_MAGIC) + 5 * 8  # five int64 follow: T, R, P, W, U
MOST = 255  # times that are counted
_MOST_SOUND = 1 << 16  # terms whose postings are known to be sound


class Postings:
    """An opened file of postings. Raises FileNotFoundError if it has gone, IndexDamaged if it is not such a file.

    Terms and lengths are compared with the `sums` of its blocks (semsearch.system.durable) when it is opened, and the
    lists of a term when they are read.
    """

    def __init__(self, path: Path, sums: bytes) -> None:
        self.path = path
        self._file = CheckedFile(path, sums)
        data = self._file.data
        if data[: len(_MAGIC)].tobytes() != _MAGIC or len(data) < _HEADER:
            raise IndexDamaged(f"{path} is not a file of postings; run: {rebuild_command(path.parents[1])}")
        terms, passages, postings, words, letters = data[len(_MAGIC) : _HEADER].view("<i8").tolist()
        sizes = [8 * terms, 8 * (terms + 1), 4 * passages, 4 * postings, *[4 * words] * spelling.ARRAYS]
        edges = list(accumulate([*sizes, postings, letters], initial=_HEADER))
        if min(terms, passages, postings, words, letters) < 0 or edges[-1] != len(data):
            raise IndexDamaged(
                f"{path} has {len(data)} bytes, not {edges[-1]}; run: {rebuild_command(path.parents[1])}"
            )
        self._file.check(0, edges[3])
        self._spelled_start, self._rows_start, self._counts_start = edges[4], edges[3], edges[-3]
        parts = [data[start:end] for start, end in pairwise(edges)]
        self.terms: UInt64 = parts[0].view("<u8")
        self.bounds: Int64 = parts[1].view("<i8")
        self.lengths: Float32 = parts[2].view("<f4")
        self.rows: Int32 = parts[3].view("<i4")
        self.counts: UInt8 = parts[-2]
        self._sound: set[int] = set()  # positions of terms whose postings have been checked
        self._spelled, self._letters = [part.view("<u4") for part in parts[4:-2]], parts[-1]

    @cached_property
    def spelled(self) -> SpelledWords:
        """The words as they are spelled. Raises IndexDamaged."""
        self._file.check(self._spelled_start, self._counts_start)
        self._file.check(len(self._file.data) - len(self._letters))
        return SpelledWords(self._spelled, self._letters, terms=len(self.terms))

    def __len__(self) -> int:
        """The number of passages."""
        return len(self.lengths)

    def of(self, term: int) -> tuple[Int32, UInt8]:
        """The rows that have a term, and how often. (n,), (n,)  Raises IndexDamaged if the file has no such rows."""
        return self.of_each([term])[0]

    def of_each(self, terms: Sequence[int]) -> list[tuple[Int32, UInt8]]:
        """The rows that have each term, and how often, as `of` gives them."""
        return [self._at(position) for position in self.positions(np.array(terms, dtype=np.uint64)).tolist()]

    def _at(self, position: int) -> tuple[Int32, UInt8]:
        """The postings of the term at a position; none at -1. They are checked when they are first read."""
        if position < 0:
            return self.rows[:0], self.counts[:0]
        start, end = self.bounds[position : position + 2].tolist()
        rows = self.rows[start:end]
        if position not in self._sound:
            self._check_lists(start, end)
            if not 0 <= start <= end <= len(self.rows) or not self._are_rows(rows):
                raise self._damage()
            if len(self._sound) >= _MOST_SOUND:
                self._sound.clear()
            self._sound.add(position)
        return rows, self.counts[start:end]

    def positions(self, terms: UInt64) -> Int64:
        """The position of each given term among the segment's terms, -1 for a term that it lacks. (n,) -> (n,)"""
        positions = np.searchsorted(self.terms, terms)
        inside = np.flatnonzero(positions < len(self.terms))
        positions_found = np.full(len(terms), -1, dtype=np.int64)
        held = inside[self.terms[positions[inside]] == terms[inside]]
        positions_found[held] = positions[held]
        return positions_found

    def by_passage(self, positions: Int64) -> csr_array:
        """Count the terms at given positions in each passage. (t,) -> (R, t)  Raises IndexDamaged."""
        from scipy.sparse import csr_array  # SciPy is large, and only writers transpose postings

        self.check()
        bounds = self.bounds.astype(np.int32) if len(self.rows) < 1 << 31 else self.bounds  # as rows are: not copied
        lists: Any = csr_array((self.counts, self.rows, bounds), shape=(len(self.terms), len(self)))
        return csr_array(lists[positions].T)

    def check(self) -> None:
        """Check all bounds and rows, before all of them are read. Raises IndexDamaged."""
        self._file.check()
        steps = np.diff(self.bounds)
        ends = self.bounds[0], self.bounds[-1]
        is_whole = self._are_rows(self.rows) and self.spelled.is_whole
        if ends != (0, len(self.rows)) or (steps < 0).any() or not is_whole:
            raise self._damage()

    def release(self) -> None:
        """Release the memory of what was read, after work with all of it."""
        self._file.release()

    def _check_lists(self, start: int, end: int) -> None:
        """Check the postings from `start` to `end`, before they are read. Raises IndexDamaged."""
        self._file.check(self._rows_start + 4 * start, self._rows_start + 4 * end)
        self._file.check(self._counts_start + start, self._counts_start + end)

    def _are_rows(self, rows: Int32) -> bool:
        return not len(rows) or bool(rows.min() >= 0 and rows.max() < len(self))

    def _damage(self) -> IndexDamaged:
        return IndexDamaged(
            f"{self.path} is damaged: it refers to passages that it does not have; "
            f"run: {rebuild_command(self.path.parents[1])}"
        )


class GatheredPostings(NamedTuple):
    """Postings that another builder gathered, which may have another lexicon."""

    terms: UInt64  # (t,) distinct ones
    numbers: npt.NDArray[np.unsignedinteger[Any]]  # (p,) index of the term, in as few bytes as the largest one takes
    sizes: Int64  # (n,) how many of these each passage has, one passage after the other
    counts: UInt8  # (p,) how often
    lengths: Float32  # (n,) of the passages
    spelled: Sequence[bytes]  # (w,) words as they are spelled
    spelled_terms: Int32  # (w,) index of the term of each

    @property
    def rows(self) -> Int64:
        """The number of the passage of each posting, from 0 on. (p,)"""
        return np.repeat(np.arange(len(self.sizes)), self.sizes)


class PostingsBuilder:
    """Gathers postings: of new passages by `add_terms`, in the order of their rows, or those of segments by `merge`.

    Terms are numbered by a lexicon, which may be shared.
    """

    def __init__(self, lexicon: Lexicon) -> None:
        self.lexicon = lexicon
        self._numbers: list[Int32] = [np.zeros(0, dtype=np.int32)]
        self._rows: list[Int32] = [np.zeros(0, dtype=np.int32)]
        self._counts: list[UInt8] = [np.zeros(0, dtype=np.uint8)]
        self._lengths: list[Float32] = [np.zeros(0, dtype=np.float32)]
        self._size = 0

    def __len__(self) -> int:
        """The number of passages so far."""
        return self._size

    def add_terms(self, occurrences: Terms, passages: Int64, weights: Int64) -> None:
        """Append passages by the terms of their texts: text i belongs to passage `passages[i]`, from 0 on, and its
        words count `weights[i]` (0 to 3). All texts of a passage are given at once."""
        # one sort brings together what stands in the same passage: passage, term and weight in one integer
        terms = occurrences.numbers.astype(np.int64) << 2 | weights[occurrences.texts]
        rows = passages.astype(np.int64)[occurrences.texts]  # NumPy 1 on Windows counts in 32 bits
        keys = np.sort(rows << 34 | terms)
        if not weights.all():
            keys = keys[keys & 3 > 0]
        pairs = keys >> 2
        heads = np.flatnonzero(np.diff(pairs, prepend=-1))
        times = np.add.reduceat(keys & 3, heads) if len(heads) else heads
        self._append(pairs[heads] & 0xFFFFFFFF, self._size + (pairs[heads] >> 32), np.minimum(times, MOST))
        self._lengths.append(np.bincount(passages, weights=occurrences.lengths * (weights > 0)).astype(np.float32))
        self._size += len(self._lengths[-1])

    def gathered(self) -> GatheredPostings:
        """All postings so far, which were added and not merged, for another builder to `take`."""
        numbers = np.concatenate(self._numbers)
        names, rank, (spelled, of_word) = self._renumbered(numbers)
        return GatheredPostings(
            names,
            rank[numbers].astype(np.min_scalar_type(len(names))),
            np.bincount(np.concatenate(self._rows), minlength=self._size),
            np.concatenate(self._counts),
            np.concatenate([np.zeros(0, dtype=np.float32), *self._lengths]),
            spelled,
            rank[of_word],
        )

    def _renumbered(self, numbers: Int32, *, rising: bool = False) -> tuple[UInt64, Int32, tuple[list[bytes], Int32]]:
        """The terms that have postings with these numbers (p,), `rising` or in the order of the lexicon; the new number
        of each of the lexicon's terms, its place among them; and their spelled words with the numbers they had.
        """
        is_present = np.zeros(self.lexicon.numbering.count, dtype=np.bool_)
        is_present[numbers] = True  # a hundred times as fast as np.unique
        spellings = self.lexicon.spellings.of(is_present)
        present = np.flatnonzero(is_present)
        terms = self.lexicon.terms[present]
        order = np.argsort(terms) if rising else np.arange(len(terms))
        rank = np.full(len(is_present), -1, dtype=np.int32)
        rank[present[order]] = np.arange(len(present), dtype=np.int32)
        return terms[order], rank, spellings

    def take(self, other: GatheredPostings) -> None:
        """Append passages that another builder gathered."""
        rows = self._size + other.rows
        terms = self.lexicon.numbering.of(other.terms)
        self.lexicon.spellings.add(other.spelled, terms[other.spelled_terms])
        self._append(terms[other.numbers], rows, other.counts)
        self._lengths.append(other.lengths)
        self._size += len(other.lengths)

    def merge(self, source: Postings, alive: Bool, rows: Int64, size: int) -> None:
        """Take over the passages of a segment that are alive (R,), as rows (alive,) of a segment of `size` in all."""
        source.check()
        owners = np.repeat(np.arange(len(source.terms), dtype=np.int32), np.diff(source.bounds))
        chosen = alive[source.rows]
        row_of = np.zeros(len(source), dtype=np.int32)
        row_of[alive] = rows
        if not self._size:
            self._lengths, self._size = [np.zeros(size, dtype=np.float32)], size
        self._lengths[0][rows] = source.lengths[alive]
        terms, (spelled, of_word) = self.lexicon.numbering.of(source.terms), source.spelled.all()
        self._append(terms[owners[chosen]], row_of[source.rows[chosen]], source.counts[chosen])
        self.lexicon.spellings.add(spelled, terms[of_word])
        source.release()

    def _append(
        self,
        numbers: npt.NDArray[np.integer[Any]],
        rows: npt.NDArray[np.integer[Any]],
        counts: npt.NDArray[np.integer[Any]],
    ) -> None:
        self._numbers.append(numbers.astype(np.int32, copy=False))
        self._rows.append(rows.astype(np.int32, copy=False))
        self._counts.append(counts.astype(np.uint8, copy=False))

    def to_arrays(self) -> list[npt.NDArray[Any]]:
        """Header and arrays of the file, in order. The builder is used up: its postings are not held twice."""
        from scipy.sparse import coo_array  # SciPy is large, and only writers sort postings

        numbers = _joined(self._numbers)
        names, rank, (spelled, of_word) = self._renumbered(numbers, rising=True)
        numbers = rank[numbers]
        entries = _joined(self._counts), (numbers, _joined(self._rows))
        lists = coo_array(entries, shape=(len(names), max(self._size, 1))).tocsr()
        del entries
        lists.sort_indices()
        words, letters = spelling.to_arrays(spelled, rank[of_word])
        sizes = np.array([len(names), self._size, len(numbers), len(spelled), len(letters)], dtype="<i8")
        return [
            np.frombuffer(_MAGIC + sizes.tobytes(), dtype=np.uint8),
            names.astype("<u8"),
            lists.indptr.astype("<i8"),
            np.concatenate(self._lengths).astype("<f4"),
            lists.indices.astype("<i4", copy=False),
            *words,
            lists.data,
            letters,
        ]


def _joined(parts: list[npt.NDArray[Any]]) -> npt.NDArray[Any]:
    """Concatenate arrays, and empty their list."""
    whole = np.concatenate(parts)
    parts.clear()
    return whole


class LexicalSegment:
    """An opened segment of postings. Raises FileNotFoundError if the file has gone, IndexDamaged if it is another."""

    def __init__(self, path: Path, segment: Segment) -> None:
        self.id_ranges = segment.id_ranges
        self.postings = Postings(path, segment.sums)
        if len(self.postings) != len(segment.id_ranges):
            raise IndexDamaged(
                f"{path} has {len(self.postings)} passages, not {len(segment.id_ranges)}; "
                f"run: {rebuild_command(path.parents[1])}"
            )


# -- Writer ------------------------------------------------------------------------------------------------------------


_CHUNK = 1 << 20


class WordsWriter:
    """Gathers the words of passages and writes segments of at most about `largest` passages each."""

    def __init__(self, folder: Path, *, generation: int, largest: int = LARGEST_WORDS) -> None:
        self.folder = folder
        self.generation = generation
        self.largest = largest
        self.segments: list[Segment] = []
        self._lexicon = Lexicon()
        self._builder = PostingsBuilder(self._lexicon)
        self._ids: list[Int64] = []

    def take(self, ids: Int64, gathered: GatheredPostings) -> None:
        """Append passages with rising ids (n,) whose words another process gathered."""
        self._builder.take(gathered)
        self._ids.append(ids)
        if len(self._builder) >= self.largest:
            self._write()

    def merge(self, sources: Sequence[LexicalSegment], removed: IdRanges) -> None:
        """Append all passages of some segments but the removed ones, in the order of their ids."""
        ids = [source.id_ranges.all_ids() for source in sources]
        alive = [~source.id_ranges.rows_in(removed) for source in sources]
        together = np.sort(np.concatenate([segment_ids[rows] for segment_ids, rows in zip(ids, alive, strict=True)]))
        for first in range(0, len(together), self.largest):
            part = together[first : first + self.largest]
            for source, segment_ids, rows in zip(sources, ids, alive, strict=True):
                inside = rows & (segment_ids >= part[0]) & (segment_ids <= part[-1])
                self._builder.merge(source.postings, inside, np.searchsorted(part, segment_ids[inside]), len(part))
            self._ids.append(part)
            self._write()

    def finish(self) -> list[Segment]:
        """Write what is left, and return all segments of this writer."""
        if len(self._builder):
            self._write()
        return self.segments

    def _write(self) -> None:
        arrays = self._builder.to_arrays()
        name = segment_name("words", self.generation)
        with durable_file(self.folder / name) as file:
            for array in arrays:
                for first in range(0, len(array), _CHUNK):
                    file.write(np.ascontiguousarray(array[first : first + _CHUNK]).data)
        written = written_file(self.folder / name)
        id_ranges = IdRanges.of_ids(np.concatenate(self._ids))
        self.segments.append(Segment("words", name, written.size, id_ranges, written.digest, sums=written.sums))
        self._builder, self._ids = PostingsBuilder(self._lexicon), []


def gather(builder: PostingsBuilder, words: PassageWords) -> None:
    """Append passages with their titles and headings to a builder.

    A passage whose whole text is given besides its sentences (`words.whole`) is counted by that; one in another
    language than English (`words.foreign`) by the terms of that language.
    """
    sizes = words.sentence_counts + 1
    passages = np.repeat(np.arange(len(sizes)), sizes)
    weights = np.ones(len(passages), dtype=np.int64)
    weights[np.isin(passages, words.whole)] = 0
    weights[np.cumsum(sizes) - sizes] = tuning.TUNING.heading_weight
    terms = builder.lexicon.of_chunks([*words.chunks, *words.whole_chunks])
    owners = np.concatenate((passages, words.whole))
    counted = np.concatenate((weights, np.ones_like(words.whole)))
    for foreign in words.foreign:
        counted[np.isin(owners, foreign.passages)] = 0
    for foreign in words.foreign:
        terms = terms.and_then(builder.lexicon.in_language([*foreign.above, *foreign.texts], foreign.language))
        heading_weights = np.full(len(foreign.above), tuning.TUNING.heading_weight)
        owners = np.concatenate((owners, foreign.passages, foreign.passages))
        counted = np.concatenate((counted, heading_weights, np.ones_like(foreign.passages)))
    builder.add_terms(terms, owners, counted)
