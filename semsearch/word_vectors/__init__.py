"""Tables of word vectors: ship, import, write and look them up."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from semsearch import load_public, public_names

if TYPE_CHECKING:  # the same names for whoever checks types
    from semsearch.embedding.weighted_sums import average as average
    from semsearch.word_vectors.loading import WordVectorsLike as WordVectorsLike, open_vectors as open_vectors
    from semsearch.word_vectors.vector_formats import identify as identify

__all__ = sorted(public_names(__name__))


def __getattr__(name: str) -> Any:
    return load_public(__name__, name)
