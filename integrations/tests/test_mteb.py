"""The encoder for the MTEB package, in the shape of its protocol. The package itself needs PyTorch, and is not here."""

from __future__ import annotations

import sys
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from small import sentence

from semsearch import SentenceEmbedder, VectorTable
from semsearch_integrations.mteb import MtebEncoder

TOPICS = ("sea", "kitchen", "music")
QUERIES = [{"id": topic, "text": sentence(topic, 99)} for topic in TOPICS]
TASK: dict[str, Any] = {"task_metadata": None, "hf_split": "test", "hf_subset": "default", "encode_kwargs": {}}


def test_the_encoder_embeds_batches_as_the_embedder_does(small_vectors: VectorTable) -> None:
    texts = [one["text"] for one in QUERIES]
    embedder = SentenceEmbedder(small_vectors).fit(texts)
    batches = [{"text": texts[:2]}, {"text": texts[2:]}]
    rows = MtebEncoder(embedder).encode(batches, prompt_type=None, batch_size=2, **TASK)
    assert np.allclose(rows, embedder.transform(texts), atol=1e-6)
    assert MtebEncoder(embedder).encode([]).shape == (0, 0)


def test_word_vectors_alone_are_fitted_to_general_language(small_vectors: VectorTable) -> None:
    encoder = MtebEncoder(small_vectors.folder, None, device="cpu")
    rows = encoder.encode([{"text": [sentence("sea", 1), sentence("sea", 2), sentence("law", 1)]}])
    near, far = encoder.similarity(rows, rows)[0, 1:]
    assert near > far
    assert encoder.similarity_pairwise(rows, rows) == pytest.approx(1, abs=1e-5)
    assert encoder.similarity(rows[0], rows).shape == (1, 3)


def test_the_package_is_told_what_it_is_that_it_measures(
    small_vectors: VectorTable, monkeypatch: pytest.MonkeyPatch
) -> None:
    class ModelMeta:
        @staticmethod
        def create_empty(*, overwrites: dict[str, Any]) -> dict[str, Any]:
            return overwrites

    module: Any = ModuleType("mteb.models.model_meta")
    module.ModelMeta = ModelMeta
    for name in ("mteb", "mteb.models"):
        monkeypatch.setitem(sys.modules, name, ModuleType(name))
    monkeypatch.setitem(sys.modules, "mteb.models.model_meta", module)
    meta = MtebEncoder(small_vectors.folder, "1").mteb_model_meta
    assert (meta["name"], meta["revision"]) == ("semsearch/encoder", "1")
