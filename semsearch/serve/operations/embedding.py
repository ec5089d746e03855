"""/v1/embeddings: vectors of texts, in the form that clients of OpenAI's API know."""

from __future__ import annotations

from base64 import b64encode
from typing import Any

from semsearch.errors import UsageError
from semsearch.serve.open_indexes import OpenIndexes
from semsearch.serve.operations.answers import EmbeddingsAnswer
from semsearch.serve.operations.operation import Operation
from semsearch.serve.operations.parameters import Given, Parameter
from semsearch.text.tokens import words

_MOST_TEXTS = 2048


def embed(indexes: OpenIndexes, given: Given) -> dict[str, Any]:
    """Return the vectors of texts, as an index embeds sentences. The model is the name of the index."""
    texts: tuple[str, ...] = given["input"]
    vectors = indexes.get(given["model"]).embed(texts)
    if given["dimensions"] not in (None, vectors.shape[1]):
        raise UsageError(f"dimensions are {vectors.shape[1]} in this index, and cannot be {given['dimensions']}")
    as_text = given["encoding_format"] == "base64"
    found = [b64encode(row.astype("<f4").tobytes()).decode() if as_text else row.tolist() for row in vectors]
    tokens = sum(len(words(text)) for text in texts)
    return {
        "object": "list",
        "data": [{"object": "embedding", "index": number, "embedding": each} for number, each in enumerate(found)],
        "model": indexes.name_of(given["model"]),
        "usage": {"prompt_tokens": tokens, "total_tokens": tokens},
    }


EMBEDDING = (
    Operation(
        "POST",
        "/v1/embeddings",
        "embed",
        embed.__doc__ or "",
        embed,
        EmbeddingsAnswer,
        (
            Parameter(
                "input", "text or texts", "A text, or several.", is_required=True, most=_MOST_TEXTS, longest=100_000
            ),
            Parameter("model", "text", "The name of an index; it may be left out where there is only one.", most=1000),
            Parameter(
                "encoding_format", "text", "Numbers, or their bytes.", default="float", choices=("float", "base64")
            ),
            Parameter("dimensions", "whole number", "Only those that the vectors have.", least=1),
            Parameter("user", "text", "Not looked at.", most=1000),
        ),
        {"input": ["how do I rotate the keys?"]},
    ),
)
