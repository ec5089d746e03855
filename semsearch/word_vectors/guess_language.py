"""Guess the language of a short text, such as a question, by its script and by p(w) of its words in each language.

The likeliest of some languages is taken, argmax_L Σ_w log p_L(w): of a handful of words most are in the table of the
right language and few in the others, where function words of one language are names or rare words of another.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache

import numpy as np

from semsearch.text.languages import ENGLISH, clear_language_of, script_of, sharing_script
from semsearch.text.terms import word_chunks
from semsearch.word_vectors.language_words import is_unparted
from semsearch.word_vectors.multilingual import MultilingualVectors, language_table
from semsearch.word_vectors.table import WordVectors

_UNKNOWN = -20.0  # log p of a word that a table lacks
_LONGEST = 300  # characters of a text that are looked at


def guess_languages(texts: Sequence[str], vectors: MultilingualVectors, known: Iterable[str] = ()) -> list[str]:
    """The language of each text, among those that the vectors have, or `known` ones; of equals the first."""
    codes = tuple(dict.fromkeys((*known, ENGLISH, *vectors.tables)))
    return [_guess(text[:_LONGEST], vectors, codes) for text in texts]


def guess_any_language(text: str, vectors: WordVectors, known: Sequence[str]) -> str:
    """The language of a question, of those that have a table; one that is not `known` only if that is clear."""
    sample = text[:_LONGEST]
    sharing = _with_tables(script_of(sample), vectors)
    if ENGLISH not in sharing:
        known = [code for code in known if code in sharing] or list(sharing)
        return known[0] if len(known) == 1 else likeliest(sample, vectors, known) if known else ENGLISH
    clear = clear_language_of(text, known)
    if clear is not None and clear in sharing and clear not in known:
        return clear
    return likeliest(sample, vectors, [code for code in known if code in sharing] or [ENGLISH])


def _guess(sample: str, vectors: MultilingualVectors, codes: Sequence[str]) -> str:
    sharing = sharing_script(script_of(sample))
    own = [code for code in codes if code in sharing and (code == ENGLISH or code in vectors.tables)]
    return likeliest(sample, vectors.english, own) if own else ENGLISH


def likeliest(text: str, vectors: WordVectors, codes: Sequence[str]) -> str:
    """The language with the largest Σ log p(w) of the words of a text; of equals the first. They share a script."""
    if len(codes) == 1 or is_unparted(codes[0]):
        return codes[0]
    return max(codes, key=lambda code: _log_likelihood(text, vectors, code))


def _log_likelihood(text: str, vectors: WordVectors, code: str) -> float:
    table = vectors if code == ENGLISH else language_table(code, vectors)
    if table is None:
        return -np.inf
    hashes = np.concatenate([chunk.hashes for chunk in word_chunks([text], code)] or [np.zeros(0, dtype=np.uint64)])
    ids = table.lookup(hashes)
    known = ids[ids >= 0]
    return float(np.log(table.frequencies[known]).sum()) + _UNKNOWN * (len(ids) - len(known))


@lru_cache(maxsize=64)
def _tables_of_script(script: str, space: str) -> tuple[str, ...]:
    from semsearch.word_vectors.multilingual import open_language

    return tuple(code for code in sharing_script(script) if code == ENGLISH or open_language(code, space) is not None)


def _with_tables(script: str, vectors: WordVectors) -> tuple[str, ...]:
    return _tables_of_script(script, vectors.digest)
