"""Open a reranker by the name or the path of its model."""

from __future__ import annotations

import os
from pathlib import Path

from semsearch.errors import ModelError
from semsearch.rerankers.onnx_models import onnx_file, open_onnx
from semsearch.rerankers.reranker import SECONDS, ModelReranker, RerankingModel, check_timeout, imported, probed
from semsearch.rerankers.transformer_models import DEFAULT_MODEL, open_transformer
from semsearch.system.locations import expanded

DEFAULT = "default"  # the name of the default model
_WEIGHTS = ("*.safetensors", "pytorch_model*.bin")


def load_reranker(model: str | Path = DEFAULT, *, seconds: float = SECONDS) -> ModelReranker:
    """Open a reranker by a model, which reads the first fifty passages, within `seconds` for each question.

    `model` is an encoder or a cross-encoder of sentence-transformers, by its name or its folder, or an ONNX file, or a
    folder with one; "default" is all-MiniLM-L6-v2, which comes with the extra `rerank`. A name is looked up on this
    machine; nothing is downloaded unless the environment has HF_HUB_OFFLINE=0. Raises MissingExtra, ModelError, and
    UsageError for a timeout that is not positive.
    """
    check_timeout(seconds)  # before the model is read, which takes a while
    return ModelReranker(probed(_opened(os.fspath(model))), seconds)


def _opened(model: str) -> RerankingModel:
    """Open a model by whatever runs it: a folder of sentence-transformers by that, where it is installed."""
    if model == DEFAULT:
        return open_transformer(DEFAULT_MODEL)
    path = expanded(model)
    if path.suffix == ".onnx":
        if not path.is_file():
            raise ModelError(f"there is no file {model}; give an ONNX file, or the folder of a model")
        return open_onnx(path)
    if not model.strip() or not path.is_dir():
        if not model.strip() or path.exists() or _is_path(model):
            raise ModelError(f"{model!r} is not the folder of a model; give one, an ONNX file, or the name of a model")
        return open_transformer(model)
    has_weights = any(any(path.glob(pattern)) for pattern in _WEIGHTS)
    if onnx_file(path) and not (has_weights and imported("sentence_transformers")):
        return open_onnx(path)
    if not has_weights:
        raise ModelError(f"{model} contains neither model.onnx nor model.safetensors; give another folder")
    return open_transformer(str(path))


def _is_path(model: str) -> bool:
    """Whether a text cannot be the name of a model, which is one word, or two with a slash."""
    return model.startswith((".", "~", "/")) or Path(model).is_absolute() or model.count("/") > 1 or "\\" in model
