"""Vectors of texts for other frameworks: as an index embeds its sentences, or as a fitted embedder does."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from semsearch import Index, SentenceEmbedder
from semsearch.adapters.opened import searchable
from semsearch.errors import UsageError

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

EmbedderLike: TypeAlias = Index | SentenceEmbedder | str | Path
Embed: TypeAlias = "Callable[[Sequence[str]], npt.NDArray[np.float32]]"


def embedder_of(given: EmbedderLike) -> Embed:
    """The function that embeds texts: unit vectors, zero for a text without a known word. (n) -> (n, d)

    Of an index it raises UsageError while the index has no text; of an embedder FitError before `fit`. Raises
    UsageError for anything else, and what opening an index raises.
    """
    if isinstance(given, SentenceEmbedder):
        return given.transform
    index = searchable(given) if isinstance(given, str | Path) else given
    if not isinstance(index, Index):
        raise UsageError(f"texts are embedded by an index on this machine or a fitted SentenceEmbedder, not {given!r}")
    return index.embed


def rows(embed: Embed, texts: Sequence[str]) -> list[list[float]]:
    """Embed texts as lists of numbers, in their order."""
    found: list[list[float]] = embed(texts).tolist() if texts else []
    return found
