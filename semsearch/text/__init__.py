"""Split documents into passages, sentences, words and terms."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from semsearch import load_public, public_names

if TYPE_CHECKING:  # the same names for whoever checks types
    from semsearch.text.passages import each_passage as each_passage
    from semsearch.text.ragged import Ragged as Ragged
    from semsearch.text.sentences import sentence_spans as sentence_spans
    from semsearch.text.tokens import words as words
    from semsearch.word_vectors.word_frequencies import read_counts as read_counts, shares as shares

__all__ = sorted(public_names(__name__))


def __getattr__(name: str) -> Any:
    return load_public(__name__, name)
