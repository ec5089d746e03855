"""Probe questions to measure recall with: a few words of the index's own sentences, as a user would type them.

Whole sentences are nearer to their passages and are found with less effort: settings that are enough for a few words
are enough for them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from semsearch.embedding.embedder import SentenceEmbedder
from semsearch.storage.catalogue import stored_texts
from semsearch.storage.languages import get_languages
from semsearch.text.languages.rules import ENGLISH
from semsearch.text.tokens import words
from semsearch.topics.joined import join
from semsearch.topics.model import Topics

if TYPE_CHECKING:
    import sqlite3

Float32 = npt.NDArray[np.float32]
Int64 = npt.NDArray[np.int64]

WORDS = 3


def few_words(sentence: str) -> str:
    """The longest words of a sentence, in their order; of equally long ones the first."""
    found = words(sentence)
    longest = sorted(range(len(found)), key=lambda position: (-len(found[position]), position))[:WORDS]
    return " ".join(found[position] for position in sorted(longest))


def questions_of(
    db: sqlite3.Connection, embedder: SentenceEmbedder, topics: Topics | None, passage_ids: Int64
) -> Float32:
    """Embed a question about the middle sentence of each passage; one without known words is left out. (≤ n, d)"""
    texts: list[str] = []
    for id_ in passage_ids.tolist():
        for stored in stored_texts(db, id_ + 1, first=id_):
            texts.append(few_words(stored.sentences[len(stored.sentences) // 2]))
    if not texts:
        return np.zeros((0, 0), dtype=np.float32)
    vectors = embedder.transform(texts)
    if topics is not None:
        languages = tuple(get_languages(db)) or (ENGLISH,)
        vectors = join(vectors, np.stack([topics.of_question(text, languages) for text in texts]))
    return vectors[vectors.any(axis=1)]
