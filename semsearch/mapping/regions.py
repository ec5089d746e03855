"""The regions of a map with the words that characterise each, and its colourings, so that it can be read.

Points are divided by k-means into a few large regions, then into more and smaller ones. The words of a region are those
that contribute most to the Kullback-Leibler divergence of its words from those of all passages. Of a large index only
some passages are read.

Points are coloured by folder, by type and by document, each with at most twelve groups. Folders are told apart as deep
as there are colours for all; what has no colour of its own is in one last group.
"""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import log
from pathlib import PurePosixPath
from typing import Literal

import numpy as np
from scipy.cluster.vq import kmeans2

from semsearch.arrays.types import Float32, Int64, UInt8
from semsearch.results.documents import MapRegion
from semsearch.storage.document_rows import DocumentRow
from semsearch.text.languages import STOP_WORDS
from semsearch.text.tokens import words

# -- Regions -----------------------------------------------------------------------------------------------------------

LEVELS = (12, 48, 192)  # regions
MOST_READ = 20_000  # passages whose words are counted
_FEWEST = 8  # passages of a region that are read; one with fewer has no name
_WORDS = 3
_ROUNDS = 20
_SHORTEST = 3  # letters of a word
_SAME = 5  # letters: words with a common prefix of that length are mostly forms of one word
_LEAST_SHARE = 0.08  # of a region's passages that have a word that names it


def regions(points: Float32, read: Int64, texts: Sequence[str]) -> tuple[MapRegion, ...]:
    """The regions of a map, the large ones first. `read`: the numbers of the points whose texts are given. (n, 2)"""
    words_of = [_words_of(text) for text in texts]
    usual: Counter[str] = Counter()
    for distinct_words in words_of:
        usual.update(distinct_words)
    named = list[MapRegion]()
    for level, wanted in enumerate(LEVELS):
        if len(read) < wanted * _FEWEST:
            break
        homes = _divided(points, wanted)
        inside = [Counter[str]() for _ in range(wanted)]
        for home, distinct_words in zip(homes[read].tolist(), words_of, strict=True):
            inside[home].update(distinct_words)
        sizes = np.bincount(homes[read], minlength=wanted).tolist()
        of_level = list[MapRegion]()
        for region, (counts, size) in enumerate(zip(inside, sizes, strict=True)):
            names = _characteristic(counts, size, usual, len(read)) if size >= _FEWEST else ()
            if names:
                members = points[homes == region]
                x, y = _middle(members).tolist()
                of_level.append(MapRegion(x, y, names, len(members), level))
        named += sorted(of_level, key=lambda region: -region.passages)
    return tuple(named)


def _words_of(text: str) -> list[str]:
    """The distinct words of a text, numbers and words of a letter or two left out."""
    named = {word for word in words(text) if len(word) >= _SHORTEST and word.isalpha()}
    return sorted(named - STOP_WORDS)


def _divided(points: Float32, k: int) -> Int64:
    """Divide points into k regions by Lloyd's algorithm; each point's region. (n, 2) -> (n,)"""
    order = np.lexsort((points[:, 1], points[:, 0]))
    centres = points[order[(np.arange(k) * len(points) + len(points) // 2) // k]].astype(np.float64)
    with warnings.catch_warnings(action="ignore"):  # of a region that no point is nearest to
        return np.asarray(kmeans2(points.astype(np.float64), centres, _ROUNDS, minit="matrix")[1], dtype=np.int64)


def _middle(members: Float32) -> Float32:
    """The member nearest to the median, so that a label there lies on the region, whatever its shape."""
    distances = np.square(members - np.median(members, axis=0)).sum(axis=1)
    return np.asarray(members[int(np.argmin(distances))])


def _characteristic(counts: Mapping[str, int], size: int, usual: Mapping[str, int], n: int) -> tuple[str, ...]:
    """The words whose share of a region's `size` passages diverges most from their usual one, among n passages."""
    shares = {word: count / size for word, count in counts.items() if count >= _LEAST_SHARE * size}
    divergence = {word: share * log(share * n / usual[word]) for word, share in shares.items()}
    chosen: dict[str, str] = {}
    for word in sorted(divergence, key=lambda word: (-divergence[word], word))[: 4 * _WORDS]:
        chosen.setdefault(word[:_SAME], word)
    return tuple(chosen.values())[:_WORDS]


# -- Colourings --------------------------------------------------------------------------------------------------------

Kind = Literal["folder", "type", "document"]

MOST = 12  # groups, the last one of all others included: more colours cannot be distinguished
REST = "others"


@dataclass(frozen=True, slots=True)
class DocumentSpan:
    """A document with its passages: which folders it is in, outermost first, and what else it may be coloured by."""

    folders: tuple[str, ...]
    format: str
    name: str
    first: int
    passages: int


@dataclass(frozen=True, slots=True)
class Colouring:
    """A division of points into named groups, and each point's group."""

    by: Kind
    names: tuple[str, ...]
    numbers: UInt8  # (n,)

    def sizes(self) -> list[int]:
        """The number of points of each group."""
        sizes: list[int] = np.bincount(self.numbers, minlength=len(self.names)).tolist()
        return sizes


def spans_of(documents: Sequence[DocumentRow]) -> list[DocumentSpan]:
    """The colourings of documents that have passages."""
    several = len({document.root for document in documents}) > 1
    return [
        DocumentSpan(
            _folders(document.root, document.path, several=several),
            document.format,
            document.title or document.path,
            document.first_passage,
            document.passages,
        )
        for document in documents
    ]


def _folders(root: str, path: str, *, several: bool) -> tuple[str, ...]:
    """The folders of a path below its root; the root itself is one where there are several."""
    below = PurePosixPath(path).parent.parts
    return ((PurePosixPath(root).name or "added"), *below) if several else below


def colourings(documents: Sequence[DocumentSpan], ids: Int64) -> tuple[Colouring, ...]:
    """The colourings of passages, given by their rising ids. (n,)"""
    counts = np.array([document.passages for document in documents], dtype=np.int64)
    starts = np.array([document.first for document in documents], dtype=np.int64)
    owners = np.searchsorted(starts, ids, side="right") - 1
    named: dict[Kind, list[str]] = {
        "folder": _folder_names(documents),
        "type": [document.format or "text" for document in documents],
        "document": [document.name for document in documents],
    }
    return tuple(_colouring(by, names, counts, owners) for by, names in named.items())


def _colouring(by: Kind, names: Sequence[str], counts: Int64, owners: Int64) -> Colouring:
    sizes: Counter[str] = Counter()
    for name, count in zip(names, counts.tolist(), strict=True):
        sizes[name] += count
    ranked = sorted(sizes, key=lambda name: (-sizes[name], name))
    shown = ranked if len(ranked) <= MOST else [*ranked[: MOST - 1], REST]
    numbers = {name: min(number, MOST - 1) for number, name in enumerate(ranked)}
    of_documents = np.array([numbers[name] for name in names], dtype=np.uint8)
    return Colouring(by, tuple(shown), of_documents[owners])


def _folder_names(documents: Sequence[DocumentSpan]) -> list[str]:
    """The folder by which each document is coloured: as deep as there are colours for all."""
    names: list[str] = []
    for depth in range(max((len(document.folders) for document in documents), default=1) or 1, 0, -1):
        folders = ["/".join(document.folders[:depth]) for document in documents]
        names = [f"{folder}/" if folder else "(top)" for folder in folders]
        if len(set(names)) <= MOST:
            break
    return names
