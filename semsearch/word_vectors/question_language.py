"""Guess the language of a short text, such as a question, by its script and by p(w) of its words in each language.

    argmax_L  Σ_w max(log p_L(w), ρ) + max(β + log(n_L / n), 0) [L is English, or a language of the index]

n_L is the number of the index's documents in the language, n that of the language with the most.

Of a handful of words most are in the table of the right language and few in the others, where function words of one
language are names or rare words of another. A rare word counts as much as one that is lacking (ρ): tables of different
sizes are then compared fairly.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import lru_cache

import numpy as np

from semsearch.arrays.types import UInt64
from semsearch.text.detect_language import script_of, sharing_script
from semsearch.text.languages import ENGLISH
from semsearch.text.terms import spelled
from semsearch.text.tokens import hash_chunks
from semsearch.word_vectors.language_words import is_unparted
from semsearch.word_vectors.multilingual import MultilingualVectors, language_table
from semsearch.word_vectors.table import WordVectors

_RARE = -15.0  # ρ
_KNOWN = 6.0  # β: a rare word that is frequent in the other language
_LONGEST = 300  # characters of a text that are looked at


def guess_languages(texts: Sequence[str], vectors: MultilingualVectors) -> list[str]:
    """The language of each text, among those that the vectors have; of equals English."""
    codes = (ENGLISH, *vectors.tables)
    return [_likeliest(text[:_LONGEST], vectors.english, _written_in(text, codes), codes) for text in texts]


def guess_any_language(
    text: str, vectors: WordVectors, known: Sequence[str], documents: Mapping[str, int] | None = None
) -> str:
    """The language of a question, of all that have a table; one that is not `known` only if that is clear.

    `documents`: how many the index has in each language; the fewer, the clearer it has to be.
    """
    sample = text[:_LONGEST]
    codes = _with_tables(script_of(sample), vectors.digest)
    return _likeliest(sample, vectors, codes, (*known, ENGLISH), documents or {})


def _written_in(text: str, codes: Sequence[str]) -> list[str]:
    sharing = sharing_script(script_of(text[:_LONGEST]))
    return [code for code in codes if code in sharing]


@lru_cache(maxsize=64)
def _with_tables(script: str, space: str) -> tuple[str, ...]:
    """The languages of a script that have a table in the space of the word vectors with a digest."""
    from semsearch.word_vectors.multilingual import open_language

    return tuple(code for code in sharing_script(script) if code == ENGLISH or open_language(code, space) is not None)


def _likeliest(
    text: str,
    vectors: WordVectors,
    codes: Sequence[str],
    known: Sequence[str],
    documents: Mapping[str, int] | None = None,
) -> str:
    """The likeliest of languages that share a script; of equals the first known one. English if there are none."""
    if len(codes) < 2 or is_unparted(codes[0]):
        return codes[0] if codes else ENGLISH
    shared, most = _hashes(text, ENGLISH), max((documents or {}).values(), default=1)
    scores: dict[str, float] = {}
    for code in codes:
        hashes = _hashes(text, code) if spelled(text, code) != text else shared
        scores[code] = _log_likelihood(hashes, vectors, code)
        if code in known:
            share = (documents or {}).get(code, most) / most
            scores[code] += max(_KNOWN + math.log(share), 0.0)
    best = max(scores.values())
    equal = [code for code in codes if scores[code] == best]
    return next((code for code in known if code in equal), equal[0])


def _hashes(text: str, language: str) -> UInt64:
    chunks = hash_chunks([spelled(text, language)], marks=True)
    return np.concatenate([np.zeros(0, dtype=np.uint64), *(chunk.hashes for chunk in chunks)])


def _log_likelihood(hashes: UInt64, vectors: WordVectors, code: str) -> float:
    table = vectors if code == ENGLISH else language_table(code, vectors)
    if table is None:
        return -np.inf
    ids = table.lookup(hashes)
    known = table.frequencies[ids[ids >= 0]]
    return float(np.maximum(np.log(np.maximum(known, 1e-30)), _RARE).sum()) + _RARE * (len(ids) - len(known))
