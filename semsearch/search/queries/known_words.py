"""How much of a question the word vectors know, for the weight of meaning in an index that is not in English alone."""

from __future__ import annotations

from collections.abc import Sequence

from semsearch.text.tokens import hash_words, words
from semsearch.word_vectors.table import WordVectors


def known_shares(questions: Sequence[str], vectors: WordVectors) -> list[float]:
    """The share of each question's words that the word vectors have. Single Chinese characters say too little."""
    shares: list[float] = []
    for question in questions:
        found = words(question)
        several = [word for word in found if len(word) > 1 or word.isascii()]
        known = vectors.lookup(hash_words([" ".join(several)]).hashes) >= 0
        shares.append(float(known.sum()) / max(len(found), 1))
    return shares
