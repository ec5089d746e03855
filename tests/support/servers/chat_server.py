"""A server of the OpenAI protocol for tests: it lists models, and answers with what a test gives it, byte by byte."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

STREAM = "text/event-stream; charset=utf-8"


@dataclass(frozen=True)
class ChatReply:
    """An answer to a request: the pieces are written one after the other, each as a chunk of its own."""

    pieces: Sequence[bytes]
    status: int = 200
    kind: str = "application/json"
    headers: tuple[tuple[str, str], ...] = ()
    hangs_up: bool = False  # ends the connection without the last chunk
    waits: threading.Event | None = None  # before the last piece


def events(*texts: str, reason: str | None = "stop", done: bool = True, between: str = "\n\n") -> bytes:
    """The events of a streamed answer of these pieces of text."""
    deltas: list[dict[str, Any]] = [{"choices": [{"index": 0, "delta": {"role": "assistant", "content": ""}}]}]
    deltas += [{"choices": [{"index": 0, "delta": {"content": text}, "finish_reason": None}]} for text in texts]
    if reason:
        deltas.append({"choices": [{"index": 0, "delta": {}, "finish_reason": reason}]})
    lines = [json.dumps(delta, ensure_ascii=False) for delta in deltas] + (["[DONE]"] if done else [])
    return "".join(f"data: {line}{between}" for line in lines).encode()


def streamed(text: str, *, size: int = 7) -> ChatReply:
    """An answer as a stream, divided into words of a model and then at odd bytes."""
    whole = events(*[word + " " for word in text.split(" ")[:-1]], text.rpartition(" ")[2])
    return ChatReply([whole[at : at + size] for at in range(0, len(whole), size)], kind=STREAM)


def whole(text: str, *, reason: str = "stop") -> ChatReply:
    """An answer as one object, of a server that does not stream."""
    answer = {"choices": [{"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": reason}]}
    return ChatReply([json.dumps(answer).encode()])


def refused(status: int, error: Any) -> ChatReply:
    """An error."""
    return ChatReply([json.dumps({"error": error}).encode()], status)


@dataclass
class ChatServer:
    """What a server answers with, and what it was asked. Each reply is used once, but for the last."""

    port: int = 0
    models: Sequence[str] = ("tiny",)
    replies: list[ChatReply] = field(default_factory=list)
    paths: list[str] = field(default_factory=list)
    bodies: list[dict[str, Any]] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)

    @property
    def url(self) -> str:
        """The address as one configures it."""
        return f"http://127.0.0.1:{self.port}/v1"

    @property
    def prompt(self) -> str:
        """What the user said in the last request."""
        return str(self.bodies[-1]["messages"][1]["content"])

    def reply(self, path: str) -> ChatReply:
        """The answer to a request."""
        if path == "/v1/models":
            return ChatReply([json.dumps({"object": "list", "data": [{"id": name} for name in self.models]}).encode()])
        if path != "/v1/chat/completions":
            return ChatReply([b"404 page not found"], 404, "text/plain")
        return self.replies.pop(0) if len(self.replies) > 1 else self.replies[0]


@contextmanager
def chat_server(*replies: ChatReply, models: Sequence[str] = ("tiny",)) -> Iterator[ChatServer]:
    """A running server."""
    state = ChatServer(models=models, replies=list(replies))

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            self.answer()

        def do_POST(self) -> None:
            state.bodies.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
            self.answer()

        def answer(self) -> None:
            state.paths.append(self.path)
            state.headers.append({name.lower(): value for name, value in self.headers.items()})
            reply = state.reply(self.path)
            self.send_response(reply.status)
            self.send_header("Content-Type", reply.kind)
            self.send_header("Transfer-Encoding", "chunked")
            self.send_header("Connection", "close")
            for name, value in reply.headers:
                self.send_header(name, value)
            self.end_headers()
            try:
                for number, piece in enumerate(reply.pieces):
                    if reply.waits is not None and number == len(reply.pieces) - 1:
                        reply.waits.wait()
                    self.wfile.write(b"%x\r\n%b\r\n" % (len(piece), piece))
                    self.wfile.flush()
                if not reply.hangs_up:
                    self.wfile.write(b"0\r\n\r\n")
            except OSError:  # the client has gone
                pass
            self.close_connection = True

        def log_message(self, format: str, *args: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        state.port = server.server_address[1]
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield state
        finally:
            for reply in replies:
                if reply.waits is not None:
                    reply.waits.set()
            server.shutdown()
            thread.join()
