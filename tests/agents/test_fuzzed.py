"""Whatever a client sends over its pipe, each request is answered once, and nothing else is said."""

from __future__ import annotations

import json
import os
from collections import Counter
from typing import Any

from agent_messages import META, line
from hypothesis import given, settings, strategies as st

from semsearch.agents.http_transport import HttpAgents
from semsearch.agents.jsonrpc import is_id
from semsearch.agents.protocol import AgentProtocol
from semsearch.agents.stdio_transport import MessagePipes, StdioServer
from semsearch.agents.tools import TOOLS

SCALARS = (
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=10)
)
VALUES = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3)
)
SENSIBLE: dict[str, st.SearchStrategy[Any]] = {
    "query": st.sampled_from(["a ship", "of the", "xyzzy", "\x00", "judge 🚢"]),
    "index": st.sampled_from(["docs", "notes", "other"]),
    "citation": st.sampled_from(
        ["cases", "evil", "sea-0.md:5", "sea-0.md:5-9", "sea-0.md:99999", "cases p. 3", ":", "–"]
    ),
    "filters": st.lists(st.sampled_from(["*.md", "year>=2020", "[", "a~[z-a]", "=", "a=\x00"]), max_size=2),
    "mode": st.sampled_from(["hybrid", "dense", "lexical"]),
    "cursor": st.sampled_from(["", "3.00000000", "x"]),
}
KINDS = {"whole number": st.integers(1, 60), "true or false": st.booleans()}
METHODS = ["initialize", "ping", "tools/list", "tools/call", "server/discover", "resources/list", "resources/read", "x"]


@st.composite
def arguments(draw: st.DrawFn, tool: str) -> dict[str, Any]:
    """Arguments of a tool, mostly sensible, with something else among them now and then."""
    known = {each.name: SENSIBLE.get(each.name, KINDS.get(each.kind, VALUES)) for each in TOOLS[tool].parameters}
    required = {each.name: known.pop(each.name) for each in TOOLS[tool].parameters if each.is_required}
    found = draw(st.fixed_dictionaries(required, optional=known))
    return found | draw(st.dictionaries(st.sampled_from([*known, "other"]), VALUES, max_size=1))


@st.composite
def messages(draw: st.DrawFn) -> Any:
    """A message, mostly a request, perhaps with a part of it broken."""
    method, tool = draw(st.sampled_from(METHODS)), draw(st.sampled_from(sorted(TOOLS)))
    params: Any = {"name": tool, "arguments": draw(arguments(tool)), "uri": "semsearch://docs/sea-0.md#L5"}
    if draw(st.booleans()):
        params["_meta"] = draw(st.sampled_from([META, META | {"io.modelcontextprotocol/protocolVersion": "x"}, {}]))
    value: Any = {"jsonrpc": "2.0", "id": draw(st.integers(0, 9) | st.text(max_size=2)), "method": method}
    value["params"] = params
    broken = draw(st.sampled_from(["", "", "", "jsonrpc", "id", "method", "params", "all"]))
    if broken == "all":
        return draw(VALUES)
    return value | {broken: draw(VALUES)} if broken else value


LINES = st.one_of(
    messages().map(line),
    st.lists(messages(), max_size=3).map(line),
    st.binary(max_size=30).map(lambda data: data.replace(b"\n", b"") + b"\n"),
    st.sampled_from([line({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": "???"}})]),
)


def ids_of(data: bytes) -> list[Any]:
    """The ids of the requests on a line."""
    try:
        value = json.loads(data)
    except (ValueError, RecursionError):
        return []
    return [value["id"]] if isinstance(value, dict) and is_id(value.get("id")) else []


@settings(max_examples=60)
@given(st.lists(LINES, max_size=6))
def test_each_request_on_the_pipe_is_answered_once(protocol: AgentProtocol, lines: list[bytes]) -> None:
    reading, asking = os.pipe()
    answering, writing = os.pipe()
    os.write(asking, b"".join(lines))
    os.close(asking)
    pipes = MessagePipes(reading, writing)
    StdioServer(protocol, pipes, seconds=60).run()
    pipes.close()
    with os.fdopen(answering, "rb") as file:
        answers = [json.loads(each) for each in file]
    single = [answer for answer in answers if isinstance(answer, dict)]
    assert all(answer["jsonrpc"] == "2.0" and ("result" in answer) != ("error" in answer) for answer in single)
    assert all(answer.get("error", {}).get("code") != -32603 for answer in single)
    wanted = Counter(json.dumps(id_) for each in lines for id_ in ids_of(each))
    given_ = Counter(json.dumps(answer["id"]) for answer in single if answer["id"] is not None)
    assert given_ == wanted


@settings(max_examples=60)
@given(LINES, st.dictionaries(st.sampled_from(["mcp-protocol-version", "mcp-method", "mcp-name"]), st.text(max_size=9)))
def test_no_message_over_http_is_a_failure(protocol: AgentProtocol, body: bytes, headers: dict[str, str]) -> None:
    found = HttpAgents(protocol).reply(body, headers)
    assert found.status < 500
    if found.body:
        answers = json.loads(found.body)
        for answer in answers if isinstance(answers, list) else [answers]:
            assert answer.get("error", {}).get("code") != -32603
