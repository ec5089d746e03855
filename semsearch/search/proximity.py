"""Words of the query that stand together in a passage.

near is the share of the query's pairs of adjacent words that stand together in the passage, in any order. A pair counts
the idf of its more frequent word, divided by the root of the distance, and nothing beyond three words:

    near = Σ_i min(idf_i, idf_(i+1)) / √d_i  /  Σ_i min(idf_i, idf_(i+1))
"""

from __future__ import annotations

import numpy as np

from semsearch import tuning
from semsearch.arrays.types import Float64, Int64, UInt64
from semsearch.search.candidates import Candidates, IndexView, Query
from semsearch.text.languages import RULES
from semsearch.text.tokens import HashedWords

_MOST = 5  # first passages in which it is looked, whatever k is


def proximity(query: Query, candidates: Candidates, index: IndexView) -> Candidates:
    """Points for the sections that may lead, by how near the query's words stand to each other.

    Without it 3 of 295 first hits are lost over documentation, and 3 among five.
    """
    weight, terms = tuning.TUNING.proximity_weight, query.terms
    if not candidates.are_sections_compared or terms is None or query.words is None:
        return candidates
    names = [name for name in dict.fromkeys(terms.words) if name.isalnum()]  # no joined ones
    if len(names) < 2:
        return candidates
    number = {name: at for at, name in enumerate(names)}
    words = {term: number[name] for term, name in zip(terms.terms.tolist(), terms.words, strict=True) if name in number}
    asked, owners = np.array(sorted(words), dtype=np.uint64), np.array([words[term] for term in sorted(words)])
    idf = np.zeros(len(names))
    np.maximum.at(idf, owners, query.words.lookup.idf[np.searchsorted(query.words.lookup.terms, asked)])
    of_pairs, scores = np.minimum(idf[:-1], idf[1:]), candidates.scores
    first = np.argsort(-scores, kind="stable")[:_MOST]
    first = first[candidates.are_sections[first] & (scores[first] >= np.nanmax(scores) - weight)]
    first = first[[id_ not in candidates.literal for id_ in candidates.ids[first].tolist()]]
    if not of_pairs.any() or not len(first):
        return candidates
    texts = [*index.reader.read_rows.texts(index.db, candidates.ids[first].tolist()).values()]
    points = np.zeros(len(scores))
    for language in index.reader.languages:
        if not RULES[language].pairs and not RULES[language].sequences:  # there, terms are not words
            of_texts = index.reader.read_texts.words(texts, language)
            ends = np.searchsorted(of_texts.of_terms, np.arange(len(texts) + 1))
            in_order = HashedWords(of_texts.terms, ends)
            points[first] = np.maximum(points[first], weight * _near(in_order, asked, owners, of_pairs))
    return candidates.add("proximity", points)


def _near(texts: HashedWords, asked: UInt64, owners: Int64, of_pairs: Float64) -> Float64:
    """The share of pairs that stand together in each of n texts, given by their terms in order. (n,)

    `asked`: the query's terms, rising, with the number of each one's word (t,); `of_pairs`: their weights (w - 1,).
    """
    most, n = tuning.TUNING.proximity_words, len(texts.indptr) - 1
    at = np.minimum(asked.searchsorted(texts.hashes), len(asked) - 1)
    held = (asked[at] == texts.hashes).nonzero()[0]
    word, text = owners[at[held]], np.searchsorted(texts.indptr, held, side="right") - 1
    nearness = np.zeros((n, len(of_pairs)))
    for step in range(1, most + 1):  # so many words that the query has may be between
        distance = held[step:] - held[:-step]
        beside = (np.abs(word[step:] - word[:-step]) == 1) & (distance <= most) & (text[step:] == text[:-step])
        pairs = np.minimum(word[step:], word[:-step])[beside]
        np.maximum.at(nearness, (text[step:][beside], pairs), distance[beside] ** -0.5)
    return np.asarray(nearness @ of_pairs / of_pairs.sum())
