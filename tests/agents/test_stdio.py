"""`semsearch mcp` over pipes: nothing but messages on stdout, whatever is sent and however it ends."""

from __future__ import annotations

import json
import os
import signal
import sys
import threading
from pathlib import Path
from typing import Any

import pytest
from agent_messages import call, hello, line, message
from processes.agent_process import agent_process

from semsearch.agents.jsonrpc import Json, RpcRequest
from semsearch.agents.protocol import AgentProtocol
from semsearch.agents.stdio_transport import MessagePipes, StdioServer, TooLong
from semsearch.serve.open_indexes import OpenIndexes


def test_a_session_by_hand(folder: Path) -> None:
    with agent_process(folder) as agent:
        assert agent.ask(hello())["result"]["protocolVersion"] == "2025-11-25"
        agent.send(message("notifications/initialized", id=None))
        tools = [tool["name"] for tool in agent.ask(message("tools/list"))["result"]["tools"]]
        assert tools == ["search", "context", "similar", "read", "list_documents", "status"]
        found = agent.ask(call("search", query="a ship in the storm", index="docs"))["result"]["structuredContent"]
        assert found["results"][0]["citation"].startswith(f"docs{os.sep}sea-0.md:")
        assert agent.ask(call("status", id="x", stateless=True))["result"]["resultType"] == "complete"
        assert agent.end() == ([], "")


def test_bad_input_is_answered_and_does_no_harm(folder: Path) -> None:
    bad = [b"garbage\n", b"\xff\xfe\n", b"[" * 200_000 + b"\n", b"[]\n", b"{}\n", b'"x"\n', b"\0\n", b"\n", b"  \r\n"]
    bad += [line(message("tools/call", id=5)), line({"jsonrpc": "2.0", "id": 6, "method": 7}), b'{"id": NaN}\n']
    with agent_process(folder) as agent:
        for each in bad:
            agent.send(each)
        agent.send(b" " * 4_000_001 + b"\n" + line(message("ping", id="after")))
        answers, said = agent.end()
    assert said == ""
    assert len(answers) == len(bad) - 2 + 2  # two lines are blank, and two come after them
    assert [answer["error"]["code"] for answer in answers if "error" in answer].count(-32700) == 5
    assert {"jsonrpc": "2.0", "id": "after", "result": {}} in answers


def test_a_batch_is_answered_at_once_where_the_version_has_them(folder: Path) -> None:
    batch = [message("ping", id=1), message("notifications/initialized", id=None), call("status", id=2)]
    with agent_process(folder) as agent:
        assert agent.ask(batch)["error"]["code"] == -32600
        agent.ask(hello("2025-03-26"))
        assert [answer["id"] for answer in agent.ask(batch)] == [1, 2]
        agent.send(batch[1:2])
        assert agent.end() == ([], "")


def test_what_was_asked_before_the_end_is_answered_and_half_a_line_is_not(folder: Path) -> None:
    with agent_process(folder) as agent:
        agent.send(line(call("search", id=1, query="a ship", index="docs")) + line(message("ping", id=2))[:-9])
        answers, said = agent.end()
    assert sorted(str(answer["id"]) for answer in answers) == ["1", "None"]
    assert said == ""


def test_nothing_else_can_be_reached_than_what_is_named(folder: Path) -> None:
    with agent_process(folder, "-i", "notes") as agent:
        assert "docs" not in agent.ask(hello())["result"]["instructions"]
        refused = agent.ask(call("search", query="a ship", index="docs"))["result"]
        assert refused["isError"] is True
        found = agent.ask(call("read", citation="cases"))["result"]["structuredContent"]
        assert found["index"] == "notes"
        assert agent.ask(message("resources/read", uri="semsearch://docs/sea-0.md"))["error"]["code"] == -32602
        assert agent.end() == ([], "")


def test_an_index_that_is_made_later_is_found_and_a_wrong_name_is_an_error(folder: Path, tmp_path: Path) -> None:
    with agent_process(tmp_path) as agent:
        found = agent.ask(call("status"))["result"]["structuredContent"]
        assert "semsearch index" in found["note"]
        (tmp_path / "indexes").symlink_to(folder / "indexes")
        assert len(agent.ask(call("status"))["result"]["structuredContent"]["indexes"]) == 2
        assert "no index in" in agent.end()[1]
    with agent_process(tmp_path, "-i", "other") as agent:
        out, said = agent.process.communicate(timeout=60)
    assert (agent.process.returncode, out) == (2, b"")
    assert b"there is no index 'other'" in said


_NOISY = """
import ctypes, logging, os, subprocess, sys, warnings
from semsearch.agents.tool_declaration import Tool

quiet = Tool.call
def noisy(self, indexes, arguments):
    print("printed")
    os.write(1, b"written\\n")
    sys.__stdout__.write("written too\\n")
    ctypes.CDLL(None).puts(b"by C")
    ctypes.CDLL(None).fflush(None)
    subprocess.run([sys.executable, "-c", "import sys; print('by a child', sys.stdin.read())"])
    warnings.warn("warned")
    logging.getLogger("semsearch").warning("logged")
    return quiet(self, indexes, arguments)
Tool.call = noisy
from semsearch.cli.main import app
app(["mcp"])
"""


