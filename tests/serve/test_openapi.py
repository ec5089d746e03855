"""The OpenAPI document: every route is in it, every answer is as it says, and every example works."""

from __future__ import annotations

from typing import Any

import jsonschema
import pytest
from serving import Asker

from semsearch.index import Index
from semsearch.serve.openapi import OPERATIONS, document
from semsearch.serve.operation import JSON_TYPE, Operation

DOCUMENT = document()
READING = [operation for operation in OPERATIONS if not operation.is_write]
BESIDES: dict[str, dict[str, Any]] = {  # what an operation needs in the world of the tests
    "similar": {"path": "sea-0.md"},
    "similar_to_hit": {"path": "sea-0.md"},
    "get_document": {"id": "sea-0.md"},
    "list_passages": {"id": "sea-0.md"},
    "embed": {"model": "docs"},
}


def described(operation: Operation) -> dict[str, Any]:
    found: dict[str, Any] = DOCUMENT["paths"][operation.path][operation.method.lower()]
    return found


def validate(value: Any, schema: dict[str, Any]) -> None:
    """Check a value against a schema of the document."""
    whole = {**schema, "components": DOCUMENT["components"]}
    jsonschema.Draft202012Validator(whole).validate(value)


def body_schema(operation: Operation) -> dict[str, Any]:
    schema: dict[str, Any] = described(operation)["requestBody"]["content"]["application/json"]["schema"]
    return schema


def test_every_route_is_in_it_and_no_other() -> None:
    named = {(path, method) for path, methods in DOCUMENT["paths"].items() for method in methods}
    assert named == {(operation.path, operation.method.lower()) for operation in OPERATIONS}
    names = [operation.name for operation in OPERATIONS]
    assert len(set(names)) == len(names)


@pytest.mark.parametrize("operation", OPERATIONS, ids=lambda one: one.name)
def test_every_parameter_is_in_it(operation: Operation) -> None:
    found = described(operation)
    named = [each["name"] for each in found["parameters"]]
    if operation.has_body:
        in_query = [each["name"] for each in found["parameters"] if each["in"] == "query"]
        assert in_query == [each.name for each in operation.in_query_too]  # again, besides the body
        named = [name for name in named if name not in in_query] + [*body_schema(operation)["properties"]]
    assert named == [parameter.name for parameter in operation.parameters]
    assert found["summary"]
    assert all(each["description"] for each in found["parameters"])


@pytest.mark.parametrize(
    "operation",
    [one for one in READING if one.name != "explain" and one.media == JSON_TYPE and not one.is_drawn],
    ids=lambda one: one.name,
)
def test_an_answer_has_the_fields_that_it_says_and_no_others(operation: Operation, asker: Asker) -> None:
    given = dict(operation.example) | BESIDES.get(operation.name, {})
    if any(parameter.name == "index" for parameter in operation.parameters):
        given["index"] = "docs"
    given.pop("line", None)
    given.pop("filters", None)
    path = operation.path
    if operation.in_path is not None:
        path = path.replace("{id}", given.pop("id"))
    reply = asker.post(path, given) if operation.has_body else asker.get(path, **given)
    assert reply.status == 200, reply.body
    validate(reply.json, described(operation)["responses"]["200"]["content"]["application/json"]["schema"])
    if "hits" in reply.json:
        assert reply.json["hits"]


def test_an_explanation_is_as_it_says_and_so_is_the_hit_that_is_sent(asker: Asker, docs: Index) -> None:
    (explain,) = [one for one in OPERATIONS if one.name == "explain"]
    (hit,) = asker.get("/v1/search", index="docs", query="a ship in the storm", k=1, origin="true").json["hits"]
    given = {"index": "docs", "hit": hit, "own": True}
    validate(given, body_schema(explain))
    reply = asker.post("/v1/explain", given)
    validate(reply.json, described(explain)["responses"]["200"]["content"]["application/json"]["schema"])
    assert reply.json["dense"]["cosines"]


@pytest.mark.parametrize("operation", OPERATIONS, ids=lambda one: one.name)
def test_an_example_is_as_its_schema_says(operation: Operation) -> None:
    for each in described(operation)["parameters"]:
        if "example" in each:
            validate(each["example"], each["schema"])
    if operation.has_body:
        for example in body_schema(operation).get("examples", ()):
            validate(example, body_schema(operation))


def test_a_problem_is_as_it_says(asker: Asker) -> None:
    for reply in (asker.get("/v1/search"), asker.get("/nothing"), asker.get("/health", headers={"Host": "evil"})):
        validate(reply.json, {"$ref": "#/components/schemas/Problem"})


def test_all_references_lead_somewhere() -> None:
    def references(value: Any) -> set[str]:
        if isinstance(value, dict):
            own = {value["$ref"]} if "$ref" in value else set()
            return own.union(*map(references, value.values()))
        return set().union(*map(references, value)) if isinstance(value, list) else set()

    names = {reference.removeprefix("#/components/schemas/") for reference in references(DOCUMENT)}
    assert names <= set(DOCUMENT["components"]["schemas"])
    assert {"Hit", "Origin", "Citation", "Problem"} <= names
