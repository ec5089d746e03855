"""An address for messages of another protocol, sent by POST; their meaning is up to the answerer."""

from __future__ import annotations

import time
from collections.abc import Mapping
from functools import partial
from http import HTTPStatus
from typing import TYPE_CHECKING, Protocol

from semsearch.frozen import dataclass

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response
    from starlette.routing import Route

    from semsearch.serve.application import ServingEngine


@dataclass(frozen=True, slots=True)
class MessageReply:
    """The answer to a message: a status, and perhaps a JSON body."""

    status: HTTPStatus
    body: bytes = b""


class MessageAnswerer(Protocol):
    """What answers the messages of an address. It only reads; threads may share it."""

    path: str
    name: str  # in the metrics

    def reply(self, body: bytes, headers: Mapping[str, str]) -> MessageReply:
        """Answer a message. Header names are in lower case; values of a repeated header are joined."""


def message_route(engine: ServingEngine, answerer: MessageAnswerer) -> Route:
    """The route of an address for messages."""
    from starlette.routing import Route  # an optional dependency, here and below

    return Route(answerer.path, partial(_answer, engine, answerer), methods=["POST"])


async def _answer(engine: ServingEngine, answerer: MessageAnswerer, request: Request) -> Response:
    from starlette.responses import Response

    from semsearch.serve.application import limited_client, raw_body

    began = time.perf_counter()
    body = await raw_body(request, engine.limits)
    headers = {name: ", ".join(request.headers.getlist(name)) for name in request.headers}
    reply = await engine.asking.run(lambda: answerer.reply(body, headers), limited_client(request))
    engine.metrics.count(answerer.name, reply.status, time.perf_counter() - began)
    return Response(reply.body, int(reply.status), media_type="application/json" if reply.body else None)
