"""A language model behind an address that speaks the OpenAI protocol: Ollama, llama.cpp, vLLM, and services.

Two requests are made: for the list of models, and for a chat completion, whose answer is read as it comes: server-sent
events, or one JSON object from a server that does not stream. By the standard library, which knows TLS and the proxies
of the environment. The text of documents goes to the given address alone: redirections are not followed, plain HTTP to
another machine must be allowed, and what goes to this machine passes no proxy. The key is in no message.
"""

from __future__ import annotations

import json
import logging
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from http.client import HTTPException, HTTPResponse
from typing import IO, Any
from urllib.error import HTTPError, URLError
from urllib.parse import urlsplit
from urllib.request import HTTPRedirectHandler, ProxyHandler, Request, build_opener

from semsearch.citations import harmless
from semsearch.errors import ServerError, UsageError
from semsearch.server.access import is_loopback

logger = logging.getLogger(__name__)

OLLAMA = "http://127.0.0.1:11434/v1"  # where Ollama listens unless it is told otherwise
SECONDS = 300.0  # of silence: a model that is loaded from disk and reads a long prompt on a CPU takes its time
_MOST = 1 << 22  # bytes of an answer, and of a line of it
_SHOWN, _NAMED = 300, 20  # characters of an error message, and models of a list, that are shown
_TOO_LONG = re.compile(r"context[\s_]*(?:length|size|window)|maximum context|too many tokens|prompt is too long", re.I)
_CUT = {"length": "at its limit of length", "content_filter": "at a filter of the server"}  # by finish_reason


class _WithoutRedirects(HTTPRedirectHandler):
    def redirect_request(self, *_: object) -> None:  # the answer itself is then an error
        return None


