"""A real ONNX file, made here, run by ONNX Runtime."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from packages import needed

from semsearch.rerankers.load_reranker import load_reranker

onnx = needed("onnx", reason="an optional dependency")
needed("onnxruntime", reason="an optional dependency")
tokenizers = needed("tokenizers", reason="an optional dependency")
WORDS = ["[PAD]", "[UNK]", "ship", "bread", "moon"]


@pytest.fixture
def encoder(tmp_path: Path) -> Path:
    """A model that looks a vector of two numbers up for each token."""
    helper: Any = onnx.helper
    table = np.array([[9, 9], [0, 0], [1, 0], [0, 1], [1, 1]], dtype=np.float32)
    node = helper.make_node("Gather", ["table", "input_ids"], ["last_hidden_state"])
    inputs = [helper.make_tensor_value_info(name, onnx.TensorProto.INT64, ["b", "t"]) for name in ("input_ids",)]
    outputs = [helper.make_tensor_value_info("last_hidden_state", onnx.TensorProto.FLOAT, ["b", "t", 2])]
    graph = helper.make_graph([node], "g", inputs, outputs, [onnx.numpy_helper.from_array(table, "table")])
    made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)
    onnx.save(made, tmp_path / "model.onnx")
    model = tokenizers.models.WordLevel({word: number for number, word in enumerate(WORDS)}, unk_token="[UNK]")
    tokenizer = tokenizers.Tokenizer(model)
    tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.Whitespace()
    tokenizer.save(str(tmp_path / "tokenizer.json"))
    return tmp_path


def test_an_onnx_file_encodes_texts_of_different_lengths(encoder: Path) -> None:
    model: Any = load_reranker(encoder).model
    found = model.encode_passages(["ship", "bread ship ship"])
    assert found[0] == pytest.approx([1, 0])
    assert found[1] == pytest.approx(np.array([2, 1]) / np.sqrt(5))
