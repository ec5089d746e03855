"""`RemoteIndex`: an index on a server, or several, made by `Index.connect`. It gives the hits of the server.

Questions go over HTTP, by the standard library; connections are kept, each lent to one thread at a time.
"""

from __future__ import annotations

import http.client
import json
from base64 import b64decode
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import fields
from typing import Any, TypeVar
from urllib.parse import quote, urlencode

import numpy as np

from semsearch import errors
from semsearch.arrays.types import Float32
from semsearch.errors import SemsearchError, ServerError, UsageError
from semsearch.results.documents import (
    DocumentInfo,
    DocumentPassages,
    DocumentText,
    Facets,
    MapPassage,
    MapStatus,
    PdfPage,
)
from semsearch.results.explanation import Explanation
from semsearch.results.hits import Context, Hit, Hits, Occurrences
from semsearch.results.options import Mode, SearchOptions, strings
from semsearch.results.origin import Correction
from semsearch.results.reports import Checkup, Problem, Status
from semsearch.searchable import Searchable, SingleIndex, SoughtPassage
from semsearch.system.locations import split_uri

Item = TypeVar("Item")
_AT_ONCE = 1000  # queries of a batch, texts to embed, and documents of a page
_POINTS_AT_ONCE = 200  # ids of passages in a query string
_SECONDS = 60.0
_IDLE = 8  # connections that are kept
_MOST = 1 << 29  # bytes of an answer
_SHOWN = 200  # characters of an answer that is not understood
_NOT_OF_CONTEXT = ("k", "context")  # options of a search that follow from the words of a context


