"""The regions of a map, and the words that characterise each, so that a map can be read.

Points are divided by k-means into a few large regions, then into more and smaller ones. The words of a region are those
that contribute most to the Kullback-Leibler divergence of its words from those of all passages. Of a large index only
some passages are read.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array
from scipy.spatial import cKDTree

from semsearch.arrays.types import Float32, Float64, Int32, Int64
from semsearch.results.documents import MapRegion
from semsearch.text.languages import STOP_WORDS
from semsearch.text.tokens import words

LEVELS = (12, 48, 192)  # regions
MOST_READ = 20_000  # passages whose words are counted
_FEWEST = 8  # passages of a region that are read; one with fewer has no name
_WORDS = 3
_ROUNDS = 20
_SHORTEST = 3  # letters of a word
_SAME = 5  # letters: words with a common prefix of that length are mostly forms of one word
_LEAST_SHARE = 0.08  # of a region's passages that have a word that names it


@dataclass(frozen=True, slots=True)
class WordCounts:
    """Which passages have which words, as 1 (n, w), and the words (w)."""

    counts: csr_array
    words: list[str]


def regions(points: Float32, read: Int64, texts: Sequence[str]) -> tuple[MapRegion, ...]:
    """The regions of a map, the large ones first. `read`: the numbers of the points whose texts are given. (n, 2)"""
    counted, regions_of_levels = _count(texts), list[MapRegion]()
    for level, wanted in enumerate(LEVELS):
        if len(read) < wanted * _FEWEST:
            break
        regions_of_levels += _level(points, read, counted, level, wanted)
    return tuple(regions_of_levels)


def _level(points: Float32, read: Int64, counted: WordCounts, level: int, wanted: int) -> list[MapRegion]:
    homes = _divided(points.astype(np.float64), wanted)
    sizes, of_read = np.bincount(homes, minlength=wanted), homes[read]
    level_regions: list[MapRegion] = []
    for region, naming in enumerate(_characteristic_words(counted, of_read, wanted)):
        members = points[homes == region]
        if naming:
            x, y = _middle(members).tolist()
            level_regions.append(MapRegion(x, y, tuple(naming), int(sizes[region]), level))
    return sorted(level_regions, key=lambda map_region: -map_region.passages)


def _middle(members: Float32) -> Float32:
    """The member nearest to the median, so that a label there lies on the region, whatever its shape."""
    distances = np.square(members - np.median(members, axis=0)).sum(axis=1)
    return np.asarray(members[int(np.argmin(distances))])


def _divided(points: Float64, k: int) -> Int64:
    """Divide points into k regions by Lloyd's algorithm; each point's region. (n, 2) -> (n,)"""
    order = np.lexsort((points[:, 1], points[:, 0]))
    centres = points[order[(np.arange(k) * len(points) + len(points) // 2) // k]]
    homes: Int64 = np.zeros(len(points), dtype=np.int64)
    for _ in range(_ROUNDS):
        homes = np.asarray(cKDTree(centres).query(points)[1], dtype=np.int64)
        sizes = np.bincount(homes, minlength=k)
        sums = np.stack([np.bincount(homes, weights=axis, minlength=k) for axis in points.T], axis=1)
        centres = np.where(sizes[:, None] > 0, sums / np.maximum(sizes, 1)[:, None], centres)
    return homes


def _count(texts: Sequence[str]) -> WordCounts:
    """Which texts have which words, numbers and words of a letter or two left out."""
    numbers: dict[str, int] = {}
    columns: list[int] = []
    ends = [0]
    for text in texts:
        distinct_words = {
            word for word in words(text) if len(word) >= _SHORTEST and word.isalpha() and word not in STOP_WORDS
        }
        columns += [numbers.setdefault(word, len(numbers)) for word in sorted(distinct_words)]
        ends.append(len(columns))
    ones = np.ones(len(columns), dtype=np.float64)
    shape = (len(texts), max(len(numbers), 1))
    return WordCounts(csr_array((ones, np.array(columns, dtype=np.int64), np.array(ends)), shape=shape), list(numbers))


def _characteristic_words(counted: WordCounts, homes: Int64, k: int) -> list[list[str]]:
    """The words of each region; none for one of which too few passages were read."""
    n = len(homes)
    members = csr_array((np.ones(n), (homes, np.arange(n))), shape=(k, n))
    inside = csr_array(members @ counted.counts)
    everywhere: Float64 = np.asarray(counted.counts.sum(axis=0), dtype=np.float64)
    sizes = np.bincount(homes, minlength=k)
    usual_shares = everywhere / n
    characteristic: list[list[str]] = []
    for region, size in enumerate(sizes.tolist()):
        entries = slice(inside.indptr[region], inside.indptr[region + 1])
        columns = inside.indices[entries]
        shares = inside.data[entries] / max(size, 1)
        is_read = size >= _FEWEST
        characteristic.append(_best(counted.words, columns, shares, usual_shares[columns]) if is_read else [])
    return characteristic


def _best(names: list[str], columns: Int32, shares: Float64, usual_shares: Float64) -> list[str]:
    """The words whose share of a region's passages diverges most from their usual one, from their columns. (w,)"""
    divergence = np.where(shares >= _LEAST_SHARE, shares * np.log(shares / usual_shares), 0.0)
    chosen: list[str] = []
    for column in columns[np.lexsort((columns, -divergence))[: 4 * _WORDS]].tolist():
        name = names[column]
        if all(not _is_same(name, other) for other in chosen):
            chosen.append(name)
    return chosen[:_WORDS]


def _is_same(name: str, other: str) -> bool:
    return name[:_SAME] == other[:_SAME]
