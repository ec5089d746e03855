"""The declarations of the tools: small, without unions, and read only."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import jsonschema
import pytest

from semsearch.agents.protocol import BY_HANDSHAKE, STATELESS
from semsearch.agents.tools import TOOLS

DECLARED = [tool.declared(STATELESS[-1]) for tool in TOOLS.values()]
UNIONS = {"anyOf", "oneOf", "allOf", "not", "$ref", "$defs", "nullable"}


def parts(schema: Any) -> Iterator[dict[str, Any]]:
    """All objects within a schema."""
    if isinstance(schema, dict):
        yield schema
        for value in schema.values():
            yield from parts(value)


@pytest.mark.parametrize("declared", DECLARED, ids=lambda declared: declared["name"])
def test_schemas_are_valid_closed_and_without_unions(declared: dict[str, Any]) -> None:
    for schema in (declared["inputSchema"], declared["outputSchema"]):
        jsonschema.Draft202012Validator.check_schema(schema)
        assert schema["type"] == "object"
        for part in parts(schema):
            assert not UNIONS & set(part)
            assert isinstance(part.get("type", ""), str | dict)
            assert part.get("type") != "null"
            assert part.get("type") != "object" or part["additionalProperties"] is False


@pytest.mark.parametrize("declared", DECLARED, ids=lambda declared: declared["name"])
def test_every_parameter_says_what_it_is_for(declared: dict[str, Any]) -> None:
    assert all(each["description"] for each in declared["inputSchema"]["properties"].values())
    assert declared["annotations"]["readOnlyHint"] is True
    assert declared["annotations"]["destructiveHint"] is False


def test_what_a_model_reads_of_all_tools_is_short() -> None:
    read = [{key: each[key] for key in ("name", "description", "inputSchema")} for each in DECLARED]
    assert len(json.dumps(read, separators=(",", ":"))) / 4 < 1_400  # tokens of about four characters, as sent


def test_older_versions_are_not_told_what_they_do_not_know() -> None:
    declared = {version: TOOLS["search"].declared(version) for version in BY_HANDSHAKE}
    assert "annotations" not in declared["2024-11-05"]
    assert "outputSchema" not in declared["2025-03-26"]
    assert {"annotations", "outputSchema", "title"} <= set(declared["2025-06-18"])