class RemoteIndex(SingleIndex):
    """An index on a server: what can be asked of an `Index`, asked over HTTP. A context manager, closed at its end.

    Threads may share it. Paths are those of the server's machine, and are understood in its current folder. Without a
    name, or with several, indexes are searched there as one (`MultiIndex`); their documents and their status are
    asked of each by itself. Asking raises ServerError where the server does not answer or refuses, and otherwise what
    the index raises there.
    """

    def __init__(
        self,
        url: str,
        *,
        index: str | Sequence[str] | None = None,
        token: str | None = None,
        timeout: float = _SECONDS,
    ) -> None:
        self.url = url
        self.name: str | tuple[str, ...] | None = (
            index if index is None or isinstance(index, str) else _one_or_several(index)
        )
        self._server = ServerConnection(url, token=token, timeout=timeout)

    def close(self) -> None:
        """Close the connections. They are opened again when they are needed."""
        self._server.close()

    def __repr__(self) -> str:
        return f"RemoteIndex({self.url!r}, index={self.name!r})"

    # -- the primitives of `Searchable` --------------------------------------------------------------------------------

    def _search(self, queries: Sequence[str], options: SearchOptions) -> list[Hits]:
        if len(queries) == 1:  # the server answers those of many clients together
            answer = self._server.post("/v1/search", self._fields(options, query=queries[0], origin=True))
            return [_hits(answer)]
        results: list[Hits] = []
        for first in range(0, len(queries), _AT_ONCE):
            fields = self._fields(options, queries=queries[first : first + _AT_ONCE], origin=True)
            answers = _list(self._server.post("/v1/search/batch", fields), "answers", len(fields["queries"]))
            results += map(_hits, answers)
        return results

    def _similar(self, example: Hit | str, line: int | None, options: SearchOptions, *, same_document: bool) -> Hits:
        subject = {"hit": example.to_dict()} if isinstance(example, Hit) else {"path": example}
        fields = self._fields(options, line=line, same_document=same_document, **subject)
        answer = self._server.post("/v1/similar", fields)
        return _hits(answer)

    def _explain(self, query: str, hit: Hit, mode: Mode | None) -> Explanation:
        name = self._name() if hit.index is None else hit.index
        body = {"index": name, "hit": hit.to_dict(origin=hit.origin is not None), "query": query, "mode": mode}
        return Explanation.from_dict(self._server.post("/v1/explain", body))

    def _context(self, query: str, options: SearchOptions, max_words: int) -> Context:
        asked = self._fields(options, query=query, max_words=max_words)
        for name in _NOT_OF_CONTEXT:
            del asked[name]
        answer = self._server.post("/v1/context", asked)
        names = (field.name for field in fields(Context))
        return Context.from_dict({name: answer[name] for name in names if name in answer})

    def _embed(self, texts: Sequence[str]) -> Float32:
        rows: list[Float32] = []
        for first in range(0, max(len(texts), 1), _AT_ONCE):
            part = texts[first : first + _AT_ONCE]
            fields = {"model": self._name(), "input": part, "encoding_format": "base64"}
            rows += map(_embedding, _list(self._server.post("/v1/embeddings", fields), "data", len(part)))
        if len({row.shape for row in rows}) > 1:
            raise _other_form("vectors of one length")
        return np.stack(rows).astype(np.float32) if rows else np.zeros((0, 0), dtype=np.float32)

    def _documents(self, filters: Sequence[str]) -> Iterator[DocumentInfo]:
        self._name()  # raises, before the first is asked for
        return self._listed("/v1/documents", "documents", DocumentInfo.from_dict, filters=filters)

    def _document(self, name: str) -> DocumentText:
        return DocumentText.from_dict(self._got(f"/v1/documents/{quote(name, safe='')}"))

    def _passages(self, name: str, offset: int, limit: int, sought: SoughtPassage) -> DocumentPassages:
        asked = {"sentence": sought.sentence, "passage": sought.passage, "line": sought.line, "page": sought.page}
        answer = self._got(f"/v1/passages/{quote(name, safe='')}", offset=offset, limit=limit, **asked)
        return DocumentPassages.from_dict(answer)

    def _page(self, name: str, page: int) -> PdfPage:
        return PdfPage.from_dict(self._got(f"/v1/pages/{quote(name, safe='')}", page=page))

    def _file(self, name: str) -> bytes:
        return self._server.get_bytes(f"/v1/files/{quote(name, safe='')}", {"index": self._name()})

    def _page_picture(self, name: str, page: int, width: int) -> bytes:
        query = {"index": self._name(), "page": page, "width": width}
        return self._server.get_bytes(f"/v1/pictures/{quote(name, safe='')}", query)

    def _facets(self, filters: Sequence[str], values: int) -> Facets:
        return Facets.from_dict(self._got("/v1/facets", filters=tuple(filters), values=values))

    def _status(self, *, drift: bool, stale: bool) -> Status:
        return Status.from_dict(self._got("/v1/status", drift=drift, stale=stale))

    def _problems(self) -> tuple[Problem, ...]:
        return tuple(self._listed("/v1/problems", "problems", Problem.from_dict))

    def _checkup(self, *, stale: bool) -> Checkup:
        return Checkup.from_dict(self._got("/v1/checkup", stale=stale))

    def _map_status(self) -> MapStatus:
        answer = self._got("/v1/map")
        names = (field.name for field in fields(MapStatus))
        return MapStatus.from_dict({name: answer[name] for name in names if name in answer})

    def _map_passages(self, ids: Sequence[int]) -> list[MapPassage]:
        passages: list[MapPassage] = []
        for first in range(0, len(ids), _POINTS_AT_ONCE):
            asked = [int(id_) for id_ in ids[first : first + _POINTS_AT_ONCE]]
            passages += map(MapPassage.from_dict, _list(self._got("/v1/map/passages", ids=asked), "passages"))
        return passages

    # -- how they are asked --------------------------------------------------------------------------------------------

    def _names(self) -> Sequence[str]:
        return self.name if isinstance(self.name, tuple) else ()

    def _one(self) -> SingleIndex:
        return Searchable._one(self) if isinstance(self.name, tuple) else self

    def _name(self) -> str | None:
        """The name of the index. Raises UsageError if there are several."""
        self._one()
        return None if isinstance(self.name, tuple) else self.name

    def _got(self, path: str, **query: Any) -> Any:
        """What the one index answers at a path."""
        return self._server.get(path, {"index": self._name(), **query})

    def _listed(
        self, path: str, key: str, make: Callable[[dict[str, Any]], Item], *, offset: int = 0, **query: Any
    ) -> Iterator[Item]:
        """All of a list that the server gives a part at a time."""
        following: int | None = offset
        while following is not None:
            page = self._got(path, offset=following, limit=_AT_ONCE, **query)
            yield from map(make, _list(page, key))
            before, following = following, page.get("next")
            if following is not None and not (type(following) is int and following > before):
                raise _other_form("the number of the next")

    def _fields(self, options: SearchOptions, **fields: Any) -> dict[str, Any]:
        return {"index": self.name, **options.to_dict(), **fields}


def _hits(answer: dict[str, Any]) -> Hits:
    """The hits of an answer, with what the server says of the query."""
    corrected = tuple(map(Correction.from_dict, _list({"corrected": [], **answer}, "corrected")))
    notices = tuple(map(str, _list({"warnings": [], **answer}, "warnings")))
    return Hits(
        map(Hit.from_dict, _list(answer, "hits")),
        verdict=answer.get("verdict"),
        missing=tuple(map(str, _list({"missing": [], **answer}, "missing"))),
        corrected=corrected,
        notices=notices,
        total=Occurrences.from_dict(answer["total"]) if "total" in answer else None,
    )


def _list(answer: object, key: str, count: int | None = None) -> list[Any]:
    """The list that an answer has under a name, of `count` items if given. Raises ServerError."""
    items = answer.get(key) if isinstance(answer, dict) else None
    if not isinstance(items, list) or count not in (None, len(items)):
        raise _other_form(f"a list of {key}" if count is None else f"{count} {key}")
    return items


def _embedding(item: object) -> Float32:
    """The vector in an answer. (d,)"""
    try:
        return np.frombuffer(b64decode(item["embedding"]), dtype="<f4")  # type: ignore[index]  # what else it is raises
    except (LookupError, TypeError, ValueError):
        raise _other_form("an embedding in base64") from None


def _other_form(expected: str) -> ServerError:
    return ServerError(f"the server's answer lacks {expected}: it is no semsearch server, or of another version")


