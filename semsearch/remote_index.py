"""`RemoteIndex`: an index on a server, or several, made by `Index.connect`. It gives the hits of the server.

What else the server has (passages, pages, facets, maps, health) is asked by HTTP: docs/developers/server.md.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields
from http.client import HTTPException
from pathlib import Path
from threading import TIMEOUT_MAX
from typing import Any
from urllib.parse import quote, urlencode
from urllib.request import Request

from semsearch import errors
from semsearch.errors import SemsearchError, ServerError, UsageError
from semsearch.results.documents import DocumentInfo, DocumentText
from semsearch.results.explanation import Explanation
from semsearch.results.hits import Context, Hit, Hits, Occurrences
from semsearch.results.options import Mode, SearchOptions, finite_number, strings
from semsearch.results.origin import Correction
from semsearch.results.reports import Status
from semsearch.searchable import Searchable, path_or_id
from semsearch.system.http_requests import is_plain, opener, reason_of
from semsearch.system.locations import split_uri

_AT_ONCE = 1000  # queries of a batch, and documents of a page
_MOST = 1 << 29  # bytes of an answer
_SHOWN = 200  # characters of an answer that is not understood


class RemoteIndex(Searchable):
    """An index on a server, searched over HTTP. A context manager.

    Threads may share it. Paths are those of the server's machine, and are understood in its current folder. Without a
    name, or with several, indexes are searched there as one (`MultiIndex`); their documents and their status are
    asked of each by itself. The token is sent with every request, nowhere else. Asking raises ServerError where the
    server does not answer or refuses, and otherwise what the index raises there.
    """

    def __init__(
        self,
        url: str,
        *,
        index: str | Sequence[str] | None = None,
        token: str | None = None,
        timeout: float = 60.0,
    ) -> None:
        parts = split_uri(url := str(url))
        is_address = parts.scheme in ("http", "https") and parts.hostname and is_plain(url)
        if not is_address or parts.query or parts.fragment:
            raise UsageError(f"{url!r} is not the address of a server; give one such as http://127.0.0.1:8765")
        if token is not None and not (isinstance(token, str) and token.isascii() and token.isprintable()):
            raise UsageError("the token must be a string of printable ASCII characters")
        if not 0 < finite_number("timeout", timeout) <= TIMEOUT_MAX:
            raise UsageError(f"timeout must be a positive number of seconds, not {timeout!r}")
        self.url = url
        self.name: str | tuple[str, ...] | None = (
            index if index is None or isinstance(index, str) else _one_or_several(index)
        )
        self._headers = {"Accept": "application/json"} | ({} if token is None else {"Authorization": f"Bearer {token}"})
        self._timeout = float(timeout)
        self._opener = opener(by_proxy=False)

    def close(self) -> None:
        """Do nothing: no connection is kept."""

    def __repr__(self) -> str:
        return f"RemoteIndex({self.url!r}, index={self.name!r})"

    def _search(self, queries: Sequence[str], options: SearchOptions) -> list[Hits]:
        if len(queries) == 1:  # the server answers those of many clients together
            return [_hits(self._request("/v1/search", self._fields(options, query=queries[0], origin=True)))]
        results: list[Hits] = []
        for first in range(0, len(queries), _AT_ONCE):
            part = queries[first : first + _AT_ONCE]
            answer = self._request("/v1/search/batch", self._fields(options, queries=part, origin=True))
            results += map(_hits, _list(answer, "answers", len(part)))
        return results

    def _similar(self, example: Hit | str, line: int | None, options: SearchOptions, *, same_document: bool) -> Hits:
        subject = {"hit": example.to_dict()} if isinstance(example, Hit) else {"path": example}
        return _hits(
            self._request("/v1/similar", self._fields(options, line=line, same_document=same_document, **subject))
        )

    def _explain(self, query: str, hit: Hit, mode: Mode | None) -> Explanation:
        name = self._name() if hit.index is None else hit.index
        body = {"index": name, "hit": hit.to_dict(origin=hit.origin is not None), "query": query, "mode": mode}
        return Explanation.from_dict(self._request("/v1/explain", body))

    def _context(self, query: str, options: SearchOptions, max_words: int) -> Context:
        question = self._fields(options, query=query, max_words=max_words)
        for name in ("k", "context"):  # which follow from the words
            del question[name]
        answer = self._request("/v1/context", question)
        names = (field.name for field in fields(Context))
        return Context.from_dict({name: answer[name] for name in names if name in answer})

    def documents(self, filters: Sequence[str] = ()) -> Iterator[DocumentInfo]:
        """List the documents of the index that pass all filters, as `Index.documents` does."""
        name, chosen = self._name(), strings(filters, "filters")  # which raise before the first is asked for
        return self._listed(name, chosen)

    def _listed(self, name: str | None, filters: Sequence[str]) -> Iterator[DocumentInfo]:
        offset: int | None = 0
        while offset is not None:
            answer = self._request("/v1/documents", index=name, offset=offset, limit=_AT_ONCE, filters=filters)
            yield from map(DocumentInfo.from_dict, _list(answer, "documents"))
            before, offset = offset, answer.get("next")
            if offset is not None and not (type(offset) is int and offset > before):
                raise _unexpected_form("the number of the next")

    def document(self, name: str | Path) -> DocumentText:
        """Return a document, by its path or by the id that a program gave it, as `Index.document` does."""
        path = f"/v1/documents/{quote(path_or_id('document', name), safe='', errors='surrogatepass')}"
        return DocumentText.from_dict(self._request(path, index=self._name()))

    def status(self, *, known_words: bool = True, stale: bool = True) -> Status:
        """Return counts, settings and size, as `Index.status` does."""
        return Status.from_dict(self._request("/v1/status", index=self._name(), known_words=known_words, stale=stale))

    # -- how it is asked -----------------------------------------------------------------------------------------------

    def _name(self) -> str | None:
        """The name of the index. Raises UsageError if there are several."""
        if isinstance(self.name, tuple):
            raise UsageError(f"this needs a single index, not {', '.join(self.name)} together; choose one of them")
        return self.name

    def _fields(self, options: SearchOptions, **others: Any) -> dict[str, Any]:
        return {"index": self.name, **options.to_dict(), **others}

    def _request(self, path: str, fields: Mapping[str, Any] | None = None, **parameters: Any) -> dict[str, Any]:
        """GET a path, or POST a JSON object to it; the answer. Raises the server's error."""
        try:
            body = None if fields is None else json.dumps(fields, allow_nan=False).encode()
        except (TypeError, ValueError) as error:
            raise UsageError(f"this cannot be sent as JSON: {error}") from None
        query = {
            name: str(value).lower() if isinstance(value, bool) else value
            for name, value in parameters.items()
            if value is not None
        }
        url = f"{self.url.rstrip('/')}{path}?{urlencode(query, doseq=True, errors='surrogatepass')}"
        headers = self._headers if body is None else self._headers | {"Content-Type": "application/json"}
        try:
            with self._opener.open(Request(url, body, headers), timeout=self._timeout) as response:
                text = response.read(_MOST + 1)
            if len(text) > _MOST:
                raise OSError(f"it answers with more than {_MOST >> 20} MB")
        except (OSError, HTTPException) as error:
            raise ServerError(
                f"the server {self.url} does not answer ({reason_of(error)}); start it with: semsearch serve"
            ) from error
        return self._parsed(response.status, text)

    def _parsed(self, status: int, text: bytes) -> dict[str, Any]:
        """The answer of the server, from JSON. Raises the error that it returned."""
        try:
            answer = json.loads(text)
        except (ValueError, RecursionError):
            shown = " ".join(text[:_SHOWN].decode("utf-8", "replace").split())
            raise ServerError(f"{self.url} is not a semsearch server: it answered {status} with {shown!r}") from None
        if status == 200 and isinstance(answer, dict):
            return answer
        if status == 200:
            raise _unexpected_form("an object")
        problem = answer if isinstance(answer, dict) else {"detail": answer}
        detail, kind = str(problem.get("detail", problem)), getattr(errors, str(problem.get("error")), None)
        if isinstance(kind, type) and issubclass(kind, SemsearchError) and kind is not errors.MissingExtra:
            raise kind(detail)
        raise ServerError(f"the server {self.url} answered with an error ({status}): {detail}")


