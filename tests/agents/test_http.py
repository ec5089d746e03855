"""Messages over HTTP: statuses, versions in headers, and who may ask."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator
from typing import Any

import pytest
from agent_messages import META, STATELESS, call, hello, message
from packages import needed
from serving import TOKEN, Asker, Reply, running

from semsearch.agents.http_transport import HttpAgents
from semsearch.agents.protocol import AgentProtocol
from semsearch.serve.open_indexes import OpenIndexes
from semsearch.serve.server import ServerSettings

needed("uvicorn", reason="an optional dependency")


@pytest.fixture(scope="module")
def asker(folder: Any) -> Iterator[Asker]:
    """A client of a server that agents can ask."""
    served = OpenIndexes(folder=folder / "indexes")
    agents = HttpAgents(AgentProtocol(lambda: served, served.descriptions))
    with running(served, messages=[agents]) as asker:
        yield asker


def headers_of(value: dict[str, Any]) -> dict[str, str]:
    """The headers that repeat what a request without handshake says."""
    named = {"Mcp-Name": value["params"]["name"]} if "name" in value["params"] else {}
    return {"MCP-Protocol-Version": STATELESS, "Mcp-Method": value["method"], **named}


def code_of(reply: Reply) -> int:
    """The code of an error."""
    return int(reply.json["error"]["code"])


def test_a_handshake_and_a_call_need_no_session(asker: Asker) -> None:
    began = asker.post("/mcp", hello("2025-06-18"))
    assert began.json["result"]["protocolVersion"] == "2025-06-18"
    assert "mcp-session-id" not in began.headers
    told = asker.post("/mcp", message("notifications/initialized", id=None))
    assert (told.status, told.body) == (202, b"")
    found = asker.post(
        "/mcp", call("search", query="a ship", index="docs"), headers={"MCP-Protocol-Version": "2025-06-18"}
    )
    assert found.json["result"]["structuredContent"]["results"]
    assert found.headers["content-type"] == "application/json"


def test_a_request_without_handshake_is_answered(asker: Asker) -> None:
    value = call("search", stateless=True, query="a ship", index="docs")
    found = asker.post("/mcp", value, headers=headers_of(value))
    assert (found.status, found.json["result"]["resultType"]) == (200, "complete")
    encoded = "=?base64?" + base64.b64encode(b"search").decode() + "?="
    assert asker.post("/mcp", value, headers=headers_of(value) | {"Mcp-Name": encoded}).status == 200


@pytest.mark.parametrize(
    "wrong",
    [
        {"Mcp-Method": "tools/list"},
        {"Mcp-Name": "read"},
        {"Mcp-Name": "=?base64?!?="},
        {"MCP-Protocol-Version": "2025-11-25"},
    ],
)
def test_headers_that_say_otherwise_than_the_body_are_refused(asker: Asker, wrong: dict[str, str]) -> None:
    value = call("search", stateless=True, query="a ship", index="docs")
    found = asker.post("/mcp", value, headers=headers_of(value) | wrong)
    assert (found.status, code_of(found)) == (400, -32020)


@pytest.mark.parametrize("missing", ["Mcp-Method", "Mcp-Name", "MCP-Protocol-Version"])
def test_headers_that_are_missing_are_refused(asker: Asker, missing: str) -> None:
    value = call("search", stateless=True, query="a ship", index="docs")
    there = {name: said for name, said in headers_of(value).items() if name != missing}
    found = asker.post("/mcp", value, headers=there)
    assert (found.status, code_of(found)) == (400, -32020)


def test_statuses_say_what_kind_of_error_it_is(asker: Asker) -> None:
    unknown = message("no/such", stateless=True)
    assert asker.post("/mcp", unknown, headers=headers_of(unknown)).status == 404
    assert asker.post("/mcp", message("no/such")).status == 200  # as it was before
    meta = META | {"io.modelcontextprotocol/protocolVersion": "1900-01-01"}
    old = message("tools/list", _meta=meta)
    said = asker.post("/mcp", old, headers=headers_of(old) | {"MCP-Protocol-Version": "1900-01-01"})
    assert (said.status, code_of(said)) == (400, -32022)
    bare = asker.post("/mcp", message("tools/list"), headers={"MCP-Protocol-Version": "1900-01-01"})
    assert (bare.status, code_of(bare)) == (400, -32022)
    bare = asker.post("/mcp", message("tools/list"), headers={"MCP-Protocol-Version": STATELESS})
    assert (bare.status, code_of(bare)) == (400, -32602)
    for broken, code in ((b"{", -32700), (b"[]", -32600), (b"7", -32600), (b"\xff", -32700)):
        reply = asker.ask("POST", "/mcp", broken)
        assert (reply.status, code_of(reply), reply.json["id"]) == (400, code, None)


def test_batches_are_answered_where_the_version_has_them(asker: Asker) -> None:
    batch = [message("ping", id=1), message("notifications/initialized", id=None), message("tools/list", id="b"), 7]
    found = asker.ask("POST", "/mcp", json.dumps(batch).encode())
    assert [each["id"] for each in found.json] == [1, "b", None]
    assert asker.ask("POST", "/mcp", json.dumps(batch[1:2]).encode()).status == 202
    later = asker.ask("POST", "/mcp", json.dumps(batch).encode(), headers={"MCP-Protocol-Version": "2025-06-18"})
    assert (later.status, code_of(later)) == (400, -32600)


@pytest.mark.parametrize("method", ["GET", "DELETE"])
def test_there_is_no_stream_and_no_session_to_end(asker: Asker, method: str) -> None:
    assert asker.writer.ask(method, "/mcp").status == 405


def test_the_rules_of_access_are_those_of_the_server(asker: Asker, folder: Any) -> None:
    value = message("tools/list")
    assert asker.post("/mcp", value, headers={"Origin": "https://evil.example"}).status == 403
    assert asker.post("/mcp", value, headers={"Host": "evil.example"}).status == 421
    assert asker.post("/mcp", value, headers={"X-Forwarded-For": "10.0.0.1"}).status == 401
    assert asker.ask("POST", "/mcp", b"{}", headers={"Content-Type": "text/plain"}).status == 415
    assert asker.ask("POST", "/mcp", b" " * 4_000_001).status == 413
    served = OpenIndexes(folder=folder / "indexes")
    agents = HttpAgents(AgentProtocol(lambda: served, served.descriptions))
    with running(served, ServerSettings(port=0, always_token=True), messages=[agents]) as closed:
        assert closed.post("/mcp", value).status == 401
        assert closed.post("/mcp", value, headers={"Authorization": f"Bearer {TOKEN}"}).status == 200


def test_messages_are_counted(asker: Asker) -> None:
    asker.post("/mcp", message("ping"))
    assert b"mcp" in asker.get("/metrics").body
