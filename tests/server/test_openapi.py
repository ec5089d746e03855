"""The OpenAPI document: every operation is described, and every answer is as it says."""

from __future__ import annotations

from typing import Any

import pytest
from operations import JSON, Operation, document, operations, validate
from serving import Asker

ASKED: dict[str, dict[str, Any]] = {  # of operations that need more than an index
    "search": {"query": "how do I rotate the keys?"},
    "search_by_body": {"query": "a ship in the storm", "filters": ["*.md"], "mode": "hybrid"},
    "search_batch": {"queries": ["a ship", "why does the printer jam?"]},
    "similar": {"path": "sea-0.md"},
    "similar_to_hit": {"path": "sea-0.md"},
    "context": {"query": "a ship in the storm"},
    "context_by_body": {"query": "a ship in the storm", "max_words": 300},
    "get_map_passages": {"ids": [1, 2]},
    "embed": {"model": "docs", "input": ["a ship"]},
}
pytestmark = pytest.mark.usefixtures("maps_in_few_steps")
READING = [one for one in operations() if not one.is_write and one.name not in ("explain", "get_page")]


def test_every_operation_is_described() -> None:
    names = [one.name for one in operations()]
    assert len(set(names)) == len(names) > 20
    for operation in operations():
        described = document()["paths"][operation.path][operation.method.lower()]
        assert described["summary"]
        assert all(parameter["description"] for parameter in described.get("parameters", ()))
        assert "422" not in described["responses"]  # problems are all of one kind
    assert {one.name for one in operations() if one.is_write} == {"put_document", "delete_document", "sync"}


@pytest.mark.parametrize("operation", [one for one in READING if JSON in one.answer], ids=lambda one: one.name)
def test_an_answer_is_as_it_says(operation: Operation, asker: Asker) -> None:
    values = {"index": "docs"} if "index" in operation.parameters else {}
    values |= ASKED.get(operation.name, {})
    path = operation.path.replace("{id}", "sea-0.md")
    reply = asker.post(path, values) if operation.has_body else asker.get(path, **values)
    assert reply.status == 200, reply.body
    validate(reply.json, operation.answer[JSON]["schema"])
    if "hits" in reply.json:
        assert reply.json["hits"]


def test_a_problem_is_as_it_says(asker: Asker) -> None:
    for reply in (asker.get("/v1/search"), asker.get("/nothing"), asker.get("/health", headers={"Host": "evil"})):
        validate(reply.json, {"$ref": "#/components/schemas/Problem"})


def test_all_references_lead_somewhere_and_it_is_what_the_server_sends(asker: Asker) -> None:
    def references(value: Any) -> set[str]:
        if isinstance(value, dict):
            own = {value["$ref"]} if "$ref" in value else set()
            return own.union(*map(references, value.values()))
        return set().union(*map(references, value)) if isinstance(value, list) else set()

    names = {reference.removeprefix("#/components/schemas/") for reference in references(document())}
    assert names <= set(document()["components"]["schemas"])
    assert {"Hit", "Citation", "Problem"} <= names
    assert asker.get("/v1/openapi.json").json == document()
