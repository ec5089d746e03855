"""Models as ONNX files, run by ONNX Runtime, without PyTorch: an encoder or a cross-encoder, and its tokeniser.

    model.onnx         or in onnx/, or a file of another name that is given
    tokenizer.json     beside it, or in the folder above
    1_Pooling/, modules.json, sentence_bert_config.json, tokenizer_config.json: as sentence-transformers writes them

The outputs decide which kind it is: a cross-encoder gives one number a text, its score; an encoder gives a vector a
text, or a vector a token, of which the mean, or the first, is the text's.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from semsearch.arrays.types import Float32, Int64
from semsearch.arrays.vectors import unit_rows
from semsearch.errors import ModelError, install_command
from semsearch.rerankers.reranker import RERANK_ONNX, RerankingModel, needed
from semsearch.system.durable import file_digest

_TOKENS = 512  # that are read of a text, where the model says nothing
_MOST = 1 << 20  # larger numbers in a configuration stand for "no limit"
_PADS = ("[PAD]", "<pad>", "<|endoftext|>")
_OUTPUTS = ("sentence_embedding", "logits", "last_hidden_state", "token_embeddings")  # preferred in this order
_MODULES = ("Transformer", "Pooling", "Normalize")  # of sentence-transformers; others would be left out


@dataclass(frozen=True, slots=True)
class OnnxRun:
    """A session of ONNX Runtime with its tokeniser: texts, or pairs of texts, to an output for each."""

    session: Any
    tokenizer: Any
    inputs: Sequence[str]
    output: str

    def __call__(self, texts: Sequence[str] | Sequence[tuple[str, str]]) -> tuple[npt.NDArray[Any], Int64]:
        """The output for n texts of up to t tokens, (n, ...), and which of the tokens are of the text. (n, t)"""
        encoded = self.tokenizer.encode_batch(list(texts))
        columns = {
            "input_ids": [encoding.ids for encoding in encoded],
            "attention_mask": [encoding.attention_mask for encoding in encoded],
            "token_type_ids": [encoding.type_ids for encoding in encoded],
        }
        arrays = {name: np.array(columns[name], dtype=np.int64) for name in self.inputs}
        mask = np.array(columns["attention_mask"], dtype=np.int64)
        return self.session.run([self.output], arrays)[0], mask


@dataclass(frozen=True, slots=True)
class OnnxEncoder:
    """An encoder of texts."""

    name: str
    run: OnnxRun
    digest: bytes
    first_token: bool  # whether the text's vector is that of its first token, not the mean

    def encode_query(self, text: str) -> Float32:
        """The vector of a question. (d,)"""
        return np.asarray(self.encode_passages([text])[0])

    def encode_passages(self, texts: Sequence[str]) -> Float32:
        """The vectors of passages. n texts -> (n, d)"""
        vectors, mask = self.run(texts)
        if vectors.ndim == 3:
            kept = mask[:, :, None].astype(np.float32)
            vectors = (
                vectors[:, 0] if self.first_token else (vectors * kept).sum(axis=1) / np.maximum(kept.sum(axis=1), 1)
            )
        return unit_rows(vectors)


@dataclass(frozen=True, slots=True)
class OnnxPairScorer:
    """A cross-encoder."""

    name: str
    run: OnnxRun

    def score(self, query: str, texts: Sequence[str]) -> list[float]:
        """How well each text answers a question."""
        said, _ = self.run([(query, text) for text in texts])
        return [float(row_score) for row_score in said.reshape(len(texts), -1)[:, 0]]


def open_onnx(path: Path) -> RerankingModel:
    """Open a model, given by its file or its folder. Raises MissingExtra, ModelError."""
    runtime = needed("onnxruntime", package="onnxruntime", extra=RERANK_ONNX)
    tokenizers = needed("tokenizers", package="tokenizers", extra=RERANK_ONNX)
    file = onnx_file(path)
    if file is None:
        raise ModelError(f"{path} has no model.onnx; give an ONNX file, or the folder of a model")
    folders = [file.parent, file.parent.parent]
    words = _beside(folders, "tokenizer.json")
    if words is None:
        raise ModelError(f"{file} has no tokenizer.json beside it, or in the folder above; put the model's there")
    try:
        session = runtime.InferenceSession(str(file), providers=["CPUExecutionProvider"])
        tokenizer = tokenizers.Tokenizer.from_file(str(words))
    except Exception as error:  # whatever these packages raise for files of other formats
        reason = " ".join(str(error).split())[:200]
        raise ModelError(f"{file} is not a model that ONNX Runtime can load: {reason}; give another one") from error
    _pad_and_cut(tokenizer, _longest(folders))
    return _made(path, session, tokenizer, folders, files=(file, words))


def onnx_file(path: Path) -> Path | None:
    """The ONNX file that a path is, or that a folder has; None if there is none."""
    places = [path] if path.suffix == ".onnx" else [path / "model.onnx", path / "onnx" / "model.onnx"]
    return next((place for place in places if place.is_file()), None)


def _made(
    path: Path, session: Any, tokenizer: Any, folders: Sequence[Path], *, files: tuple[Path, ...]
) -> RerankingModel:
    shapes = {tensor.name: tensor.shape for tensor in session.get_outputs()}
    output = next((name for name in _OUTPUTS if name in shapes), next(iter(shapes)))
    run = OnnxRun(session, tokenizer, _inputs(path, session), output)
    shape = shapes[output]
    if len(shape) not in (1, 2, 3):
        raise ModelError(f"{path} gives {len(shape)} dimensions for a text; expected a score or a vector")
    if len(shape) == 1 or shape[-1] == 1:
        return OnnxPairScorer(_name(path), run)
    if output == "logits":
        raise ModelError(f"{path} gives {shape[-1]} numbers for a text; a model for reranking gives one")
    unknown = [kind for kind in _modules(folders) if kind not in _MODULES]
    if unknown:
        raise ModelError(
            f"{path} has a module {unknown[0]}, which its ONNX file lacks; run it by sentence-transformers: "
            f"{install_command('rerank')}"
        )
    return OnnxEncoder(_name(path), run, _digest(files, folders), _takes_first_token(folders))


def _inputs(path: Path, session: Any) -> list[str]:
    inputs = [model_input.name for model_input in session.get_inputs()]
    unknown = set(inputs) - {"input_ids", "attention_mask", "token_type_ids"}
    if unknown:
        raise ModelError(
            f"{path} needs the input {min(unknown)}, which texts do not have; give a model that reads tokens"
        )
    return inputs


def _name(path: Path) -> str:
    """The name of a model: of its folder, or of its file where that has a name of its own."""
    if path.suffix != ".onnx" or path.stem != "model":
        return path.resolve().name.removesuffix(".onnx")
    folder = path.resolve().parent
    return (folder.parent if folder.name == "onnx" else folder).name


def _pad_and_cut(tokenizer: Any, longest: int) -> None:
    """Have the tokeniser cut texts, of a pair the longer one, and fill the shorter ones of a batch."""
    tokenizer.enable_truncation(longest)
    if tokenizer.padding is None:
        pad = next((word for word in _PADS if tokenizer.token_to_id(word) is not None), None)
        tokenizer.enable_padding(**({} if pad is None else {"pad_id": tokenizer.token_to_id(pad), "pad_token": pad}))
    else:
        padding = {key: value for key, value in tokenizer.padding.items() if key != "length"}
        tokenizer.enable_padding(**padding)  # to the longest of a batch, not to a fixed length


def _longest(folders: Sequence[Path]) -> int:
    for name, key in (("sentence_bert_config.json", "max_seq_length"), ("tokenizer_config.json", "model_max_length")):
        limit = _values(folders, name).get(key)
        if isinstance(limit, int | float) and 2 < limit < _MOST:
            return int(limit)
    return _TOKENS


def _takes_first_token(folders: Sequence[Path]) -> bool:
    pooling = _values(folders, "1_Pooling/config.json")
    return pooling.get("pooling_mode_cls_token") is True or pooling.get("pooling_mode") == "cls"


def _modules(folders: Sequence[Path]) -> Iterator[str]:
    """The kinds of modules that a model of sentence-transformers consists of, if it is one."""
    modules = _values(folders, "modules.json").get("list", [])
    for module in modules:
        if isinstance(module, dict):
            yield str(module.get("type", "")).rpartition(".")[2]


def _values(folders: Sequence[Path], name: str) -> dict[str, Any]:
    """The values of a JSON file beside the model; a list as the value "list"; nothing where there is none."""
    path = _beside(folders, name)
    with suppress(OSError, ValueError, RecursionError):
        values = json.loads(path.read_text(encoding="utf-8")) if path else {}
        return values if isinstance(values, dict) else {"list": values if isinstance(values, list) else []}
    return {}


def _beside(folders: Sequence[Path], name: str) -> Path | None:
    return next((folder / name for folder in folders if (folder / name).is_file()), None)


def _digest(files: Sequence[Path], folders: Sequence[Path]) -> bytes:
    """The digest of model, tokeniser and how texts are cut and pooled."""
    outside = sorted(files[0].parent.glob(f"{files[0].name}?data"))  # weights that are too large for the file
    parts = [*map(file_digest, [*files, *outside]), str(_longest(folders)), str(_takes_first_token(folders))]
    return blake2b("\0".join(parts).encode(), digest_size=32).digest()
