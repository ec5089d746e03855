"""The adapter to the MTEB package, in the shape of its protocols. The package itself needs PyTorch, and is not here."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from small import article, sentence

from semsearch import Index, SentenceEmbedder, VectorTable
from semsearch_integrations.mteb import MtebEncoder, MtebSearch

TOPICS = ("sea", "kitchen", "music")
CORPUS = [{"id": f"{topic}-{n}", "text": article(topic, n), "title": topic} for topic in TOPICS for n in range(3)]
QUERIES = [{"id": topic, "text": sentence(topic, 99)} for topic in TOPICS]
TASK: dict[str, Any] = {"task_metadata": None, "hf_split": "test", "hf_subset": "default", "encode_kwargs": {}}


@pytest.fixture
def engine(small_vectors: VectorTable, tmp_path: Path) -> Iterator[MtebSearch]:
    engine = MtebSearch(folder=tmp_path / "indexes", vectors=small_vectors)
    engine.index(CORPUS, num_proc=None, **TASK)
    yield engine
    engine.close()


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


def test_the_engine_ranks_documents_by_their_best_passage(engine: MtebSearch) -> None:
    found = engine.search(QUERIES, top_k=3, num_proc=None, **TASK)
    assert set(found) == set(TOPICS)
    for topic, ranked in found.items():
        assert [name.rpartition("-")[0] for name in ranked] == [topic] * 3
        assert [*ranked.values()] == sorted(ranked.values(), reverse=True)


def test_only_the_documents_that_are_to_be_ranked_are(engine: MtebSearch) -> None:
    wanted = {"sea": ["kitchen-0", "sea-0"], "law": ["music-1"]}
    found = engine.search(QUERIES, top_k=10, top_ranked=wanted, num_proc=None, **TASK)
    assert {query: [*ranked] for query, ranked in found.items()} == {"sea": ["sea-0", "kitchen-0"], "law": ["music-1"]}


def test_each_task_has_an_index_of_its_own(engine: MtebSearch, tmp_path: Path) -> None:
    engine.index([{"id": "a", "text": "A bee."}], num_proc=None, **TASK)
    assert engine.search([{"id": "q", "text": "bee"}, {"id": "none", "text": "?!"}], top_k=3, **TASK).keys() == {"q"}
    with Index.open(tmp_path / "indexes" / "task-2") as index:
        assert len(index) == 1


def test_asking_before_there_are_documents_is_a_bug() -> None:
    with pytest.raises(RuntimeError, match="before index"):
        MtebSearch().search(QUERIES, top_k=3)


def test_the_package_is_told_what_it_is_that_it_measures(
    engine: MtebSearch, small_vectors: VectorTable, monkeypatch: pytest.MonkeyPatch
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
    assert engine.mteb_model_meta["name"] == "semsearch/index-hybrid"
    meta = MtebEncoder(small_vectors.folder, "1").mteb_model_meta
    assert (meta["name"], meta["revision"]) == ("semsearch/encoder", "1")