class ChatModels:
    """The models at an address, such as http://127.0.0.1:11434/v1.

    `seconds` is how long the server may be silent. Raises UsageError for an address or a key that makes no sense, and
    for plain HTTP to another machine unless `plain_http` allows it.
    """

    def __init__(self, url: str, *, key: str | None = None, plain_http: bool = False, seconds: float = SECONDS) -> None:
        self.url = url.rstrip("/")
        self._key, self._seconds = key, seconds
        try:
            parts = urlsplit(self.url)
            host, _ = parts.hostname or "", parts.port
        except ValueError as error:
            raise UsageError(f"the address of the model is not valid: {error}") from None
        if parts.username or parts.password:
            raise UsageError("the address of the model has a password in it; give it as model.key")
        if parts.scheme not in ("http", "https") or not host or parts.query or parts.fragment or not _is_plain(url):
            shown = "this" if "@" in url else repr(self._said(url))
            raise UsageError(f"{shown} is not the address of a model server; give one such as {OLLAMA}")
        if key is not None and not (key and _is_plain(key)):
            raise UsageError("the key of the model is empty, or has other characters than printable ASCII")
        if not 0 < seconds < float("inf"):
            raise UsageError(f"model.seconds must be a positive number, not {seconds}")
        self.is_here = host == "localhost" or is_loopback(host)
        if parts.scheme == "http" and not self.is_here and not plain_http:
            raise UsageError(
                f"{self.url} is another machine, to which the text of your documents would go without encryption; use "
                "https, or set model.plain_http = true in your own configuration"
            )
        self._opener = build_opener(ProxyHandler({}) if self.is_here else ProxyHandler(), _WithoutRedirects)

    def names(self) -> list[str]:
        """The names of the models that the server lists. Raises ServerError."""
        with self._asked("models", None) as response:
            answer = _as_json(_whole(response))
        models = answer.get("data") if isinstance(answer, dict) else None
        if not isinstance(models, list):
            raise self._other_protocol()
        return [str(model["id"]) for model in models if isinstance(model, dict) and "id" in model]

    def only_name(self) -> str:
        """The name of the server's only model. Raises UsageError if it has none, or several; ServerError."""
        names = self.names()
        if len(names) != 1:
            has = f"has several models: {self._listed(names)}" if names else "has no model; Ollama: ollama pull NAME"
            raise UsageError(f"the server {self.url} {has}; choose one: --model NAME, or model.name in your own file")
        return names[0]

    def answer(self, body: Mapping[str, Any]) -> Iterator[str]:
        """The pieces of the model's answer as they come, without its reasoning.

        Warns by the log of an answer that is cut. Raises UsageError for a model that the server does
        not have, and ServerError: also after some pieces, if the connection ends before the answer does.
        """
        ending, length = None, 0
        with self._asked("chat/completions", body) as response:
            streams = response.headers.get_content_type() == "text/event-stream"
            for event in _events(response) if streams else [_as_json(_whole(response))]:
                if isinstance(event, dict) and event.get("error"):
                    raise self._refusal(0, event, body)
                try:
                    choice = event["choices"][0] if event["choices"] else {}  # none: numbers of tokens
                    part = choice.get("delta") or choice.get("message") or {}
                    text, ending = str(part.get("content") or ""), ending or choice.get("finish_reason")
                    length += len(text) + len(str(part.get("reasoning_content") or part.get("reasoning") or ""))
                except (TypeError, KeyError, AttributeError):
                    raise self._other_protocol() from None
                if length > _MOST:
                    raise ServerError(f"the model at {self.url} does not stop; its answer is longer than any")
                if text:
                    yield text
        if ending in _CUT:
            logger.warning("the model stopped %s; the answer is not complete", _CUT[ending])
        if not ending and streams:
            raise self._without_answer(ConnectionError("the connection ended before the answer did"))

    @contextmanager
    def _asked(self, path: str, body: Mapping[str, Any] | None) -> Iterator[HTTPResponse]:
        """Send a request: the answer, whose status is a success. Raises as `answer`, also while it is read."""
        headers = {"Accept": "text/event-stream, application/json", "User-Agent": "semsearch"}
        headers |= {"Authorization": f"Bearer {self._key}"} if self._key else {}
        headers |= {"Content-Type": "application/json"} if body else {}
        request = Request(f"{self.url}/{path}", json.dumps(body).encode() if body else None, headers)
        try:
            with self._opener.open(request, timeout=self._seconds) as response:
                yield response
                return
        except HTTPError as refused:
            with refused:
                error = self._refusal(refused.code, _as_json(_whole(refused)), body)
        except (OSError, HTTPException) as broken:
            raise self._without_answer(broken) from broken
        if body is None or "temperature" not in body or "temperature" not in str(error):
            raise error
        with self._asked(path, {name: value for name, value in body.items() if name != "temperature"}) as response:
            yield response

    # -- what an error means -------------------------------------------------------------------------------------------

    def _refusal(self, status: int, answer: Any, body: Mapping[str, Any] | None) -> ServerError | UsageError:
        """The error that an answer stands for; status 0 in the middle of an answer."""
        reason = answer.get("error", answer) if isinstance(answer, dict) else answer
        if isinstance(reason, dict):
            reason = reason.get("message") or reason.get("detail") or json.dumps(reason)
        message = self._said(str(reason))
        if status == 413 or _TOO_LONG.search(str(answer)):
            return ServerError(f"the prompt is too long for the model: {message}; use a smaller --max-words")
        if status in (401, 403):
            asks = "refuses the key" if self._key else "wants a key, which it got none"
            return ServerError(f"{self.url} {asks} ({status}): {message}; set SEMSEARCH_MODEL_KEY, or model.key")
        if 300 <= status < 400:
            return ServerError(f"{self.url} leads elsewhere ({status}), which is not followed; give the address itself")
        if body and status in (400, 404):
            try:
                names = self.names()
            except ServerError:
                return self._other_protocol(f"it answered {status}: {message}")
            if body.get("model") not in names:
                has, asked = self._listed(names) or "none", self._said(str(body.get("model")))
                return UsageError(f"{self.url} has no model {asked!r}; it has: {has}; choose one: --model NAME")
        if status == 404:
            return self._other_protocol(f"it answered {status}: {message}")
        return ServerError(f"{self.url} answered with an error{f' ({status})' if status else ''}: {message}")

    def _without_answer(self, error: OSError | HTTPException) -> ServerError:
        reason = error.reason if isinstance(error, URLError) else error
        said = self._said(str(getattr(reason, "strerror", None) or reason) or type(reason).__name__)
        if isinstance(reason, TimeoutError):
            said = f"no word for {self._seconds:g} seconds; model.seconds in your own configuration allows more"
        if isinstance(reason, ConnectionRefusedError) and self.is_here:
            return ServerError(
                f"no model server runs at {self.url}; start one, such as ollama serve, or give the address of yours: "
                "--url, or model.url in your own configuration (semsearch config shows where it is)"
            )
        return ServerError(f"the model server {self.url} does not answer ({said})")

    def _other_protocol(self, said: str = "") -> ServerError:
        version = "" if self.url.endswith("/v1") else "; most addresses end in /v1"
        return ServerError(
            f"{self.url} does not speak the OpenAI protocol{f' ({said})' if said else ''}; see --url{version}"
        )

    def _listed(self, names: Sequence[str]) -> str:
        rest = f", and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
        return self._said(", ".join(names[:_NAMED]), most=_MOST) + rest

    def _said(self, text: str, *, most: int = _SHOWN) -> str:
        """What a server says, on one line, shortened, safe to print and without the key."""
        line = " ".join(harmless(text.replace(self._key, "***") if self._key else text).split())
        return line if len(line) <= most else f"{line[:most]}…"


def _is_plain(text: str) -> bool:
    return text.isascii() and text.isprintable() and " " not in text


def _whole(response: IO[bytes]) -> bytes:
    text = response.read(_MOST + 1)
    if len(text) > _MOST:
        raise ServerError(f"the model server answers with more than {_MOST >> 20} MB")
    return text


def _as_json(text: bytes) -> Any:
    """JSON as its value, and other text as a string."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text.decode("utf-8", "replace")


def _events(response: IO[bytes]) -> Iterator[Any]:
    """The data of server-sent events, a line of JSON each, up to [DONE] or the end."""
    while line := response.readline(_MOST + 1):
        if len(line) > _MOST:
            raise ServerError(f"the model server answers with a line of more than {_MOST >> 20} MB")
        name, _, data = line.partition(b":")
        if name == b"data" and data.strip():
            is_end = data.strip() == b"[DONE]"
            yield {"choices": [{"finish_reason": "done"}]} if is_end else _as_json(data)
            if is_end:
                return
