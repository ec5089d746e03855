"""The regions of a map, and the words that characterise each, so that a map can be read.

Points are divided by k-means into a few large regions, then into more and smaller ones. The words of a region are those
that contribute most to the Kullback-Leibler divergence of its words from those of all passages. Of a large index only
some passages are read.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from math import log

import numpy as np
from scipy.spatial import cKDTree

from semsearch.arrays.types import Float32, Int64
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
    for _ in range(_ROUNDS):
        homes: Int64 = np.asarray(cKDTree(centres).query(points)[1], dtype=np.int64)
        sizes = np.bincount(homes, minlength=k)
        sums = np.stack([np.bincount(homes, weights=axis, minlength=k) for axis in points.T], axis=1)
        centres = np.where(sizes[:, None] > 0, sums / np.maximum(sizes, 1)[:, None], centres)
    return homes


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