@pytest.mark.skipif(os.name == "nt", reason="there is no C library of this name")
def test_what_is_printed_by_anyone_goes_to_stderr(folder: Path) -> None:
    with agent_process(folder, command=[sys.executable, "-c", _NOISY]) as agent:
        assert agent.ask(call("status"))["result"]["isError"] is False
        answers, said = agent.end()
    assert answers == []
    for noise in ("printed", "written", "written too", "by C", "by a child \n", "warned", "logged"):
        assert noise in said


_STUCK = """
import threading
from semsearch.agents.tool_declaration import Tool
Tool.call = lambda *_: threading.Event().wait()
from semsearch.cli.main import app
app(["mcp", "--timeout", "0.1"])
"""


def test_what_nobody_waits_for_any_more_does_not_hold_up_the_end(folder: Path) -> None:
    with agent_process(folder, command=[sys.executable, "-c", _STUCK]) as agent:
        agent.send(call("status"))
        ((answer,), said) = agent.end()
    assert "took longer than 0.1 seconds" in answer["result"]["content"][0]["text"]
    assert said == ""


@pytest.mark.skipif(os.name == "nt", reason="there are no such signals to send there")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_it_without_noise_on_stdout(folder: Path, number: signal.Signals) -> None:
    with agent_process(folder) as agent:
        agent.ask(hello())
        agent.process.send_signal(number)
        out, said = agent.process.communicate(timeout=60)
    assert out == b""
    assert b"Traceback" not in said


def test_a_client_that_reads_no_more_does_no_harm(folder: Path) -> None:
    with agent_process(folder) as agent:
        agent.ask(hello())
        assert agent.process.stdout is not None
        agent.process.stdout.close()
        agent.send(message("ping"))
        assert agent.process.wait(timeout=60) == 0
        assert agent.process.stderr is not None
        assert agent.process.stderr.read() == b""


class Piped:
    """A server in a thread, on pipes of this process."""

    def __init__(self, protocol: AgentProtocol, *, seconds: float = 60) -> None:
        reading, self._asking = os.pipe()
        self._answering, writing = os.pipe()
        self._pipes = MessagePipes(reading, writing)
        self._server = StdioServer(protocol, self._pipes, seconds=seconds)
        self._lines = os.fdopen(self._answering, "rb")
        self._thread = threading.Thread(target=self._server.run)
        self._thread.start()

    def send(self, *messages: Any) -> None:
        """Send messages."""
        os.write(self._asking, b"".join(map(line, messages)))

    def receive(self) -> Any:
        """The next message."""
        return json.loads(self._lines.readline())

    def end(self) -> None:
        """Close the pipe, and wait for the server's end."""
        os.close(self._asking)
        self._thread.join()
        self._pipes.close()
        self._lines.close()


class SlowProtocol(AgentProtocol):
    """Answers calls of tools once it is told to."""

    def __init__(self) -> None:
        super().__init__(lambda: OpenIndexes(places={}), list)
        self.go = threading.Event()

    def answer(self, request: RpcRequest, version: str) -> Json:
        if request.method == "tools/call":
            self.go.wait(60)
        return super().answer(request, version)


def test_many_calls_at_once_are_all_answered(protocol: AgentProtocol) -> None:
    server = Piped(protocol)
    tools = [call("search", id=number, query="a ship in the storm") for number in range(20)]
    tools += [call("read", id=20 + number, citation="cases") for number in range(20)]
    server.send(*tools)
    answers = [server.receive() for _ in tools]
    server.end()
    assert sorted(answer["id"] for answer in answers) == [*range(40)]
    assert not any(answer["result"]["isError"] for answer in answers)


def test_others_are_answered_while_a_call_runs_and_a_cancelled_one_is_not() -> None:
    protocol = SlowProtocol()
    server = Piped(protocol)
    server.send(call("status", id=1), call("status", id=2), message("ping", id=3))
    assert server.receive()["id"] == 3
    server.send(message("notifications/cancelled", id=None, requestId=1), message("ping", id=4))
    assert server.receive()["id"] == 4
    protocol.go.set()
    assert server.receive()["id"] == 2
    server.end()


def test_a_call_that_takes_too_long_is_a_result_that_says_so() -> None:
    protocol = SlowProtocol()
    server = Piped(protocol, seconds=0.01)
    server.send(call("status", id=1, stateless=True))
    found = server.receive()["result"]
    assert (found["isError"], found["resultType"]) == (True, "complete")
    assert "took longer than 0.01 seconds" in found["content"][0]["text"]
    server.send(message("ping", id=2))
    assert server.receive()["id"] == 2
    protocol.go.set()
    server.end()


def test_a_line_that_is_too_long_is_passed_over() -> None:
    reading, writing = os.pipe()
    os.write(writing, b"x" * 50 + b"\nnext\n" + b"y" * 10 + b"\n")
    os.close(writing)
    pipes = MessagePipes(reading, os.open(os.devnull, os.O_WRONLY), most=10)
    with pytest.raises(TooLong, match="at most 10 bytes"):
        pipes.read()
    assert pipes.read() == b"next\n"
    with pytest.raises(TooLong):
        pipes.read()
    assert pipes.read() is None
    pipes.close()
