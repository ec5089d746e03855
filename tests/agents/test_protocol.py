"""Messages and methods: what is answered in which version, and what is refused how."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from agent_messages import META, STATELESS, call, message

from semsearch.agents import resources
from semsearch.agents.jsonrpc import (
    RpcError,
    RpcInvalid,
    RpcNotification,
    RpcReply,
    RpcRequest,
    message_of,
    parse,
    to_line,
)
from semsearch.agents.protocol import BY_HANDSHAKE, AgentProtocol, check_stateless, instructions, said_version
from semsearch.errors import IndexNotFound
from semsearch.index import Index
from semsearch.readers.document import Text
from semsearch.serve.open_indexes import OpenIndexes
from semsearch.word_vectors.table import VectorTable


def answered(protocol: AgentProtocol, value: dict[str, Any], version: str = "2025-11-25") -> Any:
    """The answer to a request."""
    request = message_of(value)
    assert isinstance(request, RpcRequest)
    answer = protocol.answer(request, version)
    assert (answer["jsonrpc"], answer["id"]) == ("2.0", value["id"])
    return answer.get("result", answer.get("error"))


@pytest.mark.parametrize("version", BY_HANDSHAKE)
def test_a_handshake_agrees_on_the_version_that_is_wanted(protocol: AgentProtocol, version: str) -> None:
    found = answered(protocol, message("initialize", protocolVersion=version), version)
    assert found["protocolVersion"] == version
    assert found["serverInfo"]["name"] == "semsearch"
    assert "cite" in found["instructions"].lower()
    assert "docs, notes" in found["instructions"]


@pytest.mark.parametrize("wanted", ["1999-01-01", "2026-07-28", None, 7, ["x"]])
def test_a_handshake_for_another_version_offers_the_newest(protocol: AgentProtocol, wanted: Any) -> None:
    assert answered(protocol, message("initialize", protocolVersion=wanted))["protocolVersion"] == "2025-11-25"


def test_without_a_handshake_results_say_all_that_the_version_wants(protocol: AgentProtocol) -> None:
    found = answered(protocol, message("server/discover"), STATELESS)
    assert found["supportedVersions"] == [STATELESS]
    assert found["resultType"] == "complete"
    assert found["ttlMs"] >= 0
    assert found["cacheScope"] == "private"
    assert found["_meta"]["io.modelcontextprotocol/serverInfo"]["name"] == "semsearch"
    assert answered(protocol, message("tools/list"), STATELESS)["cacheScope"] == "public"
    assert "ttlMs" not in answered(protocol, message("tools/list"))


def test_a_call_gives_the_same_as_text_and_as_structure(protocol: AgentProtocol) -> None:
    found = answered(protocol, call("search", query="a ship", index="docs"))
    assert json.loads(found["content"][0]["text"]) == found["structuredContent"]
    assert found["isError"] is False
    assert "structuredContent" not in answered(protocol, call("search", query="a ship", index="docs"), "2024-11-05")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"query": "a ship", "index": "other"}, "the server has: docs, notes"),
        ({"query": "", "index": "docs"}, "query"),
        ({"query": 7, "index": "docs"}, "query must be a text"),
        ({"index": "docs"}, "query is missing"),
        ({"query": "a ship", "index": "docs", "limit": 0}, "limit must be at least 1"),
        ({"query": "a ship", "index": "docs", "limit": True}, "limit must be a whole number"),
        ({"query": "a ship", "index": "docs", "filters": "*.md"}, "filters must be a list"),
        ({"query": "a ship", "index": "docs", "mode": "best"}, "one of hybrid, lexical, dense"),
        ({"query": "a ship", "index": "docs", "filters": ["a*b*c*d*e*f"]}, "wildcards"),
        ({"query": "a ship", "index": "docs", "k": 3}, "unknown parameter 'k'; known parameters: query, index"),
    ],
)
def test_what_a_model_can_mend_is_a_result_that_says_how(
    protocol: AgentProtocol, arguments: dict[str, Any], said: str
) -> None:
    found = answered(protocol, call("search", **arguments))
    assert found["isError"] is True
    assert said in found["content"][0]["text"]
    assert "structuredContent" not in found


@pytest.mark.parametrize(
    ("value", "code"),
    [
        (message("no/such"), -32601),
        (message("server/discover"), -32601),
        (message("tools/call"), -32602),
        (message("tools/call", name="no"), -32602),
        (message("tools/call", name=["search"]), -32602),
        (message("tools/call", name="search", arguments=[1]), -32602),
        (message("resources/read"), -32602),
        (message("resources/read", uri="file:///etc/passwd"), -32602),
        (message("resources/read", uri="semsearch://docs/../../etc/passwd"), -32602),
        (message("resources/read", uri="semsearch://[/x"), -32602),
        (message("resources/list", cursor=3), -32602),
        (message("resources/list", cursor="x"), -32602),
    ],
)
def test_what_no_model_can_mend_is_an_error_of_the_protocol(
    protocol: AgentProtocol, value: dict[str, Any], code: int
) -> None:
    assert answered(protocol, value)["code"] == code


def test_a_bug_is_an_error_and_is_logged(
    protocol: AgentProtocol, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def fail() -> None:
        raise ZeroDivisionError("secret")

    monkeypatch.setattr(protocol, "indexes", fail)
    found = answered(protocol, call("status"))
    assert found["code"] == -32603
    assert "secret" not in found["message"]
    assert "secret" in caplog.text


def test_what_the_user_has_said_of_the_indexes_is_in_the_instructions() -> None:
    assert "Indexes" not in instructions({"docs": ""})
    assert " Indexes: docs (Ships and bread).\n" in instructions({"docs": "Ships and bread."})
    assert " Indexes: docs (Ships), notes.\n" in instructions({"docs": "Sh\u202eips", "notes": ""})
    many = instructions({str(number): "x" * 300 for number in range(30)})
    assert " and 10 more." in many
    assert len(many) < 4_000


def test_what_the_user_can_mend_is_no_bug(monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> None:
    def fail() -> dict[str, str]:
        raise IndexNotFound("the folder cannot be listed")

    found = answered(AgentProtocol(lambda: OpenIndexes(places={}), fail), message("initialize"))
    assert found == {"code": -32603, "message": "the folder cannot be listed"}
    assert caplog.text == ""


def test_documents_are_resources_that_can_be_read_whole_or_at_a_line(protocol: AgentProtocol) -> None:
    first = answered(protocol, message("resources/list"))["resources"][0]
    assert first["uri"].startswith("semsearch://docs/")
    whole = answered(protocol, message("resources/read", uri=first["uri"]))["contents"][0]["text"]
    part = answered(protocol, message("resources/read", uri=f"{first['uri']}#L5"))["contents"][0]["text"]
    assert part in whole
    assert answered(protocol, message("resources/templates/list"))["resourceTemplates"]


def test_resources_are_listed_page_by_page_and_not_without_end(
    tmp_path: Path, small_vectors: VectorTable, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(resources, "_PAGE", 3)
    monkeypatch.setattr(resources, "_MOST", 8)
    with Index.create(tmp_path / "many", vectors=small_vectors) as index:
        index.add([Text(f"text {number}", "A ship.") for number in range(12)])
    opened = OpenIndexes(folder=tmp_path)
    names: list[str] = []
    found: Any = {"nextCursor": None}
    while "nextCursor" in found:
        found = resources.list_resources(opened, {"cursor": found["nextCursor"]})
        names += [each["name"] for each in found["resources"]]
    opened.close()
    assert len(names) == len(set(names)) == 8


def test_ping_is_answered_where_the_version_has_it(protocol: AgentProtocol) -> None:
    assert answered(protocol, message("ping")) == {}
    assert answered(protocol, message("ping"), STATELESS)["code"] == -32601


@pytest.mark.parametrize("data", [b"", b"{", b"\xff", b"NaN", b'{"a": Infinity}', b"[" * 100_000, b"\xfe\xff\x00{"])
def test_what_is_no_json_is_a_parse_error(data: bytes) -> None:
    with pytest.raises(RpcError) as raised:
        parse(data)
    assert raised.value.code == -32700


@pytest.mark.parametrize(
    ("value", "id_"),
    [
        (7, None),
        ([], None),
        ({}, None),
        ({"jsonrpc": "1.0", "id": 3, "method": "ping"}, 3),
        ({"jsonrpc": "2.0", "id": 3}, 3),
        ({"jsonrpc": "2.0", "id": 3, "method": 4}, 3),
        ({"jsonrpc": "2.0", "id": None, "method": "ping"}, None),
        ({"jsonrpc": "2.0", "id": 1.5, "method": "ping"}, None),
        ({"jsonrpc": "2.0", "id": True, "method": "ping"}, None),
        ({"jsonrpc": "2.0", "id": {}, "method": "ping"}, None),
    ],
)
def test_what_is_no_message_is_an_invalid_request(value: Any, id_: Any) -> None:
    found = message_of(value)
    assert isinstance(found, RpcInvalid)
    assert (found.answer["id"], found.answer["error"]["code"]) == (id_, -32600)


def test_messages_are_told_apart() -> None:
    assert message_of({"jsonrpc": "2.0", "method": "x", "params": [1]}) == RpcNotification("x")
    assert isinstance(message_of({"jsonrpc": "2.0", "id": 1, "result": {}}), RpcReply)
    assert message_of({"jsonrpc": "2.0", "id": "", "method": "x"}) == RpcRequest("", "x")
    wrong = message_of({"jsonrpc": "2.0", "id": 1, "method": "x", "params": "y"})
    assert isinstance(wrong, RpcInvalid)
    assert wrong.answer["error"]["code"] == -32602


def test_half_characters_do_not_reach_the_client() -> None:
    assert json.loads(to_line({"a": "\ud800x\U0001f600"})) == {"a": "\ufffdx\U0001f600"}
    assert b"\n" not in to_line({"a": "x\ny"})


@pytest.mark.parametrize(
    ("meta", "code"),
    [
        ({}, -32602),
        ({key: value for key, value in META.items() if "Capabilities" not in key}, -32602),
        (META | {"io.modelcontextprotocol/protocolVersion": 3}, -32602),
        (META | {"io.modelcontextprotocol/protocolVersion": "1900-01-01"}, -32022),
        (META | {"io.modelcontextprotocol/protocolVersion": "2025-11-25"}, -32022),
    ],
)
def test_a_request_without_handshake_has_to_say_what_it_speaks(meta: dict[str, Any], code: int) -> None:
    with pytest.raises(RpcError) as raised:
        check_stateless(said_version({"_meta": meta}))
    assert raised.value.code == code
    if code == -32022:
        assert raised.value.data is not None
        assert STATELESS in raised.value.data["supported"]