def _hits(answer: dict[str, Any]) -> Hits:
    """The hits of an answer, with what the server says of the query."""
    complete = {"corrected": [], "warnings": [], "missing": [], **answer}
    return Hits(
        map(Hit.from_dict, _list(answer, "hits")),
        verdict=answer.get("verdict"),
        missing=tuple(map(str, _list(complete, "missing"))),
        corrected=tuple(map(Correction.from_dict, _list(complete, "corrected"))),
        notices=tuple(map(str, _list(complete, "warnings"))),
        total=Occurrences.from_dict(answer["total"]) if "total" in answer else None,
    )


def _list(answer: object, key: str, count: int | None = None) -> list[Any]:
    """The list that an answer has under a name, of `count` items if given. Raises ServerError."""
    items = answer.get(key) if isinstance(answer, dict) else None
    if not isinstance(items, list) or count not in (None, len(items)):
        raise _unexpected_form(f"a list of {key}" if count is None else f"{count} {key}")
    return items


def _unexpected_form(expected: str) -> ServerError:
    return ServerError(f"the server's answer lacks {expected}: it is no semsearch server, or of another version")


def _one_or_several(names: Sequence[str]) -> str | tuple[str, ...]:
    """The names of several indexes, each once; the name itself, if it is one."""
    different = tuple(dict.fromkeys(strings(names, "index")))
    if not different:
        raise UsageError("no index is named; give one name, several, or None for the only index of the server")
    return different if len(different) > 1 else different[0]
