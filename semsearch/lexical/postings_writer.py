"""Write the words of passages as segments of postings, and merge segments."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from semsearch import tuning
from semsearch.arrays.id_ranges import IdRanges
from semsearch.arrays.types import Int64
from semsearch.lexical.postings import GatheredPostings, LexicalSegment, PostingsBuilder
from semsearch.storage.segments import LARGEST_WORDS, Segment, segment_name
from semsearch.system.durable import Write, write_durably
from semsearch.text.languages import ENGLISH
from semsearch.text.passage_records import PassageWords
from semsearch.text.terms import Lexicon

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

    def add(self, ids: Int64, headings: Sequence[str], texts: Sequence[str], language: str = ENGLISH) -> None:
        """Append passages of one language with rising ids (n,), each by its title with headings and its text."""
        pairs = [text for pair in zip(headings, texts, strict=True) for text in pair]
        weights = np.tile(np.array([tuning.TUNING.heading_weight, 1], dtype=np.int64), len(texts))
        owners = np.repeat(np.arange(len(texts)), 2)
        self._builder.add_terms(self._lexicon.in_language(pairs, language), owners, weights)
        self._append(ids)

    def add_words(self, ids: Int64, words: PassageWords) -> None:
        """Append passages with rising ids (n,) whose words have been found."""
        gather(self._builder, words)
        self._append(ids)

    def take(self, ids: Int64, gathered: GatheredPostings) -> None:
        """Append passages with rising ids (n,) whose words another process gathered."""
        self._builder.take(gathered)
        self._append(ids)

    def _append(self, ids: Int64) -> None:
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
        name = segment_name("words", self.generation)
        arrays = self._builder.to_arrays()

        def fill(write: Write) -> None:
            for array in arrays:
                for first in range(0, len(array), _CHUNK):
                    write(np.ascontiguousarray(array[first : first + _CHUNK]).data)

        written = write_durably(self.folder / name, fill)
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
