"""/v1/embeddings: the vectors of the index, in OpenAI's form."""

from __future__ import annotations

from base64 import b64decode

import numpy as np
import pytest
from serving import Asker

from semsearch.errors import UsageError
from semsearch.index import Index

TEXTS = ["A ship in the storm.", "", "The judge."]


def test_vectors_are_unit_vectors_and_near_where_texts_are(docs: Index) -> None:
    ship, nothing, judge = docs.embed(TEXTS)
    assert np.linalg.norm(ship) == pytest.approx(1, abs=1e-5)
    assert not nothing.any()
    (sailor,) = docs.embed(["The sailor and the anchor."])
    assert sailor @ ship > sailor @ judge
    assert docs.embed([]).shape == (0, len(ship))
    with pytest.raises(UsageError, match="texts must be a sequence of strings"):
        docs.embed("A ship.")


def test_an_answer_has_the_form_that_clients_know(asker: Asker, docs: Index) -> None:
    found = asker.post("/v1/embeddings", {"model": "docs", "input": TEXTS, "user": "me"}).json
    assert (found["object"], found["model"]) == ("list", "docs")
    assert [(each["object"], each["index"]) for each in found["data"]] == [
        ("embedding", 0),
        ("embedding", 1),
        ("embedding", 2),
    ]
    assert np.array_equal(np.array([each["embedding"] for each in found["data"]], dtype=np.float32), docs.embed(TEXTS))
    assert found["usage"]["prompt_tokens"] == found["usage"]["total_tokens"] == 7


def test_one_text_may_stand_alone_and_vectors_may_be_bytes(asker: Asker, docs: Index) -> None:
    given = {"model": "docs", "input": TEXTS[0], "encoding_format": "base64", "dimensions": docs.status().dimension}
    (found,) = asker.post("/v1/embeddings", given).json["data"]
    assert np.array_equal(np.frombuffer(b64decode(found["embedding"]), dtype="<f4"), docs.embed([TEXTS[0]])[0])


@pytest.mark.parametrize(
    ("given", "detail"),
    [
        ({}, "input is missing"),
        ({"input": 3}, "input"),
        ({"input": [[1, 2]]}, "input"),
        ({"input": "a", "dimensions": 3}, "dimensions, not"),
        ({"input": "a", "encoding_format": "hex"}, "encoding_format: Input should be 'float' or 'base64'"),
    ],
)
def test_what_makes_no_sense_is_a_400(given: dict[str, object], detail: str, asker: Asker) -> None:
    reply = asker.post("/v1/embeddings", {"model": "docs", **given})
    assert reply.status in (400, 422)
    assert detail in reply.detail