def _one_or_several(names: Sequence[str]) -> str | tuple[str, ...]:
    """The names of several indexes, each once; the name itself, if it is one."""
    different = tuple(dict.fromkeys(strings(names, "index")))
    if not different:
        raise UsageError("no index is named; give one name, several, or None for the only index of the server")
    return different if len(different) > 1 else different[0]


class ServerConnection:
    """The connections to one server. Threads may share it. The token is sent with every request, nowhere else."""

    def __init__(self, url: str, *, token: str | None, timeout: float) -> None:
        parts = split_uri(url)
        if parts.scheme not in ("http", "https") or not parts.hostname or parts.query or parts.fragment:
            raise UsageError(f"{url!r} is not the address of a server; give one such as http://127.0.0.1:8765")
        if token is not None and not (token.isascii() and token.isprintable()):
            raise UsageError("the token has characters other than printable ASCII")
        self.url: str = url.rstrip("/")
        self._parts = parts
        self._timeout = timeout
        self._headers = {"Accept": "application/json"} | ({} if token is None else {"Authorization": f"Bearer {token}"})
        self._connect: Any = http.client.HTTPSConnection if parts.scheme == "https" else http.client.HTTPConnection
        self._idle: list[http.client.HTTPConnection] = []  # each lent to one thread at a time

    def get(self, path: str, query: Mapping[str, Any]) -> Any:
        """Read what is at a path. Raises what the server answers with: the errors of an index, ServerError."""
        return self._understood(*self._ask("GET", _with_query(path, query), None))

    def get_bytes(self, path: str, query: Mapping[str, Any]) -> bytes:
        """Read what is at a path and is no JSON, such as a picture. Raises as `get`."""
        status, body = self._ask("GET", _with_query(path, query), None)
        if status != http.client.OK:
            self._understood(status, body)  # raises
        return body

    def post(self, path: str, fields: Mapping[str, Any]) -> Any:
        """Ask with a JSON object. Raises as `get`."""
        return self._understood(*self._ask("POST", path, fields))

    def _ask(self, method: str, path: str, fields: Mapping[str, Any] | None) -> tuple[int, bytes]:
        try:
            body = None if fields is None else json.dumps(fields, allow_nan=False).encode()
        except (TypeError, ValueError) as error:
            raise UsageError(f"this cannot be sent as JSON: {error}") from None
        headers = self._headers if body is None else self._headers | {"Content-Type": "application/json"}
        try:
            return self._sent(method, self._parts.path.rstrip("/") + path, body, headers)
        except (OSError, http.client.HTTPException) as error:
            reason = getattr(error, "strerror", None) or str(error) or type(error).__name__
            raise ServerError(
                f"the server {self.url} does not answer ({reason}); start it with: semsearch serve"
            ) from error

    def _sent(self, method: str, path: str, body: bytes | None, headers: Mapping[str, str]) -> tuple[int, bytes]:
        """Send a request on a kept connection, or on a new one where the server has closed all of those meanwhile."""
        while True:
            is_new = False
            try:
                connection = self._idle.pop()
            except IndexError:
                connection, is_new = self._connect(self._parts.hostname, self._parts.port, timeout=self._timeout), True
            try:
                connection.request(method, path, body, dict(headers))
                answer = connection.getresponse()
                text = answer.read(_MOST + 1)
                if len(text) > _MOST:
                    raise OSError(f"it answers with more than {_MOST >> 20} MB")
            except BaseException as error:
                connection.close()
                if not is_new and isinstance(error, ConnectionError | http.client.BadStatusLine):
                    continue
                raise
            if answer.will_close or len(self._idle) >= _IDLE:
                connection.close()
            else:
                self._idle.append(connection)
            return answer.status, text

    def _understood(self, status: int, text: bytes) -> Any:
        """The answer of the server, as JSON. Raises the error that it stands for."""
        try:
            answer = json.loads(text)
        except (ValueError, RecursionError):
            shown = " ".join(text[:_SHOWN].decode("utf-8", "replace").split())
            raise ServerError(f"{self.url} is not a semsearch server: it answered {status} with {shown!r}") from None
        if status == http.client.OK:
            if not isinstance(answer, dict):
                raise _other_form("an object")
            return answer
        detail = str(answer.get("detail", answer)) if isinstance(answer, dict) else str(answer)
        kind = getattr(errors, str(answer.get("error")), None) if isinstance(answer, dict) else None
        if isinstance(kind, type) and issubclass(kind, SemsearchError) and kind is not errors.MissingExtra:
            raise kind(detail)
        raise ServerError(f"the server {self.url} answered with an error ({status}): {detail}")

    def close(self) -> None:
        """Close the connections that are kept."""
        idle, self._idle = self._idle, []
        for connection in idle:
            connection.close()


def _with_query(path: str, query: Mapping[str, Any]) -> str:
    texts = {name: str(value).lower() if isinstance(value, bool) else value for name, value in query.items()}
    encoded = urlencode({name: value for name, value in texts.items() if value is not None}, doseq=True)
    return f"{path}?{encoded}" if encoded else path
