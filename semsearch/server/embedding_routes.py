"""The operation that embeds texts, in the form of OpenAI's API, so that its clients can ask an index for vectors."""

from __future__ import annotations

from base64 import b64encode
from dataclasses import dataclass
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Request, Response
from pydantic import Field, StringConstraints

from semsearch.errors import UsageError
from semsearch.server.open_indexes import OpenIndexes
from semsearch.server.operations import Line, Parameters, answer
from semsearch.text.tokens import words

router = APIRouter()

_Long = Annotated[str, StringConstraints(max_length=100_000)]


class EmbeddingBody(Parameters):
    """A request as clients of OpenAI's API send it."""

    input: _Long | Annotated[tuple[_Long, ...], Field(max_length=2048)] = Field(description="One or more texts.")
    model: Line | None = Field(None, description="The name of an index; optional if there is only one.")
    encoding_format: Literal["float", "base64"] = Field("float", description="Numbers, or their bytes in base64.")
    dimensions: int | None = Field(None, ge=1, description="Must equal the dimensions of the index.")
    user: Line | None = Field(None, description="Ignored.")


@dataclass(frozen=True, slots=True)
class EmbeddedText:
    """The vector of a text: numbers, or their bytes in base64 (little-endian float32)."""

    object: str
    index: int  # of the text in the request
    embedding: tuple[float, ...] | str


@dataclass(frozen=True, slots=True)
class EmbeddingUsage:
    """The number of words of the texts, under the names that clients of OpenAI's API expect."""

    prompt_tokens: int
    total_tokens: int


@dataclass(frozen=True, slots=True)
class EmbeddingsAnswer:
    """The vectors of texts. The model is the name of the index."""

    object: str
    data: tuple[EmbeddedText, ...]
    model: str
    usage: EmbeddingUsage


@router.post("/v1/embeddings", response_model=EmbeddingsAnswer)
async def embed(request: Request, body: EmbeddingBody) -> Response:
    """Return the vectors of texts, as an index embeds sentences. The model is the name of the index"""

    def work(indexes: OpenIndexes) -> dict[str, Any]:
        texts = [body.input] if isinstance(body.input, str) else body.input
        vectors = indexes.get(body.model).embed(texts)
        if body.dimensions not in (None, vectors.shape[1]):
            raise UsageError(f"this index has {vectors.shape[1]} dimensions, not {body.dimensions}")
        if body.encoding_format == "base64":
            embeddings = [b64encode(row.astype("<f4").tobytes()).decode() for row in vectors]
        else:
            embeddings = vectors.tolist()
        tokens = sum(len(words(text)) for text in texts)
        return {
            "object": "list",
            "data": [
                {"object": "embedding", "index": number, "embedding": embedding}
                for number, embedding in enumerate(embeddings)
            ],
            "model": indexes.name_of(body.model),
            "usage": {"prompt_tokens": tokens, "total_tokens": tokens},
        }

    return await answer(request, work)
