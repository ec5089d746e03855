"""Tell word vectors that were distilled from a sentence encoder: they are not unsupervised.

Such an encoder was trained on pairs that people labelled or wrote as alike. Figures of vectors that learned from it do
not belong among those of methods that saw text alone; tables mark them.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from semsearch.word_vectors.table import WordVectors

MARK = "†"
MEANING = f"{MARK} distilled from a sentence encoder that was trained with supervision; not an unsupervised method."


def is_distilled(vectors: WordVectors) -> bool:
    """Return whether the card of word vectors says that they were distilled. Vectors without a card are not."""
    card = getattr(vectors, "card", {})
    return str(card.get("command", "")).startswith("semsearch vectors distill")


def marked(name: str, taught: Iterable[str]) -> str:
    """The name of word vectors, marked if they are among those that were distilled."""
    return f"{name}{MARK}" if name in taught else name
