"""Questions to try an index with: a few words of its own sentences, as a user would type them.

Whole sentences lie nearer to their passages and are found with less effort: what is enough for a few words is enough
for them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from semsearch.embedding.embedder import SentenceEmbedder
from semsearch.storage.catalogue import stored_texts
from semsearch.text.tokens import words
from semsearch.topics.joined import join
from semsearch.topics.model import Topics

if TYPE_CHECKING:
    import sqlite3

Float32 = npt.NDArray[np.float32]
Int64 = npt.NDArray[np.int64]

WORDS = 3


def few_words(sentence: str) -> str:
    """Its longest words in their order; of equally long ones the first."""
    found = words(sentence)
    longest = sorted(range(len(found)), key=lambda place: (-len(found[place]), place))[:WORDS]
    return " ".join(found[place] for place in sorted(longest))


def questions_of(
    db: sqlite3.Connection, embedder: SentenceEmbedder, topics: Topics | None, passage_ids: Int64
) -> Float32:
    """A question of the middle sentence of each passage, as a search embeds it; those of known words only. (≤ n, d)"""
    texts: list[str] = []
    for id_ in passage_ids.tolist():
        for stored in stored_texts(db, id_ + 1, first=id_):
            texts.append(few_words(stored.sentences[len(stored.sentences) // 2]))
    if not texts:
        return np.zeros((0, 0), dtype=np.float32)
    vectors = embedder.transform(texts)
    if topics is not None:
        vectors = join(vectors, np.stack([topics.of_question(text) for text in texts]))
    return vectors[vectors.any(axis=1)]
