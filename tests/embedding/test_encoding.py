"""Vectors asked for as sentence-transformers is asked."""

from __future__ import annotations

import numpy as np
import pytest
from small import sentence

from semsearch import SentenceEmbedder, VectorTable
from semsearch.errors import FitError, UsageError

TEXTS = [sentence(topic, number) for number in range(20) for topic in ("sea", "kitchen")]


@pytest.fixture
def embedder(small_vectors: VectorTable) -> SentenceEmbedder:
    return SentenceEmbedder(small_vectors).fit(TEXTS)


def test_several_texts_have_a_row_each_and_one_text_has_a_vector(embedder: SentenceEmbedder) -> None:
    rows = embedder.encode(TEXTS)
    assert np.array_equal(rows, embedder.transform(TEXTS))
    assert embedder.encode(TEXTS[0]).shape == (24,)
    assert np.allclose(embedder.encode(TEXTS[0]), rows[0], atol=1e-6)
    assert embedder.encode([]).shape == (0, 24)


def test_questions_and_documents_are_embedded_alike(embedder: SentenceEmbedder) -> None:
    for encode in (embedder.encode_query, embedder.encode_document):
        assert np.array_equal(encode(TEXTS), embedder.encode(TEXTS))
        assert np.array_equal(encode(TEXTS[0]), embedder.encode(TEXTS[0]))


@pytest.mark.parametrize("batch_size", [1, 7, 1000])
@pytest.mark.parametrize("normalised", [True, False])
def test_the_batch_does_not_change_the_vectors(embedder: SentenceEmbedder, batch_size: int, normalised: bool) -> None:
    rows = embedder.encode(TEXTS, batch_size=batch_size, normalize_embeddings=normalised)
    assert np.allclose(rows, embedder.encode(TEXTS, normalize_embeddings=normalised), atol=1e-6)


def test_without_normalising_vectors_keep_their_lengths(embedder: SentenceEmbedder) -> None:
    rows = embedder.encode(TEXTS, normalize_embeddings=False)
    lengths = np.linalg.norm(rows, axis=1)
    assert np.ptp(lengths) > 0.01
    assert np.allclose(rows / lengths[:, None], embedder.transform(TEXTS), atol=1e-5)


def test_what_cannot_be_encoded_is_refused(embedder: SentenceEmbedder, small_vectors: VectorTable) -> None:
    for size in (0, -1, 1.5):
        with pytest.raises(UsageError, match=f"batch_size must be at least 1, not {size}"):
            embedder.encode(TEXTS, batch_size=size)  # type: ignore[arg-type]
    with pytest.raises(UsageError, match="text 0 is 3, not a string"):
        embedder.encode([3])  # type: ignore[list-item]
    with pytest.raises(FitError, match="call fit"):
        SentenceEmbedder(small_vectors).encode("a ship")
